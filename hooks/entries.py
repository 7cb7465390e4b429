"""The entry of a symbol in the API reference: how it is called, what it does, where it is used."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from textwrap import dedent

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import PythonConsoleLexer, PythonLexer
from symbols import Symbol

SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields):\n(.*)", re.DOTALL)
FACT = re.compile(r"(Shapes|Shapes and errors|Source): (.*)", re.DOTALL)
ITEM = re.compile(r"^(\w[\w., ]*?): (.*?)(?=^\w|\Z)", re.DOTALL | re.MULTILINE)
NAME = re.compile(r'<span class="n[a-z]*">(\w+)</span>(?!<span class="o">=<)')
TITLES = {"Args": "Arguments"}
FORMATTER = HtmlFormatter(nowrap=True)
LEXERS = {kind: kind() for kind in (PythonLexer, PythonConsoleLexer)}
DEPTH = 2  # slashes in the path of a module
LONG = 12  # lines of a value that are shown

Convert = Callable[[str], str]


class Entry:
    """One symbol.

    Args:
        symbol: what is described.
        convert: turns Markdown into HTML.
        address: where another symbol, named within the same module, is described.
        known: what short names stand for in the symbol's module.
        source: where the symbol's own lines are.
        pages: title and address of the pages that show it, and of those that use it.
    """

    def __init__(
        self,
        symbol: Symbol,
        convert: Convert,
        address: Callable[[str], str | None],
        known: Mapping[str, str],
        source: str,
        pages: tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]],
    ) -> None:
        self.symbol = symbol
        self.convert = convert
        self.address = address
        self.known = known
        self.source = source
        self.shown, self.used = pages

    def html(self) -> str:
        """Heading, signature, text, facts, and where it is."""
        symbol = self.symbol
        level = {"module": 2, "method": 4}.get(symbol.kind, 3)
        title = symbol.name if symbol.kind == "module" else ".".join(within(symbol))
        text, facts = self._parts()
        unsought = " data-search-exclude" if symbol.short.isupper() else ""
        return (
            f'<h{level} id="{symbol.name}"{unsought}><code>{breakable(title)}</code>'
            f'<a class="headerlink" '
            f'href="#{symbol.name}" title="Link to this entry">#</a></h{level}>\n'
            f"{self._signature()}{text}{_list([*facts, *self._places()])}\n"
        )

    def _signature(self) -> str:
        lines = self.symbol.signature.split("\n")
        if self.symbol.kind == "value" and len(lines) > LONG:
            lines = [*lines[: LONG - 1], "    …"]
        if lines == [""]:
            return ""
        code = _coloured("\n".join(lines), PythonLexer)

        def link(name: re.Match[str]) -> str:
            meant = name[1] in self.known and name[1] != self.symbol.short
            to = self.address(name[1]) if meant else None
            return f'<a class="symbol" href="{to}">{name[0]}</a>' if to else name[0]

        return (
            '<div class="highlight api-signature"><pre tabindex="0">'
            f"<code>{NAME.sub(link, code)}</code></pre></div>\n"
        )

    def _parts(self) -> tuple[str, list[tuple[str, str]]]:
        """The text of the docstring, and what stands in it under a title."""
        text: list[str] = []
        facts: dict[str, str] = {}
        for part in re.split(r"\n{2,}(?! )", self.symbol.doc.strip()):
            section, fact = SECTION.fullmatch(part), FACT.fullmatch(part)
            if part.startswith(">>> "):
                facts["Example"] = facts.get("Example", "") + self._example(part)
            elif section and section[1] == "Raises":
                facts["Raises"] = self._errors(dedent(section[2]))
            elif section:
                facts[section[1]] = self._items(dedent(section[2]), section[1])
            elif fact:
                facts[fact[1]] = self.convert(fact[2])
            elif part:
                text.append(part)
        if self.symbol.messages and "Raises" not in facts:
            facts["Raises"] = self._errors("")
        example = {"Example": facts.pop("Example")} if "Example" in facts else {}
        return self.convert("\n\n".join(text)), list({**facts, **example}.items())

    def _items(self, text: str, title: str) -> str:
        """Names, each with what it means; a result has none."""
        items = ITEM.findall(text)
        if title in ("Returns", "Yields") or not items:
            return self.convert(text)
        rows = [(f"<code>{name}</code>", self.convert(" ".join(t.split()))) for name, t in items]
        return _list(rows, "api-items")

    def _errors(self, text: str) -> str:
        """Each error with its reasons, and with the messages of the code that raises it."""
        reasons = {name: self.convert(" ".join(why.split())) for name, why in ITEM.findall(text)}
        raised = dict.fromkeys(message.partition(": ")[0] for message in self.symbol.messages)
        rows = []
        for name in {**reasons, **raised}:
            said = [one for one in self.symbol.messages if one.startswith(f"{name}: ")]
            items = "".join(f"<li><samp>{escape(one)}</samp></li>" for one in said)
            messages = f'<ul class="api-messages">{items}</ul>' if said else ""
            rows.append((f"<code>{name}</code>", reasons.get(name, "") + messages))
        return _list(rows, "api-items")

    def _example(self, text: str) -> str:
        """A doctest, with the program that its copy button gives."""
        code = _coloured(text, PythonConsoleLexer)
        payload = json.dumps(program(text, self.known)).replace("<", "\\u003c")
        return (
            f'<div class="proofbook-block"><div class="highlight"><pre tabindex="0"><code>{code}'
            '</code></pre></div><script type="application/json" class="proofbook-payload">'
            f"{payload}</script></div>"
        )

    def _places(self) -> Iterator[tuple[str, str]]:
        if self.symbol.kind != "method":
            for title, pages in (("Shown in", self.shown), ("Used in", self.used)):
                if pages:
                    links = ", ".join(f'<a href="{to}">{escape(name)}</a>' for name, to in pages)
                    yield title, f"<p data-search-exclude>{links}</p>"
        if self.symbol.kind != "method":
            first, last = self.symbol.first, self.symbol.last
            where = f"line {first}" if first == last else f"lines {first} to {last}"
            if self.symbol.path.count("/") > DEPTH:  # in a file of its own below its module
                where = f"{self.symbol.path}, {where}"
            where = self.symbol.path if self.symbol.kind == "module" else where
            yield "Code", f'<p data-search-exclude><a href="{self.source}">{where}</a></p>'


def program(doctest: str, known: Mapping[str, str]) -> str:
    """A doctest's statements under the imports that they need."""
    lines = [line[4:] for line in doctest.split("\n") if line[:3] in (">>>", "...")]
    tree = ast.parse("\n".join(lines))
    taken = [one for one in tree.body if isinstance(one, ast.ImportFrom)]
    imported = {alias.name for one in taken for alias in one.names}
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    head = ["import torch"] if "torch" in read else []
    for name in sorted(read & set(known) - imported):
        module, _, short = known[name].rpartition(".")
        head.append(f"from {module} import {short}")
    return "\n".join([*head, *lines]) + "\n"


