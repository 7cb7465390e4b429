// Brings the arcs to life: one word at a time shows what it attends to. Without this file, a
// picture stands still, and its weights are in a table for screen readers.
document.querySelectorAll(".glassformer-arcs").forEach((figure) => {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const pictures = [...figure.querySelectorAll("svg")];
  const says = figure.querySelector(".says");
  const pause = figure.querySelector("button");
  const first = pause.dataset.asks; // if there's such a word, the picture stays there
  let asks = Number(first ?? 1);
  let held = false; // by a pointer or the focus
  let seen = true;

  const shown = () => pictures.find((svg) => svg.getClientRects().length) ?? pictures[0];

  const show = (index) => {
    asks = index;
    pictures.forEach((svg) => {
      const tokens = [...svg.querySelectorAll(".token")];
      const shares = tokens[index].dataset.shares.split(" ").map(Number);
      tokens.forEach((token, k) => token.classList.toggle("asks", k === index));
      svg.querySelectorAll(".share").forEach((share, k) => {
        share.textContent = shares[k].toFixed(2);
        share.classList.toggle("on", shares[k] >= 0.005);
      });
      svg.querySelectorAll(".arc").forEach((arc) => {
        arc.classList.toggle("on", Number(arc.dataset.from) === index);
      });
    });
    says.textContent = shown().querySelectorAll(".token")[index].dataset.says;
  };

  pictures.forEach((svg) => {
    svg.removeAttribute("aria-hidden");
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", "The words of the sentence");
    svg.querySelectorAll(".token").forEach((token, index) => {
      token.setAttribute("tabindex", "0");
      token.setAttribute("role", "button");
      token.setAttribute("aria-label", token.dataset.says);
      for (const event of ["pointerenter", "focus"]) {
        token.addEventListener(event, () => show(index));
      }
      token.addEventListener("click", () => {
        show(index);
        moves = false; // what was chosen stays
        label();
      });
    });
  });

  const hold = () => (held = true);
  const release = () => (held = figure.matches(":focus-within") && figure.matches(":has(:focus-visible)"));
  figure.addEventListener("pointerenter", hold);
  figure.addEventListener("focusin", hold);
  figure.addEventListener("pointerleave", release);
  figure.addEventListener("focusout", () => setTimeout(release));
  figure.addEventListener("change", () => show(asks));
  new IntersectionObserver(([entry]) => (seen = entry.isIntersecting)).observe(figure);

  let moves = !still.matches && first === undefined;
  const label = () => {
    pause.textContent = moves ? "❚❚" : "▶";
    pause.setAttribute("aria-label", moves ? "Stop moving from word to word" : "Move from word to word");
  };
  pause.addEventListener("click", () => {
    moves = !moves;
    held = false;
    label();
  });
  label();

  const count = pictures[0].querySelectorAll(".token").length;
  setInterval(() => {
    if (moves && !held && seen && !document.hidden) show((asks + 1) % count);
  }, 2600);
  figure.classList.add("live");
  show(asks);
});
