"""What the views say in numbers and words, without a browser."""

import base64
import gzip
import hashlib
import html
import json
import math
import re
import zlib
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from drawings import contrast, stroked
from jaxtyping import Int
from torch import Tensor, nn

from browser import executable
from glassformer.interpret.recording import record
from glassformer.layers.multihead import MultiHeadAttention
from glassformer.views import cross_view, head_view, heatmap, model_view, neuron_view, shapes
from glassformer.views.grid import WHITE_FROM
from glassformer.views.page import STATIC
from glassformer.views.palette import DARK, LIGHT

LAYERS, HEADS, SEQ, HEAD_DIM = 2, 3, 5, 7
TOKENS = ["[CLS]", "time", "flies", "</script>", "[SEP]"]
# Markup, right-to-left, wide, invisible, entity and long words.
ODD = ["</script><b>x</b>", "שלום", "日本語", "a\u200bb\n", "&amp;\"'", "Donaudampfschifffahrt"]


@pytest.fixture
def attentions():
    return [torch.randn(1, HEADS, SEQ, SEQ).softmax(-1) for _ in range(LAYERS)]


@pytest.fixture
def tape():
    """As `record` gives it, for an encoder with queries and keys of its own."""
    made = {}
    for i in range(LAYERS):
        query, key = torch.randn(2, 1, HEADS, SEQ, HEAD_DIM)
        made[f"layers.{i}.attention.query"] = query
        made[f"layers.{i}.attention.key"] = key
        made[f"layers.{i}.attention.weights"] = (query @ key.mT / HEAD_DIM**0.5).softmax(-1)
    return made


class Reader(HTMLParser):
    """The tags, attributes and text of a fragment, as a browser would read them."""

    def __init__(self, fragment):
        super().__init__()
        self.found, self.text, self.rows = [], [], []
        self.feed(fragment)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        self.text.append(data)
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def all(self, tag):
        return [attrs for name, attrs in self.found if name == tag]


def unpacked(view):
    """Header and bytes, read back with Python's own modules."""
    (element,) = Reader(view.html).all("glassformer-view")
    raw = zlib.decompress(base64.b64decode(element["data-packed"]))
    size = int.from_bytes(raw[:4], "little")
    return json.loads(raw[4 : 4 + size]), raw[4 + size :]


# --- heatmap


def test_heatmap_draws_each_value():
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.0, 0.9]])
    page = Reader(heatmap(weights, ["cats", "sleep"], ["a", "b", "c"]).html)
    cells = [rect for rect in page.all("rect") if float(rect["width"]) > 20]
    assert [rect["fill-opacity"] for rect in cells] == [
        "0.556", "0.278", "0.278", "0.111", "0.000", "1.000",
    ]  # fmt: skip
    columns = [float(rect["x"]) for rect in cells]
    assert columns[:3] == columns[3:] == sorted(set(columns))
    assert len({rect["y"] for rect in cells[:3]}) == 1
    assert float(cells[3]["y"]) > float(cells[0]["y"])
    assert page.rows == [
        ["query \\ key", "a", "b", "c"],
        ["cats", "0.50", "0.25", "0.25"],
        ["sleep", "0.10", "0.00", "0.90"],
    ]


def test_heatmap_as_text():
    weights = torch.tensor([[0.5, -12.25], [-math.inf, math.nan]])
    assert str(heatmap(weights, ["日本", "b"], ["key", "long"], caption="Scores")) == (
        "Scores\nquery \\ key  key   long\n       日本  0.5  -12.2\n          b   -∞    nan"
    )


def test_heatmap_of_scores_has_two_hues_and_leaves_the_infinite_blank():
    scores = torch.tensor([[8.0, -4.0, -math.inf], [math.nan, 0.0, 2.0]])
    page = Reader(heatmap(scores, "ab", "xyz").html)
    cells = [rect for rect in page.all("rect") if float(rect["width"]) > 20]
    assert [(rect["class"], float(rect["fill-opacity"])) for rect in cells] == [
        ("p", 1.0), ("n", 0.5), ("n", 0.0), ("p", 0.0), ("p", 0.0), ("p", 0.25),
    ]  # fmt: skip
    assert {"−4.00", "−∞", "nan", "−8.00", "8.00"} <= set(page.text)


