// Steps through pictures whose parts say with which step they come. Until a reader does, and
// without this file, a picture is whole and all its sentences are listed.
const SECONDS = 2.6;

function button(bar, words, name, css, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.className = css;
  made.setAttribute("aria-label", name);
  made.addEventListener("click", act);
  bar.append(made);
  return made;
}

function start(figure) {
  const parts = [...figure.querySelectorAll("[data-step]")];
  const list = figure.querySelector(":scope > ol");
  const sentences = [...list.children];
  const last = sentences.length;
  const bar = document.createElement("div");
  bar.className = "bar";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Steps of the picture");
  let at = 0; // 0 is the whole picture
  let timer = 0;

  const show = (step) => {
    at = step;
    for (const part of parts) {
      const own = Number(part.dataset.step);
      part.classList.toggle("later", at > 0 && own > at);
    }
    figure.classList.toggle("live", at > 0);
    sentences.forEach((one, k) => one.classList.toggle("now", k + 1 === at));
    list.ariaHidden = at > 0 ? "true" : null; // what is told is not read twice
    place.textContent = at ? `Step ${at} of ${last}` : `${last} steps`;
    told.textContent = at ? sentences[at - 1].textContent : "";
    back.setAttribute("aria-disabled", at === 0);
    next.textContent = at === last ? "Whole" : "Next →";
    next.setAttribute("aria-label", at === last ? "Whole picture" : "Next step");
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "▶ Play";
    play.setAttribute("aria-label", "Play the steps");
  };
  const move = (by) => {
    stop();
    if (at + by >= 0) show((at + by) % (last + 1));
  };
  const run = () => {
    if (timer) return stop();
    play.textContent = "❚❚ Pause";
    play.setAttribute("aria-label", "Pause the steps");
    show(at === last || !at ? 1 : at + 1);
    timer = setInterval(() => (at < last ? show(at + 1) : stop()), SECONDS * 1000);
  };

  const play = button(bar, "▶ Play", "Play the steps", "play", run);
  const back = button(bar, "←", "Previous step", "back", () => move(-1));
  const next = button(bar, "Next →", "Next step", "next", () => move(1));
  const place = bar.appendChild(document.createElement("span"));
  const told = bar.appendChild(document.createElement("span"));
  told.className = "told";
  told.setAttribute("aria-live", "polite");
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    move(by);
  });
  list.before(bar);
  show(0);
}

document.querySelectorAll("figure.glassformer-steps").forEach(start);
