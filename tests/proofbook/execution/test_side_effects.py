"""A claim looks and does not act: what it changes is found, what it only reads is not."""

import ast

MAKE = """
import collections, copy, io, itertools, os, random, sys
import numpy as np
import torch
from torch import nn

xs, d, s, q = [3, 1, 2], {"a": 1}, {1, 2}, collections.deque([1])
counts, ordered = collections.defaultdict(int), collections.OrderedDict(a=1, b=2)
nested, grid = {"deep": [[1], [2]]}, ([1], [2])
it, steps, pairs = iter(xs), itertools.count(), zip(xs, xs)
squares = (n * n for n in range(9))
t, w, a = torch.ones(3), torch.ones(2, requires_grad=True), np.ones(3)
whole = np.arange(9).reshape(3, 3)
layer, generator = nn.Sequential(nn.Linear(2, 3), nn.Dropout()), torch.Generator()
dice, numbers, file = random.Random(1), np.random.default_rng(1), io.StringIO("some text")
raw = bytearray(b"abc")
here = f"{os.getpid()}.txt"
open(here, "w").write("1")
main = sys.modules["__main__"]


class Box:
    size = 1

    def __init__(self):
        self.n, self._items = 0, []

    def put(self, x):
        self._items.append(x)
        return len(self._items)


class Watched:
    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        self.asked.append(name)
        return len(self.asked)


watched = Watched()
box = Box()
push = xs.append


def counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


count, total = counter(), 0


def bump():
    global total
    total += 1
    return total


def remember(x, seen=[]):
    seen.append(x)
    return seen
"""

ACTS = [
    *("xs.pop()", "xs.append(5)", "xs.sort()", "xs.reverse()", "xs.__setitem__(0, 9)"),
    *("xs.__iadd__([1])", "[xs.append(n) for n in range(2)]", "(lambda v: v.pop())(xs)", "push(1)"),
    *("d.update(b=2)", "d.setdefault('b', 2)", "d.pop('a')", "d.__setitem__('a', 2)"),
    *("s.add(9)", "s.discard(1)", "q.append(1)", "q.rotate(1) or q.popleft()", "raw.pop()"),
    *("counts['new']", "ordered.move_to_end('a')", "grid[0].pop()"),
    *("next(it)", "list(it)", "sum(squares)", "next(squares)", "next(steps)", "dict(pairs)"),
    *(
        "t.add_(1)",
        "t.zero_()",
        "t[:2].fill_(5)",
    ),
    *("torch.nn.init.zeros_(w)", "t.__setitem__(0, 7)", "torch.add(t, 1, out=t)"),
    *("w.sum().backward()", "w.requires_grad_(False)", "torch.rand(1, generator=generator)"),
    *("a.fill(0)", "a.sort() or a.put(0, 5)", "np.add(a, 1, out=a)", "whole[1:].fill(0)"),
    *("a.__setitem__(0, 4)", "np.copyto(a, 7)", "a.resize(5, refcheck=False)"),
    *("layer.eval()", "layer[1].eval()", "layer.requires_grad_(False)", "layer.append(layer[0])"),
    *("layer.load_state_dict({k: v + 1 for k, v in layer.state_dict().items()})",),
    *("setattr(box, 'n', 5)", "setattr(box, 'new', 5)", "delattr(box, 'n')", "box.put(1)"),
    *("setattr(Box, 'size', 2)", "vars(box).update(n=3)"),
    *("dice.random()", "numbers.normal()", "file.read()", "file.write('x')", "count()", "bump()"),
    *(
        "remember(1)",
        "watched.anything",
        "vars(main).update(total=7)",
        "vars(main).pop('total')",
    ),
    *("open(here + 'x', 'w').write('1')", "os.mkdir(here + 'd')", "os.remove(here)"),
    *("os.rename(here, here + 'y')", "open(here, 'a').write('1')", "open(here, 'w').close()"),
    *("os.truncate(here, 0)", "np.save(here + 'n', a)"),
]

LOOKS = [
    *("sorted(xs)", "xs + [1]", "xs[::-1]", "[x for x in xs]", "max(xs)", "list(xs).pop()"),
    *("copy.deepcopy(xs).append(1)", "d.get('b')", "{**d, 'b': 2}", "s | {9}", "'z' in counts"),
    *("d.setdefault('a', 5)", "sum(n * n for n in xs)", "repr(it)", "nested['deep'][0]"),
    *(
        "t + 1",
        "t.clone().add_(1)",
        "t.sort(descending=True)",
        "t.softmax(-1)",
        "w.detach().numpy()",
    ),
    *("layer(torch.ones(1, 2)).shape", "list(layer.state_dict())", "str(layer[0].weight.grad)"),
    *("np.sort(a)", "a.copy().fill(0)", "whole.T @ whole", "torch.rand(1)", "random.random()"),
    *(
        "np.random.rand()",
        "box.n",
        "Box().put(1)",
        "(y := xs)",
        "watched.asked",
        "sorted(s)",
        "file.closed",
    ),
    *("(w * 2).sum()", "torch.autograd.grad((w * w).sum(), w)", "os.path.exists(here)"),
    *("open(here).read()", "str(layer)", "isinstance(box, Box)", "xs.count(1)", "bytes(raw)"),
]


def reasons(project, *pages):
    """Why each claim on these pages is refused, None where it passes."""
    chapters = [
        project.page(MAKE, claims=[(text, 1) for text in claims], path=f"{number}.md")
        for number, claims in enumerate(pages)
    ]
    runs = project.run_pages(*chapters, preload=("torch",))
    values = {text: value for run in runs.values() for (text, _), value in run.values.items()}
    assert len(values) == sum(map(len, pages))
    return {text: value.failure and value.failure.reason for text, value in values.items()}


def apart(claims):
    """Pages of claims, of which no two name the same things."""
    pages = []
    for text in claims:
        named = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        named -= {"np", "torch", "os", "vars", "setattr", "open"}
        for page, names in pages:
            if not names & named:
                page.append(text)
                names |= named
                break
        else:
            pages.append(([text], named))
    return [page for page, _ in pages]


def test_what_a_claim_changes_is_found(project):
    found = reasons(project, *apart(ACTS))
    refused = "must not change anything"
    passed = {text: reason for text, reason in found.items() if refused not in str(reason)}
    assert list(passed) == []
    assert found["xs.pop()"] == (
        "changes 'xs': a claim must not change anything; do this in a block, and check the result "
        "in the claim"
    )


def test_what_only_looks_passes(project):
    found = reasons(project, LOOKS)
    assert found == dict.fromkeys(LOOKS)


def test_a_temporary_file_of_a_claim_is_nobody_s_business(project):
    code = """
import os, tempfile
def round_trip(x):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        open(path, "w").write(x)
        return open(path).read()
"""
    claim = "round_trip('a') == 'a'"
    assert project.run(code, claims=[(claim, 1)]).values[claim, 1].data is True
