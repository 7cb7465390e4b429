"""Right and wrong answers to the exercises of the family's chapters."""

import torch
import torch.nn.functional as F
from answers import Answers

from glassformer.layers.attention import repeat_heads, scaled_dot_product_attention
from glassformer.layers.feed_forward import GatedFeedForward
from glassformer.layers.norms import RMSNorm
from glassformer.layers.positions import RotaryPositions


def hidden_in_lists(ids, chosen, mask_id):
    rows = list(zip(ids.flatten().tolist(), chosen.flatten().tolist(), strict=True))
    read = [mask_id if hidden else token for token, hidden in rows]
    asked = [token if hidden else -100 for token, hidden in rows]
    return torch.tensor(read).view(ids.shape), torch.tensor(asked).view(ids.shape)


def labels_too_late(ids, chosen, mask_id):
    read = ids.clone()
    read[chosen] = mask_id
    asked = read.clone()
    asked[~chosen] = -100
    return read, asked


def packed(first, second, cls, sep):
    """Token by token, each with the text that it belongs to."""
    rows = [(cls, 0), *((one, 0) for one in first.tolist()), (sep, 0)]
    rows += [*((one, 1) for one in second.tolist()), (sep, 1)]
    ids, types = zip(*rows, strict=True)
    return torch.tensor(ids), torch.tensor(types)


def packed_with_types(change):
    def answer(first, second, cls, sep):
        ids, types = packed(first, second, cls, sep)
        change(types, len(first))
        return ids, types

    return answer


def surprise(logits, ids, ahead=1):
    """−log p of each token that comes so many places behind the one whose logits tell of it."""
    seq = ids.shape[1]
    chances = logits[:, : seq - ahead].softmax(-1)
    return -chances.gather(2, ids[:, ahead:, None]).log().flatten()


def patch_by_patch(image, down, across, vector=torch.flatten):
    _, height, width = image.shape
    corners = [(y, x) for y in range(0, height, down) for x in range(0, width, across)]
    return torch.stack([vector(image[:, y : y + down, x : x + across]) for y, x in corners])


def unfolded(image, *patch, stride):
    return F.unfold(image[None], patch, stride=stride)[0].T


def rms_module(x, weight, eps):
    norm = RMSNorm(len(weight), eps)
    norm.weight.data = weight
    return norm(x)


def rms(x, axes=-1):
    return x.pow(2).mean(axes, keepdim=True).sqrt()


def turned(x, position_ids, theta, **choices):
    return RotaryPositions(x.shape[-1], theta=theta, **choices)(x, position_ids)


