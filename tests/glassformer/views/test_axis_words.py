"""Which words the axes of a shape have."""

from types import SimpleNamespace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.views.axis_words import Axes

BATCH, SEQ, WIDTH, WIDER = 2, 5, 7, 11


def annotated(annotation):
    """A function of one tensor that has this annotation."""

    def function(x):
        return x

    function.__annotations__ = {"x": annotation}
    return function


def words(annotation, *shape):
    axes = Axes(None)
    axes.learn(annotated(annotation), (torch.zeros(*shape),), {})
    return axes.of(shape)


def test_axes_have_the_words_of_their_signature():
    assert words(Float[Tensor, "rows columns"], 2, 3) == ("rows", "columns")
    assert words(Float[Tensor, "rows 3"], 2, 3) == ("", "")  # a number is no word
    assert words(Float[Tensor, "rows columns"], 2, 3, 5) == ("",) * 3
    assert words(Tensor, 2, 3) == ("", "")


def test_axes_that_ride_along_have_words_too(subtests):
    rows = [
        ("*batch seq width", (5, 7), ("seq", "width")),
        ("*batch seq width", (2, 5, 7), ("batch", "seq", "width")),
        ("*batch seq width", (2, 3, 5, 7), ("batch", "heads", "seq", "width")),
        ("*batch width", (7,), ("width",)),
        ("*batch width", (2, 7), ("batch", "width")),
        ("*batch width", (2, 5, 7), ("batch", "seq", "width")),
        ("*batch width", (2, 3, 5, 7), ("",) * 4),  # more than there are words for
    ]
    for written, shape, read in rows:
        with subtests.test(written=written, shape=shape, read=read):
            assert words(Float[Tensor, written], *shape) == read


def test_ids_are_a_batch_of_sequences(subtests):
    for dtype in [torch.int64, torch.int32]:
        with subtests.test(dtype=dtype):

            def of(*shape, dtype=dtype):
                axes = Axes(None)
                axes.learn(lambda ids: ids, (torch.zeros(*shape, dtype=dtype),), {})
                return axes.of(shape)

            assert of(2, 5) == ("batch", "seq")
            assert of(5) == ("",)
            assert of(2, 5, 7) == ("", "", "")
            assert of(2, 5, dtype=torch.float32) == ("", "")
            assert of(2, 5, dtype=torch.bool) == ("", "")


def test_the_first_words_of_a_shape_stay():
    axes = Axes(None)
    axes.learn(annotated(Int[Tensor, "rows columns"]), (torch.zeros(2, 3).long(),), {})
    axes.learn(annotated(Int[Tensor, "left right"]), (torch.zeros(2, 3).long(),), {})
    assert axes.of((2, 3)) == ("rows", "columns")


def test_sizes_of_a_configuration_name_the_axes_that_have_them():
    config = SimpleNamespace(d_model=WIDTH, d_ff=WIDER, vocab_size="no number", hidden_size=None)
    axes = Axes(SimpleNamespace(config=config))
    axes.names[BATCH, SEQ] = ("batch", "seq")
    assert axes.of((BATCH, SEQ, WIDTH)) == ("batch", "seq", "d_model")
    assert axes.of((BATCH, SEQ, 3, WIDER)) == ("batch", "seq", "", "d_ff")
    assert axes.of((SEQ, BATCH, WIDTH)) == ("", "", "d_model")
    assert axes.of((BATCH, WIDTH)) == ("batch", "d_model")
    assert axes.of((WIDTH, BATCH)) == ("", "")
    assert axes.of((WIDTH,)) == ("",)
    assert axes.of(()) == ()


def test_what_a_map_gives_has_the_words_of_what_it_took_and_that_of_its_width():
    axes = Axes(SimpleNamespace(config=SimpleNamespace(d_model=WIDTH)))
    axes.names[3, 2, SEQ] = ("group", "batch", "seq")

    def function(x):
        return x

    axes.learn_output(function, (), torch.zeros(3, 2, SEQ, WIDTH))
    axes.learn_output(function, (), torch.zeros(3, 2, SEQ, WIDER))
    axes.learn_output(function, (), torch.zeros(2, 3, SEQ, WIDTH))
    axes.learn_output(function, (), (torch.zeros(1),))  # several tensors: nothing is learned
    assert axes.of((3, 2, SEQ, WIDTH)) == ("group", "batch", "seq", "d_model")
    assert (3, 2, SEQ, WIDER) not in axes.names
    assert (2, 3, SEQ, WIDTH) not in axes.names
    axes.names[3, 2, SEQ, WIDTH] = ("a", "b", "c", "d")
    axes.learn_output(function, (), torch.zeros(3, 2, SEQ, WIDTH))
    assert axes.of((3, 2, SEQ, WIDTH)) == ("a", "b", "c", "d")  # words that are known stay
