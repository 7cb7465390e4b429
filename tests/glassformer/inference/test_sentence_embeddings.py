"""Sentence vectors against sentence-transformers, and against padding."""

import math

import pytest
import torch

from glassbook.corpora.examples import graded_pairs, opinions, passages
from glassformer.inference.sentence_embeddings import BATCH, embed, mean_pool
from glassformer.weights.checkpoints import DEFAULT_NAME, find_checkpoint

FIRST = "time flies like an arrow"
LONG = " ".join(passage.text for passage in passages()[:5])


@pytest.fixture(scope="module")
def reference():
    """The same checkpoint in the library that it was trained with."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(find_checkpoint(DEFAULT_NAME)), device="cpu")


class TestMeanPool:
    def test_equals_the_mean_over_the_tokens_cut_out_wherever_they_stand(self):
        hidden, mask = torch.randn(5, 11, 7), torch.rand(5, 11) < 0.4
        assert mask.any(1).all()
        for dtype in (torch.bool, torch.int64, torch.int32):
            pooled = mean_pool(hidden, mask.to(dtype))
            for row, real in enumerate(mask):
                torch.testing.assert_close(pooled[row], hidden[row, real].mean(0))

    def test_what_stands_at_the_padding_moves_nothing(self, subtests):
        for filler in [1e30, math.inf, math.nan]:
            with subtests.test(filler=filler):
                hidden, mask = torch.randn(3, 7, 5), torch.arange(7) < torch.tensor([[7], [5], [2]])
                spoilt = hidden.masked_fill(~mask[..., None], filler)
                assert mean_pool(spoilt, mask).equal(mean_pool(hidden, mask))

    def test_gradients_reach_the_tokens_alone_and_are_finite(self):
        hidden = torch.randn(2, 3, 5, requires_grad=True)
        mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
        mean_pool(hidden, mask).sum().backward()
        wanted = torch.tensor([[0.5, 0.5, 0], [1, 0, 0]])
        assert hidden.grad.equal(wanted[..., None].expand(2, 3, 5))

    def test_precision_and_device_stay(self):
        assert mean_pool(torch.randn(2, 3, 5).bfloat16(), torch.ones(2, 3).int()).dtype == (
            torch.bfloat16
        )

    def test_masks_that_do_not_fit(self, unhooked, subtests):
        hidden, ones = torch.randn(4, 3, 5), torch.ones(4, 3).long()
        empty = ones * torch.tensor([[1], [0], [1], [0]])
        rows = [
            (empty, r"rows \[1, 3\] of attention_mask are all padding"),
            (ones[:, :2], r"\(4, 2\) must have the first two axes .*\(4, 3, 5\)"),
            (ones.float(), r"must be bool or integer, .*torch\.float32"),
        ]
        for mask, message in rows:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                mean_pool(hidden, mask)


class TestEmbed:
    def test_equals_sentence_transformers(self, trained, reference):
        """More texts than are read at a time, and of very unequal length."""
        texts = [o.text for o in opinions("test")] + [p.text for p in passages()[:7]]
        texts += ["", "?", LONG, *(pair.first for pair in graded_pairs()[:5])]
        assert len(texts) > BATCH
        wanted = torch.from_numpy(reference.encode(texts))
        vectors = embed(trained, texts)
        torch.testing.assert_close(vectors, wanted, rtol=0, atol=1e-5)
        assert not vectors.requires_grad

    def test_more_tokens_than_positions(self, trained):
        with pytest.raises(ValueError, match="512"):
            embed(trained, [FIRST, "duck " * 511])

    def test_what_is_no_list_of_texts(self, trained, subtests):
        for texts in [FIRST, []]:
            with (
                subtests.test(texts=texts),
                pytest.raises(
                    ValueError, match=r"texts \(.*\) must be a list of at least one text"
                ),
            ):
                embed(trained, texts)

    def test_training_mode_is_refused(self, trained):
        trained.train()
        try:
            with pytest.raises(ValueError, match=r"encoder\.training \(True\) must be False"):
                embed(trained, [FIRST])
        finally:
            trained.eval()


@pytest.mark.gpu
def test_on_a_gpu(trained):
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    wanted = embed(trained, [FIRST, LONG])
    try:
        found = embed(trained.cuda(), [FIRST, LONG])
    finally:
        trained.cpu()
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)
