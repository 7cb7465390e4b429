// Under `mkdocs serve`: reload a page when it has been made again, and stay at the same place.
// The page's text has the same parts before and after. Outputs within them may be new, and so may
// what the engine and the theme add at the page's ends.
(() => {
  const {page, epoch, mount} = document.currentScript.dataset;
  const key = "proofbook-place:" + location.pathname;
  const added = ".md-content__button, .proofbook-end";
  const parts = () => [...document.querySelectorAll(`article > :not(${added})`)];

  const place = () => {
    const all = parts();
    const number = all.findIndex((part) => part.getBoundingClientRect().bottom > 0);
    return number < 0 || scrollY === 0 ? null : {number, top: all[number].getBoundingClientRect().top};
  };
  const restore = () => {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
    sessionStorage.removeItem(key);
    const part = kept && parts()[kept.number];
    if (!part) return;
    const go = () => scrollBy({top: part.getBoundingClientRect().top - kept.top, behavior: "instant"});
    history.scrollRestoration = "manual";
    go();
    addEventListener("load", go);
    // Not sooner: a browser restores its own position once more after the page has loaded.
    addEventListener("pagehide", () => { history.scrollRestoration = "auto"; });
  };

  let abort = new AbortController();
  const poll = async () => {
    const own = (abort = new AbortController());
    while (document.visibilityState === "visible" && !own.signal.aborted) {
      try {
        const answer = await fetch(`${mount}livereload/${epoch}/${page}`, {signal: own.signal});
        if (Number(await answer.text()) > Number(epoch)) {
          sessionStorage.setItem(key, JSON.stringify(place()));
          location.reload();
          return;
        }
      } catch {
        if (!own.signal.aborted) await new Promise((go) => setTimeout(go, 3000));
      }
    }
  };
  restore();
  addEventListener("load", poll);
  addEventListener("visibilitychange", () => { abort.abort(); poll(); });
  addEventListener("pagehide", () => abort.abort());
})();
