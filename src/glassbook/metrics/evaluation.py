"""How good translations are, and how well attention aligns their words."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import torch
from jaxtyping import Float
from tokenizers import Tokenizer
from torch import Tensor

from glassbook.corpora.grammar import Pair
from glassbook.recipes.translation import END, PAD, START, encode
from glassformer.inference.generation import generate
from glassformer.interpret.recording import record
from glassformer.models.transformer import Transformer
from glassformer.training.losses import shift_targets

LONGEST = 32  # tokens of a translation


def translate(
    model: Transformer,
    tokenizers: tuple[Tokenizer, Tokenizer],
    sentences: Sequence[str],
    *,
    batch_size: int = 250,
) -> list[str]:
    """Translate the sentences, always choosing the likeliest next token.

    Sentences of similar length share a batch, so none waits for a much longer one.
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
    """Return the share of sentences that are right word for word, ignoring case.

    Raises:
        ValueError: There isn't one translation for each pair, or there are no pairs.
    """
    if not pairs or len(translations) != len(pairs):
        raise ValueError(
            f"expected one translation for each pair, got {len(translations)} for {len(pairs)} "
            "pairs"
        )
    wanted = (pair.english.lower() for pair in pairs)
    return sum(ours == theirs for ours, theirs in zip(translations, wanted, strict=True)) / len(
        pairs
    )


def dictionary(pairs: Iterable[Pair]) -> dict[str, str]:
    """Map each German word to the English word that it's most often linked to."""
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        german, english = pair.german.lower().split(), pair.english.lower().split()
        for i, j in sorted(pair.sure):
            seen[german[j]][english[i]] += 1
    return {word: counts.most_common(1)[0][0] for word, counts in seen.items()}


def word_for_word(sentence: str, dictionary: Mapping[str, str]) -> str:
    """Look up each German word, in German order; leave out those that the dictionary lacks."""
    words = sentence.lower().split()
    return " ".join(dictionary[word] for word in words if word in dictionary)


def cross_attention(
    model: Transformer, tokenizers: tuple[Tokenizer, Tokenizer], pair: Pair
) -> Float[Tensor, "layers heads english german"]:
    """Return the attention weights to the German words as each English word is predicted.

    A word's row holds the weights at the position that predicts it, one before its own. The last
    column is for [END].

    Shapes: (layers, heads, English words, German words + 1).
    """
    german, english = tokenizers
    device = next(model.parameters()).device
    given, _ = shift_targets(encode(english, [pair.english]).to(device))
    with record(model) as tape, torch.no_grad():
        model(encode(german, [pair.german]).to(device), given)
    # The last row predicts [END], which isn't a word of the pair.
    return torch.cat(tape.cross_attentions)[:, :, :-1].cpu()


def links_of(weights: Float[Tensor, "english german"]) -> set[tuple[int, int]]:
    """Link each English word to the German position with its largest weight."""
    return set(enumerate(weights.argmax(dim=-1).tolist()))


def alignment_error(found: Sequence[set[tuple[int, int]]], pairs: Sequence[Pair]) -> float:
    """Return the alignment error rate: 0 if every sure link was found and no impossible one.

    Let `A` be the links that were found, `S` the sure links, and `P` the possible links of all
    pairs. The error rate is `1 - (|A & S| + |A & P|) / (|A| + |S|)`.

    Raises:
        ValueError: There isn't one set of links for each pair, or there are no links.

    Source: Och and Ney 2003, section 6.
    """
    hits = total = 0
    for links, pair in zip(found, pairs, strict=True):
        hits += len(links & pair.sure) + len(links & pair.possible)
        total += len(links) + len(pair.sure)
    if total == 0:
        raise ValueError(f"{len(pairs)} pairs have no links")
    return 1 - hits / total
