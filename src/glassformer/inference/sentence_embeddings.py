"""One vector for a whole sentence: the mean over its tokens, scaled to length 1."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.functional import normalize

from glassformer.layers.masks import padding_mask
from glassformer.models.encoder import TransformerEncoder
from glassformer.weights.checkpoints import tokenizer

BATCH = 64  # texts read at a time


def mean_pool(
    hidden: Float[Tensor, "batch seq d_model"], attention_mask: Shaped[Tensor, "batch seq"]
) -> Float[Tensor, "batch d_model"]:
    """Return the mean of each row's vectors, with padding left out.

    Shapes: Hidden states (batch, seq, d_model) and a tokenizer's mask (batch, seq) to
    (batch, d_model).

    Raises:
        ValueError: The mask does not fit the hidden states, or a row is all padding and has no
            mean.

    Source: Reimers and Gurevych 2019, section 3; sentence-transformers 6.2, `Pooling`.

    >>> hidden = torch.tensor([[[1.0, 3.0], [3.0, 5.0], [9.0, 9.0]]])
    >>> mean_pool(hidden, torch.tensor([[1, 1, 0]]))
    tensor([[2., 4.]])
    """
    if attention_mask.shape != hidden.shape[:2]:
        raise ValueError(
            f"attention_mask of shape {tuple(attention_mask.shape)} must have the first two axes "
            f"of hidden {tuple(hidden.shape)}"
        )
    is_token = padding_mask(attention_mask)[:, 0, 0, :, None]  # (batch, seq, 1)
    count = is_token.sum(1)  # (batch, 1)
    if not count.all():
        empty = (count[:, 0] == 0).nonzero()[:, 0].tolist()
        raise ValueError(f"rows {empty} of attention_mask are all padding: they have no mean")
    return hidden.masked_fill(~is_token, 0).sum(1) / count


@torch.no_grad()
def embed(encoder: TransformerEncoder, texts: Sequence[str]) -> Float[Tensor, "texts d_model"]:
    """Return a vector of length 1 for each text, so dot products are cosines.

    Raises:
        ValueError: `texts` isn't a list of texts, one of them has more tokens than the encoder has
            positions, or the encoder is in training mode, where dropout would change the vectors.

    >>> from glassformer import default_checkpoint, load
    >>> vectors = embed(load(default_checkpoint()), ["a cat", "a kitten", "a tax"])
    >>> bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
    True
    """
    if isinstance(texts, str) or not texts:
        raise ValueError(f"texts ({texts!r}) must be a list of at least one text")
    if encoder.training:
        raise ValueError("encoder.training (True) must be False to embed: call encoder.eval()")
    device = encoder.embeddings.tokens.weight.device
    read, found = tokenizer(), []
    for start in range(0, len(texts), BATCH):
        batch = read(list(texts[start : start + BATCH]), padding=True, return_tensors="pt")
        ids, mask = (batch[name].to(device) for name in ("input_ids", "attention_mask"))
        found.append(mean_pool(encoder(ids, mask), mask))
    return normalize(torch.cat(found)).cpu()
