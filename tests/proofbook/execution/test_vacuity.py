"""What nothing can change is refused; what something can change is not."""

import re

import torch

from proofbook.execution.value_mutations import Mentioned, mutated_values
from proofbook.model import Block, Chapter, Claim
from tables import table

PAGE = """\
import torch

n = 5
xs = [3, 1, 2]
said = "time"
w = torch.tensor([[0.5, 0.5], [0.25, 0.75]])


def double(x):
    return 2 * x


class Thing:
    def __init__(self):
        self.size = 7


thing = Thing()
"""
MODEL = """\
import torch

x = torch.ones(3)
model = torch.nn.Linear(3, 2)
before = model.weight.clone()
"""
AFTER = "x.tolist(), bool((model.weight == before).all()), int(torch.randint(1000, ()))"

INDIFFERENT = [
    "torch is not None",
    "n == n",
    "(n, 5)[1]",
    "n or 5 if False else 5",
    "w is not None",
    "thing is thing",
]
INDIFFERENT += ["word(n, 'a', 'a')", "word(n == 5, 'a', 'a')", "bool(xs) or True"]
ALWAYS = ["len(xs) >= 0", "w.shape == w.shape", "torch.allclose(w, w)", "abs(n) >= 0"]
ALWAYS += ["said.lower() == said.lower()", "(w == w).all()", "sorted(xs) == sorted(xs[::-1])"]
OPEN = [
    *("n == 5", "n > 4", "n < 9000", "n % 2 == 1", "isinstance(n, int)", "len(xs)", "max(xs)"),
    *("said", "said.startswith('t')", "list(w.shape)", "w.ndim", "w.argmax(-1).tolist()"),
    *("torch.allclose(w.sum(-1), torch.ones(2))", "(w > 0).all()", "w[0, 0] == 0.5"),
    *("double(n)", "double(3)", "double(n) == 2 * n", "thing.size", "type(thing).__name__"),
    *(
        "sorted(xs) == [1, 2, 3]",
        "torch.__name__",
        "Thing.__name__",
        "xs[0] == 3",
        "word(n == 5, 'a', 'b')",
    ),
]


UNHURRIED = "__import__('proofbook.execution.vacuity').execution.vacuity.LONGEST = 600"
"""A block that gives the page as long for other values as a busy machine may need."""


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


def test_what_depends_on_nothing_is_refused(project):
    refused(project, PAGE, INDIFFERENT, "comes out the same for all values of the names it reads")


def test_what_is_true_of_every_value_asserts_nothing(project):
    refused(project, PAGE, ALWAYS, "stayed true for every other value tried for ")


def test_a_value_that_is_always_the_same_may_be_told(project):
    claims = (Claim("5", line=9, place=1, equals="n * 0 + 5"),)
    chapter = Chapter("page.md", (Block("python", "n = 3", line=1),), claims)
    assert project.run_pages(chapter)["page.md"].values["n * 0 + 5", 1].failure is None


def test_what_another_value_would_change_passes(project):
    passes(project, PAGE, OPEN)


def test_what_takes_long_counts_as_open(project):
    hurried = UNHURRIED.replace("600", "0.2")
    code = "n = 1\ndef endless(n):\n    while n != 1:\n        pass\n    return 1"
    run = project.run(hurried, code, claims=[("endless(n) == 1", 2)])
    assert run.values["endless(n) == 1", 2].failure is None


def test_what_is_tried_leaves_no_trace(project):
    claims = [("model(x).shape == (2,)", 1), ("x.sum() == 3", 1)]
    bare, tried = (
        project.page(MODEL, AFTER, path="bare.md"),
        project.page(MODEL, AFTER, claims=claims, path="tried.md"),
    )
    runs = project.run_pages(bare, tried, preload=("torch",))
    assert runs["tried.md"].blocks[1].outputs == runs["bare.md"].blocks[1].outputs


def test_what_a_claim_changes_with_other_values_is_found(project):
    claim = "n == 1 or xs.pop()"
    failure = project.run("n = 1\nxs = [3, 4]", claims=[(claim, 1)]).values[claim, 1].failure
    assert failure.reason.startswith("changes 'xs' when another name has a different value")


def test_what_holds_its_items_elsewhere_stays_as_it_is(project):
    code = "import torch\nlayers = torch.nn.ModuleList([torch.nn.Linear(3, 2)])"
    claim = "layers[0].weight.shape == (2, 3)"
    shown = "layers[0] is not None"
    run = project.run(code, shown, claims=[(claim, 1)], preload=("torch",))
    assert (run.values[claim, 1].failure, run.blocks[1].outputs[0].data) == (None, "True")


