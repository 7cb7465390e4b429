"""How the value of a block's last expression is shown."""

import base64
import re
import struct

RICH = """
class Rich:
    def _repr_html_(self):
        return "<b>html</b>"

class Page(Rich):
    def _repr_page_(self):
        return '<i src="asset://a.js"></i>', {"a.js": FILE}

class Plain(Rich):
    def _repr_html_(self):
        return None
    def __repr__(self):
        return "plain"
"""


def test_html_goes_before_the_repr_unless_there_is_none(project):
    run = project.run(RICH, "Rich()", "Plain()", "Rich")
    assert [(o.kind, o.data) for b in run.blocks for o in b.outputs] == [
        ("html", "<b>html</b>"),
        ("text", "plain"),
        ("text", "<class '__main__.Rich'>"),
    ]


def test_the_markup_for_a_page_goes_first_and_names_its_assets(project):
    file = project.write("a.js", "1")
    run = project.run(RICH, "from pathlib import Path\nFILE = Path('a.js')\nPage()")
    [output] = run.blocks[1].outputs
    assert (output.kind, output.data) == ("html", '<i src="asset://a.js"></i>')
    assert output.assets == {"a.js": str(file)}


def test_a_repr_that_raises_is_a_failure(project):
    run = project.run("class A:\n    def __repr__(self):\n        return 1 / 0", "A()")
    assert run.blocks[1].failure.reason == "ZeroDivisionError: division by zero"


def test_figures_are_as_fine_as_eyes_are(project):
    """Paths end two places behind the point, and a matrix is drawn as one pixel a number."""
    run = project.run(
        "import matplotlib.pyplot as plt",
        "plt.plot([1 / 3, 2 / 3, 1 / 7], [1 / 3, 1 / 7, 1 / 11]);",
        "plt.imshow([[0.0, 1.0, 2.0], [3.0, 5.0, 7.0]]);",
    )
    curve, image = (block.outputs[0].data for block in run.blocks[1:])
    places = [len(p) for d in re.findall(r' d="([^"]+)"', curve) for p in re.findall(r"\.(\d+)", d)]
    assert max(places) == 2 < len(places)
    png = base64.b64decode(re.search(r"base64,\s*([^\"]+)", image)[1])
    assert struct.unpack(">II", png[16:24]) == (3, 2)


def test_figures_are_shown_once_closed_and_the_same_in_each_build(project):
    start = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2]);"
    explicit = "figure, axes = plt.subplots()\naxes.plot([1, 2])\nfigure"
    code = [
        start,
        "plt.get_fignums()",
        explicit,
        "plt.plot([1]);plt.figure();plt.plot([1]);plt.show()",
    ]
    runs = project.run_pages(*(project.page(*code, path=f"{n}.md") for n in range(2)))
    first, second = runs.values()
    assert [[o.kind for o in b.outputs] for b in first.blocks] == [
        ["svg"],
        ["text"],
        ["svg"],
        ["svg", "svg"],
    ]
    assert first.blocks[1].outputs[0].data == "[]"
    assert [b.outputs for b in first.blocks] == [b.outputs for b in second.blocks]
    figures = [o.data for block in first.blocks for o in block.outputs if o.kind == "svg"]
    assert all(f.startswith("<svg") and "<metadata>" not in f for f in figures)
    ids = [i for f in figures for i in re.findall(r' id="([^"]+)"', f)]
    assert len(ids) == len(set(ids)) > 30
    used = {i for f in figures for i in re.findall(r'(?:href="#|url\(#)([^")]+)', f)}
    assert used <= set(ids)