def turned_pair_by_pair(x, position_ids, theta, speed=lambda c, d, theta: theta ** (-2 * c / d)):
    """With the matrix of each turn."""
    out, d = torch.empty_like(x), x.shape[-1]
    for row, place in enumerate(position_ids.tolist()):
        for c in range(d // 2):
            angle = torch.tensor(place * speed(c, d, theta))
            turn = torch.tensor([[angle.cos(), -angle.sin()], [angle.sin(), angle.cos()]])
            out[..., row, 2 * c : 2 * c + 2] = x[..., row, 2 * c : 2 * c + 2] @ turn.T
    return out


def gate_module(x, w_gate, w_up, w_down):
    network = GatedFeedForward(x.shape[-1], len(w_gate))
    weights = zip(("gate", "up", "down"), (w_gate, w_up, w_down), strict=True)
    names = [name for name, _ in network.named_parameters()]
    for part, weight in weights:
        (name,) = (name for name in names if part in name)
        network.get_parameter(name).data = weight
    return network(x)


def gated(x, w_gate, w_up, w_down, bend):
    return (bend(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


def group_by_group(query, key, value, mask):
    groups = query.chunk(key.shape[1], dim=1)
    shared = zip(groups, key.split(1, dim=1), value.split(1, dim=1), strict=True)
    return torch.cat([F.scaled_dot_product_attention(*part, mask) for part in shared], dim=1)


def in_turn(heads, query):
    return torch.cat([heads] * (query.shape[1] // heads.shape[1]), dim=1)


def of_cosines(questions, passages):
    return F.normalize(questions, dim=-1) @ F.normalize(passages, dim=-1).T


FAMILY = {
    "check_hide": Answers(
        hidden_in_lists,
        {
            "Every token is a label": lambda ids, c, m: (
                hidden_in_lists(ids, c, m)[0],
                ids.clone(),
            ),
            "already masked": labels_too_late,
            "You label the": lambda ids, c, m: (
                hidden_in_lists(ids, c, m)[0],
                ids.masked_fill(c, -100),
            ),
            "You hide the": lambda ids, c, m: (
                ids.masked_fill(~c, m),
                ids.masked_fill(~c, -100),
            ),
            "Where there's nothing": lambda ids, c, m: (
                ids.masked_fill(c, m),
                ids.masked_fill(~c, 0),
            ),
            "You don't hide": lambda ids, c, m: (ids, hidden_in_lists(ids, c, m)[1]),
            "The two results": lambda ids, c, m: hidden_in_lists(ids, c, m)[::-1],
        },
    ),
    "check_perplexity": Answers(
        lambda z, ids: surprise(z, ids).mean().exp(),
        {
            "You don't shift": lambda z, ids: surprise(z, ids, ahead=0).mean().exp(),
            "shift the targets": lambda z, ids: surprise(z, ids, ahead=2).mean().exp(),
            "This is the loss": lambda z, ids: surprise(z, ids).mean(),
            "You sum the": lambda z, ids: surprise(z, ids).sum().exp(),
            "is the average": lambda z, ids: surprise(z, ids).exp().mean(),
            "power of 2": lambda z, ids: torch.exp2(surprise(z, ids).mean()),
            "minus is missing": lambda z, ids: 1 / surprise(z, ids).mean().exp(),
            "wrong way": lambda z, ids: surprise(z.flip(1), ids.flip(1)).mean().exp(),
        },
    ),
    "check_pack": Answers(
        packed,
        {
            "first `sep` has type 1": packed_with_types(lambda t, n: t[n + 1].fill_(1)),
            "second text begins": packed_with_types(lambda t, n: t[n + 2].fill_(0)),
            "The types are": packed_with_types(lambda t, n: t.logical_not_()),
            "last `sep` has type 0": packed_with_types(lambda t, n: t[-1].fill_(0)),
            "Every token has type 0": packed_with_types(lambda t, n: t.zero_()),
            "no `sep` at the end": lambda a, b, cls, sep: tuple(
                part[: len(a) + len(b) + 2] for part in packed(a, b, cls, sep)
            ),
            "The texts are": lambda a, b, cls, sep: packed(b, a, cls, sep),
            "`cls` and `sep`": lambda a, b, cls, sep: packed(a, b, sep, cls),
            "The two results": lambda *given: packed(*given)[::-1],
        },
    ),
    "check_rms_norm": Answers(
        rms_module,
        {
            "mean is subtracted first": lambda x, w, eps: F.layer_norm(x, w.shape, w, eps=eps),
            "You sum the": lambda x, w, eps: w * x / (x.pow(2).sum(-1, keepdim=True) + eps).sqrt(),
            "root is missing": lambda x, w, eps: w * x / (rms(x) ** 2 + eps),
            "You add eps": lambda x, w, eps: w * x / (rms(x) + eps),
            "eps is missing": lambda x, w, eps: w * x / rms(x),
            "weight is missing": lambda x, w, eps: F.rms_norm(x, w.shape, eps=eps),
            "along the words": lambda x, w, eps: w * x / (rms(x, -2) ** 2 + eps).sqrt(),
            "whole sentence": lambda x, w, eps: w * x / (rms(x, (-2, -1)) ** 2 + eps).sqrt(),
        },
    ),
    "check_rotary": Answers(
        turned_pair_by_pair,
        {
            "turn the wrong way": lambda x, p, theta: turned(x, -p, theta),
            "You pair the": lambda x, p, theta: turned(x, p, theta, interleaved=False),
            "All your pairs": lambda x, p, theta: turned_pair_by_pair(
                x, p, theta, lambda c, d, theta: 1.0
            ),
            "too fast": lambda x, p, theta: turned(x, p, theta**0.5),
            "too slowly": lambda x, p, theta: turned(x, p, theta**2),
            "positions from 0": lambda x, p, theta: turned(x, torch.arange(x.shape[-2]), theta),
            "positions from 1": lambda x, p, theta: turned(x, 1 + p, theta),
            "You set theta": lambda x, p, theta: turned(x, p, 10000.0),
            "sines are missing": lambda x, p, theta: (
                (turned(x, p, theta) + turned(x, -p, theta)) / 2
            ),
            "your answer has": lambda x, p, theta: turned(x, 2 * p, theta),
        },
    ),
    "check_gated": Answers(
        gate_module,
        {
            "and up are": lambda x, g, u, d: gated(x, u, g, d, F.silu),
            "uses a sigmoid": lambda x, g, u, d: gated(x, g, u, d, torch.special.expit),
            "GeGLU": lambda x, g, u, d: gated(x, g, u, d, F.gelu),
            "no activation": lambda x, g, u, d: gated(x, g, u, d, lambda h: h),
            "You add the": lambda x, g, u, d: (F.silu(x @ g.T) + x @ u.T) @ d.T,
            "There's no gate": lambda x, g, u, d: F.silu(x @ u.T) @ d.T,
            "to the product": lambda x, g, u, d: F.silu((x @ u.T) * (x @ g.T)) @ d.T,
            "your answer has": lambda x, g, u, d: gated(x, g, u, d, F.relu),
        },
    ),
    "check_grouped": Answers(
        lambda q, k, v, m: scaled_dot_product_attention(
            q, repeat_heads(k, q.shape[1]), repeat_heads(v, q.shape[1]), m
        ),
        {
            "key-value heads alternate": lambda q, k, v, m: scaled_dot_product_attention(
                q, in_turn(k, q), in_turn(v, q), m
            ),
            "the first key-value head": lambda q, k, v, m: torch.cat(
                [group_by_group(one, k[:, :1], v[:, :1], m) for one in q.split(1, 1)], dim=1
            ),
            "average the key-value": lambda q, k, v, m: torch.cat(
                [
                    group_by_group(one, k.mean(1, keepdim=True), v.mean(1, keepdim=True), m)
                    for one in q.split(1, 1)
                ],
                dim=1,
            ),
            "The values alternate": lambda q, k, v, m: scaled_dot_product_attention(
                q, repeat_heads(k, q.shape[1]), in_turn(v, q), m
            ),
            "average the queries": lambda q, k, v, m: scaled_dot_product_attention(
                torch.stack([part.mean(1) for part in q.chunk(k.shape[1], 1)], dim=1), k, v, m
            ),
            "values are swapped": lambda q, k, v, m: group_by_group(q, v, k, m),
            "The result's heads": lambda q, k, v, m: group_by_group(q.flip(1), k, v, m),
            "your answer has": lambda q, k, v, m: group_by_group(q, k.flip(1), v.flip(1), m),
            "use the mask": lambda q, k, v, m: group_by_group(q, k, v, torch.ones_like(m)),
        },
    ),
    "check_patches": Answers(
        lambda image, down, across: unfolded(image, down, across, stride=(down, across)),
        {
            "are strips": lambda image, down, across: torch.stack(
                image.flatten().split(len(image) * down * across)
            ),
            "patches come column by column": lambda image, down, across: patch_by_patch(
                image.mT, across, down, lambda patch: patch.mT.flatten()
            ),
            "pixels come column by column": lambda image, down, across: patch_by_patch(
                image, down, across, lambda patch: patch.mT.flatten()
            ),
            "patch, the numbers": lambda image, down, across: patch_by_patch(
                image, down, across, lambda patch: patch.permute(1, 2, 0).flatten()
            ),
            "A patch's height": lambda image, down, across: unfolded(
                image, across, down, stride=(across, down)
            ),
            "each channel has": lambda image, down, across: torch.cat(
                [patch_by_patch(channel[None], down, across) for channel in image]
            ),
            "the patches overlap": lambda image, down, across: unfolded(
                image, down, across, stride=1
            ),
        },
    ),
    "check_nearest": Answers(
        lambda q, p, k: of_cosines(q, p).topk(k).indices,
        {
            "These are dot": lambda q, p, k: torch.einsum("qd,pd->qp", q, p).argsort(
                descending=True
            )[:, :k],
            "farthest": lambda q, p, k: of_cosines(q, p).argsort(-1)[:, :k],
            "nearest one comes last": lambda q, p, k: of_cosines(q, p).argsort(-1)[:, -k:],
            "These are the cosines": lambda q, p, k: of_cosines(q, p).topk(k).values,
            "Your passage indices": lambda q, p, k: 1 + of_cosines(q, p).topk(k).indices,
            "You use the": lambda q, p, k: torch.stack(
                [of_cosines(q, p).sum(0).topk(k).indices] * len(q)
            ),
            "nearest questions": lambda q, p, k: (
                of_cosines(p, q).sort(dim=1, descending=True).indices[:, :k]
            ),
            "nearest by distance": lambda q, p, k: torch.cdist(q, p).argsort(-1)[:, :k],
        },
    ),
}
