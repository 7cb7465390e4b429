"""bertviz's viewers: their sizes, their choices, what they send, and what they say in words."""

import gzip
import hashlib
import math
import re
from pathlib import Path

import pytest
import torch
from drawings import Reader, make_tape, unpacked

from browser import executable
from glassbook.live.element import STATIC as LIVE
from glassformer.interpret.recording import record
from glassformer.layers.multihead import MultiHeadAttention
from glassformer.views import cross_view, head_view, model_view, neuron_view
from glassformer.views.packing import weight_bytes
from glassformer.views.page import STATIC
from glassformer.views.viewers import least_drawn

LAYERS, HEADS, SEQ, HEAD_DIM = 2, 3, 5, 7
TOKENS = ["[CLS]", "time", "flies", "</script>", "[SEP]"]
TARGET = ["[START]", "</script>", "an"]


def weights(rows, columns=None, *, layers=LAYERS, heads=HEADS):
    return [torch.randn(1, heads, rows, columns or rows).softmax(-1) for _ in range(layers)]


@pytest.fixture
def attentions():
    return weights(SEQ)


@pytest.fixture
def tape():
    return make_tape(SEQ, layers=LAYERS, heads=HEADS, head_dim=HEAD_DIM)


@pytest.fixture
def cross():
    """A target of three words, its source of five, and the three attentions between them."""
    return {
        "cross_attentions": weights(3, 5),
        "decoder_attentions": weights(3),
        "encoder_attentions": weights(5),
        "decoder_tokens": TARGET,
        "encoder_tokens": TOKENS,
    }


def size(view):
    return tuple(int(n) for n in re.search(r"--shape:(\d+)/(\d+)", view.html).groups())


# --- what is drawn


