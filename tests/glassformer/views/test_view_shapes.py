"""What a table of shapes calls axes and modules, and how it is indented."""

import re
from types import SimpleNamespace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.views import shapes
from glassformer.views.path import Axes

BATCH, SEQ, WIDTH, WIDER = 2, 5, 7, 11


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, WIDER), nn.Linear(WIDER, WIDTH)

    def forward(self, x):
        return self.down(self.up(x))


class Layers(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(count)])
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


def cells(view):
    """Name, indentation, shape, parameters and kind of each row."""
    found = []
    for row in re.findall("<tr.*?</tr>", view.html)[1:]:
        indent = float(re.search(r"padding-left:([\d.]+)em", row)[1])
        name, shape, count, kind = (
            re.sub("<[^>]*>", "", cell) for cell in re.findall("<t[dh].*?</t[dh]>", row)
        )
        found.append((name, indent, shape, count, kind))
    return found


def test_rows_are_indented_as_deep_as_their_modules_lie():
    """Half a letter and more, and one for each level; in the text two spaces."""
    view = shapes(Layers(4), torch.zeros(BATCH, SEQ, WIDTH))
    size, up, down = "2 × 5 × 7", "88", "84"  # 7·11 + 11 and 11·7 + 7
    assert cells(view) == [
        ("x", 0.6, size, "", "input"),
        ("model", 0.6, size, str(4 * 172 + 14), "Layers"),
        ("layers.0", 1.6, size, "172", "Block"),
        ("up", 2.6, "2 × 5 × 11", up, "Linear"),
        ("down", 2.6, size, down, "Linear"),
        ("layers.1 … layers.3", 1.6, size, str(3 * 172), "the same"),
        ("norm", 1.6, size, "14", "LayerNorm"),
    ]
    assert view.html.count('<tr class="same">') == 1
    lines = str(view).splitlines()
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 0, 0, 2, 4, 4, 2, 2]
    for line, (name, _, shape, count, kind) in zip(lines[1:], cells(view), strict=True):
        gives = f"({shape.replace(' ×', ',')})"
        assert re.split("  +", line.strip()) == [name, kind, gives, *([count] if count else [])]


def test_columns_of_the_text_begin_where_their_header_does_and_numbers_end_together():
    first, *rows = str(shapes(Layers(2), torch.zeros(BATCH, SEQ, WIDTH))).splitlines()
    for row, kind in zip(
        rows[1:], ("Layers", "Block", "Linear", "Linear", "the same"), strict=False
    ):
        assert row.index(kind) == first.index("kind")
        assert row.index("(2") == first.index("gives")
        assert len(row) == len(first)
    assert rows[0] == rows[0].rstrip()  # an input has no parameters


def test_of_equal_layers_all_but_the_first_are_one_row(subtests):
    for count, name in [(2, "layers.1"), (3, "layers.1 … layers.2")]:
        with subtests.test(count=count, name=name):
            assert [row[0] for row in cells(shapes(Layers(count), torch.zeros(2, WIDTH)))][5:] == [
                *(name, "norm"),
            ]


def test_equal_modules_that_are_no_list_are_each_shown():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            return self.second(self.first(x))

    assert [row[0] for row in cells(shapes(Two(), torch.zeros(2, 3)))] == [
        *("x", "model", "first", "second"),
    ]


def test_inputs_without_a_name_are_numbered_and_what_is_no_tensor_is_left_out():
    class Sum(nn.Module):
        def forward(self, first, *others):
            return first + sum(others)

    rows = cells(shapes(Sum(), torch.zeros(2), 3.0, torch.zeros(2), torch.zeros(2)))
    assert [row[0] for row in rows] == ["first", "input 2", "input 3", "model"]


def test_of_what_a_module_gives_each_tensor_has_its_shape():
    class Several(nn.Module):
        def __init__(self, give):
            super().__init__()
            self.give = give

        def forward(self, x):
            return self.give(x)

    x = torch.zeros(2, 3)
    for give in (
        lambda x: (x, x[0], None),
        lambda x: [x, x[0], 1],
        lambda x: {"a": x, "b": x[0], "c": "no"},
    ):
        view = shapes(Several(give), x)
        assert cells(view)[1][2] == "2 × 3, 3"
        assert "(2, 3) and (3)" in str(view)
    assert cells(shapes(Several(lambda x: None), x))[1][2] == ""


# --- words of axes


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
    axes.learn_output(function, (), (torch.zeros(1),))  # several tensors: nothing is learnt
    assert axes.of((3, 2, SEQ, WIDTH)) == ("group", "batch", "seq", "d_model")
    assert (3, 2, SEQ, WIDER) not in axes.names
    assert (2, 3, SEQ, WIDTH) not in axes.names
    axes.names[3, 2, SEQ, WIDTH] = ("a", "b", "c", "d")
    axes.learn_output(function, (), torch.zeros(3, 2, SEQ, WIDTH))
    assert axes.of((3, 2, SEQ, WIDTH)) == ("a", "b", "c", "d")  # words that are known stay
