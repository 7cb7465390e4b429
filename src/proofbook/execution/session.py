"""Run a page's blocks in order and evaluate its claims, in one interpreter state.

A session has its own process, which ends with the page, so nothing has to be undone: whatever a
block sets (default dtype, grad mode, print options, environment) ends with the process.
"""

import __future__

import ast
import asyncio
import builtins
import contextlib
import doctest
import inspect
import linecache
import re
import sys
import time
import types
from collections.abc import Callable, Coroutine, Iterator, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

from proofbook.execution.background_errors import BackgroundErrors
from proofbook.execution.capture import Capture
from proofbook.execution.display import Shown
from proofbook.execution.expressions import Expression, as_data, random_states, randomness_kept
from proofbook.execution.failure_propagation import FailurePropagation
from proofbook.execution.import_hooks import show_with
from proofbook.execution.side_effects import ACTED, changed, state_of
from proofbook.execution.tracebacks import failure_of, last_words, with_traceback
from proofbook.execution.vacuity import vacuity_of
from proofbook.model import Block, BlockResult, Example, Failure, Output, Value
from proofbook.text import TRACEBACK, without_device

UNREAD = "a block that cannot be parsed runs nothing: write a doctest with its traceback"
UNREACHED = "this statement raises, so the code after it never runs: end the block with it"


