"""How the value of a block's last expression is shown."""

import base64
import re
import struct

from tables import table

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


def test_the_markup_for_a_page_goes_first_and_names_its_assets(project):
    file = project.write("a.js", "1")
    run = project.run(RICH, "from pathlib import Path\nFILE = Path('a.js')\nPage()")
    [output] = run.blocks[1].outputs
    assert (output.kind, output.data) == ("html", '<i src="asset://a.js"></i>')
    assert output.assets == {"a.js": str(file)}


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


# -- Rich reprs ------------------------------------------------------------------------------------

MARKUP = {
    "_repr_page_": ("('<b>page</b>', {})", "html", "<b>page</b>"),
    "_repr_mimebundle_": ("{'text/markdown': '*a*', 'text/plain': 'a'}", "markdown", "*a*"),
    "_repr_html_": ("'<b>html</b>'", "html", "<b>html</b>"),
    "_repr_svg_": ("'<svg></svg>'", "svg", "<svg></svg>"),
    "_repr_png_": ("PNG", "image", '<img src="data:image/png;base64,'),
    "_repr_jpeg_": ("JPEG", "image", '<img src="data:image/jpeg;base64,'),
    "_repr_markdown_": ("'*b*'", "markdown", "*b*"),
    "_repr_latex_": ("'$x$'", "latex", "$x$"),
    "__repr__": ("'text'", "text", "text"),
}
"""Jupyter's order of preference, ours before it."""


def png(width, height, pixels=b""):
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", pixels), (b"IEND", b"")]
    data = b"".join(struct.pack(">I", len(one)) + name + one + b"crc!" for name, one in chunks)
    return b"\x89PNG\r\n\x1a\n" + data


def jpeg(width, height):
    frame = struct.pack(">HBHHB", 8, 8, height, width, 1)
    return b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc2" + frame + b"\xff\xd9"


PICTURES = f"PNG = {png(20, 10)!r}\nJPEG = {jpeg(30, 15)!r}\n"


def rich(name, *methods, nothing=()):
    lines = [f"class {name}:"]
    for method in methods:
        given = "None" if method in nothing else MARKUP[method][0]
        lines.append(f"    def {method}(self, **_):\n        return {given}")
    return "\n".join([*lines, f"{name}()"])


def test_the_richest_repr_is_shown_in_jupyter_s_order(project):
    order = [*MARKUP]
    run = project.run(PICTURES, *(rich("R", *order[first:]) for first in range(len(order))))
    outputs = [block.outputs[0] for block in run.blocks[1:]]
    assert [output.kind for output in outputs] == [kind for _, kind, _ in MARKUP.values()]
    for output, (_, _, data) in zip(outputs, MARKUP.values(), strict=True):
        assert output.data.startswith(data)
    assert outputs[1].plain == "a"  # the bundle says so itself
    assert {output.plain for output in outputs[2:-1]} == {"text"}


@table("first", range(1, len(MARKUP) - 1))
def test_one_that_gives_nothing_leaves_it_to_the_next(project, first):
    order = [*MARKUP][first:]
    run = project.run(PICTURES, rich("R", *order, nothing=[order[0]]))
    assert run.blocks[1].outputs[0].kind == MARKUP[order[1]][1]


def test_pictures_have_their_own_size_and_words_for_those_who_cannot_see_them(project):
    code = PICTURES + (
        "class Cat:\n"
        "    def __init__(self, given, **about):\n        self.given, self.about = given, about\n"
        "    def _repr_png_(self):\n        return (self.given, self.about)\n"
        "    def __repr__(self):\n        return '<Cat \"Tom\" at 0x7F00aa>'\n"
        "import base64\n"
        "display(Cat(PNG), Cat(base64.b64encode(PNG).decode(), width=10, height=5, alt='A cat'))\n"
        "class Photo:\n    def _repr_jpeg_(self):\n        return memoryview(JPEG)\n"
        "Photo()"
    )
    first, second, third = project.run(code).blocks[0].outputs
    whole = base64.b64encode(png(20, 10)).decode()
    assert first.data == (
        f'<img src="data:image/png;base64,{whole}" alt="&lt;Cat &quot;Tom&quot;&gt;" '
        'width="20" height="10">'
    )
    assert second.data.endswith(f'{whole}" alt="A cat" width="10" height="5">')
    assert third.data.endswith('alt="&lt;Photo&gt;" width="30" height="15">')


