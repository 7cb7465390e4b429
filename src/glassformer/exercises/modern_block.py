"""Exercises of the chapter on the modern block."""

import torch
import torch.nn.functional as F

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_gated", "check_grouped", "check_rms_norm", "check_rotary"]

CHAPTER = "family/modern-block.md"


def _vectors(draw: Draw):
    yield "five words", (draw(5, 7), draw(7), 1e-6)
    yield "two sentences", (draw(2, 3, 11), draw(11), 1e-6)
    yield "three words, and an eps of 0.5", (draw(3, 5), draw(5), 0.5)


def _rms_norm(x, weight, eps):
    return F.rms_norm(x, weight.shape, weight, eps)


def _mean_square(x, axes=-1):
    return x.square().mean(axes, keepdim=True)


check_rms_norm = Exercise(
    asks="each vector divided by its root mean square, then scaled",
    chapter=CHAPTER,
    reference=_rms_norm,
    examples=_vectors,
    mistakes={
        "The mean is taken away first, as in LayerNorm. RMSNorm leaves it.": (
            lambda x, w, eps: _rms_norm(x - x.mean(-1, keepdim=True), w, eps)
        ),
        "The squares are summed, and should be averaged.": (
            lambda x, w, eps: w * x * torch.rsqrt(x.square().sum(-1, keepdim=True) + eps)
        ),
        "The root is missing: the vectors are divided by their mean square.": (
            lambda x, w, eps: w * x / (_mean_square(x) + eps)
        ),
        "eps is added to the root; it belongs under it.": (
            lambda x, w, eps: w * x / (_mean_square(x).sqrt() + eps)
        ),
        "eps is missing, and where the numbers are near zero it counts.": (
            lambda x, w, eps: w * x * torch.rsqrt(_mean_square(x))
        ),
        "The weight is missing.": lambda x, w, eps: _rms_norm(x, torch.ones_like(w), eps),
        "The mean square runs along the words; each word has its own: dim=-1.": (
            lambda x, w, eps: w * x * torch.rsqrt(_mean_square(x, -2) + eps)
        ),
        "One mean square serves the whole sentence; each word has its own.": (
            lambda x, w, eps: w * x * torch.rsqrt(_mean_square(x, (-2, -1)) + eps)
        ),
    },
)


def _heads(draw: Draw):
    yield "one head", (draw(1, 5, 6), torch.arange(5), 10000.0)
    yield (
        "two sentences with three heads, from position 11 on, and a theta of 100",
        (draw(2, 3, 7, 10), torch.arange(11, 18), 100.0),
    )


