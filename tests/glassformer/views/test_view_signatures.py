"""How `signatures` reads axes that may be any, and what it holds against them."""

from collections.abc import Iterator
from functools import partial

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.views.signatures import signatures


def identity(annotation):
    """A function of one tensor that has this annotation, and gives it back."""

    def same(x):
        return x

    same.__annotations__ = {"x": annotation}
    return same


def test_any_axes_may_stand_in_front_between_or_behind():
    x = torch.zeros(2, 3, 5)
    for axes, spoken in (
        ("... n", "(…, n)"),
        ("m ... n", "(m, …, n)"),
        ("m ...", "(m, …)"),
        ("*batch l m n", "(…, l, m, n)"),  # none in front
    ):
        assert spoken in str(signatures(partial(identity(Float[Tensor, axes]), x)))


def test_axes_beside_those_that_may_be_any_have_one_size():
    def add(x: Float[Tensor, "n ..."], y: Float[Tensor, "... n"]) -> Tensor:
        return x

    signatures(partial(add, torch.zeros(3, 2), torch.zeros(5, 7, 3)))
    with pytest.raises(ValueError, match=r"add: y has .* n is 3 and 7"):
        signatures(partial(add, torch.zeros(3, 2), torch.zeros(5, 3, 7)))


def test_too_few_axes_for_the_words_are_refused():
    three = identity(Float[Tensor, "*batch l m n"])
    with pytest.raises(ValueError, match=r"the shape \[2, 3\]; its signature says \(\*batch l m n"):
        signatures(partial(three, torch.zeros(2, 3)))


def test_an_axis_that_may_be_broadcast_gives_its_word_no_size():
    def add(x: Float[Tensor, "#n"], y: Float[Tensor, "n"]) -> Tensor:
        return x + y

    signatures(partial(add, torch.zeros(1), torch.zeros(7)))
    signatures(partial(add, torch.zeros(7), torch.zeros(7)))


def test_several_tensors_are_as_many_as_the_signature_says():
    def two(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
        return x, x, x

    with pytest.raises(ValueError, match="argument"):
        signatures(partial(two, torch.zeros(3)))


def test_what_is_no_tensor_has_no_row():
    def scaled(x: Float[Tensor, "n"], by: float) -> Float[Tensor, "n"]:
        return x * by

    lines = str(signatures(partial(scaled, torch.zeros(3), 2.0))).splitlines()
    assert [line.split()[-2:] for line in lines[1:]] == [["(n)", "[3]"]] * 2


def test_of_an_iterator_the_first_is_shown():
    def rows(x: Float[Tensor, "m n"]) -> Iterator[Float[Tensor, "n"]]:
        yield from x

    assert "[5]" in str(signatures(partial(rows, torch.zeros(3, 5))))

    def pairs(x: Float[Tensor, "m n"]) -> Iterator[Float[Tensor, "n"]]:
        yield x

    with pytest.raises(ValueError, match=r"pairs: → has the shape \[3, 5\]"):
        signatures(partial(pairs, torch.zeros(3, 5)))
