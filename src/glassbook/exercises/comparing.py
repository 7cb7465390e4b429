"""Compare an answer with the right one, and describe the difference."""

import math
from typing import Any

import torch
from torch import Tensor

# Wide enough for an answer that computes a step in float32, far narrower than any mistake.
RELATIVE, ABSOLUTE = 1e-5, 1e-6


def difference(given: Any, wanted: Any) -> str | None:
    """Return what's wrong with an answer, or None if nothing is."""
    if isinstance(wanted, list | tuple):
        return _of_sequences(given, wanted)
    if isinstance(wanted, Tensor) and wanted.ndim:
        return _of_tensors(given, wanted)
    given, wanted = _plain(given), _plain(wanted)
    if _same(given, wanted):
        return None
    return f"your answer is {shown(given)}, but it should be {shown(wanted)}"


def shown(value: Any) -> str:
    """Describe a value in a few words: a tensor by its shape, a float by six digits."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def _of_sequences(given: Any, wanted: list | tuple) -> str | None:
    if not isinstance(given, list | tuple):
        return f"your answer is {shown(given)}, but it should have {len(wanted)} results"
    if len(given) != len(wanted):
        results = "result" if len(given) == 1 else "results"
        return f"your answer has {len(given)} {results}, but it should have {len(wanted)}"
    for number, right in enumerate(wanted, start=1):
        if told := difference(given[number - 1], right):
            return f"in result {number} of {len(wanted)}, {told}"
    return None


def _of_tensors(given: Any, wanted: Tensor) -> str | None:
    if not isinstance(given, Tensor):
        return f"your answer is {shown(given)}, but it should be a tensor of {tuple(wanted.shape)}"
    if given.shape != wanted.shape:
        return (
            f"your answer has shape {tuple(given.shape)}, but it should have {tuple(wanted.shape)}"
        )
    if _kind(given) != _kind(wanted):
        return f"your answer's dtype is {given.dtype}, but it should be {_kind(wanted)}"
    mine, right = given.detach().double().cpu(), wanted.detach().double().cpu()
    wrong = ~torch.isclose(mine, right, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
    if not wrong.any():
        return None
    place = wrong.nonzero()[0].tolist()
    found, expected = (_number(x[tuple(place)].item(), wanted.dtype) for x in (mine, right))
    return f"at {place}, your answer has {found}, but it should have {expected}"


def _plain(value: Any) -> Any:
    """Return a tensor of one number as that number, and anything else unchanged."""
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


def _same(given: Any, wanted: bool | int | float | str) -> bool:
    """Return whether two values are equal: integers and strings exactly, floats up to rounding."""
    if isinstance(given, bool) or isinstance(wanted, int | str):
        return type(given) is type(wanted) and given == wanted
    return isinstance(given, int | float) and math.isclose(
        given, wanted, rel_tol=RELATIVE, abs_tol=ABSOLUTE
    )


def _number(value: float, dtype: torch.dtype) -> str:
    if dtype == torch.bool:
        return str(bool(value))
    return f"{value:.4g}" if dtype.is_floating_point else str(int(value))


def _kind(tensor: Tensor) -> str:
    if tensor.dtype == torch.bool:
        return "bool"
    return "a float type" if tensor.is_floating_point() else "an integer type"
