"""Whatever else a builder converts, with the extensions of the book: a page's problems stay."""

from books import build, build_error, make_book

from tables import table

CONFIG = "site_name: x\nplugins: [proofbook]\nhooks: [hook.py]\n"
BROKEN = "# Page\n\n```python\nx = 2\n1 / 0\n```\n\n[3]{ equals='x' }\n"
SOUND = BROKEN.replace("1 / 0", "1 / 1").replace("[3]", "[2]")
OTHERS = {
    "nothing to check": "Note.",
    "the page itself": SOUND,
    "the page as it fails": BROKEN,
    "a claim that holds": "[4]{ equals='y' }\n\n```python\ny = 4\n```\n",
}

HEAD = """\
from concurrent.futures import ThreadPoolExecutor

from markdown import Markdown, markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from mkdocs.plugins import event_priority

OTHER = {other!r}


def convert(config, text=OTHER):
    options = dict(extensions=config.markdown_extensions, extension_configs=config.mdx_configs)
    return markdown(text, **options)


class Nested(Extension):
    def __init__(self, config, priority):
        self.config = {{}}
        self.book, self.priority, self.deep = config, priority, False

    def run(self, given):
        if not self.deep:
            self.deep = True
            convert(self.book, "Note.")
            self.deep = False
        return given

    def extendMarkdown(self, md):
        before, after = Preprocessor(md), Treeprocessor(md)
        before.run, after.run = self.run, lambda root: self.run(None)
        md.preprocessors.register(before, "nested", self.priority)
        md.treeprocessors.register(after, "nested", self.priority)

"""
HOOKS = {
    "before any page": "def on_files(files, config):\n    convert(config)\n",
    "before the page": "def on_pre_page(page, config, files):\n    convert(config)\n",
    "before it is shown": """
@event_priority(-200)
def on_page_markdown(markdown, config, **_):
    convert(config)
""",
    "after it, twice": """
def on_page_content(html, config, **_):
    return html + convert(config) + convert(config)
""",
    "in the template": "def on_page_context(context, config, **_):\n    convert(config)\n",
    "at the end": "def on_post_build(config):\n    convert(config)\n",
    "in threads": """
def on_page_content(html, config, **_):
    with ThreadPoolExecutor(4) as pool:
        return html + "".join(pool.map(lambda _: convert(config), range(8)))
""",
    "before its fences are read": """
def on_config(config):
    config.markdown_extensions.append(Nested(config, 90))
""",
    "in the middle of it": """
def on_config(config):
    config.markdown_extensions.append(Nested(config, 12))
""",
    "after all else of it": """
def on_config(config):
    config.markdown_extensions.append(Nested(config, -90))
""",
    "with what the page was converted with": """
KEPT = []

class Keeper(Extension):
    def extendMarkdown(self, md):
        KEPT[:] = [md]

def on_config(config):
    config.markdown_extensions.append(Keeper())

def on_page_content(html, **_):
    KEPT[0].reset().convert("Note.")
""",
}


def book(folder, page: str, hook: str, other: str = "Note."):
    files = {"hook.py": HEAD.format(other=other) + HOOKS[hook]}
    own = folder / str(len(list(folder.iterdir())))  # what one book has stored helps no other
    return make_book(own, {"index.md": page, "later.md": "# Later\n"}, files, CONFIG)


@table("hook", HOOKS)
def test_a_failing_page_fails_whatever_else_is_converted(tmp_path, hook):
    message = build_error(book(tmp_path, BROKEN, hook))
    assert "docs/index.md:5: ZeroDivisionError" in message


@table("hook", HOOKS)
def test_a_sound_page_is_shown_once_whatever_else_is_converted(tmp_path, hook):
    shown = (build(book(tmp_path, SOUND, hook)) / "index.html").read_text()
    assert shown.count("Verified when this page was built: 1 block, 1 claim") == 1
    assert shown.count('class="proofbook-sign"') == 1


@table(
    ("hook", "other"),
    [*(("in threads", other) for other in OTHERS), ("before any page", "a claim that holds")],
)
def test_what_the_other_text_says_makes_no_page_pass(tmp_path, hook, other):
    message = build_error(book(tmp_path, BROKEN, hook, OTHERS[other]))
    assert "docs/index.md:5: ZeroDivisionError" in message


@table("other", [OTHERS["the page itself"], OTHERS["a claim that holds"]])
def test_a_text_beside_the_pages_shows_what_it_gave_and_nothing_of_a_page(tmp_path, other):
    shown = (build(book(tmp_path, SOUND, "after it, twice", other)) / "index.html").read_text()
    assert shown.count('class="proofbook-claim"') == 3
    assert shown.count('class="proofbook-sign"') == 1
    assert shown.count("Verified when this page was built") == 1


@table("hook", ["before any page", "at the end", "in threads"])
@table("other", ["*5*{ equals='y' }\n\n```python\ny = 4\n```\n", "`y`{ Holds }"])
def test_a_text_beside_the_pages_must_be_sound_itself(tmp_path, hook, other):
    message = build_error(book(tmp_path, SOUND, hook, other))
    assert "the page says '5', this run gives 4" in message or "did you mean 'holds'" in message


def test_a_claim_in_what_is_converted_within_a_page_is_refused(tmp_path):
    hook = "in the middle of it"
    files = {
        "hook.py": HEAD.format(other="").replace('"Note."', "\"*7*{ equals='x' }\"") + HOOKS[hook]
    }
    message = build_error(make_book(tmp_path, {"index.md": SOUND}, files, CONFIG))
    assert "docs/index.md:1: a text converted within this page contains a claim" in message


def test_a_page_that_another_plugin_renders_must_show_what_was_checked(tmp_path):
    hook = """
def on_pre_page(page, config, files):
    def render(config, files):
        page.content, page.toc = "<p>2</p>", []
    page.render = render
"""
    files = {"hook.py": hook}
    message = build_error(make_book(tmp_path, {"index.md": SOUND}, files, CONFIG))
    assert "docs/index.md:1: another plugin converts this page" in message


def test_the_books_own_file_is_not_overwritten_by_a_notebook(tmp_path):
    book = make_book(tmp_path, {"a.md": SOUND, "a/a.ipynb": "mine", "b.md": SOUND})
    message = build_error(book)
    assert "docs/a/a.ipynb:1: a download of a page would replace this file" in message
    (book / "docs/a/a.ipynb").rename(book / "docs/a/mine.ipynb")
    site = build(book)
    assert (site / "a/mine.ipynb").read_text() == "mine"
    assert "nbformat" in (site / "a/a.ipynb").read_text()
