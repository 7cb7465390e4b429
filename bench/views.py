"""Time how long the views keep their reader waiting: each interaction, from event to frame.

A page with the four views of real sentences is opened in Chromium, at full speed and with the
processor four times slower. Each interaction is made by mouse or keys, as a reader makes it; its
time is the browser's own (Event Timing): from the event until the next frame is on the screen, in
steps of 8 ms. The slowest of the turns counts.

The goal is at most 100 ms at full speed, and 300 ms with the processor four times slower. The table
has each time as a share of its goal: more than 1 means that the reader waits too long. The slower
processor is allowed three times as long, so its share can be the smaller one.

Run it alone on the machine.

    python bench/views.py [--turns 3] [--json]
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from _turns import keep

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import launched, served, visit  # noqa: E402
from glassformer import default_checkpoint, load, record  # noqa: E402
from glassformer.views import cross_view, head_view, model_view, neuron_view  # noqa: E402
from glassformer.weights.checkpoints import tokenizer  # noqa: E402

SENTENCES = ("time flies like an arrow", "fruit flies like a banana")
SLOWER = (1, 4)
MOST = {1: 100, 4: 300}  # ms
LISTEN = """() => {
  globalThis.slowest = 0;
  new PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) slowest = Math.max(slowest, duration);
  }).observe({ type: "event", durationThreshold: 16 });
}"""
# The frame after the next, and what it reports.
SETTLED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 150)))"

# View, name of the interaction, what is focused or pointed at, and the key or click, in turns.
INTERACTIONS = [
    ("head", "layer", "#layer", ("ArrowDown", "ArrowDown", "ArrowUp")),
    ("head", "sentences", "#filter", ("ArrowDown", "ArrowDown", "ArrowUp")),
    ("head", "head off and on", "[role=checkbox] >> nth=3", ("click",)),
    ("head", "one head alone", "[role=checkbox] >> nth=3", ("dblclick",)),
    ("head", "word pointed at", "#left text", ("hover",)),
    ("head", "word by keys", "[data-token='0 0']", ("ArrowDown",)),
    ("cross", "layer", "#layer", ("ArrowDown", "ArrowUp")),
    ("cross", "attention", "#filter", ("ArrowDown", "ArrowDown", "ArrowUp")),
    ("model", "sentences", "#filter", ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp")),
    ("model", "head opened", "[data-thumbnail='5'], [data-thumbnail='40']", ("click",)),
    ("neuron", "layer", "#layer", ("ArrowDown", "ArrowUp")),
    ("neuron", "head", "#att_head", ("ArrowUp", "ArrowDown")),
    ("neuron", "word pointed at", "#collapsed #leftText text", ("hover",)),
    ("neuron", "queries and keys", ".detail-button", ("click",)),  # an odd number leaves it open
    ("neuron", "query pointed at", "#expanded #leftText text", ("hover",)),
]


def views() -> dict[str, Any]:
    """Return the four views of two sentences, by name."""
    encoding = tokenizer()(*SENTENCES, return_tensors="pt")
    encoder = load(default_checkpoint())
    with record(encoder) as tape, torch.no_grad():
        encoder(**encoding)
    tokens = encoding.tokens()
    start = int((encoding["token_type_ids"] == 0).sum())
    second = {"sentence_b_start": start}
    weights = tape.attentions
    return {
        "head": head_view(weights, tokens, **second),
        "cross": cross_view(
            [w[:, :, :start] for w in weights],
            tokens[:start],
            tokens,
            decoder_attentions=[w[:, :, :start, :start] for w in weights],
            encoder_attentions=weights,
        ),
        "model": model_view(weights, tokens, **second),
        "neuron": neuron_view(tape, tokens, **second),
    }


@contextmanager
def page_of_views() -> Iterator[str]:
    """Write a page with all of them; return its address."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = []
        for kind, view in views().items():
            markup, files = view._repr_page_()
            for file, path in files.items():
                shutil.copy(path, folder / file)
            parts.append(f'<section id="{kind}">{markup.replace("asset://", "")}</section>')
        page = '<!doctype html><meta charset="utf-8"><body style="max-width:44em;margin:auto">'
        (folder / "index.html").write_text(page + "".join(parts), encoding="utf-8")
        with served(folder) as address:
            yield address


def interact(page: Any, view: Any, where: str, key: str, turn: int) -> None:
    """Make one interaction the way a reader does."""
    targets = view.locator(where)
    target = targets.nth(turn % targets.count())
    if key == "hover":
        target.hover()
    elif key in ("click", "dblclick"):
        getattr(target, key)()
    else:
        page.keyboard.press(key)


def measured(browser: Any, address: str, slower: int, turns: int) -> list[dict[str, Any]]:
    """Return the slowest turn of each interaction."""
    rows = []
    with visit(browser, address) as seen:
        page = seen.page
        cdp = page.context.new_cdp_session(page)
        for kind in dict.fromkeys(kind for kind, *_ in INTERACTIONS):
            page.locator(f"#{kind}").scroll_into_view_if_needed()
            page.wait_for_selector(f"#{kind} glassformer-view[data-state=drawn]")
        page.evaluate(LISTEN)
        cdp.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        for kind, name, where, keys in INTERACTIONS:
            view = page.locator(f"#{kind} glassformer-view")
            view.scroll_into_view_if_needed()
            if keys[0] not in ("click", "dblclick", "hover"):
                view.locator(where).focus()
            page.evaluate(SETTLED)
            times = []
            for turn in range(turns * len(keys)):
                page.evaluate("slowest = 0")
                interact(page, view, where, keys[turn % len(keys)], turn)
                page.evaluate(SETTLED)
                times.append(page.evaluate("slowest"))
            rows.append({"view": kind, "interaction": name, "slower": slower, "ms": max(times)})
    return rows


def main() -> None:
    """Make every interaction at both speeds and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=3, help="an odd number")
    parser.add_argument("--json", action="store_true", help="write bench/results/views.json")
    options = parser.parse_args()
    rows = []
    with page_of_views() as address, launched() as browser:
        for slower in SLOWER:
            for row in measured(browser, address, slower, options.turns):
                late = "  too slow" if row["ms"] > MOST[slower] else ""
                print(
                    f"{slower}x {row['view']:8}{row['interaction']:20}{row['ms']:6.0f} ms{late}",
                    flush=True,
                )
                rows.append(row | {"most": MOST[slower], "turns": options.turns})
    if options.json:
        keep("views", rows)


if __name__ == "__main__":
    main()