def test_a_view_has_room_for_all_that_it_draws(cross, subtests):
    """In the head view 22.5 a word, and 25 a square; a small picture is a twelfth of the width."""

    def words(count):
        return [str(k) for k in range(count)]

    turned = {
        "cross_attentions": weights(5, 3),
        "decoder_attentions": weights(5),
        "encoder_attentions": weights(3),
        "decoder_tokens": TOKENS,
        "encoder_tokens": TARGET,
    }
    rows = [
        (head_view(weights(5), words(5)), (336, 146)),
        (head_view(weights(2, heads=17), words(2)), (427, 79)),
        (model_view(weights(5, layers=7), words(5)), (970, 7 * (5 * 7 * 12 // 3 + 10) + 38)),
        (model_view(weights(11, layers=1, heads=12), words(11)), (970, 11 * 18 + 55)),
        (neuron_view(make_tape(5), words(5)), (420, 5 * 26 + 14)),
        (cross_view(**cross), (336, round(5 * 22.5 + 34))),  # for the longer of its texts
        (cross_view(**turned), (336, round(5 * 22.5 + 34))),
    ]
    for view, wanted in rows:
        with subtests.test(view.kind, wanted=wanted):
            assert size(view) == wanted
            narrowest = int(re.search(r"--narrowest:(\d+)px", view.html)[1])
            assert narrowest == (round(0.68 * 970) if view.kind == "model" else 0)


def test_a_view_says_which_heads_it_shows(attentions, cross, subtests):
    rows = [
        (None, None, "layer 1, 3 heads of 3"),
        ([2], [2], "layer 1, head 2"),
        ([2, 0], [0, 2], "layer 1, 2 heads of 3"),
        ([2, 2], [2], "layer 1, head 2"),
    ]
    for heads, shown, what in rows:
        with subtests.test(heads=heads):
            view = head_view(attentions, TOKENS, heads=heads, layer=1)
            assert str(view).startswith(f"Head view: {what};")
            assert f"strongest weights of {what};" in view.html
            across = cross_view(**cross, heads=heads, layer=1)
            assert str(across).startswith(
                f"Cross view: the target's attention to the source, {what}"
            )
            for each in (view, across):
                header, _ = unpacked(each)
                assert (header["shown"], header["layer"]) == (shown, 1)


def test_each_view_has_its_choices(attentions, tape, cross, subtests):
    """Two sentences can be chosen between, and one cannot."""
    named = [
        "All",
        *("Sentence A → Sentence A", "Sentence B → Sentence B"),
        *("Sentence A → Sentence B", "Sentence B → Sentence A"),
    ]
    targets = ["Target → Source", "Target → Target", "Source → Source"]
    split = {"sentence_b_start": 3}
    rows = [
        (head_view(attentions, TOKENS, **split), ["layer", "filter"], "01234", named),
        (model_view(attentions, TOKENS, **split), ["filter"], "01234", named),
        (
            neuron_view(tape, TOKENS, **split),
            ["layer", "att_head", "filter"],
            ["all", "aa", "bb", "ab", "ba"],
            named,
        ),
        (cross_view(**cross), ["layer", "filter"], "312", targets),
        (head_view(attentions, TOKENS), ["layer"], "", []),
        (model_view(attentions, TOKENS), [], "", []),
    ]
    for view, choices, values, names in rows:
        with subtests.test(view.kind, choices=choices):
            assert re.findall('<select id="(.*?)">', view.html) == choices
            options = re.findall('<option value="(.*?)">(.*?)</option>', view.html)
            assert options == [*zip(values, names, strict=True)]
            if names == named:
                assert unpacked(view)[0]["split"] == 3


def test_a_view_has_a_still_picture_of_its_weights():
    """Its frame: words at a third and two thirds, and below 14 pixels, equal rows."""
    crossed = torch.tensor([[[[0.05, 0.95], [0.75, 0.25]]]])
    html = head_view([crossed], ["a", "<b>"]).html  # 336 by 79, so rows of 32.5
    still = re.search('<svg viewBox="0 0 336 79".*?</svg>', html)[0]
    assert re.findall('opacity="(.*?)" d="(.*?)"', still) == [
        ("0.25", "M112 63L224 63"),
        ("0.75", "M112 63L224 30"),
        ("1.0", "M112 30L224 63"),
    ]
    assert re.findall('<text x="(.*?)" y="(.*?)".*?>(.*?)</text>', still) == [
        ("106", "35", "a"),
        ("106", "68", "&lt;b&gt;"),
        ("230", "35", "a"),
        ("230", "68", "&lt;b&gt;"),
    ]
    # Each head in 466 pixels, less a ninth at each side, beside the numbers of layers and heads.
    heads = torch.eye(2).expand(1, 2, 2, 2)
    two = re.search('<svg viewBox="0 0 970 132".*?</svg>', model_view([heads], ["a", "b"]).html)[0]
    assert set(re.findall(r"M(\d+ \d+)L(\d+ \d+)", two)) == {
        *(("90 72", "452 72"), ("90 112", "452 112")),  # rows of 40
        *(("556 72", "918 72"), ("556 112", "918 112")),
    }
    named = re.findall(r'<text transform="(.*?)".*?>(\w+)</text>', two)
    assert named == [
        ("translate(504 15)", "Heads"),
        ("translate(15 85) rotate(-90)", "Layers"),
        ("translate(271 33)", "0"),
        ("translate(737 33)", "1"),
        ("translate(27 97)", "0"),
    ]


# --- what is sent


def test_weights_travel_as_bytes(attentions, subtests):
    header, body = unpacked(head_view(attentions, TOKENS, heads=[2], layer=1))
    drawn = torch.frombuffer(bytearray(body), dtype=torch.uint8).view(LAYERS, HEADS, SEQ, SEQ) / 255
    assert (drawn - torch.cat(attentions)).abs().max() <= 1 / 510 + 1e-6
    assert header == {
        "layers": LAYERS, "heads": HEADS, "tokens": TOKENS, "split": None, "least": 1,
        "layer": 1, "shown": [2],
    }  # fmt: skip
    for weight, byte in [(0.0, 0), (0.4 / 255, 0), (0.6 / 255, 1), (254.4 / 255, 254), (1.0, 255)]:
        with subtests.test(weight=weight):
            assert weight_bytes(torch.tensor([weight])).tolist() == [byte]


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
        assert all(len(f"{step:.12g}".lstrip("0.")) <= 6 for step in steps)
    assert (header["layer"], header["head"], header["split"]) == (1, 2, 3)
    assert (header["vector"], header["bidirectional"]) == (HEAD_DIM, True)
    two = {f"encoder.{path}": tensor for path, tensor in tape.items()}  # of two stacks, the first
    two["decoder.layers.0.attention.query"] = torch.rand(1, HEADS, 11, HEAD_DIM)
    two["decoder.layers.0.cross_attention.query"] = torch.rand(1, HEADS, 11, HEAD_DIM)
    assert unpacked(neuron_view(two, TOKENS)) == unpacked(neuron_view(tape, TOKENS))
    tape["layers.0.attention.key"] = torch.zeros(1, HEADS, SEQ, HEAD_DIM)
    _, body = unpacked(neuron_view(tape, TOKENS))
    half = LAYERS * HEADS * SEQ * HEAD_DIM
    assert not any(body[-half : -half // 2])


def recorded(*, causal=False, heads=HEADS, kv_heads=None):
    attention = MultiHeadAttention(heads * HEAD_DIM, heads, num_kv_heads=kv_heads).eval()
    with record(attention) as tape, torch.no_grad():
        attention(torch.randn(1, SEQ, heads * HEAD_DIM), is_causal=causal)
    return tape


def test_the_neuron_view_sees_causal_attention_and_shows_shared_keys_under_each_head():
    header, _ = unpacked(neuron_view(recorded(causal=True), TOKENS))
    assert (header["bidirectional"], header["layers"]) == (False, 1)
    _, body = unpacked(neuron_view(recorded(heads=6, kv_heads=2), TOKENS))
    half = 6 * SEQ * HEAD_DIM
    keys = torch.frombuffer(bytearray(body[-half:]), dtype=torch.int8).view(6, SEQ, HEAD_DIM)
    assert torch.equal(keys[0], keys[2])
    assert not torch.equal(keys[2], keys[3])


def test_the_cross_view_packs_target_and_source_as_one_sequence(cross):
    header, body = unpacked(cross_view(**cross, layer=1, heads=[2]))
    assert header["tokens"] == [*TARGET, *TOKENS]
    assert (header["split"], header["filter"]) == (3, "3")
    sent = torch.frombuffer(bytearray(body), dtype=torch.uint8).view(LAYERS, HEADS, 8, 8) / 255
    for layer in range(LAYERS):
        for name, rows, columns in (
            ("cross_attentions", slice(0, 3), slice(3, 8)),
            ("decoder_attentions", slice(0, 3), slice(0, 3)),
            ("encoder_attentions", slice(3, 8), slice(3, 8)),
        ):
            found = sent[layer, :, rows, columns]
            torch.testing.assert_close(found, cross[name][layer][0], rtol=0, atol=1 / 510 + 1e-6)
    assert not sent[:, :, 3:, :3].any()


def test_too_many_lines_leave_the_strongest_and_it_is_said(subtests):
    many = [torch.randn(1, 11, 61, 61).mul(2).softmax(-1) for _ in range(7)]
    view = model_view(many, [str(i) for i in range(61)])
    header, body = unpacked(view)
    drawn = sum(byte >= header["least"] for byte in body)
    assert 0 < drawn <= 150_000 < sum(byte >= header["least"] - 1 for byte in body)
    assert f"Weights below {(header['least'] - 0.5) / 255:.1%} are not drawn." in view.html
    assert "not drawn" not in head_view(weights(SEQ), TOKENS).html
    for count, weight, least in [(150_000, 0.5, 1), (150_001, 0.5, 129), (150_001, 1.0, 255)]:
        with subtests.test(count=count, weight=weight):
            assert least_drawn(torch.full((count,), weight)) == least


def test_views_are_small_enough_for_a_page(trained, words):
    pair = words("time flies like an arrow", "fruit flies like a banana", return_tensors="pt")
    tokens = words.convert_ids_to_tokens(pair["input_ids"][0])
    with record(trained) as tape, torch.no_grad():
        trained(**pair)
    start = (pair["token_type_ids"] == 0).sum(dim=1)
    markup, _ = head_view(tape.attentions, tokens, sentence_b_start=start, heads=[8])._repr_page_()
    assert len(tokens) == 13
    assert len(gzip.compress(markup.encode())) <= 15_000
    long = [torch.randn(1, 12, 128, 128).mul(2).softmax(-1) for _ in range(3)]
    view = head_view(long, [f"word{i}" for i in range(128)])
    assert len(view.html.encode()) <= 1_500_000 / 4  # of twelve layers, these are three


# --- in words


def test_the_strongest_weights_in_words(attentions, tape, cross, subtests):
    tape |= {f"layers.{i}.attention.weights": w for i, w in enumerate(attentions)}
    every, one = range(HEADS), [1]
    rows = [
        ("head", head_view(attentions, TOKENS, heads=[1], layer=1), [1], one),
        ("two heads", head_view(attentions, TOKENS, heads=[2, 0], layer=1), [1], [0, 2]),
        ("model", model_view(attentions, TOKENS), range(LAYERS), every),
        ("neuron", neuron_view(tape, TOKENS, layer=1, head=1), [1], one),
    ]
    for kind, view, layers, heads in rows:
        with subtests.test(kind):
            places = [
                (attentions[i][0, h, q, k].item(), i, h, q, k)
                for i in layers
                for h in heads
                for q in range(SEQ)
                for k in range(SEQ)
            ]
            expected = [
                [str(i), str(h), f"{TOKENS[q]} ({q})", f"{TOKENS[k]} ({k})", f"{w:.3f}"]
                for w, i, h, q, k in sorted(places, reverse=True)[:12]
            ]
            assert Reader(view.html).rows[1:] == expected
            told = [re.sub(" +", " ", line) for line in str(view).splitlines()[1:]]
            assert told == [
                f"layer {layer} head {head}: {query} → {key} {weight}"
                for layer, head, query, key, weight in expected
            ]
    first = str(cross_view(**cross, layer=1, heads=[2])).splitlines()[1]
    strong = cross["cross_attentions"][1][0, 2]
    query, key = divmod(strong.argmax().item(), 5)
    assert f"{TARGET[query]} ({query}) → {TOKENS[key]} ({key})" in first
    assert first.endswith(f"{strong.max():.3f}")


def test_names_of_words_end_together():
    """Three wide letters take six columns."""
    lines = str(head_view([torch.eye(2)[None, None]], ["日本語", "a"])).splitlines()[1:]
    assert sorted(line.partition(": ")[2] for line in lines) == [
        "     a (1) → a (1)  1.000",
        "     a (1) → 日本語 (0)  0.000",
        "日本語 (0) → a (1)  0.000",
        "日本語 (0) → 日本語 (0)  1.000",
    ]


# --- on a page and in a notebook


def test_page_markup_and_its_files(attentions):
    markup, files = head_view(attentions, TOKENS)._repr_page_()
    assert head_view(attentions, TOKENS)._repr_page_()[0] == markup  # each time: cacheable
    assert set(re.findall(r"asset://([\w.-]+)", markup)) == set(files)
    begins = {name: Path(path).read_text(encoding="utf-8")[:100] for name, path in files.items()}
    assert "jQuery v3.7.1" in begins["jquery.slim.min.js"]
    assert "d3js.org v5.7.0" in begins["d3.min.js"]
    assert "Transformer Visualization" in begins["bertviz-head_view.js"]
    assert "\n\n" not in markup  # a blank line would end an HTML block of Markdown
    [script] = Reader(markup).all("script")
    assert script == {"type": "module", "src": "asset://glassformer-views.js"}


def test_a_notebook_gets_everything_and_a_height_up_to_a_limit(attentions):
    """170 for what stands around a picture, which is 900 high at most."""
    frame = Reader(head_view(attentions, TOKENS)._repr_html_()).all("iframe")[0]
    assert frame["sandbox"] == "allow-scripts"
    assert "asset://" not in frame["srcdoc"]
    inside = Reader(frame["srcdoc"])
    urls = [a[key] for _, a in inside.found for key in ("src", "href") if key in a]
    urls += inside.all("glassformer-view")[0]["data-scripts"].split()
    assert len(urls) == 3
    assert all(url.startswith("data:") for url in urls)
    for seq, high in ((5, round(5 * 22.5 + 34)), (101, 900)):
        html = head_view(weights(seq), [str(i) for i in range(seq)])._repr_html_()
        assert f"width:100%;height:{high + 170}px" in html


@pytest.mark.parametrize("static", [STATIC, LIVE])
def test_vendored_files_are_those_named(static):
    vendor, named = static / "vendor", {}
    for line in (vendor / "VERSIONS").read_text().splitlines()[1:]:
        name, package, *_, digest = line.split()
        named[name] = digest
        assert (vendor / f"{Path(package).name}.LICENSE").stat().st_size > 500
    assert named == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vendor.iterdir()
        if path.suffix != ".LICENSE" and path.name != "VERSIONS"
    }


def test_missing_bertviz_is_named(attentions, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install bertviz==1\.4\.1"):
        head_view(attentions, TOKENS)._repr_page_()


def test_a_missing_browser_skips_unless_it_is_required(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("GLASSFORMER_REQUIRE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"none of chromium, .* on the PATH"):
        executable()
    monkeypatch.setenv("GLASSFORMER_REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="this machine must have a browser"):
        executable()


# --- what does not fit


def test_what_does_not_fit_is_refused(attentions, tape, cross, unhooked, subtests):
    second = {"sentence_b_start": torch.tensor([0])}
    one = cross["decoder_attentions"][:1]
    rows = [
        (r"\(\(\)\) hold no weights; .*attn_implementation='eager'", lambda: head_view((), TOKENS)),
        (r"attentions \(\[None\]\) hold no weights", lambda: model_view([None], TOKENS)),
        (r"layer 0 have shape \(3, 5, 5\); expected \(1, heads", lambda: head_view(
            [w[0] for w in attentions], TOKENS)),
        (r"layer 0 have shape \(2, 3, 5, 5\); .* one batch row", lambda: head_view(
            [w.repeat(2, 1, 1, 1) for w in attentions], TOKENS)),
        (r"layer 1 .* \(1, 2, 5, 5\), but those of layer 0 have \(1, 3, 5, 5\)", lambda: model_view(
            [attentions[0], attentions[1][:, :2]], TOKENS)),
        (r"shape \(1, 3, 0, 0\) have nothing to draw", lambda: head_view(
            [torch.zeros(1, HEADS, 0, 0)], [])),
        ("5 queries and 5 keys, but there are 2 tokens: a b", lambda: model_view(
            attentions, ["a", "b"])),
        (r"layer \(2\) must be from 0 to 1", lambda: head_view(attentions, TOKENS, layer=2)),
        (r"layer \(-1\) must be from 0 to 1", lambda: head_view(attentions, TOKENS, layer=-1)),
        (r"head \(3\) must be from 0 to 2", lambda: head_view(attentions, TOKENS, heads=[0, 3])),
        (r"head \(7\) must be from 0 to 2", lambda: neuron_view(tape, TOKENS, head=7)),
        (r"sentence_b_start \(5\) must be inside the 5 tokens", lambda: head_view(
            attentions, TOKENS, sentence_b_start=5)),
        (r"sentence_b_start \(0\) must be inside", lambda: neuron_view(tape, TOKENS, **second)),
        (r"are between -?\d.* and \d.*, but weights are between 0 and 1", lambda: head_view(
            [w * 9 for w in attentions], TOKENS)),
        (r"no attention layer's query among its 1 entries \(embeddings\); call",
            lambda: neuron_view({"embeddings": torch.zeros(1)}, TOKENS)),
        (r"3 queries and 5 keys, .* 3 tokens: .* / 4 tokens", lambda: cross_view(
            **cross | {"encoder_tokens": TOKENS[:4]})),
        (r"decoder_.* have .* \(1, 3\), but cross.* \(2, 3\); all", lambda: cross_view(
            **cross | {"decoder_attentions": one})),
        (r"head \(3\) must be from 0 to 2", lambda: cross_view(**cross, heads=[3])),
        (r"layer \(2\) must be from 0 to 1", lambda: cross_view(**cross, layer=2)),
    ]  # fmt: skip
    for message, call in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            call()


def test_weights_may_be_off_by_a_ten_thousandth(subtests):
    for beyond in [0.9e-4, -0.9e-4, 1.2e-4, -1.2e-4]:
        with subtests.test(beyond=beyond):
            attention = torch.eye(3)[None, None].repeat(1, HEADS, 1, 1)
            attention[0, 1, 2, 0] = 1 + beyond if beyond > 0 else beyond
            if abs(beyond) < 1e-4:
                _, body = unpacked(head_view([attention], TOKENS[:3]))
                assert body[9 + 6] == (255 if beyond > 0 else 0)
            else:
                with pytest.raises(ValueError, match=r"attentions are between .*use heatmap"):
                    head_view([attention], TOKENS[:3])


def test_what_is_not_finite_is_refused_with_its_place(attentions, tape, cross, subtests):
    for value in [math.nan, math.inf, -math.inf]:
        with subtests.test(value=value):
            wrong = [w.clone() for w in attentions]
            wrong[1][0, 2, 3, 0] = value
            place = r"layer 1, head 2, at '</script>' \(3\) → '\[CLS\]' \(0\), the first of 1"
            for draw in (head_view, model_view):
                with pytest.raises(ValueError, match=rf"attentions hold {value} in {place}"):
                    draw(wrong, TOKENS)
            for which in ("cross_attentions", "decoder_attentions", "encoder_attentions"):
                several = [w.clone() for w in cross[which]]
                several[0][0, 2, 1, 1] = value
                place = rf"attentions hold {value} in layer 0, head 2, at "
                with pytest.raises(ValueError, match=place):
                    cross_view(**cross | {which: several})
            for name, told in (("query", "queries"), ("key", "keys")):
                path = f"layers.1.attention.{name}"
                vectors = tape[path].clone()
                vectors[0, 1, 2, 4] = value
                place = rf"{told} hold {value} in layer 1, head 1, at 'flies' \(2\)"
                with pytest.raises(ValueError, match=place):
                    neuron_view(tape | {path: vectors}, TOKENS)
