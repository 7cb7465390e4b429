// What a term or a symbol means, beside it: on pointing, on focus, and on the first tap.
// Without this script, a term is a link to its entry, and formulas list their symbols below.
const AID = "[data-aid]";
const tip = document.createElement("div");
tip.id = "aid";
tip.className = "aid";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);

let shown = null; // whose tip is open
let touched = false; // whether the last pointer was a finger
let waiting = 0;

function show(one) {
  clearTimeout(waiting);
  if (one === shown) return;
  hide();
  shown = one;
  tip.replaceChildren(one.dataset.aid);
  if (touched && one.href) {
    const more = document.createElement("a");
    more.href = one.href;
    more.textContent = one.matches(".term") ? "Glossary" : "Notation";
    tip.append(" ", more);
  }
  one.setAttribute("aria-describedby", tip.id);
  tip.hidden = false;
  const at = one.getBoundingClientRect();
  const lines = (one.closest("math") ?? one).getBoundingClientRect(); // not over the formula
  const left = Math.min(at.left, innerWidth - tip.offsetWidth - 8);
  const below = lines.bottom + tip.offsetHeight + 8 < innerHeight;
  tip.style.left = `${Math.max(left, 8) + scrollX}px`;
  tip.style.top = `${(below ? lines.bottom + 4 : lines.top - tip.offsetHeight - 4) + scrollY}px`;
}

function hide() {
  clearTimeout(waiting);
  shown?.removeAttribute("aria-describedby");
  shown = null;
  tip.hidden = true;
}

function hideSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(hide, 200); // time to move onto the tip itself
}

addEventListener("pointerdown", event => (touched = event.pointerType === "touch"), true);
addEventListener("pointerover", event => {
  if (event.pointerType === "touch") return;
  const one = event.target.closest?.(AID);
  if (one) show(one);
  else if (tip.contains(event.target)) clearTimeout(waiting);
  else if (shown && shown !== document.activeElement) hideSoon();
});
addEventListener("focusin", event => {
  const one = event.target.closest?.(AID);
  if (one?.matches(":focus-visible")) show(one);
});
addEventListener("focusout", event => event.target === shown && hideSoon());
addEventListener("keydown", event => event.key === "Escape" && shown && hide());
addEventListener("click", event => {
  const one = event.target.closest?.(AID);
  if (one && touched && one !== shown) {
    event.preventDefault(); // the first tap opens, the link is in the tip
    show(one);
  } else if (!one && !tip.contains(event.target)) hide();
});

// On the map, a finger's first tap shows what a chapter builds on, and its second opens it.
document.querySelector(".book-map")?.addEventListener("click", event => {
  const link = event.target.closest("a");
  const before = document.querySelector(".book-map a.tapped");
  if (!touched || !link || link === before) return;
  event.preventDefault();
  before?.classList.remove("tapped");
  link.classList.add("tapped");
});

// Who asks for it sees what was checked, on all pages; an address says so too, for others.
const marks = document.querySelector(".marks-switch");
const root = document.documentElement;
function sayMarks() {
  const shown = root.dataset.marks === "on";
  const address = new URL(location);
  if (shown) address.searchParams.set("checks", "shown");
  else address.searchParams.delete("checks");
  history.replaceState(history.state, "", address);
  marks.setAttribute("aria-pressed", shown);
}
if (marks && root.dataset.marks === "on") sayMarks();
marks?.addEventListener("click", () => {
  root.dataset.marks = root.dataset.marks === "on" ? "off" : "on";
  __md_set("marks", root.dataset.marks);
  sayMarks();
});

// What is wider than its place scrolls, by keys too.
const WIDE = ".maths-block, .proofbook-figure, .proofbook-html, .scroll, .md-typeset__scrollwrap, pre > code";
const INSIDE = ".maths-block > math, .proofbook-figure > svg"; // grow when a font comes late
// A picture that waits says how narrow it can be; what is in it has no width yet.
const across = block =>
  Math.max(block.scrollWidth, parseFloat(block.style.getPropertyValue("--narrowest")) || 0);
const reach = new ResizeObserver(seen => {
  const blocks = [...new Set(seen.map(one => one.target.closest(WIDE)))];
  const wide = blocks.map(block => across(block) > block.clientWidth);
  blocks.forEach((block, i) => (wide[i] ? (block.tabIndex = 0) : block.removeAttribute("tabindex")));
});
function observeWidths() {
  const parts = document.querySelectorAll(`.md-typeset :is(${WIDE}, ${INSIDE})`);
  for (const part of parts) reach.observe(part);
}
if (document.readyState === "complete") observeWidths();
else addEventListener("load", observeWidths);

// In a narrow window the navigation is a drawer: keys open it and its parts, and lead back.
const NARROW = matchMedia("(max-width: 76.234375em)");
const DRAWER = ".md-header__button[for=__drawer], .md-sidebar--primary label[for^=__nav_]";
const mute = document.querySelectorAll(`:is(${DRAWER}):not([tabindex])`);
function reachDrawer() {
  for (const label of mute) {
    if (NARROW.matches) label.tabIndex = 0;
    else label.removeAttribute("tabindex");
  }
}
reachDrawer();
NARROW.addEventListener("change", reachDrawer);
document.querySelector(".md-header__button[for=__drawer]")?.setAttribute("title", "Navigation");

// What a page that is opened at its top left for later is drawn part by part when there is time,
// and at once when the reader moves, before anything could jump.
const LATER = ".from-top h2 ~ h2 ~ p ~ p ~ :is(.proofbook-block:not([style]), .proofbook-end)";
const later = [...document.querySelectorAll(LATER)];
const draw = count => later.splice(0, count).forEach(part => part.classList.add("drawn"));
function drawOneByOne() {
  draw(1);
  if (later.length) requestAnimationFrame(() => requestIdleCallback(drawOneByOne));
}
window.requestIdleCallback?.(drawOneByOne);
for (const move of ["pointerdown", "keydown", "wheel", "touchstart", "scroll"]) {
  addEventListener(move, () => draw(later.length), { once: true, passive: true });
}
