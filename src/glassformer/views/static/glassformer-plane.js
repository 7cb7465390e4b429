// Moves the query of an attention drawn as arrows: by its handle, or by the sliders below. Scores,
// weights, and the output follow, computed from the same numbers that the still picture shows.
const TIP = 7; // length of an arrowhead
const STEP = 0.1;

const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
const times = (s, [x, y]) => [s * x, s * y];
const shown = (value) => {
  const text = value.toFixed(2);
  return Number(text) < 0 ? text.replace("-", "−") : text.replace("-", "");
};

function attend(query, keys, values) {
  const scores = keys.map((key) => dot(query, key) / Math.SQRT2);
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((a, b) => a + b);
  const weights = powers.map((power) => power / sum);
  const output = [0, 1].map((k) => values.reduce((all, v, i) => all + weights[i] * v[k], 0));
  return { scores, weights, output };
}

function draw(path, from, to) {
  path.setAttribute("d", "M" + [from, to].map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L"));
}

function point(part, from, to) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const far = Math.hypot(dx, dy) || 1;
  draw(part.querySelector(".line"), from, [to[0] - (TIP * dx) / far, to[1] - (TIP * dy) / far]);
  const turn = (Math.atan2(dy, dx) * 180) / Math.PI;
  part.querySelector("g").setAttribute("transform", `translate(${to}) rotate(${turn})`);
}

function start(figure) {
  const svg = figure.querySelector("svg");
  const told = JSON.parse(figure.querySelector("[data-numbers]").dataset.numbers);
  const { keys, values, words, origins, unit, half, across } = told;
  const [x, y] = figure.querySelectorAll("form input");
  const handle = figure.querySelector(".handle");
  const part = (name) => figure.querySelector(`[data-part=${name}]`);
  const all = (name) => [...part(name).querySelectorAll("path, text, rect")];
  const at = (plane, [a, b]) => [origins[plane][0] + unit * a, origins[plane][1] - unit * b];

  let query = told.query; // until a reader moves it

  const show = () => {
    const { scores, weights, output } = attend(query, keys, values);
    const way = times(1 / (Math.hypot(...query) || 1), query);
    const edge = times(half / (Math.max(...way.map(Math.abs)) || 1), way);
    draw(all("direction")[0], at(0, times(-1, edge)), at(0, edge));
    all("feet").forEach((one, k) => draw(one, at(0, keys[k]), at(0, times(dot(keys[k], way), way))));
    draw(part("query").querySelector("path"), origins[0], at(0, query));
    for (const ring of [part("query").querySelector("circle"), handle]) {
      ["cx", "cy"].forEach((name, k) => ring.setAttribute(name, at(0, query)[k]));
    }
    let end = [0, 0];
    all("shares").forEach((one, k) => {
      const from = at(1, end);
      end = end.map((v, i) => v + weights[k] * values[k][i]);
      draw(one, from, at(1, end));
    });
    point(part("output"), origins[1], at(1, output));
    all("scores").forEach((one, k) => (one.textContent = shown(scores[k])));
    all("weights").forEach((one, k) => (one.textContent = shown(weights[k])));
    all("bars").forEach((one, k) => one.setAttribute("width", across * weights[k]));
    const [asked, given] = [query, output].map((two) => `(${two.map(shown).join(", ")})`);
    all("asked")[0].textContent = `query ${asked}`;
    all("given")[0].textContent = `output ${given}`;
    const each = words.map((word, k) => `${word} ${shown(weights[k])}`).join(", ");
    [x, y].forEach((one, k) => {
      const value = `${shown(query[k])}; weights: ${each}; output ${given}`;
      one.setAttribute("aria-valuetext", value);
    });
  };
  const move = () => {
    query = [x.valueAsNumber, y.valueAsNumber];
    show();
  };

  const drag = (event) => {
    const { x: a, y: b } = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      svg.getScreenCTM().inverse(),
    );
    const moved = [(a - origins[0][0]) / unit, (origins[0][1] - b) / unit];
    [x, y].forEach((one, k) => (one.value = Math.round(moved[k] / STEP) * STEP));
    move();
  };
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener("pointermove", drag);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    handle.addEventListener(end, () => handle.removeEventListener("pointermove", drag));
  }
  figure.querySelector("form").addEventListener("input", move);
  figure.classList.add("live");
  show();
}

document.querySelectorAll("figure.glassformer-plane").forEach(start);
