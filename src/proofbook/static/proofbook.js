// A block's copy button gives the program that runs alone, not just the lines that the page shows;
// that of a shown source gives all of it, what is folded too.
document.addEventListener("click", event => {
  const button = event.target.closest?.("[data-clipboard-target]");
  if (!button || button.closest(".proofbook-output")) return;
  const payload = button.closest(".proofbook-block")?.querySelector(".proofbook-payload, .proofbook-whole");
  if (payload) button.setAttribute("data-clipboard-text", JSON.parse(payload.textContent));
}, true);  // before the theme's own listener

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
