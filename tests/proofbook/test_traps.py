"""What stock tools let through in silence, each on a throwaway book."""

from books import build, build_error, make_book, run_in

from tables import table

BLOCK = "```python\n{}\n```\n"


def page(*codes: str) -> str:
    return "\n".join(BLOCK.format(code) for code in codes)


def test_a_second_build_runs_nothing(tmp_path):
    code = 'with open("runs.txt", "a") as file:\n    _ = file.write("run ")'
    book = make_book(tmp_path, {"index.md": page(code)})
    build(book)
    index = book / "docs" / "index.md"
    index.write_text("# Prose before it\n\n" + index.read_text() + "\nand after it.\n")
    build(book)
    assert (book / "runs.txt").read_text() == "run "


def test_names_do_not_leak_to_the_next_page(tmp_path):
    book = make_book(tmp_path, {"a.md": page("secret = 1"), "b.md": page("secret")})
    assert "docs/b.md:2: NameError: name 'secret' is not defined" in build_error(book)


def test_a_page_does_not_move_the_builder_or_the_next_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mess = "import os, sys\nos.chdir('/')\nos.environ['MESS'] = '1'\nsys.modules.clear()"
    calm = "import os\nos.path.basename(os.getcwd()), os.environ.get('MESS')"
    site = build(make_book(tmp_path, {"a.md": page(mess), "b.md": page(calm)}))
    shown = (site / "b" / "index.html").read_text()
    assert f"(&#x27;{tmp_path.name}&#x27;, None)" in shown


def test_output_that_looks_like_markup_or_markdown_stays_text(tmp_path):
    code = "print('# No heading')\nprint('</script><b>no</b> *no* {{ no }}')"
    site = build(make_book(tmp_path, {"index.md": page(code)}))
    shown = (site / "index.html").read_text()
    assert "# No heading\n&lt;/script&gt;&lt;b&gt;no&lt;/b&gt; *no* {{ no }}" in shown


def test_output_from_below_python_is_captured(tmp_path):
    code = 'import os\n_ = os.system("echo from a child; echo an error >&2")'
    shown = (build(make_book(tmp_path, {"index.md": page(code)})) / "index.html").read_text()
    assert "from a child" in shown
    assert "an error" in shown


@table(
    ("code", "reason"),
    [
        ("raise SystemExit(0)", "SystemExit"),
        ("import os\nos._exit(0)", "exit"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("def f(:", "SyntaxError"),
    ],
)
def test_no_way_to_end_goes_unnoticed(tmp_path, code, reason):
    message = build_error(make_book(tmp_path, {"index.md": page(code), "b.md": page("1")}))
    assert "docs/index.md:" in message
    assert reason in message
    assert "docs/b.md" not in message


def test_a_doctest_that_is_wrong_and_a_word_that_is_swapped_fail(tmp_path):
    text = "```pycon\n>>> 1 + 1\n3\n```\n\n" + page("x = [1, 2]")
    claim = "\nIt is [unsorted]{ equals=\"word(x == sorted(x), 'sorted', 'unsorted')\" }.\n"
    message = build_error(make_book(tmp_path, {"index.md": text + claim}))
    assert "docs/index.md:2: the output differs" in message
    assert "docs/index.md:10: the page says 'unsorted', this run gives 'sorted'" in message


@table(
    "code",
    [
        "def word(condition, one, other):\n    return other",
        "word = lambda *words: words[2]",
        "from json import dumps as word",
        "for word in ('a', 'b'):\n    pass",
        "globals()['word'] = print",
    ],
)
def test_a_pages_own_word_is_not_taken_for_the_engines(tmp_path, code):
    claim = "It is [odd]{ equals=\"word(x % 2, 'odd', 'even')\" }."
    text = page(f"x = 3\n{code}") + claim
    message = build_error(make_book(tmp_path, {"index.md": text}))
    assert "a block of the page defines word, but claims need that name" in message
    renamed = code.replace("word", "term")
    mended = page(f"x = 3\n{renamed}") + claim
    build(make_book(tmp_path, {"index.md": mended}))


@table("claim", ["[2]{ equals='1 + 1' }", "`True`{ holds }"])
def test_a_constant_proves_nothing(tmp_path, claim):
    message = build_error(make_book(tmp_path, {"index.md": claim + "\n\n" + page("x = 1")}))
    assert "a constant proves nothing" in message


STATE = """\
import random, warnings
import numpy, torch

first = (
    torch.rand(1).item(), random.random(), numpy.random.rand(), torch.get_default_dtype(),
    torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled(), repr(torch.ones(1) / 3),
    len(warnings.filters), str(torch.get_default_device()),
)
first
"""
MESS = """\
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
torch.set_printoptions(precision=2)
torch.set_default_device("meta")
torch.manual_seed(5), random.seed(5), numpy.random.seed(5)
warnings.simplefilter("ignore")
torch.nn.Linear.forward = None
"""


def test_torch_is_fresh_on_each_page(project):
    for name in ("a.md", "b.md"):
        page = project.page(STATE, MESS, path=name)
        [run] = project.run_pages(page, preload=("torch",)).values()
        assert [block.failure for block in run.blocks] == [None, None]
        shown = run.blocks[0].outputs[0].data
        assert "torch.float32, True, False" in shown
        assert shown == project.shown(STATE, preload=("torch",))[0]


HOOK = """\
import sys

def on_post_build(config, **_):
    assert "colorsys" not in sys.modules, "the process that builds the site has imported it"
"""


def test_what_pages_import_is_never_in_the_builder(tmp_path):
    config = "site_name: x\nhooks: [hook.py]\nplugins:\n  - proofbook: {preload: [colorsys]}\n"
    pages = {"index.md": page("import colorsys\ncolorsys.rgb_to_hsv(0, 0, 1)[2]")}
    book = make_book(tmp_path, pages, {"hook.py": HOOK}, config)
    done = run_in(book, "mkdocs", "build", "-q")
    assert (done.returncode, done.stderr) == (0, "")


ON_A_DEVICE = ("import torch\ntorch.ones(2, 3)", ">>> torch.ones(2, 3)\ntensor(..., size=(2, 3))")


@table("preload", [(), ("torch",)])
def test_pages_compute_on_the_device_that_the_environment_names(project, monkeypatch, preload):
    """`meta` is a device that every torch has."""
    settings = {"preload": preload, "environment": ("BOOK_DEVICE",)}
    monkeypatch.setenv("BOOK_DEVICE", "meta")
    run = project.run(*ON_A_DEVICE, claims=[("torch.ones(1).device.type", 2)], **settings)
    assert run.device == "meta"
    assert [output.data for output in run.blocks[0].outputs] == ["tensor(..., size=(2, 3))"]
    assert run.blocks[1].examples[0].got == run.blocks[1].examples[0].want
    assert run.values["torch.ones(1).device.type", 2].data == "meta"


def test_pages_compute_on_another_device_when_the_environment_names_another(project, monkeypatch):
    code = "import torch\ntorch.ones(1).device"
    for device in ("meta", "cpu"):
        monkeypatch.setenv("BOOK_DEVICE", device)
        shown = project.shown(code, preload=("torch",), environment=("BOOK_DEVICE",))
        assert shown == [f"device(type='{device}')"]
