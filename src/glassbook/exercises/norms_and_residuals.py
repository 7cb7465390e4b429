"""Exercises for the chapter on norms and residuals."""

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_layer_norm", "check_pre_norm"]


def _vectors(draw: Draw):
    yield "five words", (draw(5, 7), draw(7), draw(7), 1e-5)
    yield "two sentences", (draw(2, 3, 11), draw(11), draw(11), 1e-5)
    yield "three words, and an eps of 0.5", (draw(3, 5), draw(5), draw(5), 0.5)


def _layer_norm(x, weight, bias, eps):
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def _normalized(x, axes=-1, correction=0):
    variance, mean = torch.var_mean(x, axes, correction=correction, keepdim=True)
    return (x - mean), variance


def _scaled_by(x, weight, bias, eps, axes=-1, correction=0):
    centered, variance = _normalized(x, axes, correction)
    return weight * centered / (variance + eps).sqrt() + bias


check_layer_norm = Exercise(
    asks="each vector minus its mean, divided by its standard deviation, scaled and shifted",
    reference=_layer_norm,
    examples=_vectors,
    mistakes={
        "Your mean and variance run along the words. Each word has its own: dim=-1.": (
            lambda x, w, b, eps: _scaled_by(x, w, b, eps, axes=-2)
        ),
        "Your mean and variance run over the whole sentence. Each word has its own.": (
            lambda x, w, b, eps: _scaled_by(x, w, b, eps, axes=(-2, -1))
        ),
        "You divide the variance by d_model − 1, as torch's var does unless you pass "
        "correction=0.": lambda x, w, b, eps: _scaled_by(x, w, b, eps, correction=1),
        "You add eps to the square root. Add it to the variance, under the root.": (
            lambda x, w, b, eps: w * _normalized(x)[0] / (_normalized(x)[1].sqrt() + eps) + b
        ),
        "You divide by the variance. Divide by its square root.": (
            lambda x, w, b, eps: w * _normalized(x)[0] / (_normalized(x)[1] + eps) + b
        ),
        "You don't subtract the mean.": lambda x, w, b, eps: (
            w * x / (_normalized(x)[1] + eps).sqrt() + b
        ),
        "The bias is missing.": lambda x, w, b, eps: F.layer_norm(x, w.shape, w, None, eps),
        "The weight is missing.": lambda x, w, b, eps: F.layer_norm(x, w.shape, None, b, eps),
        "eps is missing. It matters when the numbers are nearly equal.": (
            lambda x, w, b, eps: _scaled_by(x, w, b, 0)
        ),
    },
)


def layers(draw: Draw):
    """Yield a hidden state with made-up parts of a layer: attention, network, and norms."""
    for name, *shape in (("one sentence", 1, 5, 7), ("two sentences", 2, 3, 11)):
        yield name, (draw(*shape), *layer_parts(draw, shape[-1]))


def layer_parts(draw: Draw, d_model: int):
    """Return quick stand-ins: attention, which mixes words; a network, which doesn't; and norms."""
    mix, bend = draw(2, d_model, d_model)
    gains, shifts = draw(2, 2, d_model)

    def attend(hidden, memory=None):
        read = hidden if memory is None else memory
        return F.scaled_dot_product_attention(hidden, read, read @ mix)

    def feed(hidden):
        return (hidden @ bend).tanh()

    def normalizer(gain, shift):
        return lambda hidden: F.layer_norm(hidden, (d_model,), gain, shift)

    return attend, feed, *map(normalizer, gains, shifts)


def _pre_norm(hidden, attend, feed, norm_1, norm_2):
    hidden = hidden + attend(norm_1(hidden))
    return hidden + feed(norm_2(hidden))


def _post_norm(x, attend, feed, norm_1, norm_2):
    x = norm_1(x + attend(x))
    return norm_2(x + feed(x))


def _residual_of_normed(x, attend, feed, norm_1, norm_2):
    normed = norm_1(x)
    normed = norm_2(normed + attend(normed))
    return normed + feed(normed)


def _no_first_residual(x, attend, feed, norm_1, norm_2):
    x = attend(norm_1(x))
    return x + feed(norm_2(x))


def _no_second_residual(x, attend, feed, norm_1, norm_2):
    return feed(norm_2(x + attend(norm_1(x))))


check_pre_norm = Exercise(
    asks="the output of a pre-norm layer",
    reference=_pre_norm,
    examples=layers,
    mistakes={
        "This is post-norm: the norms come after the additions. In pre-norm, each sub-layer "
        "reads a normalized copy.": _post_norm,
        "You add to the normalized copy. Add to the hidden state itself.": (_residual_of_normed),
        "The residual around attention is missing.": _no_first_residual,
        "The residual around the feed-forward network is missing.": _no_second_residual,
        "Neither sub-layer has a residual.": (
            lambda x, attend, feed, norm_1, norm_2: feed(norm_2(attend(norm_1(x))))
        ),
        "Your feed-forward network reads the layer's input. It should read that input plus what "
        "attention added.": (
            lambda x, attend, feed, norm_1, norm_2: x + attend(norm_1(x)) + feed(norm_2(x))
        ),
        "The two norms are swapped.": (
            lambda x, attend, feed, norm_1, norm_2: _pre_norm(x, attend, feed, norm_2, norm_1)
        ),
        "There are no norms at all.": (
            lambda x, attend, feed, norm_1, norm_2: _pre_norm(
                x, attend, feed, lambda h: h, lambda h: h
            )
        ),
        "The norm before the feed-forward network is missing.": (
            lambda x, attend, feed, norm_1, norm_2: _pre_norm(x, attend, feed, norm_1, lambda h: h)
        ),
    },
)
