"""`signatures` says what was called, and stops where a tensor is not what its signature says."""

import inspect
import re
from collections.abc import Iterator
from functools import partial
from unittest.mock import Mock

import pytest
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassformer.layers.multihead import MultiHeadAttention
from glassformer.views.signatures import signatures


def cells(view) -> list[list[str]]:
    rows = re.findall("<tr>(.*?)</tr>", view.html.partition("<tbody>")[2])
    strip = partial(re.sub, "<[^>]+>", "")
    return [[strip(cell) for cell in re.findall("<t[dh].*?</t[dh]>", row)] for row in rows]


def weigh(
    query: Float[Tensor, "*batch q_len width"],
    key: Float[Tensor, "*batch k_len width"],
    mask: Bool[Tensor, "*#scores"] | Float[Tensor, "*#scores"] | None = None,
    scale: float = 1.0,
) -> Float[Tensor, "*batch q_len k_len"]:
    return query @ key.mT * scale


def test_each_tensor_stands_with_its_words_and_its_sizes():
    query, key = torch.zeros(2, 3, 5, 7), torch.zeros(2, 3, 11, 7)
    view = signatures(partial(weigh, query, key=key, mask=torch.zeros(5, 11).bool(), scale=2.0))
    assert cells(view) == [
        ["weigh"],
        ["query", "(…, q_len, width)", "[2, 3, 5, 7]"],
        ["key", "(…, k_len, width)", "[2, 3, 11, 7]"],
        ["mask", "(…)", "[5, 11]"],
        ["→", "(…, q_len, k_len)", "[2, 3, 5, 11]"],
    ]
    assert 'scope="rowgroup" colspan="3">weigh</th>' in view.html
    assert [line.split()[0] for line in str(view).splitlines()] == [
        *("name", "weigh", "key", "mask", "→"),
    ]


def test_a_module_is_called_as_one_and_named_after_its_class():
    hidden = torch.zeros(2, 5, 6)
    view = signatures(partial(MultiHeadAttention(6, 3), hidden), partial(nn.Flatten(), hidden))
    assert cells(view) == [
        ["MultiHeadAttention"],
        ["query", "(batch, q_len, d_model)", "[2, 5, 6]"],
        ["→", "(batch, q_len, d_model)", "[2, 5, 6]"],
    ]


def test_several_tensors_come_one_by_one():
    def split(*parts: Int[Tensor, "n"]) -> tuple[Int[Tensor, "n"], Int[Tensor, "m"]]:
        return parts[0], parts[1][:2]

    view = signatures(partial(split, torch.arange(3), torch.arange(3)))
    assert [row[-1] for row in cells(view)] == ["split", "[3]", "[3]", "[3]", "[2]"]


def test_gradients_are_left_out_and_calls_are_made_once():
    seen = []

    def once(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        seen.append(torch.is_grad_enabled())
        return x

    signatures(partial(once, torch.zeros(3)))
    assert seen == [False]


def test_what_a_signature_does_not_say_stops():
    for shape, message in [
        ((2, 5, 13), r"weigh: → has the shape \[2, 5, 13\]: k_len is 11 and 13"),
        ((5,), r"weigh: → has the shape \[5\]; its signature says \(\*batch q_len k_len\)"),
    ]:
        lies = Mock(return_value=torch.zeros(shape), __name__="weigh")
        lies.__signature__ = inspect.signature(weigh)
        with pytest.raises(ValueError, match=message):
            signatures(partial(lies, torch.zeros(2, 5, 7), torch.zeros(2, 11, 7)))


def gives_back(annotation):
    """A function of one tensor that has this annotation."""

    def same(x):
        return x

    same.__annotations__ = {"x": annotation}
    return same


def test_any_axes_may_be_in_front_between_or_behind(subtests):
    for axes, spoken in (
        ("... n", "(…, n)"),
        ("m ... n", "(m, …, n)"),
        ("m ...", "(m, …)"),
        ("*batch l m n", "(…, l, m, n)"),  # none in front
    ):
        with subtests.test(axes):
            call = partial(gives_back(Float[Tensor, axes]), torch.zeros(2, 3, 5))
            assert spoken in str(signatures(call))


def test_axes_that_broadcast_or_are_not_tensors_have_no_size_to_keep():
    def add(x: Float[Tensor, "#n"], y: Float[Tensor, "n"], by: float) -> Float[Tensor, "n"]:
        return x + y * by

    for count in (1, 7):
        view = signatures(partial(add, torch.zeros(count), torch.zeros(7), 2.0))
        assert [row[-1] for row in cells(view)] == ["add", f"[{count}]", "[7]", "[7]"]


def test_of_an_iterator_the_first_is_shown():
    def rows(x: Float[Tensor, "m n"]) -> Iterator[Float[Tensor, "n"]]:
        yield from x

    assert "[5]" in str(signatures(partial(rows, torch.zeros(3, 5))))


def widen(mask: Bool[Tensor, "batch n"], cut: int) -> Bool[Tensor, "batch 1 #n"]:
    return mask[:, None, :cut]


def thick(mask: Bool[Tensor, "batch n"]) -> Bool[Tensor, "batch 1 n"]:
    return mask[:, None].expand(-1, 3, -1)


def both(x: Float[Tensor, "n ..."], y: Float[Tensor, "... n"]) -> Tensor:
    return x


def two(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    return x, x, x


def pairs(x: Float[Tensor, "m n"]) -> Iterator[Float[Tensor, "n"]]:
    yield x


def test_a_tensor_that_is_not_what_its_signature_says_is_refused(subtests):
    mask, zeros = torch.zeros(2, 7).bool(), torch.zeros
    signatures(partial(widen, mask, 7), partial(widen, mask, 1))
    signatures(partial(both, zeros(3, 2), zeros(5, 7, 3)))
    three = gives_back(Float[Tensor, "*batch l m n"])
    rows = [
        (partial(widen, mask, 3), "n is 7 and 3"),
        (partial(thick, mask), "1 is 1 and 3"),
        (partial(both, zeros(3, 2), zeros(5, 3, 7)), "both: y has .* n is 3 and 7"),
        (partial(three, zeros(2, 3)), r"\[2, 3\]; its signature says \(\*batch l m n"),
        (partial(two, zeros(3)), "argument"),
        (partial(pairs, zeros(3, 5)), r"pairs: → has the shape \[3, 5\]"),
    ]
    for call, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            signatures(call)
