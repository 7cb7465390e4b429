"""Pictures of whole models and of what they write: counted, followed and measured again here."""

import math
import re
from itertools import product

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn

from glassformer.inference.generation import generate
from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder
from glassformer.models.task_models import (
    TransformerForCausalLM,
    TransformerForMaskedLM,
    TransformerForSequenceClassification,
)
from glassformer.views import (
    beam_tree,
    body_and_head,
    costs,
    embedding_map,
    flops,
    lookup,
    merges,
    parameters,
    published,
    residual_stream,
    teacher_forcing,
)
from glassformer.views.beams import search
from glassformer.views.embedding_map import principal

SMALL = {"vocab_size": 23, "d_model": 24, "num_heads": 6, "num_layers": 3, "d_ff": 31}
IDS = torch.tensor([[3, 5, 7, 11]])


def texts(view):
    return re.findall(r"<text[^>]*>([^<]*)<", view.html)


def table(view):
    """The rows of a view's text, its header left out."""
    return [re.split(r"  +", line.strip()) for line in str(view).splitlines()[1:]]


# --- parameters and operations

VARIED = [
    *published().values(),
    TransformerConfig(**SMALL),
    TransformerConfig(**SMALL, num_kv_heads=2, bias=False, norm="rms", norm_first=True),
    TransformerConfig(**SMALL, gated=True, head_dim=8, embedding_norm=False, num_token_types=0),
    TransformerConfig(**SMALL, qkv_bias=False, out_bias=True, positions="rotary"),
]


def held(*parts):
    return sum(p.numel() for part in parts if part is not None for p in part.parameters())


def test_parameters_are_those_of_a_model_that_was_built(subtests):
    for config in VARIED:
        with subtests.test(config=config):
            with torch.device("meta"):
                encodes = bool(config.num_token_types)
                model = TransformerEncoder(config) if encodes else TransformerForCausalLM(config)
            body = model if encodes else model.decoder
            counted = parameters(config)

            norms = [m for m in body.modules() if type(m).__name__ in ("LayerNorm", "RMSNorm")]
            tables = [m for m in body.embeddings.modules() if isinstance(m, nn.Embedding)]
            assert counted["attention"] == held(*(layer.attention for layer in body.layers))
            assert counted["feed-forward"] == held(*(layer.feed_forward for layer in body.layers))
            assert counted["norms"] == held(*norms)
            assert counted["embeddings"] == held(*tables)
            if not encodes:
                assert sum(counted.values()) == held(model)


def test_operations_are_those_that_torch_counts(subtests):
    from torch.utils.flop_counter import FlopCounterMode

    for config in VARIED[4:]:
        with subtests.test(config=config):
            config = TransformerConfig(**{**vars(config), "tie_embeddings": True})
            model = TransformerForCausalLM(config).eval()
            counter = FlopCounterMode(display=False)
            with (
                counter,
                torch.no_grad(),
                torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
            ):
                model(IDS)
            assert counter.get_total_flops() == 4 * sum(flops(config, 4, writes=True).values())


def test_published_sizes_are_the_published_ones():
    """109.5M with BERT's pooler (0.6M), 124M, 135M and 8.03B, as the models' pages say."""
    totals = [sum(parameters(config).values()) for config in published().values()]
    assert totals == [108_891_648, 124_439_808, 134_515_008, 8_030_261_248]


def test_areas_and_bars_are_to_scale():
    view = costs(published())
    sides = [float(s) for s in re.findall('class="frame" [^>]*width="([^"]*)"', view.html)]
    totals = [sum(parameters(config).values()) for config in published().values()]
    assert len(sides) == 4
    for side, total in zip(sides, totals, strict=True):
        assert (side / sides[-1]) ** 2 == pytest.approx(total / totals[-1], abs=0.002)
    assert {"109M", "124M", "135M", "8.03B", "70%"} <= set(texts(view))
    assert ["GPT-2: feed-forward", "56,669,184", "113,246,208"] in table(view)


def test_costs_need_a_model_and_a_token():
    with pytest.raises(ValueError, match=r"needs at least a model and a token: \[\], seq"):
        costs({})
    with pytest.raises(ValueError, match=r"seq \(0\)"):
        costs(published(), seq=0)


# --- beams


def writer():
    torch.manual_seed(0)
    sizes = SMALL | {"num_token_types": 0, "norm_first": True, "initializer_range": 0.4}
    return TransformerForCausalLM(TransformerConfig(**sizes)).eval().requires_grad_(False)


