from dataclasses import replace

import pytest
import torch
from torch import nn

from glassformer import RMSNorm
from glassformer.models.config import TransformerConfig
from glassformer.models.embeddings import Embeddings
from glassformer.models.task_models import TransformerForMaskedLM

CONFIG = TransformerConfig(
    vocab_size=101, d_model=21, num_heads=3, max_positions=11, num_token_types=3, dropout=0.3
)
BATCH, SEQ = 2, 7


@pytest.fixture
def ids():
    return torch.randint(101, (BATCH, SEQ))


def test_adds_three_vectors_and_normalises_each_token(ids):
    embeddings = Embeddings(CONFIG).eval()
    types = torch.randint(3, (BATCH, SEQ))
    tokens, positions = embeddings.tokens.weight, embeddings.positions.table.weight
    for row in range(BATCH):
        for place in range(SEQ):
            vector = tokens[ids[row, place]] + positions[place]
            vector = vector + embeddings.token_types.weight[types[row, place]]
            variance = vector.var(unbiased=False)
            expected = (vector - vector.mean()) / torch.sqrt(variance + CONFIG.norm_eps)
            torch.testing.assert_close(embeddings(ids, types)[row, place], expected)


def test_tokens_are_of_type_zero_unless_told_otherwise(ids):
    embeddings = Embeddings(CONFIG).eval()
    assert torch.equal(embeddings(ids), embeddings(ids, torch.zeros_like(ids)))
    assert not torch.isclose(embeddings(ids), embeddings(ids, torch.ones_like(ids))).all()


def test_token_types_can_be_left_out(ids):
    embeddings = Embeddings(replace(CONFIG, num_token_types=0)).eval()
    assert embeddings.token_types is None
    expected = embeddings.norm(
        embeddings.tokens.weight[ids] + embeddings.positions.table.weight[:SEQ]
    )
    assert torch.equal(embeddings(ids), expected)
    with pytest.raises(ValueError, match="num_token_types is 0: there is no table"):
        embeddings(ids, torch.zeros_like(ids))


def test_default_tables_are_those_of_bert_base():
    with torch.device("meta"):
        embeddings = Embeddings(TransformerConfig())
    assert embeddings.tokens.weight.shape == (30522, 768)
    assert embeddings.positions.table.weight.shape == (512, 768)
    assert embeddings.token_types.weight.shape == (2, 768)
    assert embeddings.norm.eps == 1e-12


def test_trained_vectors_are_short_and_know_singular_from_plural(trained, words):
    """A table drawn from N(0, 1) has neither property."""
    table = trained.embeddings.tokens.weight
    assert table.shape == (30522, 384)
    assert table.std().item() == pytest.approx(0.0556, abs=1e-4)
    arrow, arrows = (table[words.convert_tokens_to_ids(word)] for word in ("arrow", "arrows"))
    assert torch.cosine_similarity(arrow, arrows, dim=0).item() == pytest.approx(0.804, abs=1e-3)


def test_dropout_is_the_configs_own_and_stops_in_eval_mode(ids):
    embeddings = Embeddings(replace(CONFIG, d_model=768))
    zeros = [embeddings(ids).eq(0).float().mean().item() for _ in range(5)]
    assert sum(zeros) / 5 == pytest.approx(0.3, abs=0.02)
    embeddings.eval()
    assert torch.equal(embeddings(ids), embeddings(ids))
    assert embeddings(ids).ne(0).all()


def test_positions_are_made_on_the_device_of_the_ids():
    with torch.device("meta"):
        embeddings = Embeddings(CONFIG)
    made = []
    embeddings.positions.register_forward_pre_hook(lambda _, inputs: made.extend(inputs))
    ids = torch.empty(BATCH, SEQ, dtype=torch.int64, device="meta")
    assert embeddings(ids).device.type == "meta"
    assert embeddings(ids, ids).device.type == "meta"
    assert [position_ids.device.type for position_ids in made] == ["meta", "meta"]


def test_looking_up_padding_trains_no_vector():
    embeddings = Embeddings(CONFIG)
    embeddings(torch.tensor([[0, 5, 0]])).square().sum().backward()
    assert embeddings.tokens.weight.grad[0].eq(0).all()
    assert embeddings.tokens.weight.grad[5].ne(0).any()