def test_heatmap_of_nothing_but_zeros():
    page = Reader(heatmap(torch.zeros(2, 3), "ab", "xyz").html)
    assert all(float(rect["fill-opacity"]) == 0 for rect in page.all("rect")[:6])


def test_heatmap_takes_a_mask_and_does_not_touch_gradients():
    assert str(heatmap(torch.eye(2) > 0, "ab", "xy")).split() == [
        "query", "\\", "key", "x", "y", "a", "1", "0", "b", "0", "1",
    ]  # fmt: skip
    weights = torch.rand(2, 3, requires_grad=True)
    heatmap(weights, "ab", "xyz")
    assert weights.grad is None


def test_cells_of_many_columns_share_a_pages_width_until_they_are_too_small(subtests):
    for count, cell in [(41, 660 / 41), (101, 12.0)]:
        with subtests.test(count=count, cell=cell):
            page = Reader(heatmap(torch.rand(2, count), range(2), range(count)).html)
            first, second = page.all("rect")[:2]
            assert float(first["width"]) == pytest.approx(cell, abs=0.06)
            assert float(second["x"]) - float(first["x"]) == pytest.approx(cell, abs=0.11)


def test_large_heatmap_shares_paths_but_keeps_strengths():
    rows, columns = 37, 31  # more than 1024 cells
    weights = torch.rand(rows, columns)
    weights[5, 7] = 2.0
    view = heatmap(weights, range(rows), range(columns))
    drawn = torch.zeros(rows, columns)
    for path in Reader(view.html).all("path"):
        if "stroke-opacity" in path:
            for x, y in stroked(path["d"]):
                drawn[y, x] = float(path["stroke-opacity"])
    torch.testing.assert_close(drawn, weights / 2, rtol=0, atol=1 / 128 + 1e-3)
    assert len(view.html) < 40_000
    assert ["5", "7", "2.00"] in Reader(view.html).rows
    lines = [line.split() for line in str(view).splitlines()]
    assert lines[0] == ["query", "largest", "at", "key", "value"]
    assert lines[2] == ["5", "7", "2.00"]
    assert [line[0] for line in lines[1:]] == ["0", "5", "10", "15", "20", "25", "30", "35"]


def test_a_large_symmetric_heatmap_is_told_by_distance():
    distances = (torch.arange(41)[:, None] - torch.arange(41)).abs()
    waves = (distances / 7).cos() + torch.eye(41)
    lines = [line.split() for line in str(heatmap(waves, range(41), range(41))).splitlines()]
    assert lines[0] == ["distance", "mean"]
    assert lines[1:3] == [["0", "2.00"], ["1", f"{math.cos(1 / 7):.2f}"]]
    assert [int(line[0]) for line in lines[1:]] == [*range(20), 20, 30, 40]
    waves[3, 5] += 0.1
    assert "largest at" in str(heatmap(waves, range(41), range(41)))


def test_heatmap_words_are_text_never_markup():
    view = heatmap(torch.rand(6, 6), ODD, ODD, caption="<i>&amp;")
    page = Reader(view.html)
    assert not {"script", "b", "i"} & {tag for tag, _ in page.found}
    assert [row[0] for row in page.rows[1:]] == [
        "</script><b>x</b>", "שלום", "日本語", "a\\u200bb\\n", "&amp;\"'", "Donaudampfschifffahrt",
    ]  # fmt: skip
    assert "Donaudampfsch…" in page.text
    assert page.text.count("<i>&amp;") == 2  # the caption, and the table's
    assert "aria-hidden" in page.all("svg")[0]


def test_heatmap_names_its_axes():
    html = heatmap(torch.rand(2, 3), "ab", "xyz", axes=("target", "source")).html
    text = "".join(Reader(html.partition("</style>")[2]).text)
    assert "source →" in text
    assert "← target" in text
    assert "key" not in text


def test_the_names_of_axes_stand_at_the_middle_of_their_cells():
    page = Reader(heatmap(torch.rand(2, 5), "ab", "vwxyz").html)
    cells = [rect for rect in page.all("rect") if float(rect["width"]) > 20]
    across, up = [text for text in page.all("text") if text["class"] == "axis"][:2]
    for name, size, text in (("x", "width", across), ("y", "height", up)):
        starts = [float(cell[name]) for cell in cells]
        middle = (min(starts) + max(starts) + float(cells[0][size])) / 2
        assert float(text[name]) == pytest.approx(middle, abs=0.2)
    x, y = up["x"], up["y"]
    assert up["transform"] == f"rotate(-90 {x} {y})"


