"""The names that a body binds are those that the compiler says it binds."""

import ast
import symtable
from pathlib import Path

import proofbook
from proofbook.parsing.bindings import bindings
from tables import table

SNIPPETS = [
    "a = b = 1\nc, (d, *e) = [1, (2, 3)]\nf: int = 3\ng += 1",
    "import a.b, c as d\nfrom e import f as g, h",
    "def a(b=1, *c): d = 2\nasync def e(): pass\nclass f(dict): g = 1",
    "if (a := 1): b = 2\nelif c: d = 3\nelse: e = 4",
    "for a, b in c:\n    d = 1\nelse:\n    e = 1\nwhile f: g = 1",
    "try: a = 1\nexcept E as b: c = 1\nelse: d = 1\nfinally: e = 1",
    "with a as b, c as (d, e): f = 1",
    "match a:\n  case [b, *c] if d: e = 1\n  case {'k': f, **g}: pass\n  case H(i=j) as k: pass",
    "[a for b in c]\nlambda e: (f := e)\n{g: h for g, h in i}\n(lambda: [j := 1 for _ in k])",
    "a.b = 1\na[c] = 2\ndel d, e.f",
]


def bound(code: str) -> set[str]:
    """What the compiler says."""
    table = symtable.symtable(code, "<code>", "exec")
    return {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}


@table("code", SNIPPETS)
def test_a_body_binds_what_the_compiler_says(code):
    assert {name for name, _ in bindings(ast.parse(code).body)} == bound(code)


@table("path", sorted(Path(proofbook.__file__).parent.rglob("*.py")))
def test_so_do_whole_modules(path):
    code = path.read_text(encoding="utf-8")
    assert {name for name, _ in bindings(ast.parse(code).body)} == bound(code)


def test_a_walrus_binds_beyond_its_comprehension():
    body = ast.parse("[a for b in c if (d := [e := a for f in b])]").body
    space: dict[str, object] = {"c": [[1]], "a": 1}
    exec(compile(ast.Module(body, []), "<code>", "exec"), space)
    assert (
        {name for name, _ in bindings(body)}
        == {"d", "e"}
        == space.keys() - {"c", "a", "__builtins__"}
    )


def test_a_function_binds_what_it_calls_global():
    body = ast.parse("def f():\n    global a\n    a = 1\n").body
    assert [(name, one.lineno) for name, one in bindings(body)] == [("f", 1), ("a", 1)]