def test_what_leaves_the_program_with_other_values_leaves_the_page_running(project):
    claim = "(n < 2 or sys.exit(3)) and n == 1"
    run = project.run("import sys\nn = 1", "n", claims=[(claim, 1)])
    assert (run.failure, run.values[claim, 1].data) == (None, True)
    assert run.blocks[1].outputs[0].data == "1"


def test_each_number_has_a_smaller_and_a_larger_one(project):
    for value in (-1, 0, 1, 7, -1.0, 0.5):
        passes(project, f"n = {value}", [f"n > {value - 5}", f"n < {value + 5}"])


@table("value", [True, 3, 0.5, "time", [1, 2], (), {"a": 1}, {3}, None, print, len])
def test_everything_has_another_value(value):
    assert any(type(other) is not type(value) or other != value for other in mutated_values(value))


def test_a_list_of_layers_is_made_shorter_before_its_weights_are_copied():
    layers = torch.nn.ModuleList([torch.nn.Linear(3, 2), torch.nn.Linear(2, 5)])
    other = next(mutated_values(layers))
    assert len(other) == 1
    assert other[0] is layers[0]


@table(("name", "shape"), [("numel", (6, 4)), ("sum", (5, 3))])
def test_a_model_gets_other_shapes_first_where_sizes_are_asked_for(name, shape):
    other = next(mutated_values(torch.nn.Linear(3, 5), Mentioned(frozenset({name}))))
    assert tuple(other.weight.shape) == shape


def test_what_costs_little_to_alter_is_altered_first(project):
    """An attribute comes before the model that has it, so a large model isn't copied for it."""
    code = """\
class Model:
    copies = 0

    def __init__(self):
        self.width = 3

    def parameters(self):
        return []

    def state_dict(self):
        return {}

    def __deepcopy__(self, memo):
        Model.copies += 1
        return self

model = Model()"""
    claim = "model.width"
    run = project.run(code, "Model.copies", claims=[(claim, 1)])
    assert run.values[claim, 1].failure is None
    assert run.blocks[1].outputs[0].data == "0"


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
ONE_OBJECT += ["weight.equal(linear.weight)", "weight.equal(net.layers['first'].weight)"]
TWO_OBJECTS = ["not np.allclose(kept, net.w)", "xs != zs", "sorted(zs) == xs", "xs is ys"]
TWO_OBJECTS += ["turned.equal(untouched)", "view[0].equal(other_view[0]) and view[0, 0] == 2"]
TWO_OBJECTS += ["np.shares_memory(before, net.w)", "weight.data_ptr() == linear.weight.data_ptr()"]
TWO_OBJECTS += ["len(xs) == 3 and xs == ys", "linear(torch.ones(3)).shape == weight[:, 0].shape"]


def test_an_object_is_not_compared_with_itself_under_another_name(project):
    refused(project, ALIASES, ONE_OBJECT, "are one object, compared with itself")
    claims = (Claim("0.0", line=9, place=1, equals="float(abs(before - net.w).max())"),)
    chapter = Chapter("page.md", (Block("python", ALIASES, line=1),), claims)
    [value] = project.run_pages(chapter, preload=("torch",))["page.md"].values.values()
    assert "are one object, compared with itself" in value.failure.reason


def test_what_is_not_one_object_or_asks_for_that_passes(project):
    passes(project, ALIASES, TWO_OBJECTS)


CODE = """\
import json
import math

def encode(text):
    return text.upper()

def parts():
    return [1]

class Stack:
    def __init__(self):
        self.items = [1]
"""


def test_what_reads_only_code_must_be_able_to_fail_too(project):
    claims = [
        *("encode('a') == encode('a')", "encode('a') is not None", "math.sin(1) == math.sin(1)"),
        *("json.loads('[]') is not None", "math is not None", "1 + 1 == 2 or math.pi"),
        *("Stack().items == Stack().items", "Stack() is not None", "Stack is Stack"),
    ]
    refused(project, CODE, claims, "stayed true for every other|comes out the same")


def test_what_reads_only_code_and_can_fail_passes(project):
    claims = [
        *("encode('a') == 'A'", "encode('a') != encode('b')", "round(math.pi, 2) == 3.14"),
        *("Stack().items == [1]", "json.loads('[]') == []", "isinstance(parts(), list)"),
        *("isinstance(encode('a'), str)", "Stack.__name__ == 'Stack'", "len(parts()) == 1"),
    ]
    passes(project, CODE, claims)


