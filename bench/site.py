"""Compare the Lighthouse scores of one page of each kind with a stock page with a bertviz view.

Lighthouse opens each page as on a phone with a slow connection, from a server that compresses and
lets browsers cache; of three visits, the middle one counts. A chapter with views is opened at its
first view, so that the view is drawn. The stock page is a notebook with one `head_view`, exported
by nbconvert. The libraries that it loads from other hosts are served from the same host here, which
is faster than the network. Scores go up to 100: more is better.

Needs node, npm, Chromium, and, for the first run, the network. Prefers `chromium-headless-shell`:
without a screen, the other Chromium shows a page up to two seconds after it has laid it out, and
Lighthouse counts all that happens until then.

    python bench/site.py [--site FOLDER] [--visits 3] [--json]
    python bench/site.py --pages encoder/tokens/ gpt/masks/ [--visits 5]
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbconvert
import nbformat
import torch
from bertviz import head_view

from _turns import keep

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import FLAGS, executable, served  # noqa: E402
from glassformer import default_checkpoint, load, record  # noqa: E402
from glassformer.weights.checkpoints import tokenizer  # noqa: E402

TOOLS = ROOT / ".cache" / "bench" / "site"
PACKAGES = ["lighthouse@12.8.2", "requirejs@2.3.6", "d3@5.7.0", "jquery@2.1.4", "mathjax@2.7.9"]
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
KINDS = {
    "home": "",
    "chapter": "encoder/attention/",
    "chapter with views": "encoder/seeing-attention/",
    "steps": "one-sentence/",
    "lab": "labs/anatomy/",
    "API reference": "reference/api/attention/",
    "source": "source/glassformer/layers/attention/",
    "summary": "reference/verified/",
}
STOCKED = {**KINDS, "stock": "stock/"}
# The libraries that the stock page loads from other hosts, and where they are in the packages.
LIBRARIES = {
    r"https://cdnjs\.cloudflare\.com/ajax/libs/require\.js/[\d.]+/require\.min\.js": "require.js",
    r"https://cdnjs\.cloudflare\.com/ajax/libs/d3/5\.7\.0/d3\.min": "d3.min",
    r"https://cdnjs\.cloudflare\.com/ajax/libs/jquery/2\.0\.0/jquery\.min": "jquery.min",
    r"https://cdnjs\.cloudflare\.com/ajax/libs/mathjax/2\.7\.7/latest\.js": "mathjax/MathJax.js",
}
FILES = {
    "require.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
    "mathjax": "mathjax",
}


def install() -> None:
    """Fetch Lighthouse and the libraries of the stock page, once."""
    if all((TOOLS / "node_modules" / name.rpartition("@")[0]).is_dir() for name in PACKAGES):
        return
    TOOLS.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(TOOLS), *PACKAGES]
    subprocess.run(command, check=True)


@contextmanager
def built(folder: Path | None) -> Iterator[Path]:
    """Make a copy of the given site, or of one built for this."""
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch, "site")
        if folder:
            shutil.copytree(folder, site)
        else:
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(site)]
            subprocess.run(command, cwd=ROOT, check=True)
        yield site


def stock(folder: Path) -> None:
    """Make a notebook with one view, run and exported with the usual defaults."""
    encoding = tokenizer()("time flies like an arrow", return_tensors="pt")
    model = load(default_checkpoint())
    with record(model) as tape, torch.no_grad():
        model(**encoding)
    tokens = tokenizer().convert_ids_to_tokens(encoding["input_ids"][0])
    view = head_view(list(tape.attentions), tokens, html_action="return")
    cell = nbformat.v4.new_code_cell("head_view(attention, tokens)", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": view.data})]
    text = nbformat.v4.new_markdown_cell("# Attention\n\nOne view of one sentence.")
    notebook = nbformat.v4.new_notebook(cells=[text, cell])
    html, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    for foreign, name in LIBRARIES.items():
        html = re.sub(foreign, f"/stock/{name}", html)
    (folder / "stock").mkdir()
    (folder / "stock" / "index.html").write_text(html, encoding="utf-8")
    for name, path in FILES.items():
        source = TOOLS / "node_modules" / path
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / "stock" / name)


def first_view(page: Path) -> str:
    """Return the anchor of the last heading before the first view of a page, if it has one."""
    before, view, _ = page.read_text(encoding="utf-8").partition("<glassformer-view")
    headings = re.findall(r'<h[2-4] id="([^"]+)"', before)
    return f"#{headings[-1]}" if view and headings else ""


def visit(address: str) -> tuple[dict[str, float], list[str]]:
    """Return the four scores of one visit, and the audits that lowered them."""
    command = [
        str(TOOLS / "node_modules/.bin/lighthouse"),
        address,
        "--output=json",
        "--quiet",
        f"--only-categories={','.join(CATEGORIES)}",
        f"--chrome-flags=--headless=new {' '.join(FLAGS)}",
    ]
    browser = shutil.which("chromium-headless-shell") or executable()
    environment = {**os.environ, "CHROME_PATH": browser}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    marks = {name: 100 * report["categories"][name]["score"] for name in CATEGORIES}
    costly = [
        f"{name} ({one.get('displayValue', one['score'])})"
        for category in CATEGORIES
        for reference in report["categories"][category]["auditRefs"]
        if reference["weight"] and (name := reference["id"])
        if (one := report["audits"][name])["score"] is not None and one["score"] < 0.9
    ]
    return marks, costly


def main() -> None:
    """Visit one page of each kind and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--site", type=Path, help="a built site, instead of building one")
    parser.add_argument("--visits", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=STOCKED, default=[*STOCKED])
    parser.add_argument("--pages", nargs="+", help="addresses to visit instead of those kinds")
    parser.add_argument("--json", action="store_true", help="write bench/results/site.json")
    options = parser.parse_args()
    install()
    chosen = {kind: path for kind, path in STOCKED.items() if kind in options.only}
    if options.pages:
        chosen = {page: page for page in options.pages}
    rows = []
    print(f"{'page':22}" + "".join(f"{name:>16}" for name in CATEGORIES))
    with built(options.site) as site, served(site, []) as root:
        stock(site)
        for kind, path in chosen.items():
            address = root + path + first_view(site / path / "index.html")
            visits = [visit(address) for _ in range(options.visits)]
            marks = {n: round(statistics.median(m[n] for m, _ in visits)) for n in CATEGORIES}
            print(f"{kind:22}" + "".join(f"{marks[name]:16}" for name in CATEGORIES), flush=True)
            print("".join(f"    {one}\n" for one in visits[0][1]), end="", flush=True)
            rows.append({"page": kind, **marks, "visits": options.visits})
    if options.json:
        keep("site", rows)


if __name__ == "__main__":
    main()
