"""The entry of a symbol in the API reference: how it is called, what it does, where it is used."""

import ast
import doctest
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import PythonConsoleLexer, PythonLexer

from glassbook.site.api.docstring import parse
from glassbook.site.api.symbol import Symbol
from proofbook.model import Block, BlockResult, Example
from proofbook.notebook.programs import Program, program_of
from proofbook.rendering.downloads import copy_html, program_html

NAME = re.compile(r'<span class="n[a-z]*">(\w+)</span>(?!<span class="o">=<)')
LONG = 12  # the most lines of a value that are shown

Pages = Sequence[tuple[str, str]]
"""Title and address of some pages."""


@lru_cache(8192)  # `mkdocs serve` needs most of them again
def colored(code: str, *, is_console: bool = False) -> str:
    """Highlight Python."""
    lexer: Lexer = PythonConsoleLexer() if is_console else PythonLexer()
    return highlight(code, lexer, HtmlFormatter(nowrap=True)).rstrip("\n")


@dataclass(frozen=True)
class Entry:
    """One symbol.

    Attributes:
        symbol: What is described.
        convert: Turns Markdown into HTML.
        address: Returns where a symbol that is named in the same module is described.
        known: What short names stand for in the symbol's module.
        source: Where the symbol's own lines are.
        shown: The pages that show it.
        used: The pages that use it.
    """

    symbol: Symbol
    convert: Callable[[str], str]
    address: Callable[[str], str | None]
    known: Mapping[str, str]
    source: str
    shown: Pages
    used: Pages

    def html(self) -> str:
        """Return the heading, signature, text, facts, and places."""
        symbol = self.symbol
        level = {"module": 2, "method": 4}.get(symbol.kind, 3)
        name = symbol.name if symbol.kind == "module" else within(symbol)
        doc = parse(symbol.doc)
        if symbol.messages:
            doc.facts.setdefault("Raises", {})
        facts = [(title, self._fact(title, fact)) for title, fact in doc.facts.items()]
        if doc.examples:
            facts.append(("Example", "".join(map(self._example, doc.examples))))
        text = self.convert("\n\n".join(doc.text))
        unsought = "" if is_listed(symbol) else " data-search-exclude"
        return (
            f'<h{level} id="{symbol.name}"{unsought}><code>{breakable(name)}</code>'
            f'<a class="headerlink" '
            f'href="#{symbol.name}" title="Link to this entry">#</a></h{level}>\n'
            f"{self._signature()}{text}{listed([*facts, *self._places()])}\n"
        )

    def _signature(self) -> str:
        lines = self.symbol.signature.split("\n")
        if self.symbol.kind == "value" and len(lines) > LONG:
            lines = [*lines[: LONG - 1], "    …"]
        if lines == [""]:
            return ""
        code = colored("\n".join(lines))

        def link(name: re.Match[str]) -> str:
            meant = name[1] in self.known and name[1] != self.symbol.short
            to = self.address(name[1]) if meant else None
            return f'<a class="symbol" href="{to}">{name[0]}</a>' if to else name[0]

        return (
            '<div class="highlight api-signature"><pre tabindex="0">'
            f"<code>{NAME.sub(link, code)}</code></pre></div>\n"
        )

    def _fact(self, title: str, fact: str | Mapping[str, str]) -> str:
        """Show a paragraph, or names with their meanings."""
        if isinstance(fact, str):
            return self.convert(fact)
        if title == "Raises":
            return self._errors(fact)
        rows = [(f"<code>{name}</code>", self.convert(text)) for name, text in fact.items()]
        return listed(rows, "api-items")

    def _errors(self, reasons: Mapping[str, str]) -> str:
        """Show each error with its reasons, and with the messages of the code that raises it."""
        raised = dict.fromkeys(message.partition(": ")[0] for message in self.symbol.messages)
        rows = []
        for name in {**reasons, **raised}:
            said = [one for one in self.symbol.messages if one.startswith(f"{name}: ")]
            items = "".join(f"<li><samp>{escape(one)}</samp></li>" for one in said)
            messages = f'<ul class="api-messages">{items}</ul>' if said else ""
            reason = self.convert(reasons[name]) if name in reasons else ""
            rows.append((f"<code>{name}</code>", reason + messages))
        return listed(rows, "api-items")

    def _example(self, text: str) -> str:
        """Show a doctest, with the link that copies it as a program."""
        code = colored(text, is_console=True)
        return (
            f'<div class="proofbook-block"><div class="highlight"><pre tabindex="0"><code>{code}'
            f"</code></pre></div>{copy_html(0, f'#{self.symbol.name}')}"
            f"{program_html(program(text, self.known))}</div>"
        )

    def _places(self) -> Iterator[tuple[str, str]]:
        """Name the symbol's pages and lines, unless it's a method, whose class names them."""
        if self.symbol.kind == "method":
            return
        for title, pages in (("Shown in", self.shown), ("Used in", self.used)):
            if pages:
                links = ", ".join(f'<a href="{to}">{escape(name)}</a>' for name, to in pages)
                yield title, f"<p data-search-exclude>{links}</p>"
        first, last = self.symbol.first, self.symbol.last
        where = f"line {first}" if first == last else f"lines {first} to {last}"
        path = self.symbol.path
        where = path if self.symbol.kind == "module" else f"{path}, {where}"
        yield "Code", f'<p data-search-exclude><a href="{self.source}">{where}</a></p>'


