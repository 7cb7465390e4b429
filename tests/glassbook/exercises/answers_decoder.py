"""Right and wrong answers to the exercises of the decoder's chapters."""

import math

import torch
import torch.nn.functional as F
from answers import Answers

from glassformer.inference.generation import token_probabilities
from glassformer.layers.attention import attention_weights, softmax_rows
from glassformer.layers.masks import causal_mask, combine_masks, padding_mask
from glassformer.training.losses import next_token_loss, shift_targets


def pair_by_pair(attention_mask):
    """Each pair asked by itself."""
    batch, seq = attention_mask.shape
    mask = torch.zeros(batch, 1, seq, seq, dtype=torch.bool)
    for b in range(batch):
        for query in range(seq):
            for key in range(query + 1):
                mask[b, 0, query, key] = attention_mask[b, key] == 1
    return mask


def of_both(attention_mask):
    return combine_masks(causal_mask(attention_mask.shape[1]), padding_mask(attention_mask))


def look(query, key, value, **choices):
    return attention_weights(query, key, **choices) @ value


def across(hidden, memory, w_q, w_k, w_v):
    return look(hidden @ w_q.T, memory @ w_k.T, memory @ w_v.T)


def three_steps(hidden, memory, attend, attend_across, feed, norm_1, norm_2, norm_3):
    first = norm_1(attend(hidden) + hidden)
    second = norm_2(attend_across(first, memory) + first)
    return norm_3(feed(second) + second)


def across_first(x, m, attend, attend_across, feed, norm_1, norm_2, norm_3):
    first = norm_1(attend_across(x, m) + x)
    second = norm_2(attend(first) + first)
    return norm_3(feed(second) + second)


def nothing_kept_across(x, m, attend, attend_across, feed, norm_1, norm_2, norm_3):
    second = norm_2(attend_across(norm_1(attend(x) + x), m))
    return norm_3(feed(second) + second)


def memory_asks(x, m, attend, attend_across, feed, norm_1, norm_2, norm_3):
    first = norm_1(attend(x) + x)
    second = norm_2(attend_across(m, first) + first)
    return norm_3(feed(second) + second)


def norms_first(x, m, attend, attend_across, feed, norm_1, norm_2, norm_3):
    first = x + attend(norm_1(x))
    second = first + attend_across(norm_2(first), m)
    return second + feed(norm_3(second))


def deaf(x, m, attend, attend_across, feed, norm_1, norm_2, norm_3):
    first = norm_1(attend(x) + x)
    return norm_3(feed(first) + first)


def one_norm(x, m, attend, attend_across, feed, norm_1, norm_2, norm_3):
    first = attend(x) + x
    second = attend_across(first, m) + first
    return norm_3(feed(second) + second)


def both_read_the_same(x, m, attend, attend_across, feed, norm_1, norm_2, norm_3):
    first = norm_1(attend(x) + x)
    second = norm_2(attend_across(x, m) + first)
    return norm_3(feed(second) + second)


def memory_kept(x, m, attend, attend_across, feed, norm_1, norm_2, norm_3):
    """The residual is that of the memory."""
    first = norm_1(attend(x) + x)
    second = norm_2(attend_across(first, m) + m)
    return norm_3(feed(second) + second)


def place_by_place(logits, labels, pad_token_id):
    """The losses of the real labels, each by itself, in a list for each sentence."""
    return [
        [
            float(row.logsumexp(0) - row[label])
            for row, label in zip(rows, wanted.tolist(), strict=True)
            if label != pad_token_id
        ]
        for rows, wanted in zip(logits, labels, strict=True)
    ]


def flat_loss(logits, labels, **choices):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), **choices)


def written(model, ids, count, end, place=-1, best=torch.argmax, stop=True):
    tokens = ids.tolist()
    while len(tokens) < len(ids) + count:
        tokens.append(int(best(model(torch.tensor(tokens))[place])))
        if stop and tokens[-1] == end:
            break
    return torch.tensor(tokens)


def without_end(model, ids, count, end):
    tokens = written(model, ids, count, end)
    return tokens[:-1] if tokens[-1] == end else tokens


def all_at_once(model, ids, count, end):
    order = model(ids)[-1].argsort(descending=True)
    return torch.cat([ids, order[:count]])


def kept_by_mask(logits, p, too_much):
    """Zero where a token's share in the sorted sum is too much, then made to sum to one."""
    chances, order = torch.sort(logits.softmax(-1), dim=-1, descending=True)
    chances = torch.where(too_much(chances.cumsum(-1), chances, p), 0.0, chances)
    chances = chances / chances.sum(-1, keepdim=True)
    return torch.empty_like(chances).scatter(-1, order, chances)