def test_a_size_may_be_bounded_from_below(project):
    code = "import torch\nxs, ones, text = list(range(5000)), torch.ones(5000), 'a' * 5000"
    sizes = (0, 1, 2, 4, 4000)
    passes(project, code, [f"len({name}) > {n}" for name in ("xs", "ones", "text") for n in sizes])


SPENT = """\
import io

xs = [-1, 2]
walked = (x for x in xs)
mapped, filtered = map(abs, xs), filter(None, xs)
zipped, numbered, plain = zip(xs, xs), enumerate(xs), iter(xs)
file = io.StringIO("a")
for one in (walked, mapped, filtered, zipped, numbered, plain, file):
    list(one)
fresh = (x for x in xs)
"""


def test_what_has_been_walked_to_its_end_is_asked_nothing(project):
    names = ("walked", "mapped", "filtered", "zipped", "numbered", "plain", "file")
    for claim in ("all(x for x in {})", "sum(1 for x in {}) == 0"):
        found = reasons(project, SPENT, [claim.format(name) for name in names])
        for name, reason in zip(names, found.values(), strict=True):
            assert reason.startswith(f"{name!r} is exhausted"), (claim, name, reason)


def test_what_has_something_left_is_looked_at(project):
    passes(project, SPENT, ["type(fresh).__name__ == 'generator'"])


def test_all_of_nothing_is_not_true(project):
    code = "none, xs = [], [1, 2, 3]"
    nothing = ["all(x < 0 for x in none)", "all(none)", "all(x > 9 for x in xs if x > 9)"]
    refused(project, code, nothing, r"all\(\) had nothing to test")
    ordered = "all(all(xs[j] < xs[i] for j in range(i)) for i in range(len(xs)))"
    passes(project, code, ["all(x > 0 for x in xs)", ordered])


def test_an_integer_that_python_prints_no_more_stops_no_page(project):
    passes(project, "n = 2**20000\nm = 3", ["m", "n % 7"])
    refused(project, "n = 2**20000", ["n"], "20001 bits is too long")


TRAINED = """\
import math
import re
from collections import namedtuple

import numpy as np
import torch

torch.manual_seed(0)
lin = torch.nn.Linear(3, 2)
frozen = torch.nn.Linear(3, 2).requires_grad_(False)
w0 = lin.weight.detach().clone()
data = lin.weight.data
start = {name: one.clone() for name, one in lin.state_dict().items()}
x = torch.randn(5, 3)
lin(x).sum().backward()
with torch.no_grad():
    lin.weight -= lin.weight.grad
a = x.numpy().copy()
history = [0.5, 0.25]
point = namedtuple("Point", "x y")(3, 4)
match = re.match(r"\\\\d+", "12 drummers")
summed = sum([0.1] * 10)
text = "no digits here"


def gcd(one, other):
    return one if other == 0 else gcd(other, one % other)


def tokenize(text):
    return text.lower().split()
"""
CAN_FAIL = [
    *("not torch.equal(lin.weight, w0)", "(lin.weight - w0).abs().sum() > 0", "point.x > 0"),
    *("not torch.allclose(lin.weight, start['weight'])", "point.x + point.y > 0"),
    *("x.dtype == torch.float32", "x.device.type == 'cpu'", "not x.requires_grad", "a.ndim == 2"),
    *("a.dtype == np.float32", "not any(p.requires_grad for p in frozen.parameters())"),
    *("all(p.requires_grad for p in lin.parameters())", "x.grad is None"),
    *(
        "lin.weight.grad is not None",
        "lin.weight.grad.isfinite().all()",
        "not np.isnan(a).any()",
        "x.isfinite().all()",
    ),
    *("math.isfinite(history[-1])", "match is not None", "bool(match)", "summed != 1"),
    *("not any(one.isdigit() for one in text)", "gcd(36, 48) == gcd(48, 36)"),
    *("tokenize('The Cat') == tokenize('the cat')", "len(history) == 2", "x.numel() > 7"),
]
CANNOT = [
    *("torch.equal(data, lin.weight)", "x.std() >= 0", "a.var() >= 0", "(np.exp(a) >= 0).all()"),
    *(
        "gcd(36, 48) == gcd(36, 48)",
        "x.dtype == x.dtype",
        "lin.weight.std() >= 0",
        "(abs(x) >= 0).all()",
    ),
]


def test_what_training_or_another_input_could_change_passes(project):
    passes(project, TRAINED, CAN_FAIL)


def test_what_nothing_could_change_is_refused(project):
    refused(project, TRAINED, CANNOT, "tried for|one object")


def test_no_number_is_tried_that_would_fill_the_memory(project):
    code = "import torch\nn = 100_000"
    refused(project, code, ["torch.rand(n).max() <= 1"], "stayed true for every other value")
