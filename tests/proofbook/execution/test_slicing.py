"""The program of a block does what the block does on its page, and holds nothing else."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_what_an_imported_function_loads_is_not_filled_by_a_loop():
    reading = "for x in range(3):\n    print(read(model, x))"
    *_, last = payloads("from ours import load, read\nmodel = load()", reading, "read(model, 7)")
    assert last == "from ours import load, read\n\nmodel = load()\n\nread(model, 7)\n"
    filling = "for x in range(3):\n    put(kept, x)"
    for made in ("Box()", "defaultdict()", "here()"):
        define = "\n\n\ndef here():\n    return []\n\n\n"
        *_, last = payloads(
            f"from ours import Box, defaultdict, put{define}kept = {made}", filling, "kept"
        )
        assert filling in last, made


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


def _printed(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


SET = {
    "a star": ["from math import *", "r = floor(pi)", "print(r, sqrt(4))"],
    "a future": [
        "from __future__ import annotations",
        "x = 1",
        "def f(x: Later): ...\n\n\nprint(f.__annotations__)",
    ],
    "numpy's printing": [
        "import numpy as np\nx = np.array([1.23456])",
        "np.set_printoptions(precision=2)",
        "print(x)",
    ],
    "an imported setter": [
        "import numpy as np\nfrom numpy import set_printoptions as show\nx = np.array([1.23456])",
        "show(precision=2)",
        "print(x)",
    ],
    "torch's default": [
        "import torch\ntorch.set_default_dtype(torch.float64)",
        "x = torch.zeros(1)",
        "print(x.dtype)",
    ],
    "a setting with a result": [
        "import numpy as np\nold = np.seterr(divide='raise')",
        "import numpy\nprint(numpy.geterr()['divide'])",
    ],
    "matplotlib's": [
        "import matplotlib.pyplot as plt\nplt.rcParams['font.size'] = 3",
        "import matplotlib",
        "print(matplotlib.rcParams['font.size'])",
    ],
    "several of matplotlib's": [
        "from matplotlib import rcParams\nrcParams.update({'font.size': 3})",
        "import matplotlib",
        "print(matplotlib.rcParams['font.size'])",
    ],
    "the environment": [
        "import os\nos.environ['FOO'] = '5'",
        "import subprocess",
        "print(subprocess.check_output('echo $FOO', shell=True))",
    ],
    "the environment by name": [
        "from os import environ\nenviron.update(FOO='5')",
        "import os",
        "print(os.environ.get('FOO'))",
    ],
    "the folder": ["import os\nos.chdir('/')", "from pathlib import Path\nprint(Path.cwd())"],
    "warnings": [
        "import warnings\nwarnings.simplefilter('error')",
        "from warnings import warn\ntry:\n    warn('x')\nexcept UserWarning as w:\n    print(w)",
    ],
    "a context": [
        "import decimal\ndecimal.getcontext().prec = 4",
        "from decimal import Decimal\nprint(Decimal(1) / 3)",
    ],
    "a name of a module": [
        "import string\nstring.digits = 'x'",
        "import string as s\nprint(s.digits)",
    ],
    "a name by setattr": [
        "import string\nsetattr(string, 'digits', 'x')",
        "import string as s\nprint(s.digits)",
    ],
    "in a loop": [
        "import os\nfor k in 'AB':\n    os.environ[k] = k",
        "import os as o\nprint(o.environ['A'])",
    ],
    "in a function": [
        "import string\ndef setup():\n    string.digits = 'x'",
        "setup()",
        "import string as s\nprint(s.digits)",
    ],
    "an attribute of a class": ["class C:\n    x = 1", "C.x = 5", "print(C().x)"],
    "an attribute that a method sets": [
        "class C:\n    n = 0\n    @classmethod\n    def up(cls):\n        cls.n += 1",
        "x = C.up()",
        "print(C.n)",
    ],
    "an attribute that making sets": [
        "class C:\n    n = 0\n    def __init__(self):\n        C.n += 1",
        "a = C()",
        "print(C.n)",
    ],
    "a register": [
        "known = {}\n\n\ndef register(f):\n    known[f.__name__] = f\n    return f",
        "@register\ndef a():\n    return 1",
        "print(sorted(known))",
    ],
    "a register with a name": [
        "known = {}\n\n\ndef register(name):\n    def keep(f):\n        known[name] = f\n"
        "        return f\n    return keep",
        "@register('x')\ndef a():\n    return 1",
        "print(sorted(known))",
    ],
    "a global": [
        "count = 0\ndef bump():\n    global count\n    count += 1",
        "bump(); bump()",
        "print(count)",
    ],
}


@pytest.mark.parametrize("how", SET)
def test_what_a_page_sets_for_all_that_follows_is_kept(how):
    blocks = SET[how]
    *_, last = payloads(*blocks)
    assert _printed(last).stdout == _printed("\n".join(blocks)).stdout


def test_a_setting_that_the_program_cannot_notice_is_left_out():
    settings = "torch.set_printoptions(precision=2)\nplt.rcParams['font.size'] = 3\nplt.show()"
    first = f"import torch\nimport matplotlib.pyplot as plt\n{settings}\na = 1"
    assert payloads(first, "a")[-1] == "a = 1\n\na\n"
    pure = "import numpy as np\na = [1]\nb = np.append(a, 2)\nc = np.insert(a, 0, b)"
    assert payloads(pure, "np.array(a)")[-1] == "import numpy as np\n\na = [1]\n\nnp.array(a)\n"


def test_a_setting_for_a_while_is_left_out():
    within = "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    b = 1"
    assert payloads(f"import warnings\na = 1\n{within}", "a")[-1] == "a = 1\n\na\n"


def test_the_future_comes_first():
    *_, last = payloads("import os\nfrom __future__ import annotations", "os.sep")
    assert last == "from __future__ import annotations\n\nimport os\n\nos.sep\n"


def test_a_star_is_taken_for_the_names_that_it_brings():
    *_, last, other = payloads("from math import *\na = 1", "a", "pi")
    assert last == "a = 1\n\na\n"
    assert other == "from math import *\n\npi\n"


def test_statements_of_one_line_are_taken_apart():
    (code,) = payloads(
        "# why\na = 1; b = 'é'; c = 3  # how\nd = 4; e = 5;\nf = \\\n    6; \\\ng = 7"
    )
    assert code == "# why\na = 1\nb = 'é'\nc = 3  # how\nd = 4\ne = 5;\nf = \\\n    6\ng = 7\n"
    *_, last = payloads("a = 1; b = 2; c = b", "c")
    assert last == "b = 2\nc = b\n\nc\n"


def test_a_prompt_of_several_statements_is_taken_once():
    *_, last = payloads(">>> n = []; k = 1\n>>> n.append(1); n.append(k)", "n")
    assert last == "n = []; k = 1\nn.append(1); n.append(k)\n\nn\n"


piece = st.sampled_from(["a.append(1)", "b.append(len(a))", "a = b + [0]", "b = [*a]", "bump()"])


@given(
    st.lists(
        st.tuples(piece, st.sampled_from([";", "\n", "; ", ";  # x\n"])), min_size=1, max_size=9
    )
)
def test_how_statements_share_lines_changes_nothing(pieces):
    """As on the page, whatever stands behind another on its line."""
    start = "a, b, n = [], [], 0\n\n\ndef bump():\n    global n\n    n += 1\n"
    block = "".join(code + end for code, end in pieces).rstrip("; \n")
    page, alone = {}, {}
    exec(f"{start}\n{block}", page)
    exec(payloads(start, block, "result = a, b, n")[-1], alone)
    assert alone["result"] == (page["a"], page["b"], page["n"])