def test_the_best_path_is_what_beam_search_writes(subtests):
    model = writer()

    def predict(rows):
        return model(rows)[:, -1].log_softmax(-1)

    for num_beams in [1, 2, 3, 4]:
        with subtests.test(num_beams=num_beams):
            view = beam_tree(predict, IDS[0], str, num_beams=num_beams, steps=4)
            best = [int(row[2]) for row in table(view) if row[-1] == "kept, on the winning path"]
            written = generate(model, IDS, max_new_tokens=4, num_beams=num_beams)
            assert best == written[0, 4:].tolist()


def test_kept_are_the_best_of_all_candidates_and_dropped_ones_are_dashed():
    model = writer()
    steps = search(lambda rows: model(rows)[:, -1].log_softmax(-1), IDS[0], num_beams=3, steps=3)
    for branches in steps:
        worst = min(branch.score for branch in branches if branch.kept)
        assert sum(branch.kept for branch in branches) == 3
        assert all(branch.score <= worst for branch in branches if not branch.kept)
    view = beam_tree(lambda rows: model(rows)[:, -1].log_softmax(-1), IDS[0], str, num_beams=3)
    dropped = sum(not branch.kept for branches in steps for branch in branches)
    assert view.html.count('stroke-dasharray="4 4"') == dropped == 12


def test_a_tree_that_nobody_could_see_is_refused(subtests):
    for beams, steps in [(0, 1), (5, 1), (1, 0), (1, 7)]:
        with (
            subtests.test(beams=beams, steps=steps),
            pytest.raises(ValueError, match=rf"num_beams \({beams}\) must be 1 to 4, and steps"),
        ):
            beam_tree(lambda rows: rows.float(), IDS[0], str, num_beams=beams, steps=steps)


def test_each_row_names_the_beginning_that_it_continues():
    model = writer()
    rows = table(beam_tree(lambda ids: model(ids)[:, -1].log_softmax(-1), IDS[0], str, num_beams=3))
    assert {tuple(row[:2]) for row in rows if row[0] == "1"} == {("1", "start")}
    for step in (2, 3):
        before = {
            f"{row[1]} {row[2]}".removeprefix("start ")
            for row in rows
            if row[0] == str(step - 1) and row[-1].startswith("kept")
        }
        now = [row[1] for row in rows if row[0] == str(step)]
        assert {*now} == before
        assert [*map(now.count, dict.fromkeys(now))] == [3, 3, 3]


# --- training and writing


def test_training_is_one_pass_and_writing_one_a_word():
    view = teacher_forcing(["[START]", "a", "b"], ["a", "b", "[END]"])
    assert {"Training: the true words, in one pass", "Writing: its own words, in 3 passes"} <= set(
        texts(view)
    )
    rows = table(view)
    assert rows[:3] == [
        ["training, place 1", "[START]", "a"],
        ["training, place 2", "[START] a", "b"],
        ["training, place 3", "[START] a b", "[END]"],
    ]
    assert len(re.findall(r'class="line thin" data-role="quiet"', view.html)) == 0 + 1 + 2
    assert [row[1] for row in rows[3:]] == ["[START]", "[START] a", "[START] a b"]


def test_as_many_words_are_asked_for_as_given():
    with pytest.raises(ValueError, match="2 words given and 1 wanted"):
        teacher_forcing(["a", "b"], ["c"])
    with pytest.raises(ValueError, match="0 words given"):
        teacher_forcing([], [])


# --- the stream


def test_the_stream_is_as_long_as_its_vectors(subtests):
    for norm_first in [True, False]:
        with subtests.test(norm_first=norm_first):
            torch.manual_seed(0)
            model = TransformerEncoder(TransformerConfig(**SMALL, norm_first=norm_first)).eval()
            rows = table(residual_stream(model, IDS))
            assert [row[0] for row in rows] == [
                f"{name} {k}" for k in range(3) for name in ("attention", "feed-forward")
            ]
            with torch.no_grad():
                hidden = model.embeddings(IDS)
                for k, layer in enumerate(model.layers):
                    read = layer.attention_norm(hidden) if norm_first else hidden
                    added = layer.attention(read)
                    wanted = hidden.norm(dim=-1).mean(), added.norm(dim=-1).mean()
                    assert [float(x) for x in rows[2 * k][1:3]] == [
                        pytest.approx(x.item(), abs=0.006) for x in wanted
                    ]
                    hidden = layer(hidden)
                    assert float(rows[2 * k + 1][3]) == pytest.approx(
                        hidden.norm(dim=-1).mean().item(), abs=0.006
                    )


# --- looking up


