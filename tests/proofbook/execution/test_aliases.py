"""A change is part of a block's program through whichever name it was made."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofbook.execution.slicing import Slicer, program
from proofbook.model import Block


def payloads(*codes):
    """The program of each block of a page."""
    slicer = Slicer(seed=7, is_own=lambda package: False)
    return [program(*slicer.add(Block("python", code, 1), [])) for code in codes]


CHANGES = {
    "a name": "b = a\nb.append(3)",
    "two names": "b, c = a, 0\nb.append(3)",
    "a chain": "b = a\nc = b\nb = 0\nc.append(3)",
    "an item": "a = [[1]]\nb = a[0]\nb.append(3)",
    "a value": "a = {'x': [1]}\nb = a['x']\nb.append(3)",
    "an attribute": "a = Thing()\nb = a.inside\nb.append(3)",
    "a method's result": "a = {'x': [1]}\nb = a.get('x')\nb.append(3)",
    "a loop": "a = [[1]]\nfor x in a:\n    x.append(3)",
    "a loop over several": "for x in (a, [5]):\n    x.append(3)",
    "a loop over a view": "a = {'x': [1]}\nfor key, x in a.items():\n    x.append(key)",
    "a comprehension": "a = [[1]]\nb = [x.append(3) for x in a]",
    "a container": "b = [a, 1]\nb[0].append(3)",
    "a stored object": "b = {}\nb['x'] = a\nb['x'].append(3)",
    "an appended object": "b = []\nb.append(a)\nb[0].append(3)",
    "a copy of the outside": "a = [[1]]\nb = list(a)\nb[0].append(3)",
    "a condition": "b = a if len(a) else []\nb.append(3)",
    "a walrus": "if (b := a):\n    b.append(3)",
    "a parameter": "def f(p):\n    p.append(3)\nc = f(a)",
    "a parameter's alias": "def f(p):\n    q = p\n    q += [3]\nc = f(a)",
    "a result": "def f(p):\n    return p\nb = f(a)\nb.append(3)",
    "a global": "def f():\n    a.append(3)\nf()",
    "a global's alias": "b = a\ndef f():\n    b.append(3)\nc = f()",
    "a function of a function": "def f():\n    a.append(3)\ndef g():\n    return f()\nc = g()",
    "a rebound global": "def f():\n    global a\n    a = [7]\nf()",
    "a lambda": "f = lambda: a.append(3)\nc = f()",
    "an augmented alias": "b = a\nb += [3]",
    "an object": (
        "class Box:\n    def __init__(self, x):\n        self.x = x\n"
        "    def put(self, y):\n        self.x.append(y)\n        return y\n"
        "b = Box(a)\nc = b.put(3)"
    ),
    "a generator": "for x in (y for y in [a]):\n    x.append(3)",
}


def _shown(code):
    names = {"Thing": type("Thing", (), {"__init__": lambda self: setattr(self, "inside", [1])})}
    exec(code, names)
    return repr(getattr(names["a"], "inside", names["a"]))


@pytest.mark.parametrize("how", CHANGES)
def test_a_change_through_another_name_is_kept(how):
    blocks = ["a = [1]", CHANGES[how], "a"]
    assert _shown("\n".join(blocks)) != _shown("a = [1]")
    assert _shown(payloads(*blocks)[-1]) == _shown("\n".join(blocks))


def test_what_shares_nothing_is_left_out():
    *_, last = payloads("a = [1]\nb = [2]", "b.append(a[0] + 1)\nc = b\nc.append(5)", "a")
    assert last == "a = [1]\n\na\n"


NAMES = "abcd"
name = st.sampled_from(NAMES)
number = st.integers(5, 9)
statement = st.one_of(
    st.builds("{} = [[{}]]".format, name, number),
    st.builds("{} = {}".format, name, name),
    st.builds("{}, {} = {}, {}".format, name, name, name, name),
    st.builds("{} = {}[0]".format, name, name),
    st.builds("{} = [{}, {}]".format, name, name, name),
    st.builds("{} = {{'k': {}}}['k']".format, name, name),
    st.builds("{} = list({})".format, name, name),
    st.builds("{} = {} or {}".format, name, name, name),
    st.builds("{}.append([{}])".format, name, number),
    st.builds("{} += [[{}]]".format, name, number),
    st.builds("{}[0] = [{}]".format, name, number),
    st.builds("{}.insert(0, {})".format, name, name),
    st.builds("for e in {}:\n    e.append([{}])".format, name, number),
    st.builds("for e in ({}, {}):\n    e.append([{}])".format, name, name, number),
    st.builds("n = put({}, {})".format, name, number),
    st.builds("{} = same({})".format, name, name),
    st.just("n = push()"),
)
FUNCTIONS = (
    "def put(p, n):\n    q = p\n    q.append([n])\n    return n\n\n"
    "def same(p):\n    return p\n\ndef push():\n    return a.append([4])"
)


@given(st.lists(statement, min_size=1, max_size=7), name)
@settings(max_examples=400, deadline=None)
def test_the_program_gives_what_the_page_gives(statements, asked):
    """Straight-line programs, drawn; those that fail as a page are none."""
    start = "\n".join(f"{n} = [[{i}]]" for i, n in enumerate(NAMES))
    blocks = [start, FUNCTIONS, *statements, f"result = repr({asked})"]
    page: dict = {}
    try:
        exec("\n".join(blocks), page)
    except (IndexError, AttributeError, TypeError):
        return
    alone: dict = {}
    program = payloads(*blocks)[-1]
    exec(program, alone)
    assert alone["result"] == page["result"], program
