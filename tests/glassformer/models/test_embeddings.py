from dataclasses import replace

import pytest
import torch

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


def test_types_of_tokens_without_a_table_are_refused(ids):
    embeddings = Embeddings(replace(CONFIG, num_token_types=0))
    with pytest.raises(ValueError, match="num_token_types is 0: there is no table"):
        embeddings(ids, torch.zeros_like(ids))


def test_dropout_is_the_configs_own_and_stops_in_eval_mode(ids):
    embeddings = Embeddings(replace(CONFIG, d_model=768))
    zeros = [embeddings(ids).eq(0).float().mean().item() for _ in range(5)]
    assert sum(zeros) / 5 == pytest.approx(0.3, abs=0.02)
    embeddings.eval()
    assert torch.equal(embeddings(ids), embeddings(ids))
    assert embeddings(ids).ne(0).all()


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
def test_what_does_not_fit_is_refused(ids, subtests):
    no_batch = r"\(batch, seq\) and not be empty, got shape"
    rows = [
        ([ids + 98], r"input_ids .* between 0 and 100, got \[1\d\d, "),
        ([ids - 101], r"input_ids .* between 0 and 100, got \[-"),
        ([ids, torch.full_like(ids, 3)], r"token_type_ids .* 0 and 2, got \[3\]"),
        ([ids, ids[:, :6]], r"token_type_ids of shape \(2, 6\) .* \(2, 7\)"),
        ([ids.repeat(1, 2)], r"14 tokens is longer than max_positions \(11\)"),
        ([ids.float()], r"int64 or int32, got torch\.float32"),
        *(([ids[0]], no_batch), ([ids[..., None]], no_batch)),
        *(([ids[:0]], no_batch), ([ids[:, :0]], no_batch)),
    ]
    for given, message in rows:
        with subtests.test(message, given=given), pytest.raises(ValueError, match=message):
            Embeddings(CONFIG)(*given)


@pytest.mark.usefixtures("unhooked")
def test_ids_that_are_no_tensor_are_refused():
    rows = [
        ([[1, 2]], r"must be a tensor \(batch, seq\), got list \[\[1, 2\]\]"),
        ({"input_ids": torch.ones(1, 2)}, r"got dict .* encoding\[\"input_ids\"\]"),
    ]
    for given, message in rows:
        with pytest.raises(TypeError, match=message):
            Embeddings(CONFIG)(given)


def test_positions_may_be_given():
    embeddings = Embeddings(CONFIG).eval()
    ids = torch.tensor([[3, 5, 2]])
    shifted = embeddings(ids, position_ids=torch.tensor([[4, 5, 6]]))
    padded = embeddings(torch.tensor([[1, 1, 1, 1, 3, 5, 2]]))
    torch.testing.assert_close(shifted, padded[:, 4:])