class Session:
    """A fresh `__main__`, the blocks that run in it, and the claims that wait for their names."""

    def __init__(
        self,
        blocks: Sequence[Block],
        claims: Sequence[tuple[str, int]],
        assertions: Set[str],
        capture: Capture,
        device: str = "cpu",
    ) -> None:
        main = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        self.names = main.__dict__
        self._given = frozenset(self.names)
        self._blocks = blocks
        self._claims = list(claims)
        self._assertions = assertions
        self._capture = capture
        self._device = device
        self._background = BackgroundErrors()
        self._draws: list[tuple[int, str]] = []
        self._prints: list[int] = []
        self._shown = Shown(capture)
        builtins.display = self._shown.display  # type: ignore[attr-defined]
        show_with(self._shown.display)
        self._ran = self._all = 0
        self._propagation: FailurePropagation | None = None
        # `from __future__` holds for the rest of the page, as in an interpreter
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self._loop: asyncio.AbstractEventLoop | None = None
        inspect.getfile = _finding_classes(inspect.getfile, blocks)  # type: ignore[assignment]

    def run(self, index: int) -> BlockResult:
        """Run one block; report whatever it raises, even SystemExit, as its failure.

        Its effects before that remain, and the next block may run.
        """
        block, filename = self._blocks[index], _filename(index)
        started = time.perf_counter()
        self.names.pop("__warningregistry__", None)  # each block warns anew
        examples: list[Example] = []
        raised: BaseException | None = None
        self._draws.clear()
        self._prints.clear()
        self._ran = self._all = 0
        self._shown.begin(f"block-{index + 1}", prints=block.kind == "pycon")
        try:
            value = None
            with self._background.watching(filename):
                if block.kind == "python":
                    value = self._run_python(block.code, filename)
                else:
                    examples.extend(self._run_doctest(block.code, filename))
                if self._shown.end(value):
                    self._prints.append(self._all - 1)
        except BaseException as error:
            raised = error
            with contextlib.suppress(Exception):
                self._shown.end(None)
        failure, words = self._background.take(), ""
        shown = self._shown.take()
        if raised is not None:
            words = last_words(raised).removesuffix("\n") if block.raises is not None else ""
            failure = self._fault(block, raised, words, filename) or failure
            shown += [Output("raised", words)] if words and not failure else []
        outputs = tuple(map(self._told, shown))
        seconds = time.perf_counter() - started
        if failure or self._propagation:
            failure = self._after_a_failure(index, failure, raised, examples)
            return BlockResult(outputs, tuple(examples), failure, seconds, raised=words)
        draws = tuple(sorted({generator for _, generator in self._draws}))
        return BlockResult(
            outputs, tuple(examples), None, seconds, tuple(self._prints), draws, words
        )

    def _fault(
        self, block: Block, raised: BaseException, words: str, filename: str
    ) -> Failure | None:
        """Return what's wrong with a block's error; None if its fence names exactly that error."""
        failure = failure_of(raised, filename)
        if block.raises is None or words != block.raises:
            return failure
        why = ""
        if not self._all:
            why = UNREAD
        elif self._ran < self._all - 1:
            why = UNREACHED
        return replace(failure, reason=why, detail="") if why else None

    def _after_a_failure(
        self,
        index: int,
        failure: Failure | None,
        raised: BaseException | None,
        examples: list[Example],
    ) -> Failure | None:
        """Mark failures that only follow from an earlier one; none in the first failing block."""
        is_first = self._propagation is None
        propagation = self._propagation = self._propagation or FailurePropagation(
            self._blocks[:index]
        )
        explained = propagation.explains(raised)
        drew = {number for number, _ in self._draws}
        touched = propagation.add(self._blocks[index], self._ran, drew)
        if is_first:
            return failure
        for number, is_touched in enumerate(touched[: len(examples)]):
            examples[number] = replace(examples[number], follows=is_touched)
        last = touched[self._ran :][:1] or touched[-1:]  # or showing the last value failed
        if raised is None and any(last) and self._blocks[index].raises is not None:
            return Failure("raises nothing", follows=True)
        return failure and replace(failure, follows=raised is not None and (explained or any(last)))

    def _told(self, output: Output) -> Output:
        """Return an output without the device's name; markup is left unchanged."""
        plain = without_device(output.plain, self._device)
        if output.kind not in ("stdout", "text", "raised"):
            return replace(output, plain=plain)
        return replace(output, data=without_device(output.data, self._device))

    def ready(self, done: int) -> list[tuple[str, int]]:
        """Remove and return the waiting claims to evaluate now that `done` blocks have run.

        A claim is evaluated at its place, or later, as soon as the names it reads exist; after the
        last block, it's evaluated even if they don't. It's dropped if a failed block has left those
        names wrong or missing.
        """
        last = done == len(self._blocks)
        here = [claim for claim in self._claims if claim[1] <= done]
        lost = [claim for claim in here if self._is_lost(claim[0])]
        turn = [c for c in here if c not in lost and (last or not self._missing(c[0]))]
        self._claims = [claim for claim in self._claims if claim not in (*lost, *turn)]
        return turn

    def evaluate(self, text: str, done: int) -> Value | None:
        """Evaluate a claim's expression without changing the session.

        Return None if that would only repeat an earlier block's failure.
        """
        try:
            expression = Expression(text)
        except (SyntaxError, ValueError) as error:
            return Value(after=done, failure=Failure(f"does not parse: {error}"))
        if refusal := self._refusal(expression):
            return Value(after=done, failure=Failure(refusal))
        _remember("<claim>", text)
        before = state_of(self.names, expression.reads)
        try:
            with self._background.watching("<claim>"), randomness_kept():
                data = as_data(expression.value(self.names))
        except BaseException as error:
            if self._propagation and self._propagation.explains(error):
                return None
            return Value(after=done, failure=failure_of(error, "<claim>"))
        finally:
            self._capture.take()
        failure = self._background.take()
        if name := changed(before, state_of(self.names, expression.reads)):
            failure = failure or Failure(f"changes {name!r}: {ACTED}")
        if not failure and (vacuity := self._vacuity(expression, data)):
            failure = Failure(vacuity)
        if not failure and (name := changed(before, state_of(self.names, expression.reads))):
            failure = Failure(f"changes {name!r} when another name has a different value: {ACTED}")
        return Value(None if failure else data, done, failure)

    def _refusal(self, expression: Expression) -> str:
        """Return why an expression must not be evaluated; "" if it may be."""
        if missing := ", ".join(expression.missing(self.names)):
            return f"reads a name that no block of the page defines: {missing}"
        if hidden := ", ".join(expression.hidden(self.names)):
            return f"a block of the page defines {hidden}, but claims need that name: rename it"
        if expression.is_constant(self.names.keys() - self._given):
            constant = "reads nothing that a block of the page computed or imported: a constant"
            return f"{constant} proves nothing"
        return ""

    def _vacuity(self, expression: Expression, data: Any) -> str:
        """Return why an expression proves nothing; "" if it does prove something."""
        made = {name: self.names[name] for name in self.names.keys() - self._given}
        asserted = expression.text in self._assertions and data is True
        with self._background.watching("<claim>"), randomness_kept():
            vacuity = vacuity_of(expression, self.names, made, asserted)
        self._background.take()
        self._capture.take()
        return vacuity

    def wait(self) -> Failure | None:
        """Wait for the threads that the blocks left running; return the first failure there."""
        self._background.wait()
        self._capture.take()
        return self._background.take()

    def _missing(self, text: str) -> bool:
        expression = _expression(text)
        return expression is not None and bool(expression.missing(self.names))

    def _is_lost(self, text: str) -> bool:
        """Return whether an expression depends on something that a failed block didn't do."""
        expression = _expression(text)
        if self._propagation is None or expression is None:
            return False
        missing = self._propagation.is_boundless and expression.missing(self.names)
        return bool(missing) or self._propagation.touches(expression.reads)

    def _run_python(self, code: str, filename: str) -> Any:
        """Run a block; return the value of its last statement, if that is an expression.

        A block that awaits something runs as one task of the page's event loop, as in a notebook.
        """
        _remember(filename, code)
        tree = ast.parse(code, filename)
        whole = compile(tree, filename, "exec", self._flags, dont_inherit=True)  # syntax errors
        self._all = len(tree.body)
        running = self._run_statements(tree, filename, not code.rstrip().endswith(";"))
        if whole.co_flags & inspect.CO_COROUTINE:
            return self._awaited(running)
        try:
            running.send(None)
        except StopIteration as done:
            return done.value

    async def _run_statements(self, tree: ast.Module, filename: str, shows: bool) -> Any:
        value = None
        for number, statement in enumerate(tree.body):
            with self._watching_draws(number):
                if shows and statement is tree.body[-1] and isinstance(statement, ast.Expr):
                    code = self._compile(ast.Expression(statement.value), filename, "eval")
                else:
                    code = self._compile(ast.Module([statement], []), filename, "exec")
                value = eval(code, self.names)
                if code.co_flags & inspect.CO_COROUTINE:
                    value = await value
            self._ran += 1
        return value

    def _awaited(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the page's event loop; return its value."""
        self._loop = self._loop or asyncio.new_event_loop()
        return self._loop.run_until_complete(coroutine)

    @contextlib.contextmanager
    def _watching_draws(self, number: int) -> Iterator[None]:
        """Record which random generators a statement advances, except those that it loads."""
        before = random_states()
        try:
            yield
        finally:
            after = random_states()
            moved = [name for name, state in before.items() if after[name] != state]
            self._draws.extend((number, name) for name in moved)

    def _run_doctest(self, text: str, filename: str) -> Iterator[Example]:
        examples = doctest.DocTestParser().get_examples(text, filename)
        lines = [""] * (text.count("\n") + 1)
        for example in examples:
            source = example.source.rstrip("\n").split("\n")
            lines[example.lineno : example.lineno + len(source)] = source
        _remember(filename, "\n".join(lines))
        for number, example in enumerate(examples):
            sys.displayhook = partial(self._print, number)
            try:
                with self._watching_draws(number):
                    code = self._compile_example(example, filename)
                    value = eval(code, self.names)
                    if code.co_flags & inspect.CO_COROUTINE:
                        self._awaited(value)
                got = without_device(self._capture.take(), self._device)
            except BaseException as error:
                if TRACEBACK not in example.want.split("\n"):
                    raise
                printed = without_device(self._capture.take(), self._device)
                got = with_traceback(printed, error)
            self._ran += 1
            yield Example(example.source, example.want, got, example.lineno)

    def _print(self, number: int, value: object) -> None:
        """Print a value as the Python prompt does, and record that it was printed."""
        sys.__displayhook__(value)
        if value is not None:
            self._prints.append(number)

    def _compile_example(self, example: doctest.Example, filename: str) -> types.CodeType:
        try:
            tree = compile(example.source, filename, "single", ast.PyCF_ONLY_AST, True)
        except SyntaxError as error:
            error.lineno = (error.lineno or 1) + example.lineno
            raise
        return self._compile(ast.increment_lineno(tree, example.lineno), filename, "single")

    def _compile(self, tree: Any, filename: str, mode: str) -> types.CodeType:
        code = compile(tree, filename, mode, self._flags, dont_inherit=True)
        self._flags |= code.co_flags & _FUTURE
        return code


def _expression(text: str) -> Expression | None:
    """Return a claim's expression; None if it cannot be parsed."""
    try:
        return Expression(text)
    except (SyntaxError, ValueError):
        return None


def _every_future_flag() -> int:
    flags = 0
    for name in __future__.all_feature_names:
        flags |= getattr(__future__, name).compiler_flag
    return flags


_FUTURE = _every_future_flag()


def _filename(index: int) -> str:
    return f"<block {index + 1}>"


def _remember(filename: str, code: str) -> None:
    """Make the text available to tracebacks and `inspect.getsource`."""
    lines = [line + "\n" for line in code.split("\n")]
    linecache.cache[filename] = (len(code), None, lines, filename)


def _finding_classes(getfile: Callable[..., str], blocks: Sequence[Block]) -> Callable[..., str]:
    """Extend `inspect.getfile` to classes of a `__main__` that has no file."""

    def found(thing: Any) -> str:
        if isinstance(thing, type) and thing.__module__ == "__main__":
            opening = re.compile(rf"^(>>>|\.\.\.)?\s*class {thing.__name__}\b", re.MULTILINE)
            for index in reversed(range(len(blocks))):
                if _filename(index) in linecache.cache and opening.search(blocks[index].code):
                    return _filename(index)
        return getfile(thing)

    return found
