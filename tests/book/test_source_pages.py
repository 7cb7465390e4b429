"""Pages of source files, all of them, in a real browser."""

import pytest

from browser import visit

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

# The words of each line, and the lines in which one is drawn over the one before it.
LINES = """() => {
  const range = document.createRange();
  let words = 0;
  const overprinted = [...document.querySelectorAll('.source .line')].filter(line => {
    const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    const boxes = [];
    while (texts.nextNode()) {
      range.selectNodeContents(texts.currentNode);
      boxes.push(range.getBoundingClientRect());
    }
    words += boxes.length;
    return boxes.some((box, i) => i && box.left < boxes[i - 1].right - 1);
  });
  return [words, overprinted.map(line => line.textContent)];
}"""


def test_no_word_of_a_line_is_drawn_over_another(site, browser, address):
    pages = sorted((site / "source").rglob("index.html"))
    assert len(pages) > 100
    found = {}
    with visit(browser, address, javascript=False) as seen:
        for page in pages:
            seen.page.goto(address + page.parent.relative_to(site).as_posix() + "/")
            words, overprinted = seen.page.evaluate(LINES)
            assert words > 10, page
            found[page.parent.name] = overprinted
    assert not {name: lines for name, lines in found.items() if lines}