def test_scoring_padding_trains_its_vector_where_the_table_scores_tokens(subtests):
    for tied in [True, False]:
        with subtests.test(tied=tied):
            model = TransformerForMaskedLM(replace(CONFIG, tie_embeddings=tied))
            model(torch.tensor([[0, 5, 0]])).logsumexp(-1).sum().backward()
            assert model.encoder.embeddings.tokens.weight.grad[0].ne(0).any() == tied


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_token_beyond_the_vocabulary(self):
        with pytest.raises(ValueError, match=r"input_ids .* 0 and 100, got \[-3, 101, 500\]"):
            Embeddings(CONFIG)(torch.tensor([[5, 101, 500], [-3, 101, 7]]))

    def test_token_type_beyond_the_table(self, ids):
        with pytest.raises(ValueError, match=r"token_type_ids .* 0 and 2, got \[3\]"):
            Embeddings(CONFIG)(ids, torch.full_like(ids, 3))

    def test_more_tokens_than_positions(self):
        with pytest.raises(ValueError, match=r"12 tokens is longer than max_positions \(11\)"):
            Embeddings(CONFIG)(torch.zeros(BATCH, 12, dtype=torch.int64))

    def test_ids_that_are_no_batch(self, subtests):
        for shape in [(7,), (2, 7, 1), (0, 7), (2, 0)]:
            with (
                subtests.test(shape=shape),
                pytest.raises(ValueError, match=r"\(batch, seq\) and not be empty, got shape"),
            ):
                Embeddings(CONFIG)(torch.zeros(shape, dtype=torch.int64))

    def test_ids_that_are_no_tensor(self):
        with pytest.raises(
            TypeError, match=r"must be a tensor \(batch, seq\), got list \[\[1, 2\]\]"
        ):
            Embeddings(CONFIG)([[1, 2]])
        with pytest.raises(TypeError, match=r"got dict .* encoding\[\"input_ids\"\]"):
            Embeddings(CONFIG)({"input_ids": torch.ones(1, 2, dtype=torch.int64)})

    def test_ids_that_are_no_integers(self):
        with pytest.raises(ValueError, match=r"int64 or int32, got torch\.float32"):
            Embeddings(CONFIG)(torch.zeros(BATCH, SEQ))

    def test_token_types_of_another_shape(self, ids):
        with pytest.raises(ValueError, match=r"token_type_ids of shape \(2, 6\) .* \(2, 7\)"):
            Embeddings(CONFIG)(ids, torch.zeros(BATCH, 6, dtype=torch.int64))


def test_scales_tokens_and_not_positions_and_leaves_out_the_norm():
    config = TransformerConfig(
        vocab_size=13,
        d_model=6,
        num_heads=3,
        max_positions=11,
        positions="sinusoidal",
        scale_embeddings=True,
        embedding_norm=False,
        num_token_types=0,
        dropout=0.0,
    )
    embeddings = Embeddings(config)
    ids = torch.tensor([[3, 12, 5, 5, 1]])
    expected = embeddings.tokens.weight[ids] * 6**0.5 + embeddings.positions.table[:5]
    torch.testing.assert_close(embeddings(ids), expected, rtol=0, atol=1e-6)
    assert embeddings.norm is None


def test_rotary_positions_are_left_to_attention(ids):
    config = replace(CONFIG, positions="rotary", head_dim=10)
    embeddings = Embeddings(config).eval()
    assert "positions.table.weight" not in embeddings.state_dict()
    vectors = embeddings.tokens(ids) + embeddings.token_types.weight[0]
    expected = nn.functional.layer_norm(vectors, (config.d_model,), eps=config.norm_eps)
    torch.testing.assert_close(embeddings(ids), expected, rtol=0, atol=1e-6)
    assert embeddings(ids, position_ids=torch.tensor([[7] * ids.shape[1]])).equal(embeddings(ids))


def test_the_sum_is_normalised_as_the_config_says():
    embeddings = Embeddings(replace(CONFIG, norm="rms"))
    assert isinstance(embeddings.norm, RMSNorm)


def test_positions_may_be_given():
    embeddings = Embeddings(CONFIG).eval()
    ids = torch.tensor([[3, 5, 2]])
    shifted = embeddings(ids, position_ids=torch.tensor([[4, 5, 6]]))
    padded = embeddings(torch.tensor([[1, 1, 1, 1, 3, 5, 2]]))
    torch.testing.assert_close(shifted, padded[:, 4:])