def _rotary(x, position_ids, theta, turn=1.0, exponent=-1.0):
    """Pairs of neighbours as complex numbers, turned by angles that can be had wrong."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    speed = theta ** (exponent * torch.arange(pairs.shape[-1]) / pairs.shape[-1])
    angle = turn * position_ids[:, None] * speed
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def _of_halves(x, position_ids, theta):
    """Return the other pairing: i with i + head_dim / 2."""
    paired = torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)
    return torch.cat(_rotary(paired, position_ids, theta).unflatten(-1, (-1, 2)).unbind(-1), -1)


check_rotary = Exercise(
    asks="each pair of neighbours turned by its position's angle",
    chapter=CHAPTER,
    reference=lambda x, position_ids, theta: _rotary(x, position_ids.double(), theta),
    examples=_heads,
    mistakes={
        "The pairs turn the wrong way: (a, b) becomes (a cos − b sin, b cos + a sin).": (
            lambda x, p, theta: _rotary(x, p, theta, turn=-1.0)
        ),
        "The halves are paired, c with c + head_dim / 2, as in the Llamas of transformers; here it "
        "is neighbours, 2c with 2c + 1.": lambda x, p, theta: _of_halves(x, p, theta),
        "All pairs turn alike; pair c turns by theta^(−2c / head_dim) a position.": (
            lambda x, p, theta: _rotary(x, p, theta, exponent=0.0)
        ),
        "The pairs turn too fast: the exponent is −2c / head_dim, and the 2 is missing.": (
            lambda x, p, theta: _rotary(x, p, theta, exponent=-0.5)
        ),
        "The pairs turn too slowly: is c the number of the pair, or already twice that?": (
            lambda x, p, theta: _rotary(x, p, theta, exponent=-2.0)
        ),
        "The positions are counted from 0 again; they are given as position_ids.": (
            lambda x, p, theta: _rotary(x, (p - p[0]).double(), theta)
        ),
        "Positions are counted from 1, and position_ids says from where.": (
            lambda x, p, theta: _rotary(x, p + 1.0, theta)
        ),
        "theta is taken to be 10000; it is given.": lambda x, p, theta: _rotary(x, p, 10000.0),
        "The vectors are multiplied by the cosines, and the sines are missing.": (
            lambda x, p, theta: (_rotary(x, p, theta) + _rotary(x, p, theta, turn=-1.0)) / 2
        ),
    },
)


def _networks(draw: Draw):
    for name, *shape, width in (("one word", 1, 1, 5, 5), ("two sentences", 2, 3, 5, 11)):
        d_model = shape[-1]
        weights = (draw(width, d_model), draw(width, d_model), draw(d_model, width))
        yield name, (draw(*shape), *weights)


def _gated(x, w_gate, w_up, w_down, gate=F.silu):
    return F.linear(gate(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)


check_gated = Exercise(
    asks="the network whose one half opens and closes the other",
    chapter=CHAPTER,
    reference=_gated,
    examples=_networks,
    mistakes={
        "Gate and up are exchanged: the SiLU belongs to the gate.": (
            lambda x, g, u, d: _gated(x, u, g, d)
        ),
        "The gate is a sigmoid; it is SiLU, x · σ(x).": (
            lambda x, g, u, d: _gated(x, g, u, d, torch.sigmoid)
        ),
        "The gate is a GELU, as in the GeGLU; here it is SiLU.": (
            lambda x, g, u, d: _gated(x, g, u, d, F.gelu)
        ),
        "The gate has no activation.": lambda x, g, u, d: _gated(x, g, u, d, lambda h: h),
        "The two halves are added; the gate multiplies.": (
            lambda x, g, u, d: F.linear(F.silu(x @ g.mT) + x @ u.mT, d)
        ),
        "There is no gate: up is bent and brought down.": (
            lambda x, g, u, d: F.linear(F.silu(x @ u.mT), d)
        ),
        "The SiLU comes after the product of gate and up; it belongs to the gate alone.": (
            lambda x, g, u, d: F.linear(F.silu((x @ g.mT) * (x @ u.mT)), d)
        ),
    },
)


def _groups(draw: Draw):
    yield "one sentence, four heads, two of keys", (draw(1, 4, 5, 7), *draw(2, 1, 2, 11, 7))
    yield "two sentences, six heads, three of keys", (draw(2, 6, 5, 7), *draw(2, 2, 3, 11, 7))


def _grouped(query, key, value, share=lambda heads, times: heads.repeat_interleave(times, dim=1)):
    times = query.shape[1] // key.shape[1]
    return F.scaled_dot_product_attention(query, share(key, times), share(value, times))


check_grouped = Exercise(
    asks="attention in which neighbouring heads share keys and values",
    chapter=CHAPTER,
    reference=lambda query, key, value: F.scaled_dot_product_attention(
        query, key, value, enable_gqa=True
    ),
    examples=_groups,
    mistakes={
        "The key-value heads take turns; neighbours should share one: repeat_interleave instead of "
        "repeat.": lambda q, k, v: _grouped(q, k, v, lambda h, n: h.repeat(1, n, 1, 1)),
        "All heads read the first key-value head.": (
            lambda q, k, v: _grouped(q, k, v, lambda h, n: h[:, :1])
        ),
        "The key-value heads are averaged; each serves a group of its own.": (
            lambda q, k, v: _grouped(q, k, v, lambda h, n: h.mean(1, keepdim=True))
        ),
        "The values take turns, and the keys do not: repeat both alike.": (
            lambda q, k, v: F.scaled_dot_product_attention(
                q,
                k.repeat_interleave(q.shape[1] // k.shape[1], dim=1),
                v.repeat(1, q.shape[1] // v.shape[1], 1, 1),
            )
        ),
        "The queries are averaged within each group, and the heads with them; only keys and values "
        "are shared.": lambda q, k, v: F.scaled_dot_product_attention(
            q.unflatten(1, (k.shape[1], -1)).mean(2), k, v
        ),
        "Keys and values are exchanged.": lambda q, k, v: _grouped(q, v, k),
        "The heads of queries are in another order than those of the result.": (
            lambda q, k, v: _grouped(q.flip(1), k, v)
        ),
    },
)
