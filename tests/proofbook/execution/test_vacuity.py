"""What nothing can change is refused; what something can change is not."""

import re

from proofbook.model import Block, Chapter, Claim

PAGE = """\
import collections

import torch

n = 5
truth = True
xs = [3, 1, 2]
pair = (3, 4)
named, kinds, none = {"a": 1}, {3, 4}, []
said = "time"
w = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
mask = torch.tensor([True, True])
x, model = torch.ones(3), torch.nn.Linear(3, 2)


def double(x):
    return 2 * x


class Thing:
    def __init__(self):
        self.size = 7


thing = Thing()
things, models = [thing], {0.5: model}
point = collections.namedtuple("Point", "x y")(3, 4)
"""
ALWAYS = [
    *("n == n", "bool(xs) or True", "w is not None", "len(xs) >= 0", "(w == w).all()"),
    *("torch.allclose(w, w)", "abs(n) >= 0", "said.lower() == said.lower()", "len(said) >= 0"),
    *("sorted(xs) == sorted(xs)", "(abs(w) >= 0).all()", "truth in (0, 1)"),
    *("len(named) >= 0", "len(kinds) > -1", "len([*pair, 1]) > 0", "torch.rand(n).max() <= 1"),
]
OPEN = [
    *("n == 5", "n > 4", "n < 9000", "n % 2 == 1", "len(xs) == 3", "max(xs) == 3", "xs[0] == 3"),
    *(
        "said.startswith('t')",
        "said == 'time'",
        "truth",
        "'a' in named",
        "3 in kinds",
        "pair[0] < 4",
    ),
    *("torch.allclose(w.sum(-1), torch.ones(2))", "(w > 0).all()", "w[0, 0] == 0.5", "not none"),
    *("sorted(xs) == [1, 2, 3]", "w.argmax(-1).tolist() == [0, 1]", "(w[0] < w[0, 0] + 1).all()"),
    *("w.isfinite().all()", "mask.all()", "w.numel() == 4", "w.T.equal(w) or w[0, 1] == 0.5"),
]
UNKNOWN = [
    *("sorted(xs) == sorted(xs[::-1])", "(2 * w).equal(w + w)", "len(xs) == len(w) + 1"),
    *("double(n) == 2 * n", "thing is not None", "thing.size == 7", "w.grad is None"),
    *("w.dtype == torch.float32", "not w.requires_grad", "isinstance(thing, Thing)"),
    *("point.x > 0", "len(things) >= 0", "len(models) >= 0"),
    *("[n for n, _ in models[0.5].named_parameters()] == ['weight', 'bias']", "len(models) > 0"),
    *("torch is not None", "model(x).shape == (2,)"),
]


def reasons(project, code, claims):
    """Why each claim on a page is refused; "" where it passes."""
    run = project.run(code, claims=[(one, 1) for one in claims], preload=("torch",))
    assert run.failure is None
    return {
        one: (value.failure and value.failure.reason) or ""
        for (one, _), value in run.values.items()
    }


def refused(project, code, claims, why):
    """Each claim is refused for this reason."""
    found = reasons(project, code, claims)
    other = {one: reason for one, reason in found.items() if not re.search(why, reason)}
    assert len(found) == len(claims)
    assert other == {}


def passes(project, code, claims):
    found = reasons(project, code, claims)
    assert found == dict.fromkeys(claims, "")


def test_what_is_true_of_every_value_asserts_nothing_and_all_else_passes(project):
    refused(project, PAGE, ALWAYS, "stayed true for every other value tried for ")
    passes(project, PAGE, OPEN + UNKNOWN)


def test_a_value_that_is_always_the_same_may_be_told(project):
    claims = (Claim("5", line=9, place=1, equals="n * 0 + 5"),)
    chapter = Chapter("page.md", (Block("python", "n = 3", line=1),), claims)
    assert project.run_pages(chapter)["page.md"].values["n * 0 + 5", 1].failure is None


def test_what_is_tried_leaves_no_trace(project):
    code = "import torch\nx = torch.ones(3)"
    after = "x.tolist(), int(torch.randint(1000, ()))"
    claims = [("x.sum() + 0 * torch.rand(()) == 3", 1)]
    bare = project.page(code, after, path="bare.md")
    tried = project.page(code, after, claims=claims, path="tried.md")
    runs = project.run_pages(bare, tried, preload=("torch",))
    assert runs["tried.md"].blocks[1].outputs == runs["bare.md"].blocks[1].outputs


