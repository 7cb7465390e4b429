"""Checking goes on after a failure: all that is wrong is told, and nothing that only follows."""

from dataclasses import dataclass, field
from random import Random

from books import rendered

from proofbook.checking.update import updated
from tables import table


def fence(code, language="python"):
    return f"```{language}\n{code}\n```\n"


def told(book, *parts):
    """Line and message of each problem of a page."""
    [checked] = book.check({"p.md": "\n".join(parts)})
    return [(problem.line, problem.message) for problem in checked.problems]


ZERO = "ZeroDivisionError: division by zero"


def test_all_that_is_wrong_is_told_at_once(book):
    page = [
        fence("x = 1\ny = x / 0"),
        fence("import no_such_module"),
        fence(">>> x\n2", "pycon"),
        "[3]{ equals='x' } and `x > 5`{ holds }.\n",
        fence("typo + 1"),
    ]
    assert told(book, *page) == [
        (3, ZERO),
        (7, "ModuleNotFoundError: No module named 'no_such_module'"),
        (11, "the output differs from the page (- the page, + this run)"),
        (15, "the page says '3', this run gives 1"),
        (15, "this must hold (be True), but it is False"),
        (18, "NameError: name 'typo' is not defined"),
    ]


FOLLOWS = {
    "a name that is missing": (fence("y"), "x = 1 / 0\ny = 2"),
    "a name made from it": (fence("z = y\nw = 1") + fence("w"), "y = 1 / 0"),
    "an import": (fence("m.sqrt(2)"), "import no_such as m"),
    "one of several imports": (fence("sqrt(2)"), "from no_such import pi, sqrt"),
    "a star": (fence("sqrt(2)"), "from no_such import *"),
    "a claim on what a star brings": ("[2]{ equals='len(words)' }", "from no_such import *"),
    "a function": (fence("f(2)"), "1 / 0\ndef f(x):\n    return x"),
    "within a function": (fence("g()"), "def g():\n    return y\n\ny = 1 / 0"),
    "a value of before": (fence(">>> x\n2", "pycon"), "x = 1\nx = 2 / 0"),
    "an object of before": (fence(">>> len(d)\n1", "pycon"), "d = {}\nd['a'] = 1 / 0"),
    "an item that never came": (fence("d['a']"), "d = {}\nd['a'] = 1 / 0"),
    "a loop": (fence("last"), "for n in range(2):\n    last = 1 / n"),
    "code that cannot be read": (fence("y\nz\nf()\nm"), "y = 1\nz: t = (\ndef f(): ...\nimport m"),
    "a claim": ("[2]{ equals='y' }", "y = 2 / 0"),
    "a claim on what comes later": ("[2]{ equals='y' }\n\n" + fence("y = 1"), "y = 2 / 0"),
    "a claim on what is old": ("[2]{ equals='x' }", "x = 1\nx = 2 / 0"),
    "a claim through a function": ("[2]{ equals='g()' }", "def g():\n    return y\n\ny = 2 / 0"),
    "a bound": ("[…]{ value='x' holds='y > 1' }", "x = 1\ny = 2 / 0"),
    "a fact": ("It is so.\n\n```facts\nIt is so: y > 1\n```\n", "y = 2 / 0"),
    "chance": (fence("import random") + fence(">>> random.random()\n5", "pycon"), "1 / 0"),
}  # fmt: skip


@table("what", FOLLOWS)
def test_what_only_follows_is_not_told(book, what):
    after, code = FOLLOWS[what]
    assert len(told(book, fence(code), after)) == 1
    assert told(book, fence("x = 5"), after)  # by itself each is wrong


ITS_OWN = {
    "another name": (fence("typo"), "y = 1 / 0"),
    "another claim": ("[3]{ equals='x' }", "x = 1\ny = 2 / 0"),
    "a name that is made anew": (fence("y = 5") + "[3]{ equals='y' }", "y = 1 / 0"),
    "an error of another kind": (fence("int('a')"), "y = 1 / 0"),
    "its own name": (fence("new = new + 1"), "y = 1 / 0"),
    "the part of a claim that is there": ("[…]{ value='y' holds='x > 1' }", "x = 1\ny = 2 / 0"),
}


@table("what", ITS_OWN)
def test_what_has_another_cause_is_told_too(book, what):
    after, code = ITS_OWN[what]
    assert len(told(book, fence(code), after)) == 2


