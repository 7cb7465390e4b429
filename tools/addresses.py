"""Add a built site's section addresses to the list of addresses that must keep working.

Usage: python tools/addresses.py site
"""

import json
import re
import sys
from pathlib import Path

KEPT = Path(__file__).parents[1] / "tests/book/addresses.json"
HEADING = re.compile(r'<h[2-6][^>]* id="([^"]+)"')


def main() -> int:
    """Write the kept addresses and the site's, sorted."""
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "index.html").is_file():
        print(__doc__, file=sys.stderr)
        return 2
    site = Path(sys.argv[1])
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    before = sum(map(len, kept.values()))
    for file in site.rglob("index.html"):
        page = file.parent.relative_to(site).as_posix()
        if page.startswith("source/") or page == "whole-book":  # made from files and other pages
            continue
        found = HEADING.findall(file.read_text(encoding="utf-8").partition("<article")[2])
        kept[page] = sorted({*kept.get(page, []), *found})
    text = json.dumps(dict(sorted(kept.items())), indent=0, ensure_ascii=False)
    KEPT.write_text(text + "\n", encoding="utf-8")
    print(f"{sum(map(len, kept.values())) - before} new addresses")
    return 0


if __name__ == "__main__":
    sys.exit(main())
