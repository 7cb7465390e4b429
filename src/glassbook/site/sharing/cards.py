"""The picture that goes with a link to a chapter: its title, and its question as a model reads it.

The drawing is the book's own, `glassformer.views.arcs`, rendered as pixels by matplotlib, since
link previews don't show SVG. The plugin runs this module as a program, and sends what to draw to
its standard input, since a torch model has no business in MkDocs.
"""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any
from xml.etree.ElementTree import Element, fromstring

WIDTH, HEIGHT, MARGIN = 1200, 630, 64  # pixels; the size that link previews need
DPI = 100
HEAD = (4, 9)  # layer and head: the first of those on the home page
PAPER, INK, SOFT, BLUE = "#fdfcf9", "#1c1e22", "#565b64", "#1f4fb5"
SERIF, SANS = "STIXGeneral", "DejaVu Sans"  # matplotlib has both, and can't read woff2
LINE = 30  # the most characters in a line of a title
ROOM = (WIDTH - 2 * MARGIN, 330)  # for the drawing
MIDDLE = 405  # of the drawing, from the top
SAYS = "One attention head of all-MiniLM-L6-v2, as it reads these words"


def main() -> None:
    """Draw the pictures that standard input lists, except those already drawn."""
    job = json.load(sys.stdin)
    folder, kept = Path(job["folder"]), Path(job["kept"])
    for directory in (folder, kept):
        directory.mkdir(parents=True, exist_ok=True)
    code = Path(__file__).read_text(encoding="utf-8")
    files = {}
    for name, card in job["cards"].items():
        known = hashlib.sha256(json.dumps([code, job["book"], card]).encode()).hexdigest()[:16]
        files[name] = kept / f"{known}.png"
    missing = {files[name]: card for name, card in job["cards"].items() if not files[name].exists()}
    if missing:
        draw(missing, job["book"])
    for name, file in files.items():
        shutil.copyfile(file, folder / f"{name}.png")


def draw(cards: Mapping[Path, list[str]], book: str) -> None:
    """Draw pictures.

    Args:
        cards: The title and the question of each card, by the file to write it to.
        book: The book's name.
    """
    from glassformer.interpret.run import read
    from glassformer.views import arcs
    from glassformer.weights.checkpoints import default_checkpoint
    from glassformer.weights.pretrained import load

    model = load(default_checkpoint())
    for file, (title, question) in cards.items():
        reading = read(question, model=model)
        view = arcs({"": reading.attentions[HEAD]}, reading.tokens)
        [svg] = re.findall(r"<svg .*?</svg>", view._repr_html_(), re.DOTALL)
        picture(file, book, title, fromstring(svg))


def picture(file: Path, book: str, title: str, svg: Element) -> None:
    """Draw one picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.axis("off")

    def write(text: str, x: float, y: float, size: float, **more: Any) -> None:
        axes.text(x, y, text, fontsize=size * 72 / DPI, parse_math=False, **more)

    write(book, MARGIN, 76, 26, family=SANS, color=SOFT)
    for number, line in enumerate(wrap(title, LINE)[:2]):
        write(line, MARGIN, 150 + 66 * number, 64, family=SERIF, color=INK, weight="bold")
    write(SAYS, MARGIN, HEIGHT - 34, 19, family=SANS, color=SOFT)
    trace(axes, svg, write)
    figure.savefig(file, dpi=DPI, facecolor=PAPER, metadata={"Software": None})


def trace(axes: Any, svg: Element, write: Any) -> None:
    """Draw the lines and words of an `arcs` drawing into the space reserved for it."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    _, _, width, height = map(float, svg.attrib["viewBox"].split())
    scale = min(ROOM[0] / width, ROOM[1] / height)
    left, top = (WIDTH - scale * width) / 2, MIDDLE - scale * height / 2

    def place(x: float, y: float) -> tuple[float, float]:
        return left + scale * x, top + scale * y

    for arc in svg.iter("path"):
        numbers = [float(one) for one in re.findall(r"-?[\d.]+", arc.attrib["d"])]
        points = [place(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        [opacity] = re.findall(r"opacity:([\d.]+)", arc.attrib["style"])
        curve = Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * 3])
        wide = float(arc.attrib["stroke-width"]) * scale * 72 / DPI
        axes.add_patch(
            PathPatch(
                curve, fill=False, edgecolor=BLUE, lw=wide, alpha=float(opacity), capstyle="round"
            )
        )
    for word in svg.iter("text"):
        if "word" in word.attrib["class"].split():
            special = "special" in word.attrib["class"]
            x, y = place(float(word.attrib["x"]), float(word.attrib["y"]))
            style = {"family": SANS, "color": SOFT} if special else {"family": SERIF, "color": INK}
            write(word.text or "", x, y, (16 if special else 27) * scale, ha="center", **style)


if __name__ == "__main__":
    main()
