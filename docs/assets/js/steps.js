/* Steps, one at a time: a page whose front matter says `steps: true` is shown as a stepper.
 *
 * In the page a step is a heading whose id begins with "step-", with all that follows it, and
 * <div class="steps-bar"></div> says where the buttons stand. Without this script the page is
 * simply long. The script stands in the head, so that nothing is drawn twice.
 */
(() => {
  "use strict";

  const root = document.documentElement;
  root.classList.add("steps-one"); // the style sheet shows the first step alone from now on

  const CONTROLS = `
    <button type="button" class="steps-back" aria-label="Previous step"
      aria-keyshortcuts="ArrowLeft" title="Previous step (left arrow key)">
      ← <span class="steps-word">Previous</span></button>
    <input type="range" class="steps-line" min="1" value="1" aria-label="Step">
    <button type="button" class="steps-next" aria-label="Next step"
      aria-keyshortcuts="ArrowRight" title="Next step (right arrow key)">
      <span class="steps-word">Next</span> →</button>
    <p class="steps-place"></p>
    <button type="button" class="steps-all" aria-pressed="false">Show all steps</button>`;
  // Where left and right already mean something: fields, and what scrolls sideways.
  const OWN_KEYS = "input, textarea, select, pre, [contenteditable], [tabindex]:not(h2)";

  /** Each step's heading and what follows it, in a section of its own: its first and last part. What
   *  the browser's search may find is laid out whenever somebody asks where it is, and the theme
   *  asks of all headings after each step, so a heading stands beside the rest. */
  function wrapped(headings) {
    return headings.map((heading) => {
      const section = document.createElement("section");
      const rest = document.createElement("div");
      section.className = "steps-step";
      heading.before(section);
      section.append(heading, rest);
      while (section.nextSibling && !ends(section.nextSibling)) rest.append(section.nextSibling);
      heading.tabIndex = -1;
      return section;
    });
  }

  /** Whether a node is no longer the step's: another heading, or the foot of the page. */
  function ends(node) {
    return node.nodeType === 1 && node.matches("h2, .proofbook-end");
  }

  function title(section) {
    const parts = [...section.querySelector("h2").childNodes];
    return parts.map((part) => (part.className === "headerlink" ? "" : part.textContent)).join("");
  }

  function start() {
    const bar = document.querySelector(".steps-bar");
    const headings = [...document.querySelectorAll('h2[id^="step-"]')];
    if (!bar || headings.length < 2) return;
    const sections = wrapped(headings);
    bar.innerHTML = CONTROLS;
    document.body.classList.add("with-steps");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Steps");
    const [back, line, next, place, all] = bar.children;
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    let at = 0;
    let whole = false;
    line.max = sections.length;

    function show(index, scroll) {
      at = index;
      const leaves = sections.some((one, i) => i !== at && one.contains(document.activeElement));
      sections.forEach((section, i) => {
        const isHidden = !whole && i !== at;
        section.firstChild.hidden = isHidden;
        section.lastChild.hidden = isHidden && "until-found"; // the browser's search opens it
      });
      if (leaves) headings[at].focus({ preventScroll: true });
      const told = `${at + 1} of ${sections.length}: ${title(sections[at])}`;
      line.value = at + 1;
      line.setAttribute("aria-valuetext", told);
      place.setAttribute("aria-live", document.activeElement === line ? "off" : "polite");
      place.textContent = `Step ${told}`;
      back.setAttribute("aria-disabled", at === 0);
      next.setAttribute("aria-disabled", at === sections.length - 1);
      for (const link of document.querySelectorAll('.md-nav__link[href*="#step-"]')) {
        const here = link.hash === `#${headings[at].id}`;
        if (here && !whole) link.setAttribute("aria-current", "step");
        else link.removeAttribute("aria-current");
      }
      if (scroll === "always" || (scroll && (whole || isAbove(sections[at])))) {
        sections[at].scrollIntoView();
      }
    }

    function isAbove(section) {
      return section.getBoundingClientRect().top < bar.getBoundingClientRect().bottom;
    }

    /** The reader has moved on: the address follows, and going back leaves the page. */
    function go(index) {
      if (index < 0 || index >= sections.length || index === at) return;
      show(index, "if needed");
      history.replaceState(null, "", `#${headings[at].id}`);
      if (!still.matches) sections[at].animate([{ opacity: 0.2 }, { opacity: 1 }], 160);
    }

    /** Go where the address says: to a step, or to something within it. */
    function follow() {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const index = sections.findIndex((section) => target && section.contains(target));
      if (index < 0) return;
      show(index, false);
      (target === headings[index] ? sections[index] : target).scrollIntoView();
      if (target === headings[index]) target.focus({ preventScroll: true });
    }

    back.addEventListener("click", () => go(at - 1));
    next.addEventListener("click", () => go(at + 1));
    line.addEventListener("input", () => go(line.value - 1));
    all.addEventListener("click", () => {
      whole = !whole;
      all.setAttribute("aria-pressed", whole);
      show(at, "always");
    });
    sections.forEach((section, i) => section.addEventListener("beforematch", () => show(i, false)));
    addEventListener("hashchange", follow);
    document.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const busy = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
      if (!step || busy || whole || event.defaultPrevented) return;
      if (event.target.closest(OWN_KEYS)) return;
      event.preventDefault();
      go(at + step);
    });

    show(0, false);
    follow();
  }

  document.addEventListener("DOMContentLoaded", () => {
    try {
      start();
    } finally {
      root.classList.remove("steps-one"); // each section says by itself whether it is shown
    }
  });
})();