def contents(
    groups: Mapping[str, Sequence[Symbol]], address: Callable[[Symbol], str | None]
) -> str:
    """List each module with its first sentence and the names in it, under its page's link."""

    def link(symbol: Symbol, name: str) -> str:
        return f'<a class="symbol" href="{address(symbol)}"><code>{name}</code></a>'

    def row(module: Symbol) -> tuple[str, str]:
        about = escape(module.doc.split("\n\n")[0].replace("\n", " "))
        about = re.sub("`([^`]+)`", r"<code>\1</code>", about)
        names = ", ".join(link(one, one.short) for one in module.members if is_listed(one))
        text = f"<p>{about}</p>" + (f"<p>{names}</p>" if names else "")
        return link(module, module.name), text

    parts = (
        f"<h3>{page}</h3>{listed([*map(row, modules)], 'api-contents')}"
        for page, modules in groups.items()
    )
    return "".join(parts)


def is_listed(symbol: Symbol) -> bool:
    """Return whether lists and the search include a symbol; they leave out constants."""
    return not symbol.short.isupper()


def within(symbol: Symbol) -> str:
    """Return a symbol's name without its module."""
    return ".".join(symbol.name.split(".")[-2 if symbol.kind == "method" else -1 :])


def breakable(name: str) -> str:
    """Let narrow lines break a name before each of its words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=\.)(?=\w)|(?<=_)(?=[^\W_])", "<wbr>", name)


def listed(rows: Sequence[tuple[str, str]], kind: str = "api-facts") -> str:
    """List titles, each with its content; return "" if there are no rows."""
    if not rows:
        return ""
    inner = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows)
    return f'<dl class="{kind}">{inner}</dl>'


def program(text: str, known: Mapping[str, str]) -> Program:
    """Return a doctest's statements below the imports that they need, printing what it shows.

    Args:
        text: The lines of the example.
        known: What short names stand for in the example's module.
    """
    found = doctest.DocTestParser().get_examples(text)
    examples = tuple(Example(one.source, one.want, one.want, one.lineno) for one in found)
    prints = (n for n, one in enumerate(found) if one.want and not one.source.startswith("print("))
    result = BlockResult(examples=examples, prints=tuple(prints))
    made = program_of([Block("pycon", text, 1)], [result])
    tree = ast.parse(made.script())
    taken = [one for one in tree.body if isinstance(one, ast.ImportFrom)]
    imported = {alias.name for one in taken for alias in one.names}
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    head = ["import torch"] if "torch" in read else []
    for name in sorted(read & set(known) - imported):
        module, _, short = known[name].rpartition(".")
        head.append(f"from {module} import {short}")
    return replace(made, start="\n".join(head))
