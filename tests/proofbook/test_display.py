"""How the value of a block's last expression is shown."""

import re

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
    assert all(f.startswith("<svg") and "<dc:date>" not in f for f in figures)
    ids = [i for f in figures for i in re.findall(r' id="([^"]+)"', f)]
    assert len(ids) == len(set(ids)) > 30
    used = {i for f in figures for i in re.findall(r'(?:href="#|url\(#)([^")]+)', f)}
    assert used <= set(ids)
