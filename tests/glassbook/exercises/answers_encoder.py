"""Right and wrong answers to the exercises of the encoder's chapters."""

import math
from itertools import pairwise

import torch
import torch.nn.functional as F
from answers import Answers

from glassformer.inference.sentence_embeddings import mean_pool
from glassformer.layers.multihead import split_heads
from glassformer.layers.norms import layer_norm
from glassformer.layers.positions import SinusoidalPositions
from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder


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


def hidden_one_by_one(score, ids, mask_id):
    whole = score(ids)
    changed = [torch.tensor(ids.tolist()) for _ in ids]
    for place, row in enumerate(changed):
        row[place] = mask_id
    return torch.tensor([whole - score(row) for row in changed])


def hidden_more_and_more(score, ids, mask_id):
    row = torch.tensor(ids.tolist())
    falls = []
    for place in range(len(ids)):
        row[place] = mask_id
        falls.append(score(ids) - score(row))
    return torch.tensor(falls)


def kept_alone(score, ids, mask_id):
    falls = []
    for place, token in enumerate(ids.tolist()):
        row = torch.full_like(ids, mask_id)
        row[place] = token
        falls.append(score(ids) - score(row))
    return torch.tensor(falls)


def shortened(score, ids, mask_id):
    tokens = ids.tolist()
    without = (tokens[:i] + tokens[i + 1 :] for i in range(len(tokens)))
    return torch.tensor([score(ids) - score(torch.tensor(row)) for row in without])


def network(x, w_in, b_in, w_out, b_out, bend=F.gelu):
    return bend(x @ w_in.T + b_in) @ w_out.T + b_out


def centred(x):
    return x - x.mean(-1, keepdim=True)


def deviation(x, **choices):
    return x.std(-1, keepdim=True, **choices)


def post_norm(x, attend, feed, norm_1, norm_2):
    attended = norm_1(attend(x) + x)
    return norm_2(feed(attended) + attended)


def pre_norm(x, attend, feed, norm_1, norm_2):
    found = attend(norm_1(x))
    return x + found + feed(norm_2(x + found))


def overwritten(x, attend, feed, norm_1, norm_2):
    """The stream itself is normed, so that the residual is that of the normed copy."""
    x = norm_1(x)
    x = x + attend(x)
    x = norm_2(x)
    return x + feed(x)


