"""Multi-head attention: several heads in parallel, each with its own projections."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.layers.attention import (
    attention_scores,
    fused_attention,
    repeat_heads,
    scaled_dot_product_attention,
    softmax_rows,
)
from glassformer.layers.kv_cache import KeysValues
from glassformer.layers.masks import Mask, causal_lower_right
from glassformer.layers.positions import RotaryPositions


class AttentionHead(nn.Module):
    """One head: project to queries, keys, and values, then attend.

    Shapes: query (batch, q_len, d_model), output (batch, q_len, head_dim).

    Raises:
        ValueError: a size is less than one, or the inputs don't fit together.

    Source: Vaswani et al. 2017, section 3.2.2, whose `W_i^Q`, `W_i^K`, and `W_i^V` are
    q_proj, k_proj, and v_proj.

    >>> head = AttentionHead(d_model=8, head_dim=2)
    >>> head(torch.randn(1, 3, 8)).shape
    torch.Size([1, 3, 2])
    """

    def __init__(self, d_model: int, head_dim: int, *, bias: bool = True):
        super().__init__()
        _check_positive(d_model=d_model, head_dim=head_dim)
        self.q_proj = nn.Linear(d_model, head_dim, bias=bias)
        self.k_proj = nn.Linear(d_model, head_dim, bias=bias)
        self.v_proj = nn.Linear(d_model, head_dim, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "batch q_len d_model"],
        key: Float[Tensor, "batch k_len d_model"] | None = None,
        value: Float[Tensor, "batch k_len d_model"] | None = None,
        *,
        attn_mask: Mask | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch q_len head_dim"]:
        """Attend from `query` to `key`, which defaults to `query`: self-attention."""
        key = query if key is None else key
        value = key if value is None else value
        _check_inputs(query, key, value, self.q_proj.in_features)
        lengths = query.shape[1], key.shape[1]
        mask, is_causal = causal_lower_right(attn_mask, is_causal, *lengths, device=query.device)
        return scaled_dot_product_attention(
            self.q_proj(query),  # (batch, q_len, head_dim)
            self.k_proj(key),  # (batch, k_len, head_dim)
            self.v_proj(value),
            attn_mask=mask,
            is_causal=is_causal,
        )


class MultiHeadAttention(nn.Module):
    """All heads at once: project, split into heads, attend, merge, project.

    `head_dim` defaults to `d_model / num_heads`. If you pass it, the projections are
    `num_heads * head_dim` wide, whatever `d_model` is. With fewer key-value heads than query heads,
    each key-value head serves `num_heads / num_kv_heads` neighboring query heads. `rotary` rotates
    queries and keys before the scores are computed; the cache keeps rotated keys.

    Shapes: query (batch, q_len, d_model), key and value (batch, k_len, d_model), output as query;
    `attn_mask` broadcasts to (batch, heads, q_len, k_len), position ids to (batch, q_len).

    Raises:
        ValueError: a size doesn't divide another, inputs or a cache don't fit together, or rotary
            attention gets a `key`: tokens of two different sequences have no distance.

    Source: Vaswani et al. 2017, section 3.2.2, whose `h` is num_heads and whose `W^O` is
    out_proj; grouped keys and values: Ainslie et al. 2023, section 2.2.

    >>> attention = MultiHeadAttention(d_model=8, num_heads=4)
    >>> attention(torch.randn(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    # Set inside glassformer.record, and None outside it.
    recorder: Callable[[str, Tensor], None] | None = None

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: RotaryPositions | None = None,
    ):
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        _check_positive(d_model=d_model, num_heads=num_heads, num_kv_heads=num_kv_heads)
        if head_dim is None:
            if d_model % num_heads:
                raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
            head_dim = d_model // num_heads
        _check_positive(head_dim=head_dim)
        if num_heads % num_kv_heads:
            raise ValueError(f"num_kv_heads ({num_kv_heads}) must divide num_heads ({num_heads})")
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout ({dropout}) must be at least 0 and less than 1")
        self.num_heads, self.num_kv_heads, self.head_dim = num_heads, num_kv_heads, head_dim
        self.dropout = dropout
        self.q_proj = nn.Linear(d_model, num_heads * head_dim, bias=bias)
        self.k_proj = nn.Linear(d_model, num_kv_heads * head_dim, bias=bias)
        self.v_proj = nn.Linear(d_model, num_kv_heads * head_dim, bias=bias)
        self.out_proj = nn.Linear(num_heads * head_dim, d_model, bias=bias)
        self.rotary = rotary

    def forward(
        self,
        query: Float[Tensor, "batch q_len d_model"],
        key: Float[Tensor, "batch k_len d_model"] | None = None,
        value: Float[Tensor, "batch k_len d_model"] | None = None,
        *,
        attn_mask: Mask | None = None,
        is_causal: bool = False,
        cache: KeysValues | None = None,
        position_ids: Int[Tensor, "#batch q_len"] | None = None,
    ) -> Float[Tensor, "batch q_len d_model"]:
        """Attend from `query` to `key`, which defaults to `query`: self-attention.

        With a cache, self-attention appends its keys and values to those of earlier calls
        and attends to all of them. If you pass a `key`, its projections from the first call
        are reused. Only rotary attention reads `position_ids`; by default, positions continue
        after the cached ones.
        """
        crosses = key is not None
        key = query if key is None else key
        value = key if value is None else value
        self._check(query, key, value, crosses)
        query = split_heads(self.q_proj(query), self.num_heads)  # (batch, heads, q_len, head_dim)
        if crosses and cache is not None and cache.length:
            key, value = cache.recall(*key.shape[:2])
        else:
            key = split_heads(self.k_proj(key), self.num_kv_heads)  # (batch, kv_heads, k_len, ...)
            value = split_heads(self.v_proj(value), self.num_kv_heads)
            query, key, value = self._turn_and_keep(query, key, value, cache, position_ids)
        output = self._attend(query, key, value, attn_mask, is_causal)
        return self.out_proj(merge_heads(output))  # (batch, q_len, d_model)

    def head(self, index: int) -> AttentionHead:
        """Return a copy of one head as an `AttentionHead`.

        Raises:
            ValueError: there is no such head, or the attention is rotary, which `AttentionHead`
                can't be.
        """
        if self.rotary is not None:
            raise ValueError(f"head {index} is rotary, which AttentionHead can't be: {self.rotary}")
        if not 0 <= index < self.num_heads:
            raise ValueError(f"head {index} is not one of 0 to {self.num_heads - 1}")
        kv_index = index * self.num_kv_heads // self.num_heads
        head = AttentionHead(
            self.q_proj.in_features, self.head_dim, bias=self.q_proj.bias is not None
        ).to(self.q_proj.weight)
        for name, start in (("q_proj", index), ("k_proj", kv_index), ("v_proj", kv_index)):
            rows = slice(start * self.head_dim, (start + 1) * self.head_dim)
            wide = getattr(self, name).state_dict()
            getattr(head, name).load_state_dict({key: wide[key][rows] for key in wide})
        return head.train(self.training)

    def extra_repr(self) -> str:
        """Return the sizes that the projections don't show."""
        heads = f"num_heads={self.num_heads}, head_dim={self.head_dim}"
        kv_heads = f", num_kv_heads={self.num_kv_heads}" * (self.num_kv_heads < self.num_heads)
        return f"{heads}{kv_heads}, dropout={self.dropout}"

    def _check(self, query: Tensor, key: Tensor, value: Tensor, crosses: bool) -> None:
        if crosses and self.rotary is not None:
            raise ValueError(
                f"a key of shape {tuple(key.shape)} was passed to a rotary attention: it rotates "
                "queries and keys by their positions in the same sequence"
            )
        _check_inputs(query, key, value, self.q_proj.in_features)

    def _turn_and_keep(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        cache: KeysValues | None,
        position_ids: Tensor | None,
    ) -> tuple[Tensor, ...]:
        """Rotate queries and keys if the attention is rotary, then append them to the cache."""
        if self.rotary is not None:
            query, key = self._turn(query, key, cache, position_ids)
        if cache is not None:
            key, value = cache.append(key, value)
        return query, key, value

    def _turn(
        self, query: Tensor, key: Tensor, cache: KeysValues | None, position_ids: Tensor | None
    ) -> tuple[Tensor, ...]:
        """Rotate queries and keys in one call: they have the same positions."""
        assert self.rotary is not None
        if position_ids is None:
            past = 0 if cache is None else cache.length
            position_ids = torch.arange(past, past + query.shape[2], device=query.device)[None]
        heads = torch.cat([query, key], dim=1)  # (batch, heads + kv_heads, q_len, head_dim)
        turned = self.rotary(heads, position_ids[:, None])
        return turned.split([self.num_heads, self.num_kv_heads], dim=1)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        """Attend in every head: with torch's fused kernel, or step by step inside `record`."""
        attend = fused_attention if self.recorder is None else self._attend_on_record
        mask, is_causal = causal_lower_right(
            attn_mask, is_causal, query.shape[2], key.shape[2], device=query.device
        )
        dropout_p = self.dropout if self.training else 0.0
        return attend(query, key, value, attn_mask=mask, dropout_p=dropout_p, is_causal=is_causal)

    def _attend_on_record(
        self, query, key, value, *, attn_mask, dropout_p, is_causal
    ) -> Float[Tensor, "batch heads q_len head_dim"]:
        """Attend step by step, and pass the result of each step to the recorder."""
        assert self.recorder is not None
        scores = attention_scores(query, repeat_heads(key, self.num_heads), attn_mask, is_causal)
        weights = softmax_rows(scores)
        output = F.dropout(weights, dropout_p) @ repeat_heads(value, self.num_heads)
        steps = {
            "query": query,
            "key": key,
            "value": value,
            "scores": scores,
            "weights": weights,
            "output": output,
        }
        for name, tensor in steps.items():
            self.recorder(name, tensor)
        return output


def split_heads(
    hidden: Float[Tensor, "batch seq width"], num_heads: int
) -> Float[Tensor, "batch {num_heads} seq head_dim"]:
    """Cut each vector into one piece per head; move the heads before the positions.

    Shapes: (batch, seq, heads · head_dim) to (batch, heads, seq, head_dim).

    >>> split_heads(torch.randn(1, 5, 6), num_heads=3).shape
    torch.Size([1, 3, 5, 2])
    """
    batch, seq, width = hidden.shape
    return hidden.view(batch, seq, num_heads, width // num_heads).transpose(1, 2)


def merge_heads(
    heads: Float[Tensor, "batch heads seq head_dim"],
) -> Float[Tensor, "batch seq width"]:
    """Concatenate the heads' vectors at each position.

    Shapes: (batch, heads, seq, head_dim) to (batch, seq, heads · head_dim).

    >>> merge_heads(torch.randn(1, 3, 5, 2)).shape
    torch.Size([1, 5, 6])
    """
    return heads.transpose(1, 2).flatten(start_dim=2)


def _check_positive(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} ({size}) must be at least 1")


def _check_inputs(query: Tensor, key: Tensor, value: Tensor, d_model: int) -> None:
    shapes = [tuple(x.shape) for x in (query, key, value)]
    fits = (
        all(len(shape) == 3 and shape[-1] == d_model and 0 not in shape for shape in shapes)
        and shapes[0][0] == shapes[1][0]
        and shapes[1] == shapes[2]
    )
    if not fits:
        raise ValueError(
            f"query, key, and value must be (batch, seq, {d_model}) with one batch, none empty, "
            "and key and value equally long; got " + ", ".join(map(str, shapes))
        )