def unsorted(logits, p):
    chances = logits.softmax(-1)
    kept = torch.where(chances.cumsum(-1) - chances < p, chances, 0.0)
    return kept / kept.sum(-1, keepdim=True)


def next_step(x, keys, values, w_q, w_k, w_v):
    """All keys and values, and the attention of one query."""
    keys = torch.cat([keys, F.linear(x, w_k)[None]])
    values = torch.cat([values, F.linear(x, w_v)[None]])
    return look(F.linear(x, w_q)[None], keys, values)[0], keys, values


def of_the_past(x, keys, values, w_q, w_k, w_v):
    _, longer, more = next_step(x, keys, values, w_q, w_k, w_v)
    return look((w_q @ x)[None], keys, values)[0], longer, more


def of_the_first(x, keys, values, w_q, w_k, w_v):
    _, keys, values = next_step(x, keys, values, w_q, w_k, w_v)
    return values[0], keys, values


def in_place_of_the_last(x, keys, values, w_q, w_k, w_v):
    return next_step(x, keys[:-1], values[:-1], w_q, w_k, w_v)


def turned_round(x, keys, values, w_q, w_k, w_v):
    output, keys, values = next_step(x, keys, values, w_q, w_k, w_v)
    return output, keys.roll(1, 0), values.roll(1, 0)


def with_the_vector(x, keys, values, w_q, w_k, w_v):
    keys, values = torch.cat([keys, x[None]]), torch.cat([values, x[None]])
    return look((w_q @ x)[None], keys, values)[0], keys, values