def sine_table(length, d_model, angle_of=lambda i, c, d: i / 10000 ** (2 * c / d)):
    """Number by number."""
    rows = [
        [(math.cos if k % 2 else math.sin)(angle_of(i, k // 2, d_model)) for k in range(d_model)]
        for i in range(length)
    ]
    return torch.tensor(rows)


def blind_by_swaps(model, hidden):
    """Every two words change places in turn."""
    for a in range(len(hidden)):
        for b in range(a):
            order = list(range(len(hidden)))
            order[a], order[b] = b, a
            if not torch.allclose(model(hidden[order]), model(hidden)[order], atol=1e-9):
                return False
    return True


def stacked(hidden, layers, layer=post_norm):
    for parts in layers:
        hidden = layer(hidden, *parts)
    return hidden


def one_after_another(hidden, layers):
    return torch.stack([post_norm(hidden, *parts) for parts in layers])[-1]


def returned_early(hidden, layers):
    for parts in layers:
        return post_norm(hidden, *parts)


def counted(vocab_size, d_model, d_ff, num_layers, max_positions, num_token_types, skip=()):
    """Built on the device that has shapes and no numbers; `skip` leaves out parts by name."""
    config = TransformerConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        num_heads=1,
        num_layers=num_layers,
        d_ff=d_ff,
        max_positions=max_positions,
        num_token_types=num_token_types,
    )
    with torch.device("meta"):
        model = TransformerEncoder(config)
    return sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if not any(part in name for part in skip)
    )


def with_a_pooler(vocab_size, d_model, *sizes):
    pooler = torch.nn.Linear(d_model, d_model)
    return counted(vocab_size, d_model, *sizes) + pooler.weight.numel() + pooler.bias.numel()


def count_without(*skip):
    return lambda *sizes: counted(*sizes, skip=skip)


def summed_rows(hidden, attention_mask):
    return torch.einsum("bsd,bs->bd", hidden, attention_mask.double())


def right_log_probs(logits, labels):
    return torch.log_softmax(logits, -1).gather(1, labels[:, None]).squeeze(1)


def neighbors(words, rule=lambda pieces, times: [times] * (len(pieces) - 1)):
    """How often each pair occurs; `rule` says what each place of a word adds."""
    found = {}
    for pieces, times in words:
        for i, added in enumerate(rule(pieces, times)):
            found[pieces[i], pieces[i + 1]] = found.get((pieces[i], pieces[i + 1]), 0) + added
    return found


def top(found):
    return sorted(found.items(), key=lambda item: (-item[1], *item[0]))[0][0]


def only_new(pieces, times):
    """What each place adds, where a pair counts at its first place in the word alone."""
    pairs = list(pairwise(pieces))
    return [times * (pairs.index(pair) == i) for i, pair in enumerate(pairs)]


def run_together(words):
    row = []
    for pieces, times in words:
        for _ in range(times):
            row += pieces
    return top(neighbors([(row, 1)]))


def unordered(words):
    found = {}
    for (a, b), times in neighbors(words).items():
        key = (min(a, b), max(a, b))
        found[key] = found.get(key, 0) + times
    return top(found)


def per_piece(words):
    often = {}
    for pieces, times in words:
        for piece in pieces:
            often[piece] = often.get(piece, 0) + times
    return top({(a, b): n / (often[a] * often[b]) for (a, b), n in neighbors(words).items()})


def cut_first(word, vocabulary, begun=False):
    """The longest beginning, then the rest in the same way."""
    if not word:
        return []
    for length in range(len(word), 0, -1):
        piece = ("##" if begun else "") + word[:length]
        if piece in vocabulary:
            rest = cut_first(word[length:], vocabulary, begun=True)
            return ["[UNK]"] if rest == ["[UNK]"] else [piece, *rest]
    return ["[UNK]"]


def plainly(word, vocabulary):
    """Pieces looked up and listed without their marks."""
    pieces = []
    while word:
        fits = [word[:n] for n in range(len(word), 0, -1) if word[:n] in vocabulary]
        if not fits:
            return ["[UNK]"]
        pieces.append(fits[0])
        word = word[len(fits[0]) :]
    return pieces


def marked(word, vocabulary, shortest=False, gap=lambda pieces: ["[UNK]"]):
    """Pieces with their marks; `gap` says what is returned where nothing fits."""
    pieces, known = [], {*vocabulary}
    while word:
        mark = "##" if pieces else ""
        lengths = [n for n in range(1, len(word) + 1) if mark + word[:n] in known]
        if not lengths:
            return gap(pieces)
        length = min(lengths) if shortest else max(lengths)
        pieces.append(mark + word[:length])
        word = word[length:]
    return pieces


def right_to_left(word, vocabulary):
    if not word:
        return []
    for start in range(len(word)):
        piece = word[start:] if start == 0 else "##" + word[start:]
        if piece in vocabulary:
            rest = right_to_left(word[:start], vocabulary)
            return ["[UNK]"] if rest == ["[UNK]"] else [*rest, piece]
    return ["[UNK]"]


def every_cut(word, vocabulary, begun=False):
    if not word:
        yield []
    for length in range(1, len(word) + 1):
        piece = "##" * begun + word[:length]
        if piece in vocabulary:
            for rest in every_cut(word[length:], vocabulary, begun=True):
                yield [piece, *rest]


ENCODER = {
    "check_one_hot": Answers(
        loops_one_hot,
        {
            "the other way around": lambda ids, n: torch.eye(n)[ids].transpose(1, 2),
            "The ones are": lambda ids, n: torch.eye(n)[ids - 1],
            "You sum over": lambda ids, n: torch.eye(n)[ids].sum(dim=1),
            "are swapped": lambda ids, n: (ids[..., None] != torch.arange(n)).double(),
            r"end with \.double\(\)": lambda ids, n: torch.eye(n, dtype=torch.long)[ids],
            "The id itself": lambda ids, n: torch.zeros(*ids.shape, n).scatter(
                2, ids[..., None], ids[..., None].double()
            ),
            r"at \[0, 0, \d+\], your answer has 0, but it should have 1": one_hot_from_one,
        },
    ),
    "check_embed": Answers(
        gathered_rows,
        {
            "positions are missing": lambda ids, t, p: F.embedding(ids, t),
            "Every token gets position 0": lambda ids, t, p: t[ids] + p[:1],
            "Your positions start": lambda ids, t, p: t[ids] + p[torch.arange(1, ids.shape[1] + 1)],
            "row by the token's id": lambda ids, t, p: t[ids] + p.repeat(2, 1)[ids],
            "tokens are missing": lambda ids, t, p: p[: ids.shape[1]].repeat(len(ids), 1, 1),
            "You multiply the": lambda ids, t, p: t[ids].mul(p[: ids.shape[1]]),
        },
    ),
    "check_most_frequent_pair": Answers(
        lambda words: top(neighbors(words)),
        {
            "You count every": lambda words: top(neighbors([(p, 1) for p, _ in words])),
            "take the last": lambda words: sorted(
                (n, pair) for pair, n in neighbors(words).items()
            )[-1][1],
            "take the one": lambda words: max(neighbors(words), key=neighbors(words).get),
            "a pair only": lambda words: top(neighbors(words, only_new)),
            "its reverse": unordered,
            "You count pairs": run_together,
            "You split the": lambda words: top(neighbors([([*"".join(p)], n) for p, n in words])),
            "rarest": lambda words: sorted((n, pair) for pair, n in neighbors(words).items())[0][1],
            "You divide the": per_piece,
            "These are the": lambda words: "{}{}".format(*top(neighbors(words))),
        },
    ),
    "check_longest_match": Answers(
        cut_first,
        {
            "The pieces after": plainly,
            "The pieces are": lambda word, vocabulary: (
                " ".join(cut_first(word, vocabulary)).replace("##", "").split()
            ),
            "shortest piece": lambda word, vocabulary: marked(word, vocabulary, shortest=True),
            "You keep the": lambda word, vocabulary: marked(
                word, vocabulary, gap=lambda pieces: [*pieces, "[UNK]"]
            ),
            "You skip letters": lambda word, vocabulary: cut_first(
                word.replace("q", ""), vocabulary
            ),
            "from the end of the word": right_to_left,
            "fewest pieces": lambda word, vocabulary: min(
                every_cut(word, vocabulary), key=len, default=["[UNK]"]
            ),
            "give up on a word": lambda word, vocabulary: (
                [{word: word}.get(word)] if word in vocabulary else ["[UNK]"]
            ),
        },
    ),
    "check_softmax": Answers(
        lambda s: (s - s.logsumexp(-1, keepdim=True)).exp(),
        {
            "The columns sum to one": lambda s: s.transpose(-1, -2).softmax(-1).transpose(-1, -2),
            "All weights together": lambda s: s.flatten().exp().div(s.exp().sum()).view(s.shape),
            "exp of a": lambda s: s.exp() / s.exp().sum(-1)[..., None],
            "take exp first": lambda s: s / s.sum(dim=-1, keepdim=True),
            "The rows don't": lambda s: torch.exp(s - s.max(-1, keepdim=True).values),
            "logarithms": lambda s: s - s.logsumexp(-1, keepdim=True),
            "keys compete": lambda s: 1 / (1 + torch.exp(-s)),
            "your answer has inf": lambda s: s.exp() / 0,
            "your answer has 0.3333": lambda s: torch.full_like(s, 1 / 3),
        },
    ),
    "check_attention": Answers(
        loops_attention,
        {
            "The scores aren't": lambda q, k, v: torch.einsum(
                "...qk,...kd->...qd", torch.einsum("...qd,...kd->...qk", q, k).softmax(-1), v
            ),
            "scores by head_dim": lambda q, k, v: (q / q.shape[-1] @ k.mT).softmax(-1) @ v,
            "You multiply the": lambda q, k, v: (q @ k.mT * math.sqrt(q.shape[-1])).softmax(-1) @ v,
            "scores by the": lambda q, k, v: (q @ k.mT / math.sqrt(k.shape[-2])).softmax(-1) @ v,
            "along the queries": lambda q, k, v: (
                (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-2) @ v
            ),
            "Query and key are swapped": lambda q, k, v: F.scaled_dot_product_attention(k, q, v),
            "These are the weights": lambda q, k, v: torch.softmax(
                q @ k.mT / q.shape[-1] ** 0.5, dim=-1
            ),
            "There's no softmax": lambda q, k, v: q @ (k.mT @ v) / math.sqrt(q.shape[-1]),
            "You average the": lambda q, k, v: F.scaled_dot_product_attention(q, k, k),
        },
    ),
    "check_split_heads": Answers(
        split_heads,
        {
            "The shape is": lambda x, n: x.view(x.shape[0], n, x.shape[1], -1),
            "swap axes 1 and 2": lambda x, n: x.view(*x.shape[:2], n, -1),
            "numbers from all over": lambda x, n: torch.stack(
                [x[..., h::n] for h in range(n)], dim=1
            ),
            "last two axes are swapped": lambda x, n: x.unflatten(-1, (n, -1)).permute(0, 2, 3, 1),
            "Every head gets the whole": lambda x, n: torch.stack([x] * n, dim=1),
        },
    ),
    "check_multi_head": Answers(
        heads_in_turn,
        {
            "only head_dim wide": lambda x, q, k, v, o, n: heads_in_turn(x, q / n**0.5, k, v, o, n),
            "The scores aren't": lambda x, q, k, v, o, n: heads_in_turn(
                x, q * (x.shape[-1] / n) ** 0.5, k, v, o, n
            ),
            "w_o, is missing": unprojected_heads,
            "mixes up the words": tangled_heads,
            "This is a": lambda x, q, k, v, o, n: loops_attention(x @ q.T, x @ k.T, x @ v.T) @ o.T,
            "The weights have": lambda x, q, k, v, o, n: heads_in_turn(x, q.T, k.T, v.T, o.T, n),
            "swapped their projections": lambda x, q, k, v, o, n: heads_in_turn(x, k, q, v, o, n),
            "You don't project": lambda x, q, k, v, o, n: heads_in_turn(
                x, q, k, torch.eye(x.shape[-1]), o, n
            ),
        },
    ),
    "check_received": Answers(
        lambda w: torch.einsum("lhqk->k", w) / (w.shape[0] * w.shape[1]),
        {
            "is in its column": lambda w: w.mean(0).mean(0).sum(1),
            "sum over the words": lambda w: w.flatten(0, 2).mean(0),
            "You sum the": lambda w: torch.einsum("lhqk->k", w),
            "The diagonal holds": lambda w: torch.einsum("lhqq->q", w) / w[:, :, 0, 0].numel(),
            "Only the last layer": lambda w: w[-1].mean(0).sum(0),
            "Only the first head": lambda w: w[:, 0].mean(0).sum(0),
            r"the first token, gives": lambda w: w[:, :, 0].mean((0, 1)),
        },
    ),
    "check_leave_one_out": Answers(
        hidden_one_by_one,
        {
            "sign is flipped": lambda s, ids, m: -hidden_one_by_one(s, ids, m),
            "stay hidden in later rounds": hidden_more_and_more,
            "You cut the": shortened,
            "How far is each below the whole": lambda s, ids, m: (
                s(ids) - hidden_one_by_one(s, ids, m)
            ),
            "sign is lost": lambda s, ids, m: abs(hidden_one_by_one(s, ids, m)),
            "You keep only": kept_alone,
        },
    ),
    "check_gelu": Answers(
        lambda x: x * torch.distributions.Normal(0.0, 1.0).cdf(x),
        {
            "This is ReLU": lambda x: x.clamp(min=0),
            "is the tanh": lambda x: (
                x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
            ),
            "is the sigmoid": lambda x: x / (1 + torch.exp(-1.702 * x)),
            "This is SiLU": lambda x: x / (1 + torch.exp(-x)),
            "Multiply it by x": lambda x: torch.special.ndtr(x),
            "Pass x / √2 to erf": lambda x: x * torch.special.ndtr(x * math.sqrt(2)),
            "Halve it": lambda x: x * (1 + torch.erf(x / math.sqrt(2))),
            "This is tanh": lambda x: torch.special.expit(2 * x) * 2 - 1,
        },
    ),
    "check_feed_forward": Answers(
        network,
        {
            "together they're one": lambda x, w, b, v, c: x @ (v @ w).T + v @ b + c,
            "ReLU; BERT uses GELU": lambda *given: network(*given, bend=torch.relu),
            "first bias is missing": lambda x, w, b, v, c: F.gelu(x @ w.T) @ v.T + c,
            "second bias is missing": lambda x, w, b, v, c: F.gelu(x @ w.T + b) @ v.T,
            "after the second layer": lambda *given: F.gelu(network(*given)),
            "before the first layer": lambda x, w, b, v, c: network(
                F.gelu(x), w, b, v, c, bend=lambda h: h
            ),
            "encoder layer adds the residual": lambda x, *rest: network(x, *rest) + x,
            "You average the words": lambda x, *rest: torch.stack(
                [network(x.sum(1) / x.shape[1], *rest)] * x.shape[1], dim=1
            ),
        },
    ),
    "check_layer_norm": Answers(
        layer_norm,
        {
            "run along the words": lambda x, w, b, eps: (
                w * F.layer_norm(x.mT, x.shape[-2:-1], eps=eps).mT + b
            ),
            "whole sentence": lambda x, w, b, eps: w * F.layer_norm(x, x.shape[-2:], eps=eps) + b,
            "correction=0": lambda x, w, b, eps: (
                w * centred(x) / (deviation(x) ** 2 + eps).sqrt() + b
            ),
            "under the root": lambda x, w, b, eps: (
                w * centred(x) / (deviation(x, correction=0) + eps) + b
            ),
            "You divide by": lambda x, w, b, eps: (
                w * centred(x) / (deviation(x, correction=0) ** 2 + eps) + b
            ),
            "Subtract the mean": lambda x, w, b, eps: (
                w * x / (deviation(x, correction=0) ** 2 + eps).sqrt() + b
            ),
            "bias is missing": lambda x, w, b, eps: layer_norm(x, w, torch.zeros_like(b), eps),
            "weight is missing": lambda x, w, b, eps: layer_norm(x, torch.ones_like(w), b, eps),
            "eps is missing": lambda x, w, b, eps: w * centred(x) / deviation(x, correction=0) + b,
        },
    ),
    "check_pre_norm": Answers(
        pre_norm,
        {
            "This is post-norm": post_norm,
            "You add to": overwritten,
            "around attention is missing": lambda x, a, f, n, m: a(n(x)) + f(m(a(n(x)))),
            "around the feed-forward network is missing": lambda x, a, f, n, m: f(m(x + a(n(x)))),
            "Neither sub-layer has": lambda x, a, f, n, m: f(m(a(n(x)))),
            "reads the layer's input": lambda x, a, f, n, m: f(m(x)) + a(n(x)) + x,
            "norms are swapped": lambda x, a, f, n, m: pre_norm(x, a, f, m, n),
            "no norms at all": lambda x, a, f, n, m: x + a(x) + f(x + a(x)),
            "before the feed-forward network is missing": lambda x, a, f, n, m: (
                x + a(n(x)) + f(x + a(n(x)))
            ),
        },
    ),
    "check_sinusoids": Answers(
        lambda length, d_model: SinusoidalPositions(length, d_model).table,
        {
            "Marian": lambda n, d: SinusoidalPositions(n, d, interleaved=False).table,
            "Your cosines come first": lambda n, d: (
                sine_table(n, d).view(n, -1, 2).flip(-1).view(n, d)
            ),
            "start at 0; yours start at 1": lambda n, d: sine_table(n + 1, d)[1:],
            "turn too fast": lambda n, d: sine_table(n, d, lambda i, c, d: i / 10000 ** (c / d)),
            "too slowly": lambda n, d: sine_table(n, d, lambda i, c, d: i / 10000 ** (4 * c / d)),
            "lacks its minus": lambda n, d: sine_table(
                n, d, lambda i, c, d: i * 10000 ** (2 * c / d)
            ),
            "turn at the same speed": lambda n, d: sine_table(n, d, lambda i, c, d: i),
            "yours are swapped": lambda n, d: sine_table(n, d).T,
            r"at \[\d+, \d+\], your answer has": lambda n, d: sine_table(
                n, d, lambda i, c, d: i / 1000 ** (2 * c / d)
            ),
        },
    ),
    "check_order_blind": Answers(
        blind_by_swaps,
        {
            "the same way before you compare": lambda model, x: torch.allclose(
                model(x[::2].new_tensor(x.flip(0).tolist())), model(x)
            ),
            "Reversing is only": lambda model, x: torch.allclose(
                model(x.flip(0)).flip(0), model(x)
            ),
            "every model passes": lambda model, x: torch.allclose(model(x), model(x.clone())),
            "No model passes": lambda model, x: model(x).shape != x.shape,
            "True and False are swapped": lambda model, x: not blind_by_swaps(model, x),
            "You move every": lambda model, x: torch.allclose(
                model(x.roll(1, 0)), model(x).roll(1, 0)
            ),
        },
    ),
    "check_stack": Answers(
        stacked,
        {
            "This is pre-norm": lambda h, layers: stacked(h, layers, pre_norm),
            "residuals are missing": lambda h, layers: stacked(
                h, layers, lambda x, a, f, n, m: m(f(n(a(x))))
            ),
            "The norms are": lambda h, layers: stacked(
                h, layers, lambda x, a, f, n, m: x + a(x) + f(x + a(x))
            ),
            "norm after attention": lambda h, layers: stacked(
                h, layers, lambda x, a, f, n, m: m(x + a(x) + f(x + a(x)))
            ),
            "Every layer reads the input": one_after_another,
            "return inside the loop": returned_early,
            "from last to first": lambda h, layers: stacked(h, reversed(layers)),
            "again and again": lambda h, layers: stacked(h, [layers[0] for _ in layers]),
        },
    ),
    "check_count": Answers(
        counted,
        {
            "biases are missing": count_without("proj.bias", "in.bias", "out.bias"),
            "The norms are missing": count_without("norm"),
            "The embeddings' norm": count_without("embeddings.norm"),
            "The layers' norms": count_without("attention_norm", "forward_norm"),
            "You count one": count_without("attention_norm"),
            "positions are missing": count_without("positions"),
            "token types are missing": count_without("token_types"),
            "You count only": lambda v, d, f, n, p, t: counted(v, d, f, 1, p, t),
            "Attention's output projection": count_without("out_proj"),
            "You count a": with_a_pooler,
            "your answer is": count_without("tokens"),
        },
    ),
    "check_mean_pool": Answers(
        mean_pool,
        {
            "You average the": lambda h, m: h.sum(1) / h.shape[1],
            "You set padding": lambda h, m: summed_rows(h, m) / m.shape[1],
            "This is the sum": summed_rows,
            "This is the first vector": lambda h, m: h.select(1, 0),
            "is the maximum": lambda h, m: torch.stack(
                [row[: int(n)].max(0).values for row, n in zip(h, m.sum(1), strict=True)]
            ),
            "runs along d_model": lambda h, m: h.mean(dim=2),
            "You divide every": lambda h, m: summed_rows(h, m) / m.count_nonzero(),
            "You average all": lambda h, m: mean_pool(h, m).mean(0).repeat(len(h), 1),
        },
    ),
    "check_cross_entropy": Answers(
        lambda logits, labels: -right_log_probs(logits, labels).mean(),
        {
            "minus is missing": lambda z, y: right_log_probs(z, y).mean(),
            "You sum the": lambda z, y: -right_log_probs(z, y).sum(),
            "one number per example": lambda z, y: -right_log_probs(z, y),
            "log is missing": lambda z, y: -right_log_probs(z, y).exp().mean(),
            "along the batch": lambda z, y: F.nll_loss(F.log_softmax(z, 0), y),
            "softmax is missing": lambda z, y: F.nll_loss(z, y),
            "only the right one counts": lambda z, y: -F.log_softmax(z, 1).sum(1).mean(),
            "use log_softmax": lambda z, y: (
                -torch.log(torch.softmax(z, 1)[torch.arange(len(y)), y]).mean()
            ),
            "base 2": lambda z, y: -right_log_probs(z, y).mean() / math.log(2),
        },
    ),
}
