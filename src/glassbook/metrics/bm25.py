"""Word counts for searching and comparing texts: the baseline for models."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from glassbook.recipes.classification import count_tokens

# How soon repeats of a word stop counting (k1), and how much long texts are penalized (b).
SATURATION, LENGTH = 1.5, 0.75


def word_vectors(texts: Sequence[str]) -> Float[Tensor, "texts vocab"]:
    """Count each token in each text; rows have length 1, so their dot products are cosines."""
    return normalize(count_tokens(texts))


def bm25(queries: Sequence[str], texts: Sequence[str]) -> Float[Tensor, "queries texts"]:
    """Score each text for each query by the words they share; rare words weigh more.

    Raises:
        ValueError: There is no query or no text.

    Source: Robertson and Zaragoza 2009, section 3; the rarity is Lucene's, which is never negative.

    >>> bm25(["a cat"], ["a cat sat", "a dog ran"]).argmax(dim=1)
    tensor([0])
    """
    if not queries or not texts:
        raise ValueError(
            f"need at least one query and one text, got {len(queries)} and {len(texts)}"
        )
    asked, counts = count_tokens(queries), count_tokens(texts)  # (queries, vocab), (texts, vocab)
    length = counts.sum(1, keepdim=True) / counts.sum(1).mean()
    holding = (counts > 0).sum(0)  # the number of texts that have each token
    rarity = (1 + (len(texts) - holding + 0.5) / (holding + 0.5)).log()
    damped = counts * (SATURATION + 1) / (counts + SATURATION * (1 - LENGTH + LENGTH * length))
    return asked @ (rarity * damped).mT