def test_what_a_claim_changes_with_other_values_is_found(project):
    claim = "n == 1 or xs.pop()"
    failure = project.run("n = 1\nxs = [3, 4]", claims=[(claim, 1)]).values[claim, 1].failure
    assert failure.reason.startswith("changes 'xs' when another name has a different value")


def test_what_leaves_the_program_with_other_values_leaves_the_page_running(project):
    claim = "(n < 2 or sys.exit(3)) and n == 1"
    run = project.run("import sys\nn = 1", "n", claims=[(claim, 1)])
    assert (run.failure, run.values[claim, 1].data) == (None, True)
    assert run.blocks[1].outputs[0].data == "1"


def test_each_number_has_a_smaller_and_a_larger_one(project):
    for value in (-1, 0, 1, 7, -1.0, 0.5):
        passes(project, f"n = {value}", [f"n > {value - 5}", f"n < {value + 5}"])


ALIASES = """\
import copy
import numpy as np
import torch

class Net:
    def __init__(self):
        self.w = np.ones(3)
        self.layers = {"first": torch.nn.Linear(3, 2)}

def same(x):
    return x

net = Net()
before, linear = net.w, net.layers["first"]
weight, flat, kept = linear.weight, net.w[:], net.w.copy()
view = torch.ones(2, 3)
other_view = view.view(2, 3)
untouched = torch.arange(6)
turned = untouched.view(2, 3).mT.mT.reshape(6)
xs = [3, 1, 2]
ys, zs = xs, list(xs)
given = same(xs)
xs.sort()
view.add_(1)
net.w -= 0.5
"""
ONE_OBJECT = ["np.allclose(before, net.w)", "(flat == net.w).all()", "xs == ys", "given == xs"]
ONE_OBJECT += ["abs(before - net.w).max() == 0", "torch.equal(view, other_view)"]
ONE_OBJECT += [
    "view[0].equal(other_view[0])",
    "weight.equal(linear.weight)",
    "weight.equal(net.layers['first'].weight)",
]
TWO_OBJECTS = ["not np.allclose(kept, net.w)", "xs != zs", "sorted(zs) == xs", "xs is ys"]
TWO_OBJECTS += ["turned.equal(untouched)", "view[0].equal(other_view[1]) and view[0, 0] == 2"]
TWO_OBJECTS += ["np.shares_memory(before, net.w)", "weight.data_ptr() == linear.weight.data_ptr()"]
TWO_OBJECTS += ["linear(torch.ones(3)).shape == weight[:, 0].shape"]


def test_an_object_is_not_compared_with_itself_under_another_name(project):
    refused(project, ALIASES, ONE_OBJECT, "are one object, compared with itself")
    claims = (Claim("0.0", line=9, place=1, equals="float(abs(before - net.w).max())"),)
    chapter = Chapter("page.md", (Block("python", ALIASES, line=1),), claims)
    [value] = project.run_pages(chapter, preload=("torch",))["page.md"].values.values()
    assert "are one object, compared with itself" in value.failure.reason
    passes(project, ALIASES, TWO_OBJECTS)


def test_a_size_may_be_bounded_from_below(project):
    code = "import torch\nxs, ones, text = list(range(5000)), torch.ones(5000), 'a' * 5000"
    sizes = (0, 1, 2, 4, 4000)
    passes(project, code, [f"len({name}) > {n}" for name in ("xs", "ones", "text") for n in sizes])


def test_all_of_nothing_is_not_true(project):
    code = "none, xs = [], [1, 2, 3]"
    nothing = ["all(x < 0 for x in none)", "all(none)", "all(x > 9 for x in xs if x > 9)"]
    refused(project, code, nothing, r"all\(\) had nothing to test")
    ordered = "all(all(xs[j] < xs[i] for j in range(i)) for i in range(len(xs)))"
    passes(project, code, ["all(x > 0 for x in xs)", ordered])


def test_an_integer_that_python_prints_no_more_stops_no_page(project):
    passes(project, "n = 2**20000\nm = 3", ["m", "n % 7"])
    refused(project, "n = 2**20000", ["n"], "20001 bits is too long")