@table("code", ["x = x + 1", "x += 1", "y\ny = 1", "f()\ndef f(): ...", "del x"])
def test_the_first_failure_follows_from_none(book, code):
    assert len(told(book, fence(code), fence(code))) == 1


@table("last", ["import os\nos._exit(3)", "while True:\n    pass"])
def test_a_page_that_dies_ends_there(book, last):
    page = [fence("1 / 0"), f'```python timeout="0.3"\n{last}\n```\n', fence("typo")]
    first, second = told(book, *page)
    assert first == (2, ZERO)
    assert "did not end within" in second[1] or "ended the page's process" in second[1]


def test_update_writes_nothing_that_was_computed_after_a_failure(book):
    doctest = fence(">>> x\n2", "pycon")
    text = f"{fence('x = 1')}\n{doctest}\n{fence('1 / 0')}\n{doctest}\n[2]{{ equals='x' }}\n"
    [checked] = book.check({"p.md": text})
    assert len(checked.problems) == 4
    assert updated(text, checked) == text.replace(">>> x\n2", ">>> x\n1", 1)


def test_no_sign_stands_at_what_was_not_checked(book):
    text = f"{fence('x = 1')}\n{fence('y = 1 / 0')}\n{fence('x + 1')}\n[2]{{ equals='y' }}\n"
    html = rendered(book, text)
    assert '<span class="proofbook-failed">2</span>' in html
    assert "popover" not in html


# -- Pages at random, beside a model of what is lost -----------------------------------------------


@dataclass
class Model:
    """A page, and for each name whether it is there and whether it is what it should be.

    Attributes:
        there: The names that the page binds by now.
        lost: Those that are missing, or are not what they would be without a failure.
        wrong: The lines on which something is wrong for a reason of its own.
    """

    rng: Random
    lines: list[str] = field(default_factory=list)
    there: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    wrong: list[int] = field(default_factory=list)

    def names(self) -> list[str]:
        return sorted(self.there | self.lost) or ["first"]

    def block(self) -> None:
        """Write statements; from the first that raises on, none of them runs."""
        self.lines.append("```python")
        if not self.there:
            self.statement("first = 1", "first", [])
        stopped = False
        for _ in range(self.rng.randint(1, 4)):
            new = self.rng.choice([f"n{len(self.lines)}", *self.names()])
            one, other = self.rng.choice(self.names()), self.rng.choice(self.names())
            code, read = self.rng.choice([
                (f"{new} = {self.rng.randint(0, 99)}", []),
                (f"{new} = {one} + {other}", [one, other]),
                (f"{new} = (lambda: {one} + {other})()", [one, other]),
                (f"{new} = {one} / 0", [one]),
            ])  # fmt: skip
            stopped = self.statement(code, new, read, stopped)
        self.lines += ["```", ""]

    def statement(self, code: str, name: str, read: list[str], stopped: bool = False) -> bool:
        self.lines.append(code)
        is_lost = bool(self.lost & {*read})
        if stopped or not {*read} <= self.there or "/ 0" in code:
            if not stopped and not is_lost:
                self.wrong.append(len(self.lines))
            self.lost.add(name)
            return True
        self.there.add(name)
        (self.lost.add if is_lost else self.lost.discard)(name)
        return False

    def look(self) -> None:
        """Write something false about a name."""
        name = self.rng.choice(self.names())
        if self.rng.random() < 0.5:
            self.lines += ["```pycon", f">>> {name}", "'no'", "```", ""]
            at = len(self.lines) - 3
        else:
            self.lines += [f"[no]{{ equals='{name}' }}", ""]
            at = len(self.lines) - 1
        if name not in self.lost:
            self.wrong.append(at)


def test_pages_at_random_tell_what_is_wrong_and_nothing_that_follows(book):
    models = [Model(Random(f"failure {number}")) for number in range(60)]
    for model in models:
        for _ in range(4):
            model.block()
            model.look()
    texts = {f"{number}.md": "\n".join(model.lines) for number, model in enumerate(models)}
    found = [[one.line for one in checked.problems] for checked in book.check(texts)]
    assert found == [model.wrong for model in models]
    assert sum(len(lines) > 1 for lines in found) > 40
    assert any(model.lost & model.there for model in models)