DECODER = {
    "check_decoder_mask": Answers(
        pair_by_pair,
        {
            r"& instead of \|": lambda m: padding_mask(m) | causal_mask(m.shape[1]),
            "keep the diagonal": lambda m: of_both(m) & ~torch.eye(m.shape[1], dtype=torch.bool),
            "Every word sees": lambda m: (
                padding_mask(m) & causal_mask(m.shape[1], m.shape[1] + 1)[:, :-1]
            ),
            "take the lower triangle": lambda m: (
                padding_mask(m) & torch.ones(2 * m.shape[-1:], dtype=torch.bool).triu()
            ),
            "True and False are swapped": lambda m: of_both(m).logical_not(),
            "You mask padding": lambda m: padding_mask(m).transpose(2, 3) & causal_mask(m.shape[1]),
            "Nothing keeps the words from looking at padding": lambda m: torch.stack(
                [causal_mask(m.shape[1])[None]] * len(m)
            ),
            "from looking at the future": lambda m: padding_mask(m).repeat(1, 1, m.shape[1], 1),
            "The heads' axis": lambda m: of_both(m)[:, 0],
        },
    ),
    "check_masked_weights": Answers(
        lambda s, m: softmax_rows(s + torch.where(m, 0.0, -math.inf)),
        {
            "You don't use": lambda s, m: torch.softmax(s, -1),
            "no longer sum to one": lambda s, m: torch.where(m, torch.softmax(s, -1), 0.0),
            "e⁰ is 1": lambda s, m: s.masked_fill(~m, 0).softmax(-1),
            "its softmax is NaN": lambda s, m: (s + m.double().log()).softmax(-1),
            "at nothing looks": lambda s, m: s.masked_fill(~m, -1e9).softmax(-1),
            "True and False are swapped": lambda s, m: softmax_rows(s.masked_fill(m, -math.inf)),
            "Replacing a score": lambda s, m: torch.where(m, s, torch.tensor(-10.0)).softmax(-1),
            "You add the": lambda s, m: torch.softmax(s + m.double(), dim=-1),
            "your answer has": lambda s, m: s.masked_fill(~m, -1.0).softmax(-1),
        },
    ),
    "check_cross_attention": Answers(
        across,
        {
            "the decoder asks": lambda x, m, q, k, v: across(m, x, q, k, v),
            "values come from the decoder": lambda x, m, q, k, v: look(x @ q.T, m @ k.T, x @ v.T),
            "this is self-attention": lambda x, m, q, k, v: look(x @ q.T, x @ k.T, x @ v.T),
            "use the decoder's": lambda x, m, q, k, v: look(m @ q.T, m @ k.T, m @ v.T),
            "There's a causal mask": lambda x, m, q, k, v: F.scaled_dot_product_attention(
                x @ q.T,
                m @ k.T,
                m @ v.T,
                attn_mask=torch.ones(x.shape[1], m.shape[1], dtype=torch.bool).tril(),
            ),
            "The scores aren't": lambda x, m, q, k, v: (
                (x @ q.T @ (m @ k.T).mT).softmax(-1) @ (m @ v.T)
            ),
            "swapped their projections": lambda x, m, q, k, v: across(x, m, q, v, k),
            "The keys come": lambda x, m, q, k, v: across(x, torch.cat([x, m], dim=1), q, k, v),
            "your answer has": lambda x, m, q, k, v: across(x, m, q.T, k.T, v.T),
        },
    ),
    "check_decoder_layer": Answers(
        three_steps,
        {
            "The layer attends": across_first,
            "around cross-attention is missing": nothing_kept_across,
            "The memory provides": memory_asks,
            "This is pre-norm": norms_first,
            "The layer never": deaf,
            "Only the last norm": one_norm,
            "reads the layer's input": both_read_the_same,
            "your answer has": memory_kept,
        },
    ),
    "check_shift": Answers(
        shift_targets,
        {
            "Input and target": lambda ids: shift_targets(ids)[::-1],
            "At each position": lambda ids: (ids.narrow(1, 0, ids.shape[1] - 1),) * 2,
            "You shift the": lambda ids: (
                ids,
                torch.cat([ids[:, 1:], ids[:, :1]], dim=1),
            ),
            "The decoder also": lambda ids: (ids, ids[:, 1:]),
            "You shift along": lambda ids: (ids[:-1], ids[1:]),
            "Your targets are": lambda ids: (
                shift_targets(ids)[0][:, :-1],
                shift_targets(shift_targets(ids)[1])[1],
            ),
        },
    ),
    "check_loss": Answers(
        lambda z, y, pad: next_token_loss(z, y, pad_token_id=pad),
        {
            "You score padding": lambda z, y, pad: flat_loss(z, y),
            "You leave padding": lambda z, y, pad: (
                sum(map(sum, place_by_place(z, y, pad))) / y.numel()
            ),
            "This is the sum": lambda z, y, pad: flat_loss(z, y, ignore_index=pad, reduction="sum"),
            "You score only": lambda z, y, pad: F.cross_entropy(z[y == pad], y[y == pad]),
            "You average each": lambda z, y, pad: (
                sum(sum(row) / len(row) for row in place_by_place(z, y, pad)) / len(y)
            ),
            "by the number of sentences": lambda z, y, pad: (
                sum(map(sum, place_by_place(z, y, pad))) / len(y)
            ),
            "minus is missing": lambda z, y, pad: -next_token_loss(z, y, pad_token_id=pad),
            "You take the": lambda z, y, pad: flat_loss(z, y, ignore_index=0),
        },
    ),
    "check_greedy": Answers(
        written,
        {
            "You read the": lambda *given: written(*given, place=0),
            "least likely": lambda *given: written(*given, best=torch.argmin),
            "Your function continues": lambda *given: written(*given, stop=False),
            "append it before you stop": without_end,
            "prompt is missing": lambda model, ids, n, end: written(model, ids, n, end)[len(ids) :],
            "one token too few": lambda model, ids, n, end: written(model, ids, n - 1, end),
            "You count the": lambda model, ids, n, end: written(model, ids, n - len(ids), end),
            "You choose all": all_at_once,
        },
    ),
    "check_top_p": Answers(
        lambda logits, p: token_probabilities(logits, top_p=p),
        {
            "You drop the": lambda z, p: kept_by_mask(
                z, p, lambda together, chance, p: together > p
            ).nan_to_num(),
            "The probabilities you": lambda z, p: torch.where(
                token_probabilities(z, top_p=p) > 0, z.softmax(-1), 0.0
            ),
            "sort them first": unsorted,
            "Your probabilities are": lambda z, p: (
                -torch.sort(-token_probabilities(z, top_p=p)).values
            ),
            "You compare each": lambda z, p: kept_by_mask(
                z, p, lambda together, chance, p: chance < p
            ).nan_to_num(),
            "You don't drop": lambda z, p: token_probabilities(z),
            "You keep only": lambda z, p: token_probabilities(z, top_k=1),
            "You keep the": lambda z, p: kept_by_mask(
                z, p, lambda together, chance, p: 1 - together >= p
            ),
            "your answer has": lambda z, p: token_probabilities(z, temperature=0.5, top_p=p),
        },
    ),
    "check_cached_step": Answers(
        next_step,
        {
            "new token doesn't": of_the_past,
            "You use the": lambda *given: (next_step(*given)[0], *given[1:3]),
            "With is_causal=True": of_the_first,
            "You overwrite the": in_place_of_the_last,
            "and value come": turned_round,
            "keep its key and its value": with_the_vector,
            "new token attends": lambda *given: (
                given[5] @ given[0],
                *next_step(*given)[1:],
            ),
            "w_q is missing": lambda x, k, v, q, wk, wv: next_step(
                x, k, v, torch.eye(len(q)), wk, wv
            ),
        },
    ),
}
