"""A page's code, copied up to a block, does elsewhere what it did on the page."""

import ast
import json
import re

from books import rendered

from proofbook.execution.names import names_bound, statements_behind
from proofbook.model import Block
from proofbook.notebook.programs import caught, printed, program_of
from tables import table

# Each with what no analysis of names sees: the later blocks show what the earlier ones changed.
PAGES = {
    "shuffle": ["import random\nxs = list(range(9))", "random.shuffle(xs)", "xs"],
    "heap": ["import heapq\nheap = [5, 7]", "heapq.heappush(heap, 3);", "heap[0]"],
    "iterator": ["it = iter([2, 3, 5])", "a = next(it)", "a = next(it)", "a", "next(it)"],
    "two draws": ["import random", "a = random.random()", "b = random.random()", "b"],
    "numpy's out=": ["import numpy as np\ny = np.zeros(3)", "np.add(1, 2, out=y);", "print(y)"],
    "numpy's generator": ["import numpy as np", "np.random.rand(2);", "print(np.random.rand(2))"],
    "a draw shown": ["import random", "random.random()", "random.random()"],
    "another name": ["a = [1]\nb = [a]", "c = b[0]\nc.append(2)", "a"],
    "a function's store": ["seen = []\ndef f(x):\n    seen.append(x)", "f(3)", "seen"],
    "a default": ["def f(x, known=[]):\n    known.append(x)\n    return known", "f(1);", "f(2)"],
    "a module's state": ["import decimal as d", "d.getcontext().prec = 3", "str(d.Decimal(1) / 3)"],
    "an attribute": ["class A: pass\na = A()", "setattr(a, 'x', 5)", "a.x"],
    "a generator": ["def g():\n    yield 1\n    yield 2\nmade = g()", "list(made)", "list(made)"],
    "a sort by key": ["xs = ['bb', 'a']", "key = len\nxs.sort(key=key)", "xs"],
    "exec": ["exec('x = 5')", "x"],
    "texts": ["'a'", "x = 1; x", "(\n    1,\n    2,\n)", "x  # so", "3, 4", "'''a\n  b'''"],
    "prompts": [">>> x = [2]\n>>> x.append(3)\n>>> x\n[2, 3]\n>>> 'a'\n'a'", "x"],
    "an error": [">>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: no\n>>> 5\n5"],
    "the future": ["from __future__ import annotations\nx = 1", "def f(x: no): return x", "f(3)"],
}  # fmt: skip


def unquoted(text):
    """A string, where a page shows its repr: a program prints it."""
    value = ast.literal_eval(text) if re.match("['\"]", text) else text
    return f"{value}\n"


def shown(result):
    """What a block shows in a terminal."""
    texts = [o.data if o.kind == "stdout" else unquoted(o.data) for o in result.outputs]
    for one in result.examples:
        last = one.got.rstrip("\n").split("\n")[-1]
        texts.append(unquoted(last) if last else "")
    return "".join(texts)


@table("name", [*PAGES])
def test_it_shows_what_the_page_shows(project, name):
    page = project.page(*PAGES[name])
    settings = {"preload": ("numpy",)}
    run = project.run_pages(page, **settings)["page.md"]
    assert [block.failure for block in run.blocks] == [None] * len(run.blocks)
    made = program_of(page.blocks, run.blocks)
    other = "import random, numpy\nrandom.seed(7)\nnumpy.random.seed(7)\n"  # than on a page
    shown_last = shown(run.blocks[-1])
    last = made.up_to(len(run.blocks) - 1)
    for program in (last, made.script()):
        [block] = project.run(f"{other}exec({program!r}, {{}})", **settings).blocks
        assert block.failure is None, program
        assert "".join(output.data for output in block.outputs).endswith(shown_last), program


def test_code_stays_as_it_is_written_wherever_it_can():
    for code, expected in (
        ("x", "print(x)"),
        ("(x +  y)", "print((x +  y))"),
        ("f(\n    1,  # one\n)", "print(f(\n    1,  # one\n))"),
        ("x  # so", "print(x)"),
        ("1, 2", "print((1, 2))"),
        ("x = 1", "x = 1"),
        ("(i for i in x)", "print((i for i in x))"),
    ):
        assert printed(code) == expected
    assert caught("f(\n    x)").startswith("try:\n    f(\n        x)\nexcept Exception as error:\n")
    assert "try:\n    f('a\\nb')\n" in caught('f("""a\nb""")')


PAGE = """# A page

```python
import random
x = [random.random()]
```

```python raises="IndexError: pop from empty list"
y = 2
[].pop()
```

```python fold="code"
len(x) + y
```
"""


def test_a_page_offers_its_script_and_each_block_leads_to_it(book):
    offered = {}
    html = rendered(book, PAGE, offered=offered)
    assert "proofbook-error" not in html
    [data] = re.findall(r'class="proofbook-program">(.*?)</script>', html)
    steps = json.loads(data)["steps"]
    assert [len(step) for step in steps] == [1, 1, 2]
    links = re.findall(r'<a class="proofbook-copy" href="#([\w-]+)" data-step="(\d)"', html)
    assert [step for _, step in links] == ["0", "1", "2"]
    assert f'id="{links[0][0]}">Download as a <a href="p.ipynb"' in html
    assert offered["p.py"] == (
        "import random\n\nrandom.seed(0)\n\nimport random\nx = [random.random()]\n\n"
        "y = 2\ntry:\n    [].pop()\nexcept Exception as error:\n"
        '    print(f"{type(error).__name__}: {error}")\n\nprint(len(x) + y)\n'
    )
    assert "proofbook-copy" not in rendered(book, "```python\n1 / 0\n```\n")


def test_what_a_value_came_from_is_found_by_names():
    blocks = [
        Block("python", "import math\nx = [0]\nother = 5", 1),
        Block("python", "x = math.f(x)", 4, raises="TypeError: no"),
        Block("python", "def f():\n    return z\nz = 3\nx.append(f())\nprint(x)\nother", 7),
    ]
    behind = {(0, 0), (0, 1), (2, 0), (2, 1), (2, 2), (3, 0)}
    assert {*statements_behind(blocks, "math.sqrt(x[0])")} == behind
    assert names_bound(blocks) == {"x", "other", "f", "z"}