def test_heatmap_refuses_what_does_not_fit(unhooked):
    with pytest.raises(ValueError, match=r"shape \(2, 3\) do not fit 3 row words and 2 column"):
        heatmap(torch.rand(2, 3), "abc", "xy")
    with pytest.raises(ValueError, match=r"one matrix .* shape \(1, 2, 3\): choose the batch"):
        heatmap(torch.rand(1, 2, 3), "ab", "xyz")
    with pytest.raises(ValueError, match=r"shape \(0, 3\) have nothing to draw"):
        heatmap(torch.rand(0, 3), "", "xyz")


def test_numbers_are_readable_on_every_cell(subtests):
    for (theme, paper, ink), name in product(
        [(LIGHT, 255, 0), (DARK, 36, 255)], ["cell", "negative-cell"]
    ):
        with subtests.test(theme=theme, paper=paper, ink=ink, name=name):
            colour = bytes.fromhex(re.search(f"--{name}:#(......)", theme)[1])
            for step in range(1001):
                cell = [(c * step + paper * (1000 - step)) / 1000 for c in colour]
                assert contrast(cell, [255 if step / 1000 > WHITE_FROM else ink] * 3) >= 4.5, step


# --- shapes


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.act, self.down = nn.Linear(7, 11), nn.GELU(), nn.Linear(11, 7)

    def forward(self, x):
        return x + self.down(self.act(self.up(x)))


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(13, 7)
        self.layers = nn.ModuleList([Block() for _ in range(3)])
        self.drop = nn.Dropout(0.5)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.drop(x)


