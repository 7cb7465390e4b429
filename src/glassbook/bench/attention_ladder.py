"""The same attention three ways: a loop over heads, one batched product, joined projections."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.layers.attention import fused_attention, scaled_dot_product_attention
from glassformer.layers.multihead import MultiHeadAttention, merge_heads, split_heads
from glassformer.models.decoder import TransformerDecoder

Hidden = Float[Tensor, "batch seq d_model"]
Positions = Int[Tensor, "#batch seq"]


class Version(nn.Module):
    """Causal attention with the same output as a `MultiHeadAttention`, computed differently.

    Shapes: Hidden (batch, seq, d_model) to the same; position ids broadcast to (batch, seq).

    Raises:
        ValueError: The attention has norms, a window, or ALiBi, which need more steps, or there is
            a mask or a cache: a version reads whole texts without padding.
    """

    def __init__(self, attention: MultiHeadAttention):
        super().__init__()
        varies = attention.q_norm is not None or attention.sliding_window is not None
        if varies or type(attention) is not MultiHeadAttention:
            raise ValueError(
                f"expected attention without norms, a window, or ALiBi, got {attention}"
            )
        self.attention = attention

    def forward(self, hidden: Hidden, *, position_ids: Positions, **others: object) -> Hidden:
        """Attend from each token to itself and the tokens before it."""
        refused = [name for name in ("attn_mask", "cache") if others.get(name) is not None]
        if refused:
            raise ValueError(f"{type(self).__name__} takes no {' and no '.join(refused)}")
        return self.attend(hidden, position_ids)

    def attend(self, hidden: Hidden, position_ids: Positions) -> Hidden:
        """Compute the attention's output."""
        raise NotImplementedError

    def turned(self, heads: Tensor, position_ids: Tensor) -> Tensor:
        """Rotate queries or keys, (batch, heads, seq, head_dim), if the attention is rotary."""
        rotary = self.attention.rotary
        return heads if rotary is None else rotary(heads, position_ids[:, None])


class Looped(Version):
    """One head after another, each with its own rows of the projections.

    >>> attention, hidden = MultiHeadAttention(d_model=8, num_heads=4), torch.randn(1, 3, 8)
    >>> ours = Looped(attention)(hidden, position_ids=torch.arange(3)[None])
    >>> torch.allclose(ours, attention(hidden, is_causal=True), atol=1e-6)
    True
    """

    def attend(self, hidden: Hidden, position_ids: Positions) -> Hidden:
        """Attend in a loop over heads."""
        attention, outputs = self.attention, []
        for head in range(attention.num_heads):
            shared = head * attention.num_kv_heads // attention.num_heads
            query = self.turned(self.project("q_proj", head, hidden), position_ids)
            key = self.turned(self.project("k_proj", shared, hidden), position_ids)
            value = self.project("v_proj", shared, hidden)  # (batch, 1, seq, head_dim)
            outputs.append(scaled_dot_product_attention(query, key, value, is_causal=True))
        return attention.out_proj(merge_heads(torch.cat(outputs, dim=1)))

    def project(self, name: str, head: int, hidden: Tensor) -> Tensor:
        """Multiply by one head's rows of a projection: (batch, 1, seq, head_dim)."""
        whole, wide = getattr(self.attention, name), self.attention.head_dim
        rows = slice(head * wide, (head + 1) * wide)
        bias = None if whole.bias is None else whole.bias[rows]
        return F.linear(hidden, whole.weight[rows], bias)[:, None]


class Batched(Version):
    """All heads in one product, with the scores and weights stored.

    >>> attention, hidden = MultiHeadAttention(d_model=8, num_heads=4), torch.randn(1, 3, 8)
    >>> ours = Batched(attention)(hidden, position_ids=torch.arange(3)[None])
    >>> torch.allclose(ours, attention(hidden, is_causal=True), atol=1e-6)
    True
    """

    def attend(self, hidden: Hidden, position_ids: Positions) -> Hidden:
        """Project, cut into heads, and attend in all of them at once."""
        attention = self.attention
        query = split_heads(attention.q_proj(hidden), attention.num_heads)
        key = split_heads(attention.k_proj(hidden), attention.num_kv_heads)
        value = split_heads(attention.v_proj(hidden), attention.num_kv_heads)
        query, key = self.turned(query, position_ids), self.turned(key, position_ids)
        output = scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return attention.out_proj(merge_heads(output))


class Joined(Version):
    """`Batched` with one projection for queries, keys, and values; `fused` stores no scores.

    >>> attention, hidden = MultiHeadAttention(d_model=8, num_heads=4), torch.randn(1, 3, 8)
    >>> ours = Joined(attention, fused=True)(hidden, position_ids=torch.arange(3)[None])
    >>> torch.allclose(ours, attention(hidden, is_causal=True), atol=1e-6)
    True
    """

    def __init__(self, attention: MultiHeadAttention, *, fused: bool = False):
        super().__init__(attention)
        parts = attention.q_proj, attention.k_proj, attention.v_proj
        biases: list[Tensor] = [part.bias for part in parts if part.bias is not None]
        self.weight = nn.Parameter(torch.cat([part.weight for part in parts]).detach())
        self.bias = nn.Parameter(torch.cat(biases).detach()) if biases else None
        self.fused = fused

    def attend(self, hidden: Hidden, position_ids: Positions) -> Hidden:
        """Project once, then cut the result into the heads of queries, keys, and values."""
        attention = self.attention
        query_heads, shared = attention.num_heads, attention.num_kv_heads
        heads = split_heads(F.linear(hidden, self.weight, self.bias), query_heads + 2 * shared)
        turn, value = heads.split([query_heads + shared, shared], dim=1)
        query, key = self.turned(turn, position_ids).split([query_heads, shared], dim=1)
        if self.fused:
            output = fused_attention(query, key, value, is_causal=True)
        else:
            output = scaled_dot_product_attention(
                query, key, value, is_causal=True, enable_gqa=True
            )
        return attention.out_proj(merge_heads(output))


def versions(decoder: TransformerDecoder, make: Callable[..., Version]) -> list[Version]:
    """Make a version of each layer's attention.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=3, d_ff=16)
    >>> len(versions(TransformerDecoder(config), Looped))
    3
    """
    return [make(layer.get_submodule("attention")) for layer in decoder.layers]


@contextmanager
def attending(decoder: TransformerDecoder, attentions: Sequence[Version]) -> Iterator[None]:
    """Make a decoder use these attentions, one for each layer, inside a `with` block.

    Raises:
        ValueError: There isn't one for each layer.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=3, d_ff=16)
    >>> decoder = TransformerDecoder(config)
    >>> with attending(decoder, versions(decoder, Looped)):
    ...     type(decoder.layers[0].attention).__name__
    'Looped'
    """
    if len(attentions) != len(decoder.layers):
        raise ValueError(
            f"expected one attention for each of {len(decoder.layers)} layers, got "
            f"{len(attentions)}"
        )
    own = [layer.get_submodule("attention") for layer in decoder.layers]
    try:
        for layer, version in zip(decoder.layers, attentions, strict=True):
            layer.attention = version
        yield
    finally:
        for layer, attention in zip(decoder.layers, own, strict=True):
            layer.attention = attention