def contents(modules: Sequence[Symbol], address: Callable[[str], str | None]) -> str:
    """Each module with its first sentence and the names in it."""
    rows = []
    for module in modules:
        about = escape(module.doc.split("\n\n")[0].replace("\n", " "))
        about = re.sub("`([^`]+)`", r"<code>\1</code>", about)
        names = ", ".join(
            f'<a class="symbol" href="{address(one.name)}"><code>{one.short}</code></a>'
            for one in module.members
            if not one.short.isupper()
        )
        link = f'<a class="symbol" href="{address(module.name)}"><code>{module.name}</code></a>'
        rows.append((link, f"<p>{about}</p>" + (f"<p>{names}</p>" if names else "")))
    return _list(rows, "api-contents")


def headings(module: Symbol) -> list[Symbol]:
    """What of a module stands in the page's table of contents."""
    return [one for one in module.members if not one.short.isupper()]


@cache  # under `mkdocs serve`, most of it is what it was
def _coloured(code: str, lexer: type[Lexer]) -> str:
    return highlight(code, LEXERS[lexer], FORMATTER).rstrip("\n")


def breakable(name: str) -> str:
    """A name that a narrow line may break where one of its words begins."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=\.)(?=\w)|(?<=_)(?=[^\W_])", "<wbr>", name)


def within(symbol: Symbol) -> list[str]:
    """A name without its module."""
    return symbol.name.split(".")[-2 if symbol.kind == "method" else -1 :]


def _list(rows: Sequence[tuple[str, str]], kind: str = "api-facts") -> str:
    if not rows:
        return ""
    inner = "".join(f"<dt>{TITLES.get(name, name)}</dt><dd>{text}</dd>" for name, text in rows)
    return f'<dl class="{kind}">{inner}</dl>'
