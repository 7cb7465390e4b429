"""Right and wrong answers to the exercises of the encoder's chapters."""

import math

import torch
import torch.nn.functional as F
from answers import Answers

from glassformer.multihead import split_heads


def loops_one_hot(ids, vocab_size):
    out = torch.zeros(*ids.shape, vocab_size)
    for b, row in enumerate(ids.tolist()):
        for i, token in enumerate(row):
            out[b, i, token] = 1
    return out


def one_hot_from_one(ids, vocab_size):
    return torch.cat([torch.eye(vocab_size)[1:], torch.zeros(1, vocab_size)])[ids]


def gathered_rows(ids, tokens, positions):
    return torch.stack(
        [torch.stack([tokens[t] + positions[i] for i, t in enumerate(row)]) for row in ids.tolist()]
    )


def loops_attention(query, key, value):
    if query.ndim > 2:
        rows = zip(query, key, value, strict=True)
        return torch.stack([loops_attention(*row) for row in rows])
    output = []
    for q in query:
        powers = [math.exp(float(q @ k) / math.sqrt(len(q))) for k in key]
        output.append(sum(p / sum(powers) * v for p, v in zip(powers, value, strict=True)))
    return torch.stack(output)


def heads_in_turn(hidden, w_q, w_k, w_v, w_o, num_heads):
    """A sum over heads, each with its own rows of the projections and columns of the last."""
    width = hidden.shape[-1] // num_heads
    total = torch.zeros_like(hidden)
    for h in range(num_heads):
        rows = slice(h * width, (h + 1) * width)
        query, key, value = (hidden @ w[rows].T for w in (w_q, w_k, w_v))
        total += loops_attention(query, key, value) @ w_o[:, rows].T
    return total


def tangled_heads(hidden, w_q, w_k, w_v, w_o, num_heads):
    """Merged without swapping back."""
    query, key, value = (split_heads(F.linear(hidden, w), num_heads) for w in (w_q, w_k, w_v))
    return F.scaled_dot_product_attention(query, key, value).reshape(hidden.shape) @ w_o.T


def unprojected_heads(hidden, w_q, w_k, w_v, w_o, num_heads):
    """Without the last projection."""
    query, key, value = (split_heads(F.linear(hidden, w), num_heads) for w in (w_q, w_k, w_v))
    return F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)


