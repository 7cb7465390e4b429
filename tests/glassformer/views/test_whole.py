"""The whole transformer: six levels, each inside the one before, drawn from runs of real models."""

import re
from pathlib import Path

import pytest
import torch
from drawings import svgs

from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.models.transformer import Transformer
from glassformer.views import head_activations, whole
from glassformer.views.whole_scene import CHAPTERS, HEIGHT, WIDTH

DOCS = Path(__file__).parents[3] / "docs"
SIZES = {"vocab_size": 23, "d_model": 24, "num_heads": 6, "num_layers": 5, "d_ff": 31}
TOKENS = ["a", "b", "<i>", "d"]
IDS = torch.tensor([[3, 5, 7, 11]])


def encoder(**changes):
    torch.manual_seed(0)
    return TransformerEncoder(TransformerConfig(**SIZES | changes, initializer_range=0.5)).eval()


def decoder(**changes):
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES | changes, norm_first=True, initializer_range=0.5)
    return TransformerForCausalLM(config).eval()


def both():
    torch.manual_seed(0)
    second = TransformerConfig(**SIZES, cross_attention=True)
    return Transformer(TransformerConfig(**SIZES | {"num_layers": 3}, decoder=second)).eval()


def texts(svg):
    return ["".join(text.itertext()) for text in svg.iter("text")]


def test_a_reading_holds_the_head_that_it_names():
    model = decoder(num_kv_heads=2)
    run = head_activations(model, IDS, tokens=TOKENS, layer=3, head=4, name="token {}".format)
    assert run.weights.sum(-1).allclose(torch.ones(4))
    assert run.weights.triu(1).eq(0).all()
    scores = run.query @ run.key.mT / 2.0  # head_dim 4
    assert scores.tril().allclose(run.scores.tril(), atol=1e-5)
    with torch.no_grad():
        chances = model(IDS)[0, -1].softmax(-1)
    assert run.answer[0] == (f"token {chances.argmax()}", pytest.approx(chances.max().item()))
    assert head_activations(encoder(), IDS, tokens=TOKENS).answer == ()


def test_levels_lie_inside_each_other_and_a_link_leads_to_the_next():
    view = whole({"encoder": head_activations(encoder(), IDS, tokens=TOKENS)})
    sections = re.findall(
        r'<section class="level" id="(.*?)"[^>]*?(data-door="(.*?)")?>', view.html
    )
    assert [name for name, *_ in sections] == [f"whole-0-{k}" for k in range(6)]
    for (_, _, door), following in zip(sections, [*sections[1:], None], strict=True):
        if following is None:
            assert not door
            continue
        x, y, width, height = map(float, door.split())
        assert 0 <= x < x + width <= WIDTH
        assert 0 <= y < y + height <= HEIGHT
        assert f'class="door" href="#{following[0]}"' in view.html


def test_every_box_leads_to_a_chapter_that_exists():
    runs = {
        "encoder": head_activations(encoder(), IDS, tokens=TOKENS),
        "decoder": head_activations(decoder(), IDS, tokens=TOKENS),
        "both": head_activations(both(), IDS, IDS, tokens=TOKENS, source=TOKENS),
    }
    view = whole(runs)
    links = set(re.findall(r'<a href="([^"]*)"', view.html))
    assert links <= {f"../{page}/" for page in CHAPTERS.values()}
    for link in links:
        assert (DOCS / f"{link.removeprefix('../').rstrip('/')}.md").is_file(), link
    assert view.html.count('class="box"') > 30
    for page in ("encoder/attention", "encoder/feed-forward", "translation/decoder-layer"):
        assert f"../{page}/" in links


def test_sizes_are_those_of_the_configuration():
    model, layer, attention, *_ = map(
        texts, svgs(whole({"x": head_activations(encoder(), IDS, tokens=TOKENS)}))
    )
    assert "5 layers, each of these" in model
    assert "23 tokens × 24" in model
    assert "24 → 31 → 24 numbers" in layer
    assert "each cut into 6 heads, 4 wide" in attention


