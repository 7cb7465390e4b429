// Moves two positions whose rows are drawn as hands of dials: each by its handle or its slider, or
// both together by the line between them. Cosines and score follow from the table's rows.
const shown = (value) => {
  const text = value.toFixed(2);
  return Number(text) < 0 ? text.replace("-", "−") : text.replace("-", "");
};
const clamp = (value, last) => Math.min(last, Math.max(0, value));

function start(figure) {
  const svg = figure.querySelector("svg");
  const { rows, places } = JSON.parse(figure.querySelector("[data-numbers]").dataset.numbers);
  const last = rows.length - 1;
  const [one, other, both] = figure.querySelectorAll("form input");
  const parts = (name) => [...figure.querySelectorAll(`[data-part=${name}] > *`)];
  const place = (axis, value) => places[axis][0] + value * (places[axis][1] - places[axis][0]);
  const at = [one.valueAsNumber, other.valueAsNumber];

  const show = () => {
    const cosines = parts("cosines").map((label, c) => {
      const pairs = at.map((k) => rows[k].slice(2 * c, 2 * c + 2));
      pairs.forEach(([x, y], k) => {
        const turn = (Math.atan2(x, y) * 180) / Math.PI;
        const hand = parts(`hand${k}`)[c];
        const moved = hand.getAttribute("transform").replace(/rotate.*/, `rotate(${turn.toFixed(2)})`);
        hand.setAttribute("transform", moved);
      });
      const cosine = pairs[0][0] * pairs[1][0] + pairs[0][1] * pairs[1][1];
      label.textContent = shown(cosine);
      return cosine;
    });
    const score = cosines.reduce((a, b) => a + b);
    const distance = Math.abs(at[0] - at[1]);
    at.forEach((k, n) => parts(`place${n}`)[0].setAttribute("transform", `translate(${place(0, k)} 0)`));
    for (const line of parts("between")) {
      const y = line.getAttribute("d").split(" ").pop();
      line.setAttribute("d", `M${at.map((k) => `${place(0, k).toFixed(1)} ${y}`).join("L")}`);
    }
    const dot = parts("mark")[0].firstChild;
    dot.setAttribute("cx", place(0, distance));
    dot.setAttribute("cy", place(1, score));
    const told = `distance ${distance}, score ${shown(score)}`;
    parts("told")[0].textContent = told;
    parts("sum")[0].textContent = `= ${shown(score)}`;
    one.value = at[0];
    other.value = at[1];
    both.max = both.nextElementSibling.textContent = last - distance;
    both.value = Math.min(...at);
    for (const slider of [one, other, both]) {
      const where = slider === both ? at.join(" and ") : slider.value;
      slider.setAttribute("aria-valuetext", `${where}; ${told}`);
    }
  };
  const move = { // by the name of a slider or of a handle, to a position
    at0: (to) => (at[0] = clamp(to, last)),
    at1: (to) => (at[1] = clamp(to, last)),
    both: (to) => {
      const by = clamp(to, last - Math.abs(at[0] - at[1])) - Math.min(...at);
      at.forEach((k, n) => (at[n] = k + by));
    },
  };

  const positionOf = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return (point.x - place(0, 0)) / (place(0, 1) - place(0, 0));
  };
  for (const handle of figure.querySelectorAll("[data-moves]")) {
    const name = handle.dataset.moves;
    let held = 0; // from the lower position to the pointer
    const drag = (event) => {
      move[name](Math.round(positionOf(event) - held));
      show();
    };
    handle.addEventListener("pointerdown", (event) => {
      held = name === "both" ? positionOf(event) - Math.min(...at) : 0;
      handle.setPointerCapture(event.pointerId);
      handle.addEventListener("pointermove", drag);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      handle.addEventListener(end, () => handle.removeEventListener("pointermove", drag));
    }
  }
  figure.querySelector("form").addEventListener("input", ({ target }) => {
    move[target.name](target.valueAsNumber);
    show();
  });
  figure.classList.add("live");
  show();
}

document.querySelectorAll("figure.glassformer-dials").forEach(start);
