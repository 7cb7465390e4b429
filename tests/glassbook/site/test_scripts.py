"""Scripts that start after the first frame."""

import json
import re
from pathlib import Path

import pytest

from glassbook.site.finish.assets import after_first_frame
from browser import launched, opened, served

ROOT = Path(__file__).parents[3]
LATE = (
    '<script src="../assets/js/search.js"></script>\n'
    '<script src="../assets/javascripts/bundle.a5f9.min.js"></script>\n'
    '<script src="../assets/js/aids.js" defer></script>\n'
    '<script src="../assets/proofbook/proofbook.js"></script>\n'
)
KEPT = (
    '<script src="assets/js/steps.js"></script>',
    '<script src="assets/js/whole.js" defer></script>',
    '<script type="module" src="assets/proofbook/views.js"></script>',
    '<script>let search = "js/search.js"</script>',
)


def page(head: str, body: str) -> str:
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def test_scripts_keep_their_order_and_deferred_ones_come_last():
    html = after_first_frame(page("", f"<p>text</p>{LATE}"))
    assert re.findall(r'src="', html) == []
    (listed,) = re.findall(r"= (\[.*?\])\.map", html)
    names = [name.rpartition("/")[2] for name in json.loads(listed)]
    assert names == ["search.js", "bundle.a5f9.min.js", "proofbook.js", "aids.js"]
    assert html.index("<p>text</p>") < html.index("after-first-frame") < html.index("</body>")


@pytest.mark.parametrize("kept", KEPT)
def test_what_changes_the_page_stays_where_it_is(kept):
    html = page(kept, kept)
    assert after_first_frame(html) == html
    assert after_first_frame(page(kept, kept + LATE)).count(kept) == 2


@pytest.mark.browser
def test_they_start_in_order_after_a_frame_even_if_one_is_missing(tmp_path):
    names = ("search", "theme", "aids")
    scripts = "".join(f'<script src="js/{name}.js"></script>' for name in names)
    frame = "<script>ran = []; requestAnimationFrame(() => ran.push('frame'))</script>"
    (tmp_path / "index.html").write_text(after_first_frame(page(frame, scripts)))
    (tmp_path / "js").mkdir()
    for name in ("search", "aids"):
        (tmp_path / f"js/{name}.js").write_text(f"ran.push('{name}')")
    with served(tmp_path) as root, launched() as browser:
        opened(tab := browser.new_page(), root)
        assert tab.evaluate("ran") == ["frame", "search", "aids"]
        (tmp_path / "js/aids.js").unlink()
        opened(tab := browser.new_page(), root)  # which has not kept the script
        assert tab.evaluate("ran") == ["frame", "search"]


@pytest.mark.browser
def test_the_theme_delays_only_the_worker_of_the_search(tmp_path):
    """A module's worker, as models in the page have, answers to `onmessage`, too."""
    field = '<input data-md-component="search-query"><input id="__search">'
    script = f"<script>{(ROOT / 'docs/assets/js/theme.js').read_text()}</script>"
    (tmp_path / "index.html").write_text(page("", field + script))
    (tmp_path / "worker.js").write_text("onmessage = ({ data }) => postMessage(data + 1)")
    ask = """choices => new Promise(resolve => {
        const worker = new Worker("worker.js", ...choices);
        choices.length ? worker.onmessage = ({ data }) => resolve(data)
            : worker.addEventListener("message", ({ data }) => resolve(data));
        worker.postMessage(6);
    })"""
    with served(tmp_path) as root, launched() as browser:
        opened(tab := browser.new_page(), root)
        started = "performance.getEntriesByName(new URL('worker.js', location)).length"
        tab.evaluate("new Worker('worker.js')")
        assert tab.evaluate(started) == 0
        assert tab.evaluate(ask, [{"type": "module"}]) == 7
        assert tab.evaluate(ask, []) == 7
