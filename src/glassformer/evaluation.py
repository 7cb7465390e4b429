"""How good a translation is, and whether attention finds the words that belong together."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import torch
from jaxtyping import Float
from tokenizers import Tokenizer
from torch import Tensor

from glassformer.generation import generate
from glassformer.grammar import Pair
from glassformer.probe import record
from glassformer.training import shift_targets
from glassformer.transformer import Transformer
from glassformer.translation import END, PAD, START, encode

LONGEST = 32  # tokens of a translation


def translate(
    model: Transformer,
    tokenizers: tuple[Tokenizer, Tokenizer],
    sentences: Sequence[str],
    *,
    batch_size: int = 250,
) -> list[str]:
    """Translate, each token the likeliest after those before it.

    Sentences of about one length are written together: none waits for a longer one.
    """
    german, english = tokenizers
    device = next(model.parameters()).device
    found: dict[int, str] = {}
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i].split()))
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        source = encode(german, [sentences[i] for i in batch]).to(device)
        written = generate(
            model,
            source,
            attention_mask=source != PAD,
            max_new_tokens=LONGEST,
            eos_token_id=END,
            pad_token_id=PAD,
            decoder_start_token_id=START,
        )
        found |= zip(batch, english.decode_batch(written.tolist()), strict=True)
    return [found[i] for i in range(len(sentences))]


def exact_match(translations: Sequence[str], pairs: Sequence[Pair]) -> float:
    """Return the share of sentences that are right word for word, in any letters.

    Raises:
        ValueError: there are not as many translations as pairs, or none.
    """
    if not pairs or len(translations) != len(pairs):
        raise ValueError(f"{len(translations)} translations cannot be held to {len(pairs)} pairs")
    wanted = (pair.english.lower() for pair in pairs)
    return sum(ours == theirs for ours, theirs in zip(translations, wanted, strict=True)) / len(
        pairs
    )


def dictionary(pairs: Iterable[Pair]) -> dict[str, str]:
    """For each German word the English one that it is most often linked to."""
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        german, english = pair.german.lower().split(), pair.english.lower().split()
        for i, j in sorted(pair.sure):
            seen[german[j]][english[i]] += 1
    return {word: counts.most_common(1)[0][0] for word, counts in seen.items()}


def word_for_word(sentence: str, dictionary: Mapping[str, str]) -> str:
    """Each German word looked up, in German order; what the dictionary lacks is left out."""
    words = sentence.lower().split()
    return " ".join(dictionary[word] for word in words if word in dictionary)


def cross_attention(
    model: Transformer, tokenizers: tuple[Tokenizer, Tokenizer], pair: Pair
) -> Float[Tensor, "layers heads english german"]:
    """Return the weights with which each English word, as it is written, looks at the German ones.

    The row of a word is that of the position that predicts it, one place before its own. The
    column of [END] stays in, as the last one.

    Shapes: (layers, heads, English words, German words + 1).
    """
    german, english = tokenizers
    device = next(model.parameters()).device
    given, _ = shift_targets(encode(english, [pair.english]).to(device))
    with record(model) as tape, torch.no_grad():
        model(encode(german, [pair.german]).to(device), given)
    # The last row predicts [END], which is no word of the pair.
    return torch.cat(tape.cross_attentions)[:, :, :-1].cpu()


def links_of(weights: Float[Tensor, "english german"]) -> set[tuple[int, int]]:
    """Each English word with the German position that has the most of its attention."""
    return set(enumerate(weights.argmax(dim=-1).tolist()))


def alignment_error(found: Sequence[set[tuple[int, int]]], pairs: Sequence[Pair]) -> float:
    """Return the alignment error rate: 0 where every sure link was found, and nothing impossible.

    With `A` for what was found, `S` for the sure and `P` for the possible links, over all pairs
    together, it is `1 - (|A & S| + |A & P|) / (|A| + |S|)`.

    Raises:
        ValueError: there are not as many sets of links as pairs, or no link at all.

    Source: Och and Ney 2003, section 6.
    """
    hits = total = 0
    for links, pair in zip(found, pairs, strict=True):
        hits += len(links & pair.sure) + len(links & pair.possible)
        total += len(links) + len(pair.sure)
    if total == 0:
        raise ValueError(f"{len(pairs)} pairs have no link to be found")
    return 1 - hits / total
