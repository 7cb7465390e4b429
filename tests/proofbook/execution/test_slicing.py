"""The program of a block does what the block does on its page, and holds nothing else."""

import pytest

from proofbook.execution.slicing import Slicer, program
from proofbook.model import Block


def payloads(*codes, draws=()):
    """The program of each block of a page; `draws` as (block, statement, generator)."""
    slicer = Slicer(seed=7, is_own=lambda package: package == "ours")
    return [
        program(*slicer.add(_block(code), [(n, g) for block, n, g in draws if block == index]))
        for index, code in enumerate(codes)
    ]


def _block(code):
    return Block("pycon" if code.startswith(">>>") else "python", code, 1)


def test_takes_what_the_block_reads_and_nothing_else():
    *_, last = payloads("a = 1\nb = 2", "c = a + 1\nunused = b", "c * 2")
    assert last == "a = 1\n\nc = a + 1\n\nc * 2\n"


def test_takes_a_name_from_where_it_last_got_its_value():
    *_, last = payloads("a = 1", "a = 2", "a")
    assert last == "a = 2\n\na\n"


def test_takes_an_earlier_value_that_a_later_one_is_made_from():
    *_, last = payloads("a = 1", "a += 2", "a = a * 3", "a")
    assert last == "a = 1\n\na += 2\n\na = a * 3\n\na\n"


def test_a_value_that_may_stay_is_kept_beside_one_that_may_come():
    *_, last = payloads("a = 1", "if flag():\n    a = 2", "a")
    assert last == "a = 1\n\nif flag():\n    a = 2\n\na\n"


def test_takes_the_imports_that_are_used_once_each_in_three_groups():
    *_, last = payloads(
        "import torch\nimport os, sys\nfrom ours.a import f, g",
        "import torch\nfrom ours.a import h\nfrom collections import deque",
        "x = torch.tensor(deque(f(sys.argv)))\nh(x)",
    )
    assert last == (
        "import sys\nfrom collections import deque\n\nimport torch\n\n"
        "from ours.a import f, h\n\nx = torch.tensor(deque(f(sys.argv)))\nh(x)\n"
    )


def test_keeps_the_imports_of_the_block_itself():
    assert payloads("import os\nimport torch.nn.functional as F") == [
        "import os\n\nimport torch.nn.functional as F\n"
    ]


def test_takes_what_a_function_reads_when_it_is_called():
    *_, last = payloads(
        "def f():\n    return scale * helper()",
        "def helper():\n    return 3",
        "scale = 2\nother = 5",
        "f()",
    )
    assert last == (
        "def f():\n    return scale * helper()\n\n\ndef helper():\n    return 3\n\n\n"
        "scale = 2\n\nf()\n"
    )


def test_leaves_out_what_is_only_shown():
    *_, last = payloads("a = [1]\nprint(a)", "a", "a + [2]\nlen(a)", "sum(a)")
    assert last == "a = [1]\n\nsum(a)\n"


@pytest.mark.parametrize(
    "change",
    [
        "a.append(2)",
        "a[0] = 2",
        "a.field = 2",
        "del a[0]",
        "a.fill_(0)",
        "init.normal_(a.weight)",
        "a.eval()",
        "change(a)",
        "a.method().zero_()",
        "for i in range(3):\n    a.append(i)",
    ],
)
def test_takes_what_changes_an_object(change):
    *_, last = payloads("a = [1]", f"{change}\nother = 3", "a")
    assert last == f"a = [1]\n\n{change}\n\na\n"


def test_takes_the_loop_that_fills_what_was_made_from_nothing():
    loop = "with off():\n    for x in range(3):\n        y = model(x, cache=cache)"
    *_, last = payloads("cache, n = Cache(), 0\nmodel = load()", loop, "cache.length")
    assert last == f"cache, n = Cache(), 0\nmodel = load()\n\n{loop}\n\ncache.length\n"
    listed = "ys = [model(x, cache) for x in range(3)]"
    *_, last = payloads("cache = Cache()\nmodel = load()", listed, "cache.length")
    assert last == f"cache = Cache()\nmodel = load()\n\n{listed}\n\ncache.length\n"
    *_, last = payloads("cache = Cache(3)", "for x in range(3):\n    y = f(x, cache)", "cache")
    assert last == "cache = Cache(3)\n\ncache\n"


def test_a_class_is_not_changed_by_a_method_of_its_objects():
    *_, last = payloads("from ours.a import Layer\nlayer = Layer(3).eval()", "Layer")
    assert last == "from ours.a import Layer\n\nLayer\n"


def test_takes_the_training_of_a_model_through_its_optimizer():
    training = "for x in data:\n    model(x).sum().backward()\n    optimizer.step()"
    *_, last = payloads(
        "model = build()\nother = build()\noptimizer = SGD(model.parameters())",
        f"data = [1]\n{training}",
        "model(3)",
    )
    assert last == (
        "model = build()\noptimizer = SGD(model.parameters())\n\n"
        f"data = [1]\n{training}\n\nmodel(3)\n"
    )


def test_takes_the_call_of_a_function_of_the_page_that_trains():
    define = "def train(model):\n    model.loss().backward()"
    *_, last = payloads(f"model = build()\n\n\n{define}", "losses = train(model)", "model")
    assert last == f"model = build()\n\n\n{define}\n\n\nlosses = train(model)\n\nmodel\n"


def test_takes_a_pass_backward_for_the_gradients_of_what_it_came_from():
    *_, last = payloads("x = leaf()\ny = x * 2", "y.sum().backward()", "x.grad")
    assert last == "x = leaf()\ny = x * 2\n\ny.sum().backward()\n\nx.grad\n"


def test_draws_all_that_was_drawn_before_from_the_same_seed():
    draws = [(0, 1, "torch"), (1, 0, "torch"), (2, 0, "torch"), (2, 1, "random")]
    before, last = payloads(
        "import torch\na = torch.randn(3)",
        "b = torch.randn(2)",
        "c = torch.randn(1)\nd = random.random()",
        "c",
        draws=draws,
    )[1::2]
    seeded = "import torch\n\ntorch.manual_seed(7)\n\na = torch.randn(3)\n\nb = torch.randn(2)\n"
    assert before == seeded
    assert last == f"{seeded}\nc = torch.randn(1)\n\nc\n"


def test_imports_the_generator_that_it_seeds():
    assert payloads("d = draw()", draws=[(0, 0, "random"), (0, 0, "numpy")]) == [
        "import random\n\nimport numpy\n\nnumpy.random.seed(7)\nrandom.seed(7)\n\nd = draw()\n"
    ]


def test_a_doctest_loses_its_prompts_and_outputs():
    *_, last = payloads("a = 1\nb = 2", ">>> b += a\n>>> b\n3\n>>> if b:\n...     print(a)\n1")
    assert last == "a = 1\nb = 2\n\nb += a\nb\nif b:\n    print(a)\n"


def test_comments_and_distances_stay():
    (last,) = payloads("# why\na = 1\n\nb = 2  # how\n\n\n\ndef f():\n    return a\n\nf()")
    assert last == "# why\na = 1\n\nb = 2  # how\n\n\ndef f():\n    return a\n\n\nf()\n"


def test_a_block_of_comments_counts_as_a_block():
    *_, last = payloads("# nothing yet", "a = 1", "a")
    assert last == "a = 1\n\na\n"
