"""What nothing can change is refused; what something can change is not."""

import pytest

DATA = "import torch\nn = 5\nxs = [3, 1, 2]\nword = 'time'\nw = torch.tensor([[0.5, 0.5], [0.25, 0.75]])"
MADE = "def double(x):\n    return 2 * x\n\n\nclass Thing:\n    def __init__(self):\n        self.size = 7\n\n\nthing = Thing()"


def value(project, expression):
    run = project.run(DATA.replace("word", "said"), MADE, claims=[(expression, 2)])
    return run.values[expression, 2]


@pytest.mark.parametrize(
    "expression",
    [
        *("n == n", "(n, 5)[1]", "n or 5 if False else 5", "len(xs) >= 0", "w is not None"),
        *("w.shape == w.shape", "isinstance(n, int)", "n * 0 + 5", "bool(xs) or True"),
        *("torch.allclose(w, w)", "said.lower() == said.lower()", "abs(n) >= 0"),
        *("word(n, 'a', 'a')", "(w == w).all()", "thing is thing", "double(n) == 2 * n"),
    ],
)
def test_what_is_so_of_every_value_is_refused(project, expression):
    failure = value(project, expression).failure
    assert failure is not None
    assert "comes out the same whatever the names it reads stand for" in failure.reason


@pytest.mark.parametrize(
    "expression",
    [
        *("n == 5", "n > 4", "len(xs)", "max(xs)", "said", "said.startswith('t')", "list(w.shape)"),
        *("torch.allclose(w.sum(-1), torch.ones(2))", "w.argmax(-1).tolist()", "thing.size"),
        *("double(n)", "double(3)", "sorted(xs) == [1, 2, 3]", "(w > 0).all()", "w.dtype.is_complex or w[0, 0] == 0.5"),
        *("type(thing).__name__", "xs[0] == 3", "w.ndim", "n % 2 == 1"),
    ],
)
def test_what_another_value_would_change_passes(project, expression):
    assert value(project, expression).failure is None


def test_what_takes_long_counts_as_open(project):
    code = "import time\nn = 1\ndef slow(n):\n    time.sleep(0.7)\n    return 1"
    run = project.run(code, claims=[("slow(n) == 1", 1)])
    assert run.values["slow(n) == 1", 1].failure is None


def test_what_is_tried_leaves_no_trace(project):
    shown = project.shown(
        "import torch\nx = torch.ones(3)\nmodel = torch.nn.Linear(3, 2)\nbefore = model.weight.clone()",
        "x.tolist(), bool((model.weight == before).all()), int(torch.randint(1000, ()))",
    )
    code = "import torch\nx = torch.ones(3)\nmodel = torch.nn.Linear(3, 2)\nbefore = model.weight.clone()"
    run = project.run(
        code,
        "x.tolist(), bool((model.weight == before).all()), int(torch.randint(1000, ()))",
        claims=[("model(x).shape == (2,)", 1), ("x.sum() == 3", 1)],
    )
    assert [output.data for output in run.blocks[1].outputs] == shown
