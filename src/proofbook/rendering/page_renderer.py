"""Render a checked page: its outputs, the marks on its claims, its foot, and its problems."""

import itertools
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

from markdown import Markdown
from markdown_exec import base_format, markdown_config

from proofbook.checking.book import Book, Checked
from proofbook.checking.judge import claim_problems
from proofbook.checking.source_lookup import Shown
from proofbook.model import BlockResult, Output
from proofbook.notebook.programs import program_of
from proofbook.parsing.fences import Fence
from proofbook.parsing.markdown_processors import FENCES
from proofbook.parsing.source import Marks, SourceText
from proofbook.problems import Problem
from proofbook.rendering.asides import folded
from proofbook.rendering.downloads import Offer, copy_html, downloads_html, program_html
from proofbook.rendering.html import (
    LONG,
    TEXTS,
    AssetUrl,
    claim_marks,
    fact_marks,
    outputs_html,
    problems_html,
    proof_html,
)
from proofbook.rendering.ledger import foot_html
from proofbook.rendering.placeholders import Hold, at_once, uncolored
from proofbook.rendering.rich_text import rich_text
from proofbook.settings import Settings

FOLD = '<details class="proofbook-fold"><summary>Show the code</summary>'
NOTHING = "<!---->"
"""Replaces a fence that shows nothing; Markdown would make a paragraph of an empty text."""
RUNNING = '<p class="proofbook-running">running…</p>'
"""Stands where a block's output will be."""
PENDING = (
    '<p class="proofbook-running" role="status">running… The page shows its outputs, '
    "and checks its numbers, when its code has run.</p>"
)
"""Begins a page that is still to be run."""
WIDEST = 88
"""The most characters that fit on a line without wrapping."""
LOOKS = ("title", "hl_lines", "linenums")
Caption = Callable[[Shown, str], str]
"""Returns the HTML that names a shown source, given the source and the HTML of its place."""
Notebook = Callable[[Checked, Settings, Mapping[str, Any]], str]
"""Returns the text of a page's notebook; see `Notebooks.of`."""


def place_alone(shown: Shown, place: str) -> str:
    """Name a shown source by its place."""
    return place


