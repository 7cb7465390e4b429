"""Print the whole book as one PDF, with Chromium, from the page that contains all chapters.

Usage: python tools/pdf.py SITE FILE
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import launched, served  # noqa: E402

UNDRAWN = "document.querySelectorAll('glassformer-view:not([data-state])').length"


def main(site: Path, file: Path) -> None:
    """Open the page, let all views draw themselves, and print."""
    with served(site) as root, launched() as browser:
        page = browser.new_page(viewport={"width": 800, "height": 1100}, color_scheme="light")
        page.goto(f"{root}whole-book/", timeout=120_000)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")  # views draw, folds open
        page.wait_for_function(f"{UNDRAWN} === 0", timeout=120_000)
        page.pdf(path=str(file), prefer_css_page_size=True, outline=True, tagged=True)
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
