"""What nothing can change is refused; what something can change is not."""

import re

import pytest
import torch

from proofbook.execution.alterations import Mentioned, alterations
from proofbook.execution.runner import Runner
from proofbook.model import Block, Chapter, Claim
from proofbook.settings import Settings

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


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    """What became of each expression, in one run of one page."""
    claims = tuple(Claim("", line=9, place=1, holds=one) for one in (*INDIFFERENT, *ALWAYS, *OPEN))
    chapter = Chapter("page.md", (Block("python", PAGE, line=1),), claims)
    with Runner(Settings(tmp_path_factory.mktemp("page"))) as runner:
        [run] = runner.run([chapter]).values()
    assert run.failure is None
    return {expression: value.failure for (expression, _), value in run.values.items()}


@pytest.mark.parametrize("expression", INDIFFERENT)
def test_what_depends_on_nothing_is_refused(values, expression):
    assert "comes out the same for all values of the names it reads" in values[expression].reason


@pytest.mark.parametrize("expression", ALWAYS)
def test_what_is_true_of_every_value_asserts_nothing(values, expression):
    assert "stayed true for every other value tried for " in values[expression].reason


def test_a_value_that_is_always_the_same_may_be_told(project):
    claims = (Claim("5", line=9, place=1, equals="n * 0 + 5"),)
    chapter = Chapter("page.md", (Block("python", "n = 3", line=1),), claims)
    assert project.run_pages(chapter)["page.md"].values["n * 0 + 5", 1].failure is None


@pytest.mark.parametrize("expression", OPEN)
def test_what_another_value_would_change_passes(values, expression):
    assert values[expression] is None


def test_what_takes_long_counts_as_open(project):
    code = "import time\nn = 1\ndef slow(n):\n    time.sleep(0.7)\n    return 1"
    run = project.run(code, claims=[("slow(n) == 1", 1)])
    assert run.values["slow(n) == 1", 1].failure is None


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
    run = project.run(code, "layers[0] is not None", claims=[(claim, 1)])
    assert (run.values[claim, 1].failure, run.blocks[1].outputs[0].data) == (None, "True")


def test_what_leaves_the_program_with_other_values_leaves_the_page_running(project):
    claim = "(n < 2 or sys.exit(3)) and n == 1"
    run = project.run("import sys\nn = 1", "n", claims=[(claim, 1)])
    assert (run.failure, run.values[claim, 1].data) == (None, True)
    assert run.blocks[1].outputs[0].data == "1"


@pytest.mark.parametrize("value", [-1, 0, 1, 7, -1.0, 0.5])
def test_each_number_has_a_smaller_and_a_larger_one(project, value):
    claims = [(f"n > {value - 5}", 1), (f"n < {value + 5}", 1)]
    values = project.run(f"n = {value}", claims=claims).values
    assert [one.failure for one in values.values()] == [None, None]


@pytest.mark.parametrize(
    "value", [True, 3, 0.5, "time", [1, 2], (), {"a": 1}, {3}, None, print, len]
)
def test_everything_has_another_value(value):
    assert any(type(other) is not type(value) or other != value for other in alterations(value))


def test_a_list_of_layers_is_made_shorter_before_its_weights_are_copied():
    layers = torch.nn.ModuleList([torch.nn.Linear(3, 2), torch.nn.Linear(2, 5)])
    other = next(alterations(layers))
    assert len(other) == 1
    assert other[0] is layers[0]


@pytest.mark.parametrize(("name", "shape"), [("numel", (6, 4)), ("sum", (5, 3))])
def test_a_model_gets_other_shapes_first_where_sizes_are_asked_for(name, shape):
    other = next(alterations(torch.nn.Linear(3, 5), Mentioned(frozenset({name}))))
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


@pytest.fixture(scope="module")
def aliases(tmp_path_factory):
    claims = (*ONE_OBJECT, *TWO_OBJECTS)
    chapter = Chapter(
        "page.md",
        (Block("python", ALIASES, line=1),),
        (
            *(Claim("", line=9, place=1, holds=one) for one in claims),
            Claim("0.0", line=9, place=1, equals="float(abs(before - net.w).max())"),
        ),
    )
    with Runner(Settings(tmp_path_factory.mktemp("page"))) as runner:
        [run] = runner.run([chapter]).values()
    assert run.failure is None
    return {expression: value.failure for (expression, _), value in run.values.items()}


@pytest.mark.parametrize("expression", [*ONE_OBJECT, "float(abs(before - net.w).max())"])
def test_an_object_is_not_compared_with_itself_under_another_name(aliases, expression):
    assert "are one object, compared with itself" in aliases[expression].reason


