// Zooms through the whole transformer, one level at a time. Without this file all levels stand
// below each other, and a link in each leads to the next.
document.querySelectorAll(".glassformer-whole").forEach((figure) => {
  const kinds = [...figure.querySelectorAll(".kind")];
  const levels = kinds.map((kind) => [...kind.querySelectorAll(".level")]);
  const names = levels[0].map((level) => level.querySelector(".name").lastChild.textContent);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const PAUSE = 650; // a turn of the wheel is many events, and one step
  let at = 0;
  let last = -PAUSE;

  const bar = document.createElement("div");
  bar.className = "zoom";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Zoom");
  bar.innerHTML =
    '<button type="button" class="out" aria-keyshortcuts="ArrowLeft -">− <span>Farther</span></button>' +
    '<ol></ol><button type="button" class="in" aria-keyshortcuts="ArrowRight +"><span>Closer</span> +</button>';
  const [out, list, into] = bar.children;
  const places = ["Model", "Layer", "Attention", "Head", "Score", "Product"].map((name, index) => {
    const item = document.createElement("li");
    item.innerHTML = `<button type="button"><b>${index + 1}</b> <span>${name}</span></button>`;
    item.firstChild.addEventListener("click", () => go(index));
    list.append(item);
    return item.firstChild;
  });
  kinds[0].before(bar);
  const hint = document.createElement("p");
  hint.className = "hint";
  hint.textContent = matchMedia("(pointer: coarse)").matches
    ? "Tap the dashed frame, or pinch. Boxes lead to their chapters."
    : "Click the dashed frame; or click beside it, then use the wheel or the arrow keys. Boxes lead to their chapters.";
  kinds.at(-1).after(hint);

  const shownKind = () => Math.max(0, kinds.findIndex((kind) => kind.getClientRects().length));
  const level = (index) => levels[shownKind()][index];

  /** Where in a level's picture the next one is, as a transform that makes it fill the picture. */
  function through(index) {
    const [x, y, width, height] = level(index).dataset.door.split(" ").map(Number);
    const view = level(index).querySelector("svg").viewBox.baseVal;
    const scale = Math.min(view.width / width, view.height / height);
    const left = (100 * (x + width / 2)) / view.width;
    const top = (100 * (y + height / 2)) / view.height;
    return {
      open: `scale(${scale}) translate(${50 - left}%, ${50 - top}%)`,
      shut: `translate(${left - 50}%, ${top - 50}%) scale(${1 / scale})`,
    };
  }

  /** Show one level; the other pictures of all kinds are hidden. */
  function show(index) {
    at = index;
    for (const kind of levels) kind.forEach((one, k) => one.classList.toggle("now", k === at));
    places.forEach((place, k) => {
      if (k === at) place.setAttribute("aria-current", "step");
      else place.removeAttribute("aria-current");
    });
    out.setAttribute("aria-disabled", at === 0);
    into.setAttribute("aria-disabled", at === places.length - 1);
  }

  /** Leave one level through its door, or come back out of it. */
  function go(index) {
    if (index < 0 || index >= places.length || index === at) return;
    const from = at;
    const [old, fresh] = [level(from), level(index)].map((one) => one.querySelector("svg"));
    const held = level(from).contains(document.activeElement); // a hidden door would lose the keys
    show(index);
    const told = level(index);
    if (held) told.focus({ preventScroll: true });
    announce.textContent = `${index + 1} of ${places.length}: ${names[index]}`;
    if (still.matches || Math.abs(index - from) !== 1 || !told.animate) return;
    const closer = index > from;
    const { open, shut } = through(Math.min(from, index));
    const ghost = old.cloneNode(true);
    ghost.setAttribute("aria-hidden", "true");
    ghost.setAttribute("inert", "");
    ghost.classList.add("ghost");
    fresh.before(ghost);
    const timing = { duration: 620, easing: "cubic-bezier(.45,0,.25,1)" };
    const leave = ghost.animate(
      [{ transform: "none", opacity: 1 }, { transform: closer ? open : shut, opacity: 0 }], timing);
    leave.onfinish = leave.oncancel = () => ghost.remove();
    fresh.animate([{ transform: closer ? shut : open, opacity: 0 }, { transform: "none", opacity: 1 }], timing);
  }

  const announce = document.createElement("p");
  announce.className = "unseen";
  announce.setAttribute("aria-live", "polite");
  bar.after(announce);

  out.addEventListener("click", () => go(at - 1));
  into.addEventListener("click", () => go(at + 1));
  figure.addEventListener("click", (event) => {
    if (!event.target.closest(".door")) return;
    event.preventDefault();
    go(at + 1);
  });
  figure.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input")) return;
    const step = { ArrowRight: 1, "+": 1, "=": 1, ArrowLeft: -1, "-": -1 }[event.key];
    const end = { Home: 0, End: places.length - 1 }[event.key];
    if (step === undefined && end === undefined) return;
    event.preventDefault();
    go(end ?? at + step);
  });

  // The wheel scrolls the page until the picture was clicked; a pinch of a touchpad always zooms.
  for (const one of levels.flat()) one.tabIndex = -1;
  figure.addEventListener("wheel", (event) => {
    if (!event.target.closest("svg")) return;
    const closer = event.deltaY < 0;
    if (!event.ctrlKey && !figure.contains(document.activeElement)) return;
    if (!event.ctrlKey && (closer ? at === places.length - 1 : at === 0)) return;
    event.preventDefault();
    if (event.timeStamp - last < PAUSE || Math.abs(event.deltaY) < 2) return;
    last = event.timeStamp;
    go(at + (closer ? 1 : -1));
  }, { passive: false });

  // Two fingers apart: closer. Together: farther.
  let spread = 0;
  const apart = ({ touches: [one, other] }) =>
    Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
  figure.addEventListener("touchstart", (event) => {
    spread = event.touches.length === 2 && event.target.closest("svg") ? apart(event) : 0;
  }, { passive: true });
  figure.addEventListener("touchmove", (event) => {
    if (!spread || event.touches.length !== 2) return;
    event.preventDefault();
    const factor = apart(event) / spread;
    if (factor < 1.25 && factor > 0.8) return;
    spread = 0;
    go(at + (factor > 1 ? 1 : -1));
  }, { passive: false });

  /** An address may name a level; going there opens it. */
  function follow() {
    const target = document.getElementById(location.hash.slice(1));
    const kind = levels.findIndex((one) => one.includes(target));
    if (kind < 0) return;
    figure.querySelectorAll("input")[kind]?.click();
    show(levels[kind].indexOf(target));
  }
  addEventListener("hashchange", follow);

  figure.classList.add("live");
  show(0);
  follow();
});