ENCODER = {
    "check_one_hot": Answers(
        loops_one_hot,
        {
            "the other way round": lambda ids, n: torch.eye(n)[ids].transpose(1, 2),
            "one place too far left": lambda ids, n: torch.eye(n)[ids - 1],
            "forgets where": lambda ids, n: torch.eye(n)[ids].sum(dim=1),
            "exchanged": lambda ids, n: (ids[..., None] != torch.arange(n)).double(),
            r"end with \.double\(\)": lambda ids, n: torch.eye(n, dtype=torch.long)[ids],
            "The id itself": lambda ids, n: torch.zeros(*ids.shape, n).scatter(
                2, ids[..., None], ids[..., None].double()
            ),
            "is of torch.bool, and a float type is wanted": lambda ids, n: (
                ids[..., None] == torch.arange(n)
            ),
            r"(?i)at \[0, 0, \d+\] your answer has 0, and 1 is right": one_hot_from_one,
        },
    ),
    "check_embed": Answers(
        gathered_rows,
        {
            "positions are missing": lambda ids, t, p: F.embedding(ids, t),
            "Every token has the position 0": lambda ids, t, p: t[ids] + p[:1],
            "counted from 0, and yours from 1": lambda ids, t, p: (
                t[ids] + p[torch.arange(1, ids.shape[1] + 1)]
            ),
            "tokens are missing": lambda ids, t, p: p[: ids.shape[1]].repeat(len(ids), 1, 1),
            "multiplied": lambda ids, t, p: t[ids].mul(p[: ids.shape[1]]),
            "stops with IndexError": lambda ids, t, p: t[ids] + p[ids],
            "stops with RuntimeError": lambda ids, t, p: t[ids] + p,
            r"has shape \(1, 3\), and \(1, 5, 3\) is right": lambda ids, t, p: (
                t[ids].sum(1) + p[: ids.shape[1]].sum(0)
            ),
            "changes its argument token_table": lambda ids, t, p: (
                t.add_(p[0])[ids] + p[: ids.shape[1]]
            ),
        },
    ),
    "check_softmax": Answers(
        lambda s: (s - s.logsumexp(-1, keepdim=True)).exp(),
        {
            "The columns sum to one": lambda s: s.transpose(-1, -2).softmax(-1).transpose(-1, -2),
            "All weights together": lambda s: s.flatten().exp().div(s.exp().sum()).view(s.shape),
            "infinite: first subtract": lambda s: s.exp() / s.exp().sum(-1)[..., None],
            "take exp first": lambda s: s / s.sum(dim=-1, keepdim=True),
            "divide by their sums": lambda s: torch.exp(s - s.max(-1, keepdim=True).values),
            "logarithms": lambda s: s - s.logsumexp(-1, keepdim=True),
            "keys compete": lambda s: 1 / (1 + torch.exp(-s)),
            "your answer has inf": lambda s: s.exp() / 0,
            "your answer has 0.3333": lambda s: torch.full_like(s, 1 / 3),
        },
    ),
    "check_attention": Answers(
        loops_attention,
        {
            "not divided by √head_dim": lambda q, k, v: torch.einsum(
                "...qk,...kd->...qd", torch.einsum("...qd,...kd->...qk", q, k).softmax(-1), v
            ),
            "not by its square root": lambda q, k, v: (q / q.shape[-1] @ k.mT).softmax(-1) @ v,
            "multiplied by √head_dim": lambda q, k, v: (
                (q @ k.mT * math.sqrt(q.shape[-1])).softmax(-1) @ v
            ),
            "how many keys there are": lambda q, k, v: (
                (q @ k.mT / math.sqrt(k.shape[-2])).softmax(-1) @ v
            ),
            "along the queries": lambda q, k, v: (
                (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-2) @ v
            ),
            "Query and key are swapped": lambda q, k, v: F.scaled_dot_product_attention(k, q, v),
            "These are the weights": lambda q, k, v: torch.softmax(
                q @ k.mT / q.shape[-1] ** 0.5, dim=-1
            ),
            "There is no softmax": lambda q, k, v: q @ (k.mT @ v) / math.sqrt(q.shape[-1]),
            "keys are averaged": lambda q, k, v: F.scaled_dot_product_attention(q, k, k),
            "stops with RuntimeError": lambda q, k, v: F.scaled_dot_product_attention(
                q, k.transpose(0, 1), v
            ),
        },
    ),
    "check_split_heads": Answers(
        split_heads,
        {
            "cuts across the words": lambda x, n: x.view(x.shape[0], n, x.shape[1], -1),
            "swap axes 1 and 2": lambda x, n: x.view(*x.shape[:2], n, -1),
            "numbers from all over": lambda x, n: torch.stack(
                [x[..., h::n] for h in range(n)], dim=1
            ),
            "last two axes are swapped": lambda x, n: x.unflatten(-1, (n, -1)).permute(0, 2, 3, 1),
            "Every head gets the whole": lambda x, n: torch.stack([x] * n, dim=1),
            r"has shape \(2, 1, 3, 5\), and \(1, 2, 3, 5\) is right": lambda x, n: torch.stack(
                x.chunk(n, -1)
            ),
            r"answer is a tuple of 2, and a tensor of \(1, 2, 3, 5\) is wanted": lambda x, n: (
                x.chunk(n, -1)
            ),
        },
    ),
    "check_multi_head": Answers(
        heads_in_turn,
        {
            "only head_dim wide": lambda x, q, k, v, o, n: heads_in_turn(x, q / n**0.5, k, v, o, n),
            "not divided by √head_dim": lambda x, q, k, v, o, n: heads_in_turn(
                x, q * (x.shape[-1] / n) ** 0.5, k, v, o, n
            ),
            "w_o, is missing": unprojected_heads,
            "mixes up the words": tangled_heads,
            "one head of the whole width": lambda x, q, k, v, o, n: (
                loops_attention(x @ q.T, x @ k.T, x @ v.T) @ o.T
            ),
            "multiplies by their transpose": lambda x, q, k, v, o, n: heads_in_turn(
                x, q.T, k.T, v.T, o.T, n
            ),
            "exchanged their projections": lambda x, q, k, v, o, n: heads_in_turn(x, k, q, v, o, n),
            "not projected by w_v": lambda x, q, k, v, o, n: heads_in_turn(
                x, q, k, torch.eye(x.shape[-1]), o, n
            ),
        },
    ),
}
