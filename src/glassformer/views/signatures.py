"""`signatures`: the inputs and outputs of functions and modules, in axis words and in sizes."""

import inspect
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape
from typing import Any, get_args

import torch
from torch import Tensor, nn

from glassformer.views.view import View, aligned, scrolling

STYLE = ".glassformer-table .call{padding-top:1em}.glassformer-table .size{white-space:nowrap}"
HEADER = ("name", "tensor", "shape", "here")

Row = tuple[str, str, str]


def signatures(*calls: "partial[Any]") -> View:
    """Make each call, and tabulate its tensors: their shapes in the signature and their sizes.

    An axis word must mean the same size throughout a call.

    Args:
        calls: Functions and modules with their arguments, such as `partial(f, x, mask=m)`.

    Raises:
        ValueError: A tensor doesn't have the shape in the signature.
    """
    tables = {f"{number} {name_of(call.func)}": rows_of(call) for number, call in enumerate(calls)}
    lines = [list(HEADER)]
    for name, rows in tables.items():
        names = [name.partition(" ")[2], *[""] * len(rows)]
        lines += [[first, *row] for first, row in zip(names, rows, strict=False)]
    return View(draw(tables), aligned(lines))


def name_of(function: Any) -> str:
    """Return the name of a function, of a module's class, or of a method with its class."""
    if isinstance(function, nn.Module):
        return type(function).__name__
    owner = getattr(function, "__self__", None)
    name: str = function.__name__
    return name if owner is None else f"{type(owner).__name__}.{name}"


def rows_of(call: "partial[Any]") -> list[Row]:
    """Return the name, axis words, and shape of each tensor that a call takes or returns."""
    function = call.func.forward if isinstance(call.func, nn.Module) else call.func
    signature = inspect.signature(function)
    with torch.no_grad():
        output = call()
        if isinstance(output, Iterator):
            output = next(output)  # the others are like the first
    sizes: dict[str, int] = {}
    rows = []
    for name, value, annotation in values(signature, call, output):
        if isinstance(value, Tensor) and (axes := axes_of(annotation)) is not None:
            bind(axes, tuple(value.shape), sizes, f"{name_of(call.func)}: {name}")
            rows.append((name, spoken(axes), str(list(value.shape))))
    return rows


def values(
    signature: inspect.Signature, call: "partial[Any]", output: Any
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, value, and annotation of each input and each output of a call."""
    given = signature.bind(*call.args, **call.keywords).arguments
    for name, value in given.items():
        annotation = signature.parameters[name].annotation
        for one in value if isinstance(value, tuple) else (value,):
            yield name, one, annotation
    if isinstance(output, tuple):
        annotations = get_args(signature.return_annotation)
        yield from (("→", *pair) for pair in zip(output, annotations, strict=True))
    else:
        yield "→", output, signature.return_annotation


def axes_of(annotation: Any) -> str | None:
    """Return the axis words of an annotation; for a union, those of its first type with any."""
    for one in (annotation, *get_args(annotation)):
        if (axes := getattr(one, "dim_str", None)) is not None:
            return str(axes).strip()
    return None


def bind(axes: str, shape: tuple[int, ...], sizes: dict[str, int], where: str) -> None:
    """Record the size of each axis word.

    Raises:
        ValueError: There are more or fewer axes than words, or a word already has another size.
    """
    words = axes.split()
    stars = [at for at, word in enumerate(words) if word.startswith("*") or word == "..."]
    if stars:
        rest = len(shape) - len(words) + 1
        words[stars[0] : stars[0] + 1] = ["_"] * max(rest, 0)
    if len(words) != len(shape):
        raise ValueError(f"{where} has the shape {list(shape)}; its signature says ({axes})")
    for word, size in zip(words, shape, strict=True):
        name = word.strip("#{}")
        known = int(name) if name.isdigit() else sizes.get(name, size)
        if name != "_" and size != known and not (word.startswith("#") and size == 1):
            raise ValueError(f"{where} has the shape {list(shape)}: {name} is {known} and {size}")
        if name != "_" and not word.startswith("#"):
            sizes[name] = size


def spoken(axes: str) -> str:
    """Return axis words as a reader sees them: `*batch`, any number of axes, becomes `…`."""
    words = ["…" if word[0] in "*." else word.strip("#{}") for word in axes.split()]
    return f"({', '.join(words)})"


def draw(tables: Mapping[str, list[Row]]) -> str:
    """Return the table as HTML.

    A name is above all of its tensors, so the table fits on a phone.
    """
    groups = []
    for name, rows in ((name, rows) for name, rows in tables.items() if rows):
        lines = "".join(
            f"<tr><td><code>{escape(tensor)}</code></td>"
            f'<td>{escape(axes)}</td><td class="size">{escape(size)}</td></tr>'
            for tensor, axes, size in rows
        )
        title = escape(name.partition(" ")[2])
        first = f'<tr><th class="call" scope="rowgroup" colspan="3">{title}</th></tr>'
        groups.append(f"<tbody>{first}{lines}</tbody>")
    head = "".join(f'<th scope="col">{name}</th>' for name in HEADER[1:])
    return scrolling(head, "".join(groups), name="Signatures", style=STYLE)