def test_shapes_of_plain_modules():
    model = Stack().train()
    model.layers[1].eval()
    modes = [module.training for module in model.modules()]
    state = torch.get_rng_state()
    ids = torch.zeros(2, 5, dtype=torch.long)
    lines = [line.split(maxsplit=1) for line in str(shapes(model, ids)).splitlines()]
    assert [name for name, _ in lines] == [
        "module", "ids", "model", "embed", "layers.0", "up", "act", "down", "layers.1", "drop",
    ]  # fmt: skip
    rest = [re.sub(r"\s+", " ", text) for _, text in lines]
    assert rest[1] == "input (batch 2, seq 5)"
    assert rest[2] == "Stack (batch 2, seq 5, 7) 607"  # 13·7 + 3·(7·11 + 11 + 11·7 + 7)
    assert rest[5] == "Linear (batch 2, seq 5, 11) 88"
    assert lines[8][1].split(maxsplit=1)[0] == "…"
    assert rest[8] == "… layers.2 the same (batch 2, seq 5, 7) 344"
    assert [module.training for module in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_unequal_layers_are_each_shown():
    model = Stack()
    model.layers[1].up = nn.Linear(7, 11, bias=False)
    text = str(shapes(model, torch.zeros(2, 5, dtype=torch.long)))
    assert "the same" not in text
    assert text.count("GELU") == 3


def test_shapes_take_their_words_from_signatures(trained):
    ids = torch.tensor([[101, 2051, 10029, 102]] * 2)
    view = shapes(trained, ids)
    lines = [re.sub(r"\s+", " ", line).strip() for line in str(view).splitlines()]
    assert "input_ids input (batch 2, seq 4)" in lines
    assert "model TransformerEncoder (batch 2, seq 4, d_model 384) 22,565,376" in lines
    assert any("(batch 2, seq 4, d_ff 1536)" in line for line in lines)
    assert any(line.startswith("layers.1 … layers.5 the same") for line in lines)
    page = Reader(view.html)
    assert len(page.rows) == len(lines)
    assert "ruby" in {tag for tag, _ in page.found}


def test_shapes_of_what_follows_a_known_shape():
    """A map of what a signature names: its words, and that of the width."""

    class Grouped(nn.Module):
        def __init__(self):
            super().__init__()
            self.config = SimpleNamespace(d_model=7)
            self.embed = nn.Embedding(13, 7)

        def forward(self, ids: Int[Tensor, "batch group seq"]):
            return self.embed(ids).sum()

    text = re.sub(r" +", " ", str(shapes(Grouped(), torch.zeros(2, 3, 5, dtype=torch.long))))
    assert "embed Embedding (batch 2, group 3, seq 5, d_model 7) 91" in text


def test_shapes_of_the_reference_model(bert):
    text = re.sub(r" +", " ", str(shapes(bert, torch.tensor([[101, 2051, 102]]))))
    assert "BertModel (batch 1, seq 3, d_model 384) and (batch 1, d_model 384) 22,713,216" in text


def test_shapes_say_which_input_failed(unhooked):
    model = Stack().train()
    with pytest.raises(ValueError, match=r"Stack does not take inputs of shape \(2, 5, 3\)"):
        shapes(model, torch.rand(2, 5, 3))
    assert model.training
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


# --- bertviz's viewers: what is sent


def test_weights_travel_as_bytes(attentions):
    header, body = unpacked(head_view(attentions, TOKENS, heads=[2], layer=1))
    drawn = torch.frombuffer(bytearray(body), dtype=torch.uint8).view(LAYERS, HEADS, SEQ, SEQ) / 255
    assert (drawn - torch.cat(attentions)).abs().max() <= 1 / 510 + 1e-6
    assert header == {
        "layers": LAYERS, "heads": HEADS, "tokens": TOKENS, "split": None, "least": 1,
        "layer": 1, "shown": [2],
    }  # fmt: skip


def test_queries_and_keys_travel_as_bytes(tape):
    header, body = unpacked(neuron_view(tape, TOKENS, layer=1, head=2, sentence_b_start=3))
    count = LAYERS * HEADS * SEQ * SEQ
    signed = torch.frombuffer(bytearray(body[count:]), dtype=torch.int8).float()
    signed = signed.view(2, LAYERS, HEADS, SEQ, HEAD_DIM)
    for name, numbers, steps in zip(("query", "key"), signed, header["steps"], strict=True):
        true = torch.cat([tape[f"layers.{i}.attention.{name}"] for i in range(LAYERS)])
        step = torch.tensor(steps).view(LAYERS, HEADS, 1, 1)
        assert ((numbers * step - true).abs() <= 0.501 * step).all()
        assert (numbers.abs().amax(dim=(-1, -2)) == 127).all()  # all of a byte is used
    assert (header["layer"], header["head"], header["split"]) == (1, 2, 3)
    assert header["bidirectional"] is True


def test_neuron_view_sees_causal_attention():
    attention = MultiHeadAttention(HEADS * HEAD_DIM, HEADS).eval()
    with record(attention) as tape, torch.no_grad():
        attention(torch.randn(1, SEQ, HEADS * HEAD_DIM), is_causal=True)
    header, _ = unpacked(neuron_view(tape, TOKENS))
    assert header["bidirectional"] is False
    assert header["layers"] == 1


def test_shared_keys_are_shown_under_each_head():
    attention = MultiHeadAttention(6 * HEAD_DIM, 6, num_kv_heads=2).eval()
    with record(attention) as tape, torch.no_grad():
        attention(torch.randn(1, SEQ, 6 * HEAD_DIM))
    _, body = unpacked(neuron_view(tape, TOKENS))
    half = 6 * SEQ * HEAD_DIM
    keys = torch.frombuffer(bytearray(body[-half:]), dtype=torch.int8).view(6, SEQ, HEAD_DIM)
    assert torch.equal(keys[0], keys[2])
    assert not torch.equal(keys[2], keys[3])


def test_neuron_view_reads_the_encoder_of_two_stacks(tape):
    two = {f"encoder.{path}": tensor for path, tensor in tape.items()}
    two["decoder.layers.0.attention.query"] = torch.rand(1, HEADS, 11, HEAD_DIM)
    two["decoder.layers.0.cross_attention.query"] = torch.rand(1, HEADS, 11, HEAD_DIM)
    assert unpacked(neuron_view(two, TOKENS)) == unpacked(neuron_view(tape, TOKENS))


def test_size_of_the_sentence_pair(trained, words):
    pair = words("time flies like an arrow", "fruit flies like a banana", return_tensors="pt")
    tokens = words.convert_ids_to_tokens(pair["input_ids"][0])
    with record(trained) as tape, torch.no_grad():
        trained(**pair)
    start = (pair["token_type_ids"] == 0).sum(dim=1)
    markup, _ = head_view(tape.attentions, tokens, sentence_b_start=start, heads=[8])._repr_page_()
    assert len(tokens) == 13
    assert len(gzip.compress(markup.encode())) <= 15_000  # 60 KB are allowed


def test_size_of_a_long_text():
    """Twelve layers of twelve heads may take 1.5 MB; these are three."""
    attentions = [torch.randn(1, 12, 128, 128).mul(2).softmax(-1) for _ in range(3)]
    view = head_view(attentions, [f"word{i}" for i in range(128)])
    assert len(view.html.encode()) <= 1_500_000 / 4


def test_too_many_lines_leave_the_strongest():
    attentions = [torch.randn(1, 11, 61, 61).mul(2).softmax(-1) for _ in range(7)]
    view = model_view(attentions, [str(i) for i in range(61)])
    header, body = unpacked(view)
    drawn = sum(byte >= header["least"] for byte in body)
    assert 0 < drawn <= 150_000 < sum(byte >= header["least"] - 1 for byte in body)
    below = (header["least"] - 0.5) / 255
    assert f"Weights below {below:.1%} are not drawn." in view.html


# --- bertviz's viewers: words, text, errors


def test_the_strongest_weights_in_words(attentions, tape, subtests):
    tape |= {f"layers.{i}.attention.weights": w for i, w in enumerate(attentions)}
    views = {
        "head": head_view(attentions, TOKENS, heads=[1], layer=1),
        "model": model_view(attentions, TOKENS),
        "neuron": neuron_view(tape, TOKENS, layer=1, head=1),
    }
    for kind, view in views.items():
        with subtests.test(kind=kind):
            places = [
                (attentions[i][0, h, q, k].item(), i, h, q, k)
                for i in (range(LAYERS) if kind == "model" else [1])
                for h in (range(HEADS) if kind == "model" else [1])
                for q in range(SEQ)
                for k in range(SEQ)
            ]
            expected = [
                [str(i), str(h), f"{TOKENS[q]} ({q})", f"{TOKENS[k]} ({k})", f"{w:.3f}"]
                for w, i, h, q, k in sorted(places, reverse=True)[:12]
            ]
            assert Reader(view.html).rows[1:] == expected
            text = str(view).splitlines()
            assert len(text) == 13
            for line, (i, h, q, k, w) in zip(text[1:], expected, strict=True):
                assert re.sub(" +", " ", line) == f"layer {i} head {h}: {q} → {k} {w}"


def test_tokens_never_become_markup(subtests):
    for draw in [head_view, model_view]:
        with subtests.test(draw=draw):
            view = draw([torch.rand(1, 2, 6, 6)], ODD)
            page = Reader(view.html)
            (script,) = page.all("script")
            assert script == {"type": "module", "src": "asset://glassformer-views.js"}
            assert not {"b", "i"} & {tag for tag, _ in page.found}
            header, _ = unpacked(view)
            assert header["tokens"] == [
                *("</script><b>x</b>", "שלום", "日本語", "a\\u200bb\\n", "&amp;\"'"),
                "Donaudampfschifffahrt",
            ]


def test_page_markup_and_its_files(attentions):
    markup, files = head_view(attentions, TOKENS)._repr_page_()
    names = set(re.findall(r"asset://([\w.-]+)", markup))
    assert names == set(files) == {
        "glassformer-views.js", "jquery.slim.min.js", "d3.min.js", "bertviz-head_view.js",
    }  # fmt: skip
    begins = {name: Path(path).read_text(encoding="utf-8")[:100] for name, path in files.items()}
    assert "jQuery v3.7.1" in begins["jquery.slim.min.js"]
    assert "d3js.org v5.7.0" in begins["d3.min.js"]
    assert "Transformer Visualization" in begins["bertviz-head_view.js"]
    assert "\n\n" not in markup  # a blank line would end an HTML block of Markdown


def test_notebook_markup_holds_everything(attentions):
    frame = Reader(head_view(attentions, TOKENS)._repr_html_()).all("iframe")[0]
    assert frame["sandbox"] == "allow-scripts"
    assert "asset://" not in frame["srcdoc"]
    inside = Reader(frame["srcdoc"])
    urls = [a[key] for _, a in inside.found for key in ("src", "href") if key in a]
    urls += inside.all("glassformer-view")[0]["data-scripts"].split()
    assert len(urls) == 3
    assert all(url.startswith("data:") for url in urls)


def test_a_terminal_gets_the_text(attentions):
    for view in (head_view(attentions, TOKENS), heatmap(attentions[0][0, 0], TOKENS, TOKENS)):
        assert repr(view) == str(view) == view.text


def test_a_notebook_gives_a_view_its_height_up_to_a_limit(attentions):
    """170 for what stands around a picture, which is 900 high at most."""
    for seq, picture in ((5, 5 * 22.5 + 34), (101, 900)):
        weights = [torch.randn(1, HEADS, seq, seq).softmax(-1)]
        html = head_view(weights, [str(i) for i in range(seq)])._repr_html_()
        [height] = re.findall(r"<iframe[^>]* style=\"width:100%;height:(\d+)px", html)
        assert int(height) == round(picture) + 170


def test_the_legend_stands_between_its_two_numbers(subtests):
    """A letter of 12 pixels is more than 6 wide, but for a point."""
    for scores in [[0.5, 1.0], [-123.4, 1.0]]:
        with subtests.test(scores=scores):
            page = Reader(heatmap(torch.tensor([scores]), ["a"], ["b", "c"]).html)
            low, high = [text for text in page.all("text") if text["class"] == "axis"][2:]
            steps = [float(rect["x"]) for rect in page.all("rect") if rect["width"] == "16"]
            *_, shown = [text for text in page.text if text in ("0", "−123")]
            assert (
                float(low["x"]) + 6 * len(shown) < steps[0] < float(low["x"]) + 10 * len(shown) + 10
            )
            assert steps[-1] + 16 < float(high["x"]) < steps[-1] + 26


def test_a_heatmap_shrinks_as_far_as_it_can_be_read(subtests):
    """Words stay legible at 0.8 of their size; numbered axes fit a phone's column of 300."""
    for rows in [3, 41]:
        with subtests.test(rows=rows):
            view = heatmap(torch.rand(rows, 41), range(rows), range(41))
            style = Reader(view.html).all("svg")[0]["style"]
            widest, narrowest = (int(n) for n in re.findall(r"m..-width:(\d+)px", style))
            assert narrowest == pytest.approx(
                0.8 * widest if rows == 3 else min(widest, 300), abs=1
            )


def test_no_state_is_shared(attentions):
    first = head_view(attentions, TOKENS, heads=[0])
    before = first.html
    head_view(attentions, TOKENS, heads=[1])
    assert head_view(attentions, TOKENS, heads=[0]).html == before  # the same each time: cacheable


def test_vendored_files_are_those_named():
    lines = (STATIC / "vendor" / "VERSIONS").read_text().splitlines()[1:]
    named = {}
    for line in lines:
        name, package, *_, digest = line.split()
        named[name] = digest
        assert (STATIC / "vendor" / f"{package}.LICENSE").stat().st_size > 500
    assert named == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (STATIC / "vendor").glob("*.js")
    }