@table(
    ("method", "given", "reason"),
    [
        (
            "_repr_png_",
            "b'GIF89a'",
            "expected a picture (image/png), but the data begins with b'GIF89a'",
        ),
        ("_repr_jpeg_", "b'\\xff\\xd8\\xff'", "expected a picture (image/jpeg)"),
        ("_repr_svg_", "'<b>bold</b>'[:5]", "this SVG cannot be read"),
        ("_repr_svg_", "'<svg><g></svg>'", "this SVG cannot be read: mismatched tag"),
        ("_repr_svg_", "'<svg><script>x()</script></svg>'", "this SVG runs a script (<script>)"),
        ("_repr_svg_", "'<svg><g><SCRIPT/></g></svg>'", "this SVG runs a script"),
        ("_repr_svg_", "'<svg onload=\"x()\"/>'", "this SVG runs a script (onload)"),
        ("_repr_svg_", "'<svg><a href=\" java\\nscript:x()\"/></svg>'", "this SVG runs a script"),
        (
            "_repr_svg_",
            '\'<svg><animate attributeName="href" to="javascript:x()"/></svg>\'',
            "this SVG runs a script",
        ),
    ],
)
def test_what_no_page_can_show_fails_its_block(project, method, given, reason):
    failure = project.run(f"class A:\n    def {method}(self):\n        return {given}\n\nA()")
    assert failure.blocks[0].failure.reason.startswith(f"ValueError: {reason}")


DRAWN = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
 aria-labelledby="t d"><style>#a, #b:hover { fill: url(#g) }</style>
<title id="t">A</title><desc id='d'>B</desc><linearGradient id = "g"/>
<path id="a" fill="url(#g)" stroke='url("#g")' style="fill: url('#g')"/><use xlink:href="#a"/>
<use href='#a' begin="a.click; 2s"/><a href="#elsewhere" data-id="a"><text>id="a"</text></a></svg>
"""


def test_no_two_drawings_of_a_page_share_an_id(project):
    code = f"class A:\n    def _repr_svg_(self):\n        return {DRAWN!r}\n\nA()"
    run = project.run(code, "display(A(), A())\nA()")
    drawings = [output.data for block in run.blocks for output in block.outputs]
    assert len(drawings) == 4
    ids = [one for drawn in drawings for one in re.findall(r"\sid ?= ?[\"']([^\"']+)", drawn)]
    assert len(ids) == len(set(ids)) == 4 * 4
    for drawn in drawings:
        assert drawn.startswith("<svg")
        own = re.search(r'<title id="(.*)-t"', drawn)[1]
        assert drawn.count(f"#{own}-g") == 4
        assert drawn.count(f"#{own}-a") == 3
        assert f'aria-labelledby="{own}-t {own}-d"' in drawn
        assert f'begin="{own}-a.click; 2s"' in drawn
        assert 'href="#elsewhere" data-id="a"' in drawn


# -- display ---------------------------------------------------------------------------------------


def test_display_shows_values_between_what_is_printed(project):
    code = (
        "print('a')\ndisplay(1, 'b')\nprint('c')\n"
        "class R:\n    def _repr_html_(self):\n        print('d')\n        return '<hr>'\n"
        "for n in range(2):\n    display(R(), None)\n'last'"
    )
    outputs = project.run(code).blocks[0].outputs
    shown = [("stdout", "d\n"), ("html", "<hr>"), ("text", "None")]
    assert [(one.kind, one.data) for one in outputs] == [
        *(("stdout", "a\n"), ("text", "1"), ("text", "'b'"), ("stdout", "c\n")),
        *shown,
        *shown,
        ("text", "'last'"),
    ]


def test_a_figure_that_was_displayed_is_shown_once(project):
    code = "import matplotlib.pyplot as plt\nfigure = plt.figure()\ndisplay(figure)\nprint('after')"
    assert [one.kind for one in project.run(code).blocks[0].outputs] == ["svg", "stdout"]


def test_a_doctest_and_a_claim_have_texts_alone(project):
    run = project.run(">>> display('a', 2)\na 2", "x = 1", "2", claims=[("display(x) or x", 2)])
    assert [one.got for one in run.blocks[0].examples] == ["a 2\n"]
    assert [[one.data for one in block.outputs] for block in run.blocks[1:]] == [[], ["2"]]


@table("preload", [(), ("IPython.display",)])
def test_the_display_of_ipython_shows_here_too(project, preload):
    ours = "from IPython.display import HTML, display\ndisplay(HTML('<hr>'))"
    other = "import IPython\nIPython.display.display(1)"
    run = project.run(ours, other, preload=preload)
    assert [(o.kind, o.data) for block in run.blocks for o in block.outputs] == [
        ("html", "<hr>"),
        ("text", "1"),
    ]


@table("own", ["def display(x):\n    print('mine', x)", "display = print"])
def test_a_page_may_have_a_display_of_its_own(project, own):
    assert project.shown(own, "display('a')")[0].endswith("a\n")