class PageRenderer:
    """A renderer for the fences, the claims, and the ends of a page."""

    stray = None  # fences in comments and in indented code are left to SuperFences

    def __init__(
        self,
        book: Book,
        path: str,
        about: Mapping[str, Any],
        asset_url: AssetUrl,
        offer: Offer,
        notebook: Notebook,
        hold: Hold = at_once,
        caption: Caption = place_alone,
    ) -> None:
        self.book = book
        self.path = path
        self.about = about
        self.asset_url = asset_url
        self.offer = offer
        self.notebook = notebook
        self.hold = hold
        self.caption = caption
        self.text = ""  # as it was opened
        self.checked: Checked | None = None

    def open(self, text: str) -> SourceText:
        """Look the page up, or check it now."""
        self.text = text
        self.checked = self.book.of(self.path, text)
        return self.known.page.source

    @property
    def known(self) -> Checked:
        """The page that is open."""
        assert self.checked is not None
        return self.checked

    def has_fence(self, index: int) -> bool:
        """Return whether the page shows this fence as a fence."""
        return index in self.known.page.shown

    def fence(self, index: int, md: Markdown) -> str:
        """Return the HTML of a block: its source, its outputs, and its problems."""
        fence = self.known.page.source.fences[index]
        if fence.kind == "facts":
            return problems_html(self._problems_within(fence)) or NOTHING
        shown = self.known.sources.get(index)
        code = shown.code if shown else fence.code
        looks = {name: given for name in LOOKS if (given := fence.option(name))}
        if shown:
            looks.setdefault("title", self.book.name(shown.path))
        name = fence.option("id")
        attribute = f' id="{name}"' if name else ""
        html = self._formatted(fence, code, looks, self._after(index), md)
        below = self._link(shown) if shown else _reason(fence.options.get("reason"))
        result = self._result(index)
        inner = f"{html}{below}{self._copy(index)}"
        seen = BlockResult() if fence.option("hide") else result
        opens = fence.option("source") or fence.option("fold") or "<details" in html
        room = "" if opens else _room(code, seen)
        return f'<div class="proofbook-block"{attribute}{room}>{inner}</div>'

    def _formatted(
        self, fence: Fence, code: str, looks: dict[str, str], after: str, md: Markdown
    ) -> str:
        """Format code and its output through markdown-exec.

        The code comes first unless `source=` or `fold=` says otherwise.
        """
        door = partial(base_format, language=fence.language, code=code, md=md, html=True)
        place = fence.option("source")
        if not place:  # markdown-exec would set up all extensions again for each block
            colored = self._highlighted(fence.language, code, looks, md)
            if fence.option("show"):
                colored = folded(colored, code)
            source = self.hold(colored, uncolored(colored))
            whole = f"{source}{after}"
            if fence.option("fold"):  # the output comes first, since readers came for it
                whole = f"{after}{FOLD}{source}</details>"
            return str(door(run=lambda _, **__: whole))
        settings = self.book.settings
        markdown_config.save(
            list(settings.extensions), {name: dict(it) for name, it in settings.configs.items()}
        )
        try:
            return str(door(run=lambda _, **__: after, source=place, extra=looks))
        finally:
            markdown_config.reset()

    def _highlighted(self, language: str, code: str, looks: dict[str, str], md: Markdown) -> str:
        """Return highlighted code, cached for the next build.

        Code with ids isn't cached, since each page numbers its ids from one.
        """
        fences: Any = md.preprocessors[FENCES]
        fences.get_hl_settings()
        options = fences.highlight_ext.getConfigs()
        question = ("colors", language, code, looks, repr(options))
        for kept in self.book.memo.find(*question):
            return str(kept)
        source = fences.highlight(code, language, looks, md, classes=[], id_value="", attrs={})
        if 'id="' not in source:
            self.book.memo.keep(str(source), *question)
        return str(source)

    def _after(self, index: int) -> str:
        fence = self.known.page.source.fences[index]
        numbers = itertools.count(1)

        def written(output: Output) -> str:
            prefix = f"fence-{index + 1}-{next(numbers)}"
            return rich_text(output, self.book.settings, prefix)

        if self._is_pending and index in self.known.page.blocks and not fence.option("hide"):
            return RUNNING
        result = BlockResult() if fence.option("hide") else self._result(index)
        outputs = outputs_html(result, self.asset_url, self.hold, written)
        return outputs + problems_html(self._problems_within(fence))

    @property
    def _is_pending(self) -> bool:
        return self.known.run.pending

    def _copy(self, index: int) -> str:
        """Return the link that copies a block with what it needs; "" if its page has problems."""
        block = self.known.page.blocks.get(index)
        return "" if block is None or self._is_pending or self.known.problems else copy_html(block)

    def _problems_within(self, fence: Fence) -> list[Problem]:
        first = self.known.page.offset + fence.line
        last = first + fence.code.count("\n") + 1
        return [problem for problem in self.known.problems if first <= problem.line <= last]

    def _result(self, index: int) -> BlockResult:
        """Return the result of the block at a fence, or an empty one if it didn't run."""
        block = self.known.page.blocks.get(index)
        results = self.known.run.blocks
        return results[block] if block is not None and block < len(results) else BlockResult()

    def _link(self, shown: Shown) -> str:
        address = self.book.settings.source_url
        name = self.book.name(shown.path)
        where = f"{escape(name)}, {shown.place}"
        if address and shown.path.is_relative_to(self.book.settings.root):
            url = address.format(path=name, first=shown.first, last=shown.last)
            where = f'<a href="{escape(url)}">{where}</a>'
        return f'<p class="proofbook-source">{self.caption(shown, where)}</p>'

    def claim(self, index: int) -> Marks | None:
        """Mark a claim with its sign, or with its problems; leave a literal unmarked."""
        page = self.known.page
        number = page.claims.get(index)
        span = page.source.spans[index]
        target = page.source.text[slice(*span.inner)]
        if number is None:
            return ("", target, "") if index in page.literals else None
        if self._is_pending:
            return "", target, ""
        problems = self._claim_problems(index)
        if problems or not self._has_values(number):
            notes = "".join(f" <strong>{escape(str(problem))}</strong>" for problem in problems)
            return '<span class="proofbook-failed">', target, f"{notes}</span>"
        return claim_marks(page.chapter.claims[number], target, number, self.known.run)

    def fact(self, index: int) -> tuple[str, str]:
        """Mark a phrase with its sign, or as failed."""
        page = self.known.page
        number = page.facts.get(index)
        if number is None or self._is_pending:
            return "", ""
        if not self._holds(number):
            return '<span class="proofbook-failed">', "</span>"
        return fact_marks(number)

    def _holds(self, number: int) -> bool:
        """Return whether the claim of a fact was checked and is true."""
        claim = self.known.page.chapter.claims[number]
        return self._has_values(number) and not claim_problems(self.path, claim, self.known.run)

    def _claim_problems(self, index: int) -> list[Problem]:
        page = self.known.page
        span = page.source.spans[index]
        return [
            problem
            for problem in self.known.problems
            if problem.line == page.offset + span.line and problem.code in span.expressions.values()
        ]

    def _has_values(self, number: int) -> bool:
        claim = self.known.page.chapter.claims[number]
        return all((one, claim.place) in self.known.run.values for one in claim.expressions)

    def ends(self) -> tuple[str, str]:
        """Return the HTML of the problems, and that of the proofs, the ledger, and the notebook."""
        page, run = self.known.page, self.known.run
        if self._is_pending:
            return PENDING + problems_html(self.known.problems), ""
        proofs = "".join(
            proof_html(page.chapter.claims[number], number, run)
            for index, number in page.claims.items()
            if self._has_values(number) and not self._claim_problems(index)
        )
        proofs += "".join(
            proof_html(page.chapter.claims[number], number, run)
            for number in page.facts.values()
            if self._holds(number)
        )
        foot = "" if self.known.problems else foot_html(self.known, self.about) + self._download()
        end = proofs + foot
        return problems_html(self.known.problems), self.hold(end, "") if end else ""

    def _download(self) -> str:
        """Return the links to the page's downloads; "" for a page that runs nothing."""
        blocks = self.known.page.chapter.blocks
        if not blocks:
            return ""
        notebook = self.notebook(self.known, self.book.settings, self.about)
        program = program_of(blocks, self.known.run.blocks)
        links = downloads_html(self.path, notebook, program.script(), self.offer)
        return links + program_html(program)


def _room(code: str, result: BlockResult) -> str:
    """Return a block's height, for browsers that reserve space for what they haven't drawn yet.

    Return "" if the height isn't known: for a picture, a fold, or a line that may wrap.
    """
    texts = [code.rstrip("\n"), *(output.data.rstrip("\n") for output in result.outputs)]
    shown = [text.count("\n") + 1 for text in texts if text]
    if (
        any(output.kind not in TEXTS for output in result.outputs)
        or max(shown[1:], default=0) > LONG
        or any(len(line) > WIDEST for text in texts for line in text.split("\n"))
    ):
        return ""
    return f' style="--lines: {sum(shown)}; --parts: {len(shown)}"'


def _reason(reason: str | None) -> str:
    return f'<p class="proofbook-off">Not run: {escape(reason)}</p>' if reason else ""
