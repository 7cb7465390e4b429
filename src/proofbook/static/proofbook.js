// The copy button of a shown source gives all of it, what is folded too.
document.addEventListener("click", event => {
  const button = event.target.closest?.("[data-clipboard-target]");
  const whole = button?.closest(".proofbook-block")?.querySelector(".proofbook-whole");
  if (whole) button.setAttribute("data-clipboard-text", JSON.parse(whole.textContent));
}, true);  // before the theme's own listener

// "Copy with what it needs" gives the page's code up to and including the block. Where there is no
// clipboard, as without scripts, it leads to the page's script.
{
  const said = document.createElement("div");
  said.className = "proofbook-said";
  said.setAttribute("role", "status");
  document.body.append(said);
  document.addEventListener("click", async event => {
    const link = event.target.closest?.(".proofbook-copy");
    if (!link || !navigator.clipboard) return;
    event.preventDefault();
    const own = link.closest(".proofbook-block").querySelector(".proofbook-program");
    const program = JSON.parse((own ?? document.querySelector(".proofbook-program")).textContent);
    const last = Number(link.dataset.step);
    const before = program.steps.slice(0, last).map(([code]) => code);
    const parts = [program.start, ...before, program.steps[last].at(-1)].filter(Boolean);
    await navigator.clipboard.writeText(`${parts.join("\n\n")}\n`);
    said.textContent = "Copied with what it needs";
    link.classList.add("proofbook-copied");
    setTimeout(() => {
      said.textContent = "";
      link.classList.remove("proofbook-copied");
    }, 2000);
  });
}

// The whole phrase opens what its sign opens; links and selected words are left alone.
document.addEventListener("click", event => {
  if (event.target.closest?.("a, button, summary, label") || String(getSelection())) return;
  const phrase = event.target.closest?.(".proofbook-claim, .proofbook-fact");
  phrase?.querySelector(":scope > .proofbook-sign")?.click();
});

// highlight.js, which MkDocs's own themes load, leaves alone what has its colors from the build, and
// what is no code: outputs and errors.
globalThis.hljs?.configure({
  cssSelector: "pre code:not(.highlight code, .proofbook-output code, .proofbook-error code)",
});
