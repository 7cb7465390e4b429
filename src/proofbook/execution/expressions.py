"""Find what a claim's expression reads, and evaluate it without side effects.

An expression must wait until the names it reads exist, and must read something that the page made.
Its free names, taken from the compiler's own symbol table, show both.
"""

import ast
import builtins
import contextlib
import random
import symtable
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from proofbook.text import encodable

LARGEST_LIST = 10_000
"""Maximum number of elements kept one by one; a larger value becomes its repr."""

LARGEST_INT = 10_000
"""Maximum bits of an integer; Python itself refuses to print more than 4,300 digits."""
NOTHING = "all() had nothing to test, so it is true whatever the condition"


def word(condition: object, if_true: str, if_false: str) -> str:
    """Return one of two words, depending on a condition; for claims, not for blocks."""
    return if_true if condition else if_false


class _All:
    """The builtin `all`, except that it raises an error when there is nothing to test.

    Only an `all` within another may have nothing to test, as in a triangle's first row.
    """

    def __init__(self) -> None:
        self.depth = 0

    def __call__(self, values: Iterable[object]) -> bool:
        seen = False
        self.depth += 1
        try:
            for value in values:
                seen = True
                if not value:
                    return False
        finally:
            self.depth -= 1
        if not seen and not self.depth:
            raise ValueError(NOTHING)
        return True


class Expression:
    """One claim's expression, compiled.

    Raises:
        SyntaxError: The text is not one Python expression.
    """

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.tree = tree = ast.parse(self.text, "<claim>", mode="eval")
        self._code = compile(tree, "<claim>", "eval")
        self._helpers = {"word": word} if _calls(tree, "word") else {}
        self.reads = _free_names(self.text) - self._helpers.keys()

    def missing(self, names: Mapping[str, object]) -> list[str]:
        """List the names that neither the page nor Python defines yet."""
        return sorted(n for n in self.reads if n not in names and not hasattr(builtins, n))

    def hidden(self, names: Mapping[str, object]) -> list[str]:
        """List the helpers that it calls whose names the page uses for something else."""
        return sorted(self._helpers.keys() & names.keys())

    def is_constant(self, made: Set[str]) -> bool:
        """Return whether it reads nothing that the page made, and so proves nothing."""
        return self.reads.isdisjoint(made)

    def value(self, names: Mapping[str, object]) -> Any:
        """Evaluate in a copy of the namespace: a walrus binds nothing on the page."""
        every = {} if "all" in names else {"all": _All()}
        return eval(self._code, {**names, **every, **self._helpers})

    def values_read(self, made: Mapping[str, object]) -> list[str]:
        """List the names it reads of the page's values, or else of its modules and classes.

        Callables, such as models, come last.
        """
        read = [n for n in made if n in self.reads]
        values = [n for n in read if not isinstance(made[n], types.ModuleType | type)]
        return sorted(values or read, key=lambda name: (callable(made[name]), name))


def _calls(tree: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in ast.walk(tree)
    )


def _free_names(text: str) -> set[str]:
    def read(table: symtable.SymbolTable) -> Iterator[str]:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                yield symbol.get_name()
        for inner in table.get_children():
            yield from read(inner)

    top = symtable.symtable(text, "<claim>", "eval")
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}
    return set(read(top)) - bound


@contextlib.contextmanager
def randomness_kept() -> Iterator[None]:
    """Restore the global random generators, so a claim's draws don't affect the next block."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    state = random.getstate()
    numpy_state = numpy.random.get_state() if numpy else None
    torch_state = torch.get_rng_state() if torch else None
    on_gpu = torch is not None and torch.cuda.is_initialized()
    gpu_states = torch.cuda.get_rng_state_all() if torch and on_gpu else None
    try:
        yield
    finally:
        random.setstate(state)
        if numpy:
            numpy.random.set_state(numpy_state)
        if torch:
            torch.set_rng_state(torch_state)
            if gpu_states is not None:
                torch.cuda.set_rng_state_all(gpu_states)


def random_states() -> dict[str, object]:
    """Return the state of each global random generator that is loaded, for comparison."""
    states: dict[str, object] = {"random": random.getstate()}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and hasattr(numpy, "random"):
        kind, keys, *rest = numpy.random.get_state()
        states["numpy"] = (kind, keys.tobytes(), *rest)
    if torch is not None and hasattr(torch, "get_rng_state"):
        states["torch"] = torch.get_rng_state().numpy().tobytes()
    return states


def as_data(value: object) -> Any:
    """Convert a value to JSON data (numbers, text, nested lists of them), or else to its repr."""
    try:
        return _as_data(value)
    except (_NotDataError, RecursionError):
        return encodable(repr(value))


class _NotDataError(Exception):
    pass


def _as_data(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return encodable(str(value))
    if isinstance(value, int) and value.bit_length() > LARGEST_INT:
        raise ValueError(f"an integer of {value.bit_length()} bits is too long to compare")
    for plain in (int, float):
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, list | tuple):
        if len(value) > LARGEST_LIST:
            raise _NotDataError
        return [_as_data(item) for item in value]
    if not isinstance(value, type) and hasattr(value, "tolist"):
        count = value.numel() if hasattr(value, "numel") else getattr(value, "size", 0)
        if count <= LARGEST_LIST:
            try:
                return _as_data(value.tolist())
            except (TypeError, ValueError, RuntimeError, NotImplementedError):
                raise _NotDataError from None
    raise _NotDataError
