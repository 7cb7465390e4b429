"""What a table of shapes says of modules and axes, and how it is indented."""

import re
from types import SimpleNamespace

import torch
from drawings import Reader
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.views import shapes
from glassformer.views.path import Axes

BATCH, SEQ, WIDTH, WIDER = 2, 5, 7, 11
IDS = torch.zeros(BATCH, SEQ, dtype=torch.long)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.act = nn.Linear(WIDTH, WIDER), nn.GELU()
        self.down = nn.Linear(WIDER, WIDTH)

    def forward(self, x):
        return x + self.down(self.act(self.up(x)))


class Stack(nn.Module):
    def __init__(self, count=4):
        super().__init__()
        self.embed = nn.Embedding(13, WIDTH)
        self.layers = nn.ModuleList([Block() for _ in range(count)])
        self.drop = nn.Dropout(0.5)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.drop(x)


def rows_of(view):
    """Name, indentation, shape, parameters, and kind of each row."""
    indents = [float(n) for n in re.findall(r"padding-left:([\d.]+)em", view.html)]
    found = []
    for row, indent in zip(re.findall("<tr.*?</tr>", view.html)[1:], indents, strict=True):
        plain = re.sub("<rt>[^<]*</rt>", "", row)  # words of axes
        cells = re.findall("<t[dh].*?</t[dh]>", plain)
        name, shape, count, kind = (re.sub("<[^>]*>", "", cell) for cell in cells)
        found.append((name, indent, shape, count, kind))
    return found


def test_rows_are_indented_as_deep_as_their_modules_lie_and_equal_layers_are_one():
    view = shapes(Stack(), IDS)
    size, up, down = "2 × 5 × 7", "88", "84"  # 7·11 + 11 and 11·7 + 7
    assert rows_of(view) == [
        ("ids", 0.6, "2 × 5", "", "input"),
        ("model", 0.6, size, str(13 * 7 + 4 * 172), "Stack"),
        ("embed", 1.6, size, str(13 * 7), "Embedding"),
        ("layers.0", 1.6, size, "172", "Block"),
        ("up", 2.6, "2 × 5 × 11", up, "Linear"),
        ("act", 2.6, "2 × 5 × 11", "0", "GELU"),
        ("down", 2.6, size, down, "Linear"),
        ("layers.1 … layers.3", 1.6, size, str(3 * 172), "the same"),
        ("drop", 1.6, size, "0", "Dropout"),
    ]
    lines = str(view).splitlines()
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 0, 0, 2, 2, 4, 4, 4, 2, 2]
    for line, (name, _, _, count, kind) in zip(lines[1:], rows_of(view), strict=True):
        assert re.split("  +", line.strip())[:2] == [name, kind]
        assert line.endswith(f"  {count}") if count else line.endswith("(batch 2, seq 5)")
        assert len(line) == len(lines[0]) or not count  # numbers end together
    assert "(batch 2, seq 5, 7)" in lines[3]


def test_unequal_layers_and_modules_that_are_no_list_are_each_shown():
    model = Stack()
    model.layers[1].up = nn.Linear(WIDTH, WIDER, bias=False)
    names = [row[0] for row in rows_of(shapes(model, IDS))]
    assert [name for name in names if name.startswith("layers")] == [
        *("layers.0", "layers.1", "layers.2", "layers.3"),
    ]
    first, last = [("layers.1", 2), ("layers.1 … layers.2", 3)]
    for name, count in (first, last):
        assert name in [row[0] for row in rows_of(shapes(Stack(count), IDS))]
    equal = nn.Sequential()
    equal.add_module("first", nn.Linear(3, 3))
    equal.add_module("second", nn.Linear(3, 3))
    named = [row[0] for row in rows_of(shapes(equal, torch.zeros(2, 3)))]
    assert named == ["input", "model", "first", "second"]


def test_the_model_is_left_as_it_was():
    model = Stack().train()
    model.layers[1].eval()
    modes, state = [module.training for module in model.modules()], torch.get_rng_state()
    shapes(model, IDS)
    assert [module.training for module in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_shapes_take_their_words_from_signatures(trained, bert):
    view = shapes(trained, torch.tensor([[101, 2051, 10029, 102]] * 2))
    lines = [re.sub(r"\s+", " ", line).strip() for line in str(view).splitlines()]
    assert "input_ids input (batch 2, seq 4)" in lines
    assert "model TransformerEncoder (batch 2, seq 4, d_model 384) 22,565,376" in lines
    assert any("(batch 2, seq 4, d_ff 1536)" in line for line in lines)
    assert any(line.startswith("layers.1 … layers.5 the same") for line in lines)
    assert len(Reader(view.html).rows) == len(lines)
    assert "<rt>d_model</rt>" in view.html
    text = re.sub(r" +", " ", str(shapes(bert, torch.tensor([[101, 2051, 102]]))))
    assert "BertModel (batch 1, seq 3, d_model 384) and (batch 1, d_model 384) 22,713,216" in text


def test_a_map_of_what_a_signature_names_has_its_words_and_that_of_the_width():
    class Grouped(nn.Module):
        def __init__(self):
            super().__init__()
            self.config = SimpleNamespace(d_model=7)
            self.embed = nn.Embedding(13, 7)

        def forward(self, ids: Int[Tensor, "batch group seq"]):
            return self.embed(ids).sum()

    text = re.sub(r" +", " ", str(shapes(Grouped(), torch.zeros(2, 3, 5, dtype=torch.long))))
    assert "embed Embedding (batch 2, group 3, seq 5, d_model 7) 91" in text


def test_inputs_without_a_name_are_numbered_and_what_is_no_tensor_is_left_out():
    class Sum(nn.Module):
        def forward(self, first, *others):
            return first + sum(others)

    rows = rows_of(shapes(Sum(), torch.zeros(2), 3.0, torch.zeros(2), torch.zeros(2)))
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
        assert rows_of(view)[1][2] == "2 × 3, 3"
        assert "(2, 3) and (3)" in str(view)
    assert rows_of(shapes(Several(lambda x: None), x))[1][2] == ""


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
    axes.learn_output(function, (), (torch.zeros(1),))  # several tensors: nothing is learned
    assert axes.of((3, 2, SEQ, WIDTH)) == ("group", "batch", "seq", "d_model")
    assert (3, 2, SEQ, WIDER) not in axes.names
    assert (2, 3, SEQ, WIDTH) not in axes.names
    axes.names[3, 2, SEQ, WIDTH] = ("a", "b", "c", "d")
    axes.learn_output(function, (), torch.zeros(3, 2, SEQ, WIDTH))
    assert axes.of((3, 2, SEQ, WIDTH)) == ("a", "b", "c", "d")  # words that are known stay
