/* What the theme's own script, which comes after this one, would do too early or too loudly. */

/* The index of the search is large, and most visits to a page never search: it is fetched when a
 * reader turns to the search, or comes from it. The theme believes that it asks for it at once.
 */
(() => {
  "use strict";

  const field = document.querySelector("[data-md-component=search-query]");
  if (!field || /[?&][hq]=/.test(location.search)) return;

  const wanted = new Promise((resolve) => {
    field.addEventListener("focus", resolve, { once: true });
    document.getElementById("__search").addEventListener("change", resolve, { once: true });
  });

  const { open, send } = XMLHttpRequest.prototype;
  const late = new WeakSet();

  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (/\/search_index\.json$/.test(url)) late.add(this);
    return open.call(this, method, url, ...rest);
  };

  XMLHttpRequest.prototype.send = function (...body) {
    if (late.has(this)) wanted.then(() => send.apply(this, body));
    else send.apply(this, body);
  };

  // The worker that searches starts when it is first spoken to; others, which say that they are
  // modules, are what they always are.
  const { Worker } = window;
  window.Worker = class extends EventTarget {
    #worker;
    #url;

    constructor(url, options) {
      super();
      if (options) return new Worker(url, options);
      this.#url = url;
    }

    postMessage(message) {
      if (!this.#worker) {
        this.#worker = new Worker(this.#url);
        this.#worker.addEventListener("message", ({ data }) =>
          this.dispatchEvent(new MessageEvent("message", { data })),
        );
      }
      this.#worker.postMessage(message);
    }
  };
})();

/* Around each button that copies, the theme puts a landmark, as soon as its block is seen; with one
 * a block, there are too many to find anything by. The link that copies a block with what it
 * needs goes beside it. */
new MutationObserver((changes) => {
  for (const added of changes.flatMap((change) => [...change.addedNodes])) {
    if (added.className !== "md-code__nav") continue;
    added.setAttribute("role", "none");
    const more = added.closest(".proofbook-block")?.querySelector(":scope > .proofbook-copy");
    if (!more) continue;
    more.classList.add("md-code__button");
    added.prepend(more);
  }
}).observe(document.body, { childList: true, subtree: true });
