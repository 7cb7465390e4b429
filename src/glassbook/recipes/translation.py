"""A translator from German to English, trained on the corpus that the grammar generates."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import torch
from jaxtyping import Int
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordLevel
from tokenizers.trainers import WordLevelTrainer
from torch import Tensor, nn

from glassbook.corpora.grammar import Pair
from glassbook.corpora.translation_corpus import make_corpus
from glassformer.models.config import TransformerConfig
from glassformer.models.transformer import Transformer
from glassformer.training.loop import Report, fit
from glassformer.training.losses import next_token_loss, shift_targets, warmup_decay

SPECIAL_TOKENS = ["[PAD]", "[START]", "[END]", "[UNK]"]
PAD = 0
START = 1
END = 2
UNKNOWN = 3

D_MODEL = 128
EPOCHS, BATCH = 2, 48
WARMUP, SCALE = 200, 0.75
SMOOTHING = 0.1


@lru_cache(maxsize=1)
def tokenizers() -> tuple[Tokenizer, Tokenizer]:
    """Return the German and the English tokenizer, one token per word, from the training pairs."""
    pairs = make_corpus().train
    return (
        word_tokenizer((pair.german for pair in pairs), "$A [END]"),
        word_tokenizer((pair.english for pair in pairs), "[START] $A [END]"),
    )


def word_tokenizer(sentences: Iterable[str], template: str) -> Tokenizer:
    """Return a tokenizer with one token for each word of the sentences, in lowercase.

    The template says which special tokens frame a sentence, `$A`.
    """
    made = Tokenizer(WordLevel(unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.train_from_iterator(sentences, WordLevelTrainer(special_tokens=SPECIAL_TOKENS))
    frame = [("[START]", START), ("[END]", END)]
    made.post_processor = processors.TemplateProcessing(single=template, special_tokens=frame)
    made.enable_padding(pad_id=PAD, pad_token="[PAD]")
    return made


def encode(tokenizer: Tokenizer, sentences: Sequence[str]) -> Int[Tensor, "batch seq"]:
    """Return the ids of the sentences, padded on the right to the longest of them."""
    return torch.tensor([encoding.ids for encoding in tokenizer.encode_batch(list(sentences))])


def build() -> Transformer:
    """Build the untrained translator: two layers per stack, a token table for each language."""
    german, english = tokenizers()
    one = TransformerConfig(
        vocab_size=german.get_vocab_size(),
        d_model=D_MODEL,
        num_heads=4,
        num_layers=2,
        d_ff=2 * D_MODEL,
        activation="relu",
        norm_eps=1e-5,
        norm_first=True,  # it learns in fewer steps than post-norm
        positions="sinusoidal",
        max_positions=64,
        num_token_types=0,
        scale_embeddings=True,
        embedding_norm=False,
        dropout=0.0,  # no sentence is read often enough to be memorized
        attn_dropout=0.0,
        pad_token_id=PAD,
        initializer_range=D_MODEL**-0.5,  # scaled, a vector is about as long as a position's
    )
    other = replace(one, vocab_size=english.get_vocab_size(), cross_attention=True)
    return Transformer(replace(one, decoder=other))


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train on the corpus; return the loss and the learning rate of each step."""
    german, english = tokenizers()
    device = next(model.parameters()).device
    pairs = make_corpus().train
    steps = EPOCHS * -(-len(pairs) // BATCH)

    def rate(step: int) -> float:
        rate = warmup_decay(step + 1, d_model=D_MODEL, warmup_steps=WARMUP)
        return rate * (SCALE * (1 - (step + 1) / (steps + 1)))  # linear decay to almost 0

    def loss_fn(batch: list[Pair]) -> Tensor:
        source = encode(german, [pair.german for pair in batch]).to(device)
        target = encode(english, [pair.english for pair in batch]).to(device)
        given, wanted = shift_targets(target)
        logits = model(source, given, source != PAD)  # (batch, tgt_len, vocab)
        return next_token_loss(logits, wanted, pad_token_id=PAD, label_smoothing=SMOOTHING)

    optimizer = torch.optim.Adam(
        model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    losses = fit(
        model,
        batches(pairs),
        loss_fn,
        optimizer,
        share=rate,  # of 1
        report=lambda step, text: report(step, steps, text),
    )
    return {"loss": losses, "rate": [rate(step) for step in range(steps)]}


def batches(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield batches of pairs of similar length, in a new random order each epoch."""
    for _ in range(EPOCHS):
        order = torch.randperm(len(pairs)).tolist()
        order.sort(key=lambda i: len(pairs[i].english.split()) + len(pairs[i].german.split()))
        starts = torch.arange(0, len(order), BATCH)
        for start in starts[torch.randperm(len(starts))].tolist():
            yield [pairs[i] for i in order[start : start + BATCH]]


def data() -> Iterable[bytes]:
    """Return the pairs of the corpus."""
    return [f"{pair.german}\t{pair.english}\n".encode() for pair in make_corpus().train]
