// A block's copy button gives the program that runs alone, not just the lines that the page shows.
document.addEventListener("click", event => {
  const button = event.target.closest?.("[data-clipboard-target]");
  if (!button || button.closest(".proofbook-output")) return;
  const payload = button.closest(".proofbook-block")?.querySelector(".proofbook-payload");
  if (payload) button.setAttribute("data-clipboard-text", JSON.parse(payload.textContent));
}, true);  // before the theme's own listener
