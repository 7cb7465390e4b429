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
    def test_by_hand(self):
        hidden = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [5.0, 5.0]], [[7.0, 1.0]] * 3])
        mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
        assert mean_pool(hidden, mask).tolist() == [[2, 4], [7, 1]]

    def test_equals_the_mean_over_the_tokens_cut_out(self):
        hidden = torch.randn(5, 11, 7)
        lengths = [11, 7, 3, 2, 1]
        mask = torch.arange(11) < torch.tensor(lengths)[:, None]
        for dtype in (torch.bool, torch.int64, torch.int32):
            pooled = mean_pool(hidden, mask.to(dtype))
            for row, length in enumerate(lengths):
                torch.testing.assert_close(pooled[row], hidden[row, :length].mean(0))

    def test_padding_may_stand_anywhere(self):
        hidden = torch.randn(2, 5, 3)
        left, holes = torch.tensor([0, 0, 1, 1, 1]), torch.tensor([1, 0, 1, 0, 1])
        pooled = mean_pool(hidden, torch.stack([left, holes]))
        torch.testing.assert_close(pooled[0], hidden[0, 2:].mean(0))
        torch.testing.assert_close(pooled[1], hidden[1, ::2].mean(0))

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

    def test_a_row_of_padding_has_no_mean(self):
        mask = torch.tensor([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])
        with pytest.raises(ValueError, match=r"rows \[1, 3\] of attention_mask are all padding"):
            mean_pool(torch.randn(4, 3, 5), mask)

    def test_a_mask_of_another_shape(self, unhooked):
        with pytest.raises(
            ValueError, match=r"\(2, 3\) must have the first two axes .*\(2, 5, 7\)"
        ):
            mean_pool(torch.randn(2, 5, 7), torch.ones(2, 3).int())

    def test_a_mask_to_be_added(self):
        with pytest.raises(ValueError, match=r"must be bool or integer, .*torch\.float32"):
            mean_pool(torch.randn(2, 3, 5), torch.zeros(2, 3))


class TestEmbed:
    def test_equals_sentence_transformers(self, trained, reference):
        """More texts than are read at a time, and of very unequal length."""
        texts = [o.text for o in opinions("test")] + [p.text for p in passages()[:7]]
        texts += ["", "?", LONG, *(pair.first for pair in graded_pairs()[:5])]
        assert len(texts) > BATCH
        wanted = torch.from_numpy(reference.encode(texts))
        torch.testing.assert_close(embed(trained, texts), wanted, rtol=0, atol=1e-5)

    def test_vectors_are_one_long(self, trained):
        norms = embed(trained, [FIRST, LONG, ""]).norm(dim=1)
        torch.testing.assert_close(norms, torch.ones(3))

    def test_company_moves_nothing(self, trained):
        """Alone there is no padding, beside a long text much."""
        alone, beside = embed(trained, [FIRST]), embed(trained, [LONG, FIRST, "duck"])
        torch.testing.assert_close(beside[1], alone[0], rtol=0, atol=1e-6)

    def test_keeps_the_order_and_no_graph(self, trained):
        texts = [str(number) for number in range(BATCH + 3)]
        vectors = embed(trained, texts)
        assert vectors.shape == (BATCH + 3, 384)
        assert not vectors.requires_grad
        torch.testing.assert_close(vectors[-1:], embed(trained, texts[-1:]), rtol=0, atol=1e-6)

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