def test_cross_attention_and_both_stacks_are_drawn_where_there_are_two():
    one = whole({"x": head_activations(decoder(), IDS, tokens=TOKENS)})
    two = whole(
        {"x": head_activations(both(), IDS, IDS, tokens=TOKENS, source=["s", "t", "u", "v"])}
    )
    assert "Cross-attention" not in one.html
    drawn = texts(svgs(two)[0])
    assert {"3 layers, each of these", "5 layers, each of these", "Cross-attention"} <= set(drawn)
    assert {"s t u v", "a b <i> d", "memory: the source,"} <= set(drawn)


def test_the_product_is_a_number_of_a_query_times_one_of_a_key():
    run = head_activations(encoder(), IDS, tokens=TOKENS, layer=2, head=1)
    *_, score, product = map(texts, svgs(whole({"x": run})))
    numbers = [t.replace("−", "-") for t in product if re.fullmatch(r"−?\d+\.\d{2,5}", t)]
    i, j = run.pair
    products = run.query[i] * run.key[j]
    at = products.abs().argmax()
    wanted = [run.query[i, at], run.key[j, at], products[at]]
    assert [*map(float, numbers)] == [pytest.approx(value.item(), abs=0.0051) for value in wanted]
    one, other = map(float, numbers[:2])
    assert f"{one * other:.2f}" == numbers[2]  # the factors as shown give the product as shown
    assert f"{4 * 4 * 4 * 6 * 5:,}" in product  # head_dim, queries, keys, heads, layers
    total = f"{products.sum().item():.2f}".replace("-", "−")
    assert f"sum of the 4 products: {total}" in score


def test_norms_stand_where_the_configuration_has_them():
    after = whole({"x": head_activations(encoder(), IDS, tokens=TOKENS)})
    before = whole({"x": head_activations(decoder(norm="rms"), IDS, tokens=TOKENS)})
    assert "After each addition" in str(after)
    assert "what each sub-layer reads" in str(before)
    assert texts(svgs(before)[1]).count("RMSNorm") == 2
    for model, first in ((encoder(), False), (decoder(), True)):
        html = whole({"it": head_activations(model, IDS, tokens=TOKENS, layer=3, head=4)}).html
        assert ("Nothing is overwritten" in html) == first != ("its old part can fade" in html)


def test_each_kind_says_what_sets_it_apart():
    runs = [
        head_activations(encoder(), IDS, tokens=TOKENS),
        head_activations(both(), IDS, IDS, tokens=TOKENS, source=TOKENS),
        head_activations(decoder(), IDS, tokens=TOKENS, name=str),
    ]
    says = [re.sub(r"[\d.,]+", "", str(whole({"it": run}))).split("\n") for run in runs]
    for kinds in list(zip(*says, strict=True))[:3]:  # inside a head, only words and numbers differ
        assert len({*kinds}) == 3, kinds
    assert "cross-attention reads the source" in says[1][1]
    assert all("source" not in line for one in (says[0], says[2]) for line in one)
    assert "a mask removes the scores between a query and later keys" in says[2][2]


def test_several_kinds_can_be_chosen_among_and_words_are_text():
    run = head_activations(encoder(), IDS, tokens=TOKENS)
    view = whole({"one": run, "<b>": run})
    assert re.findall(r'value="(\d)"( checked)?>([^<]*)', view.html) == [
        *(("0", " checked", "one"), ("1", "", "&lt;b&gt;"))
    ]
    assert "<i>" not in view.html
    assert "<input" not in whole({"one": run}).html


def test_what_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match=r"3 tokens do not fit ids of shape \(1, 4\)"):
        head_activations(encoder(), IDS, tokens=TOKENS[:3])
    with pytest.raises(ValueError, match="layer 5 and head 0 are not in this model"):
        head_activations(encoder(), IDS, tokens=TOKENS, layer=5)
    with pytest.raises(ValueError, match="layer 0 and head 6 are not in this model"):
        head_activations(encoder(), IDS, tokens=TOKENS, head=6)