def test_viewers_refuse_what_does_not_fit(attentions, tape, unhooked):
    refused = [
        (r"\(\(\)\) hold no weights; .*attn_implementation='eager'", lambda: head_view((), TOKENS)),
        (r"attentions \(\[None\]\) hold no weights", lambda: model_view([None], TOKENS)),
        (r"layer 0 have shape \(3, 5, 5\); expected \(1, heads", lambda: head_view(
            [w[0] for w in attentions], TOKENS)),
        (r"layer 0 have shape \(2, 3, 5, 5\); .* one batch row", lambda: head_view(
            [w.repeat(2, 1, 1, 1) for w in attentions], TOKENS)),
        (r"layer 1 .* \(1, 2, 5, 5\), but those of layer 0 have \(1, 3, 5, 5\)", lambda: model_view(
            [attentions[0], attentions[1][:, :2]], TOKENS)),
        ("5 queries and 5 keys, but there are 2 tokens: a b", lambda: model_view(
            attentions, ["a", "b"])),
        (r"layer \(2\) must be from 0 to 1", lambda: head_view(attentions, TOKENS, layer=2)),
        (r"layer \(-1\) must be from 0 to 1", lambda: head_view(attentions, TOKENS, layer=-1)),
        (r"head \(3\) must be from 0 to 2", lambda: head_view(attentions, TOKENS, heads=[0, 3])),
        (r"head \(7\) must be from 0 to 2", lambda: neuron_view(tape, TOKENS, head=7)),
        (r"sentence_b_start \(5\) must be inside the 5 tokens", lambda: head_view(
            attentions, TOKENS, sentence_b_start=5)),
        (r"sentence_b_start \(0\) must be inside", lambda: neuron_view(
            tape, TOKENS, sentence_b_start=torch.tensor([0]))),
        (r"are between -?\d.* and \d.*, but weights are between 0 and 1", lambda: head_view(
            [w * 9 for w in attentions], TOKENS)),
        ("hold nan in layer 0", lambda: head_view([w * math.nan for w in attentions], TOKENS)),
        (r"no attention layer's query among its 1 entries \(embeddings\); call",
            lambda: neuron_view({"embeddings": torch.zeros(1)}, TOKENS)),
    ]  # fmt: skip
    for message, call in refused:
        with pytest.raises(ValueError, match=message):
            call()