@pytest.mark.parametrize("expression", TWO_OBJECTS)
def test_what_is_not_one_object_or_asks_for_that_passes(aliases, expression):
    assert aliases[expression] is None


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


@pytest.mark.parametrize(
    "expression",
    [
        *("encode('a') == encode('a')", "encode('a') is not None", "math.sin(1) == math.sin(1)"),
        *("json.loads('[]') is not None", "math is not None", "1 + 1 == 2 or math.pi"),
        *("Stack().items == Stack().items", "Stack() is not None", "Stack is Stack"),
    ],
)
def test_what_reads_only_code_must_be_able_to_fail_too(project, expression):
    failure = project.run(CODE, claims=[(expression, 1)]).values[expression, 1].failure
    assert re.search("stayed true for every other|comes out the same", failure.reason)


@pytest.mark.parametrize(
    "expression",
    [
        *("encode('a') == 'A'", "encode('a') != encode('b')", "round(math.pi, 2) == 3.14"),
        *("Stack().items == [1]", "json.loads('[]') == []", "isinstance(parts(), list)"),
        *("isinstance(encode('a'), str)", "Stack.__name__ == 'Stack'", "len(parts()) == 1"),
    ],
)
def test_what_reads_only_code_and_can_fail_passes(project, expression):
    assert project.run(CODE, claims=[(expression, 1)]).values[expression, 1].failure is None


@pytest.mark.parametrize("least", [0, 1, 2, 4, 4000])
@pytest.mark.parametrize("made", ["list(range(5000))", "torch.ones(5000)", "'a' * 5000"])
def test_a_size_may_be_bounded_from_below(project, made, least):
    claim = f"len(xs) > {least}"
    run = project.run(f"import torch\nxs = {made}", claims=[(claim, 1)])
    assert run.values[claim, 1].failure is None


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


@pytest.mark.parametrize(
    "name", ["walked", "mapped", "filtered", "zipped", "numbered", "plain", "file"]
)
@pytest.mark.parametrize("claim", ["all(x for x in {})", "sum(1 for x in {}) == 0"])
def test_what_has_been_walked_to_its_end_is_asked_nothing(project, claim, name):
    claim = claim.format(name)
    failure = project.run(SPENT, claims=[(claim, 1)]).values[claim, 1].failure
    assert failure.reason.startswith(f"{name!r} is exhausted")


def test_what_has_something_left_is_looked_at(project):
    claim = "type(fresh).__name__ == 'generator'"
    assert project.run(SPENT, claims=[(claim, 1)]).values[claim, 1].failure is None


@pytest.mark.parametrize(
    ("claim", "passes"),
    [
        ("all(x < 0 for x in none)", False),
        ("all(none)", False),
        ("all(x > 9 for x in xs if x > 9)", False),
        ("all(x > 0 for x in xs)", True),
        ("all(all(xs[j] < xs[i] for j in range(i)) for i in range(len(xs)))", True),
    ],
)
def test_all_of_nothing_is_not_true(project, claim, passes):
    run = project.run("none, xs = [], [1, 2, 3]", claims=[(claim, 1)])
    failure = run.values[claim, 1].failure
    assert failure is None if passes else "all() had nothing to test" in failure.reason


@pytest.mark.parametrize(("claim", "passes"), [("m", True), ("n % 7", True), ("n", False)])
def test_an_integer_that_python_prints_no_more_stops_no_page(project, claim, passes):
    run = project.run("n = 2**20000\nm = 3", claims=[(claim, 1)])
    failure = run.values[claim, 1].failure
    assert failure is None if passes else "20001 bits is too long" in failure.reason


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


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    claims = (Claim("", line=9, place=1, holds=one) for one in (*CAN_FAIL, *CANNOT))
    chapter = Chapter("page.md", (Block("python", TRAINED, line=1),), tuple(claims))
    with Runner(Settings(tmp_path_factory.mktemp("page"))) as runner:
        [run] = runner.run([chapter]).values()
    assert run.failure is None
    return {expression: value.failure for (expression, _), value in run.values.items()}


@pytest.mark.parametrize("expression", CAN_FAIL)
def test_what_training_or_another_input_could_change_passes(trained, expression):
    assert trained[expression] is None


@pytest.mark.parametrize("expression", CANNOT)
def test_what_nothing_could_change_is_refused(trained, expression):
    assert re.search("tried for|one object", trained[expression].reason)


def test_no_number_is_tried_that_would_fill_the_memory(project):
    claim = "torch.rand(n).max() <= 1"
    run = project.run("import torch\nn = 100_000", claims=[(claim, 1)])
    assert run.seconds < 20
    assert "stayed true for every other value" in run.values[claim, 1].failure.reason