def test_the_largest_weight_has_the_thickest_line():
    weights = torch.tensor([0.1, 0.7, 0.2])
    view = lookup(weights, ["das", "Haus", "<b>"], "house")
    widths = [float(w) for w in re.findall(r"stroke-width:([\d.]+);stroke-opacity", view.html)]
    assert widths[::2] == widths[1::2]  # to the key, and from the value
    assert sorted(widths[::2]) == [widths[0], widths[4], widths[2]]
    assert table(view) == [["das", "0.10"], ["Haus", "0.70"], ["<b>", "0.20"]]
    assert set(re.findall('data-role="(query|key|value)"', view.html)) == {"query", "key", "value"}


def test_what_is_no_row_of_weights_is_refused(subtests):
    for weights in [torch.tensor([0.5, 0.6]), torch.tensor([1.0]), torch.tensor([math.nan, 1])]:
        with (
            subtests.test(weights=weights),
            pytest.raises(ValueError, match="expected one for each of 2 words, and a sum of 1"),
        ):
            lookup(weights, ["a", "b"], "c")


# --- merges


def bpe(size):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    text = "embed embedding embeddings bedding wedding ending lending bend banana"
    made.train_from_iterator([text], trainers.BpeTrainer(vocab_size=size, show_progress=False))
    return made


def test_the_last_row_is_what_the_tokenizer_says(subtests):
    for size, word in product(
        [14, 18, 22, 40], ["embeddings", "banana", "ending", "a", "nanananana", "bebebed"]
    ):
        with subtests.test(size=size, word=word):
            tokenizer = bpe(size)
            rows = table(merges(word, tokenizer))
            assert rows[0] in (["letters", "", " ".join(word)], ["letters", " ".join(word)])
            assert rows[-1][-1].split() == tokenizer.encode(word).tokens


def test_what_cannot_be_merged_is_refused():
    with pytest.raises(ValueError, match="this one has no merges"):
        merges("word", Tokenizer(models.WordPiece()))
    for word in ("", "two words", "x" * 25):
        with pytest.raises(ValueError, match="must have 1 to 24 letters and no whitespace"):
            merges(word, bpe(20))


# --- a map


def test_the_map_keeps_as_much_variance_as_two_directions_can():
    vectors = torch.randn(9, 5, dtype=torch.float64)
    points, shares = principal(vectors)
    values = torch.linalg.eigvalsh(torch.cov(vectors.T)).flip(0)
    assert points.var(dim=0).allclose(values[:2])
    assert shares.allclose(values[:2] / values.sum())


def test_words_of_one_group_have_one_color_and_the_axes_say_what_they_show():
    groups = {"a": {"x": torch.tensor([0.0, 0.0]), "y": torch.tensor([4.0, 0.0])}}
    view = embedding_map(groups | {"b": {"<z>": torch.tensor([0.0, 1.0])}})
    assert re.findall(r'data-role="(series-\d)"><circle', view.html) == ["series-1"] * 2 + [
        "series-2"
    ]
    _, shares = principal(torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]))
    assert f"first: {shares[0]:.0%} of the variance" in texts(view)
    assert "<z>" not in view.html


def test_what_has_no_map_is_refused(subtests):
    rows = [
        ([torch.ones(2)] * 2, "2 words in 1 groups"),
        ([torch.ones(2), torch.ones(2), torch.ones(3)], r"of shapes \[\(2,\), \(3,\)\]"),
        ([torch.ones(2), torch.ones(2), torch.tensor([math.inf, 0])], "finite numbers"),
    ]
    for vectors, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            embedding_map({"a": {str(k): vector for k, vector in enumerate(vectors)}})


def test_equal_vectors_are_one_place():
    view = embedding_map({"a": dict.fromkeys("xyz", torch.ones(4))})
    assert len(set(re.findall('<circle class="dot" cx="(.*?)" cy="(.*?)"', view.html))) == 1
    assert "first: 0% of the variance" in texts(view)


# --- body and head


def test_bodies_and_heads_are_counted_and_their_answers_measured():
    config = TransformerConfig(**SMALL, num_labels=5)
    view = body_and_head(
        {
            "sort": TransformerForSequenceClassification(config).eval(),
            "fill": TransformerForMaskedLM(config).eval(),
            "write": TransformerForCausalLM(config).eval(),
        },
        IDS,
    )
    body = sum(p.numel() for p in TransformerEncoder(config).parameters())
    sort, fill, write = table(view)
    assert sort == ["sort", f"{body:,}", f"{24 * 24 + 24 + 24 * 5 + 5:,}", "5", "the whole text"]
    assert fill[3:] == ["4 × 23", "each token"]
    assert write == ["write", f"{body:,}", "0", "4 × 23", "each token"]


def test_a_model_without_a_body_is_refused():
    with pytest.raises(ValueError, match="'x' is a Linear without an encoder or a decoder"):
        body_and_head({"x": nn.Linear(2, 2)}, IDS)
    with pytest.raises(ValueError, match="at least one model"):
        body_and_head({}, IDS)