def test_missing_bertviz_is_named(attentions, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install bertviz==1\.4\.1"):
        head_view(attentions, TOKENS)._repr_page_()


def test_captions_are_escaped_once():
    view = heatmap(torch.rand(2, 2), "ab", "xy", caption="q & k")
    assert html.escape("q & k") in view.html
    assert "&amp;amp;" not in view.html


def test_a_missing_browser_skips_unless_it_is_required(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("GLASSFORMER_REQUIRE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"none of chromium, .* on the PATH"):
        executable()
    monkeypatch.setenv("GLASSFORMER_REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="this machine must have a browser"):
        executable()


@pytest.fixture
def cross():
    """A target of three words, its source of five, and the three attentions between them."""
    sizes = {"cross_attentions": (3, 5), "decoder_attentions": (3, 3), "encoder_attentions": (5, 5)}
    made = {
        name: [torch.randn(1, HEADS, *size).softmax(-1) for _ in range(LAYERS)]
        for name, size in sizes.items()
    }
    return made | {"decoder_tokens": ["[START]", "</script>", "an"], "encoder_tokens": TOKENS}


def test_the_cross_view_packs_target_and_source_as_one_sequence(cross):
    header, body = unpacked(cross_view(**cross, layer=1, heads=[2]))
    assert header["tokens"] == [*cross["decoder_tokens"], *TOKENS]
    assert (header["split"], header["filter"]) == (3, "3")
    assert (header["layer"], header["shown"]) == (1, [2])
    weights = torch.frombuffer(bytearray(body), dtype=torch.uint8).view(LAYERS, HEADS, 8, 8) / 255
    for layer in range(LAYERS):
        for name, rows, columns in (
            ("cross_attentions", slice(0, 3), slice(3, 8)),
            ("decoder_attentions", slice(0, 3), slice(0, 3)),
            ("encoder_attentions", slice(3, 8), slice(3, 8)),
        ):
            found = weights[layer, :, rows, columns]
            torch.testing.assert_close(found, cross[name][layer][0], rtol=0, atol=1 / 510 + 1e-6)
    assert not weights[:, :, 3:, :3].any()


def test_the_cross_view_says_its_strongest_weights_from_target_to_source(cross):
    text = str(cross_view(**cross, layer=1, heads=[2])).splitlines()
    weights = cross["cross_attentions"][1][0, 2]
    query, key = divmod(weights.argmax().item(), 5)
    assert text[0].startswith("Cross view: the target's attention to the source, layer 1, head 2")
    assert f"{cross['decoder_tokens'][query]} ({query}) → {TOKENS[key]} ({key})" in text[1]
    assert text[1].endswith(f"{weights.max():.3f}")


def test_the_cross_view_refuses_what_does_not_fit(cross):
    with pytest.raises(ValueError, match=r"3 queries and 5 keys, .* 3 tokens: .* / 4 tokens"):
        cross_view(**cross | {"encoder_tokens": TOKENS[:4]})
    with pytest.raises(ValueError, match=r"decoder_.* have .* \(1, 3\), but cross.* \(2, 3\); all"):
        cross_view(**cross | {"decoder_attentions": cross["decoder_attentions"][:1]})
    with pytest.raises(ValueError, match=r"head \(3\) must be from 0 to 2"):
        cross_view(**cross, heads=[3])
    with pytest.raises(ValueError, match=r"layer \(2\) must be from 0 to 1"):
        cross_view(**cross, layer=2)
