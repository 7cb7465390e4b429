/* Steps, one at a time: a page whose front matter says `steps: true` is shown as a stepper.
 *
 * In the page a step is a heading whose id begins with "step-", with all that follows it, and
 * <div class="steps-bar"></div> says where the controls stand. A heading's data-part names the part
 * of the way that begins there. Without this script the page is simply long. The script stands in
 * the head, so that nothing is drawn twice.
 */
(() => {
  "use strict";

  const root = document.documentElement;
  root.classList.add("steps-one"); // the style sheet shows the first step alone from now on

  const CONTROLS = `
    <button type="button" class="steps-back" aria-label="Previous step"
      aria-keyshortcuts="ArrowLeft" title="Previous step (left arrow key)">
      ← <span class="steps-word">Previous</span></button>
    <p class="steps-place"></p>
    <button type="button" class="steps-all" aria-pressed="false">Show all steps</button>
    <button type="button" class="steps-next" aria-label="Next step"
      aria-keyshortcuts="ArrowRight" title="Next step (right arrow key)">
      <span class="steps-word">Next</span> →</button>
    <ol class="steps-strip" aria-label="All steps"></ol>`;
  // Where left and right already mean something: fields, and what scrolls sideways.
  const OWN_KEYS =
    "input, textarea, select, pre, [contenteditable], [tabindex]:not(h2, .steps-strip a)";
  const SWIPE = 50; // pixels sideways, and at least twice as many as up or down

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

  function titleOf(heading) {
    const parts = [...heading.childNodes];
    return parts.map((part) => (part.className === "headerlink" ? "" : part.textContent)).join("");
  }

  /** A link for each step, and above the first of each part its name. */
  function filled(strip, headings) {
    return headings.map((heading, i) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const { part } = heading.dataset;
      if (part) item.dataset.part = part;
      link.href = `#${heading.id}`;
      link.title = link.ariaLabel = `${i + 1}: ${titleOf(heading)}`;
      link.textContent = i + 1;
      item.append(link);
      strip.append(item);
      return link;
    });
  }

  /** Calls `go` with 1 for a finger that moves left, with -1 for one that moves right. */
  function listenForSwipes(area, go) {
    let from = null;
    area.addEventListener("touchstart", (event) => {
      const zoomed = visualViewport.scale > 1.01;
      from = event.touches.length === 1 && !zoomed && !slides(event.target) ? event.touches[0] : null;
    }, { passive: true });
    area.addEventListener("touchcancel", () => (from = null));
    area.addEventListener("touchend", ({ changedTouches: [to] }) => {
      if (!from || !getSelection().isCollapsed) return;
      const [across, down] = [to.clientX - from.clientX, to.clientY - from.clientY];
      from = null;
      if (Math.abs(across) >= SWIPE && Math.abs(across) > 2 * Math.abs(down)) go(across < 0 ? 1 : -1);
    });
  }

  /** Whether a finger that moves sideways there moves something else: a wide table, a slider. */
  function slides(node) {
    for (; node !== document.body; node = node.parentElement) {
      if (node.matches("input, select, textarea")) return true;
      const { overflowX } = getComputedStyle(node);
      if (/auto|scroll/.test(overflowX) && node.scrollWidth > node.clientWidth + 1) return true;
    }
    return false;
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
    const [back, place, all, next, strip] = bar.children;
    const links = filled(strip, headings);
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    let at = 0;
    let whole = false;

    function show(index) {
      at = index;
      const leaves = sections.some((one, i) => i !== at && one.contains(document.activeElement));
      sections.forEach((section, i) => {
        const isHidden = !whole && i !== at;
        section.firstChild.hidden = isHidden;
        section.lastChild.hidden = isHidden && "until-found"; // the browser's search opens it
      });
      if (leaves) headings[at].focus({ preventScroll: true });
      const told = `Step ${at + 1} of ${sections.length}`;
      // A link of the strip that gets the focus tells the same.
      place.setAttribute("aria-live", links.includes(document.activeElement) ? "off" : "polite");
      place.innerHTML = `${told}<span class="steps-title">: </span>`;
      place.lastChild.append(titleOf(headings[at]));
      back.setAttribute("aria-disabled", at === 0);
      next.setAttribute("aria-disabled", at === sections.length - 1);
      mark();
    }

    /** Say in the strip, and in the theme's table of contents, which step this is. */
    function mark() {
      const beside = document.querySelectorAll('.md-nav__link[href*="#step-"]');
      for (const link of [...links, ...beside]) {
        const here = link.hash === `#${headings[at].id}`;
        if (here && !whole) link.setAttribute("aria-current", "step");
        else link.removeAttribute("aria-current");
      }
      links.forEach((link, i) => {
        link.tabIndex = i === at ? 0 : -1; // one stop for the Tab key; arrow keys lead on
        link.classList.toggle("done", i < at);
      });
      if (links.includes(document.activeElement)) links[at].focus({ preventScroll: true });
      const { offsetLeft, offsetWidth } = links[at].parentNode;
      strip.scrollLeft = offsetLeft + offsetWidth / 2 - strip.clientWidth / 2;
    }

    /** A picture that fits below the buttons is in sight whole: the text above it gives way. */
    function sighted(section) {
      const picture = section.querySelector(".proofbook-output svg");
      if (!picture) return;
      const { top, bottom } = picture.getBoundingClientRect();
      const room = top - bar.getBoundingClientRect().bottom;
      const beyond = Math.ceil(Math.min(bottom - innerHeight, room));
      if (beyond > 0) scrollBy({ top: beyond, behavior: "instant" });
    }

    /** The reader has moved on: the address follows, and going back leaves the page. */
    function go(index) {
      if (index < 0 || index >= sections.length || index === at) return;
      show(index);
      sections[at].scrollIntoView();
      sighted(sections[at]);
      history.replaceState(null, "", `#${headings[at].id}`);
      if (!still.matches) sections[at].animate([{ opacity: 0.2 }, { opacity: 1 }], 160);
    }

    /** Go where the address says: to a step, or to something within it. */
    function follow() {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const index = sections.findIndex((section) => target && section.contains(target));
      if (index < 0) return;
      show(index);
      (target === headings[index] ? sections[index] : target).scrollIntoView();
      if (target === headings[index]) target.focus({ preventScroll: true });
    }

    back.addEventListener("click", () => go(at - 1));
    next.addEventListener("click", () => go(at + 1));
    strip.addEventListener("click", (event) => {
      const index = links.indexOf(event.target);
      if (index < 0 || whole || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(index);
    });
    all.addEventListener("click", () => {
      whole = !whole;
      all.setAttribute("aria-pressed", whole);
      show(at);
      sections[at].scrollIntoView();
    });
    sections.forEach((section, i) => section.addEventListener("beforematch", () => show(i)));
    addEventListener("hashchange", follow);
    document.addEventListener("keydown", (event) => {
      const last = sections.length - 1;
      const within = links.includes(event.target) && { Home: -last, End: last }[event.key];
      const step = within || { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const busy = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
      if (!step || busy || whole || event.defaultPrevented) return;
      if (event.target.closest(OWN_KEYS)) return;
      event.preventDefault();
      go(Math.min(Math.max(at + step, 0), last));
    });
    const stage = bar.parentNode;
    listenForSwipes(stage, (step) => whole || go(at + step));
    new ResizeObserver(() => {
      stage.style.setProperty("--steps-bar", `${bar.offsetHeight}px`);
    }).observe(bar);

    show(0);
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
