"""BERT's first task on a small scale: an encoder learns to guess hidden words of the stories."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from glassbook.corpora.stories import MASK, SPECIAL, encode, make_stories, story_bytes, tokenizer
from glassformer.models.config import TransformerConfig
from glassformer.models.task_models import TransformerForMaskedLM
from glassformer.text.mlm_masking import IGNORE_INDEX, mask_tokens
from glassformer.training.loop import Report, fit_language_model

D_MODEL = 64
STEPS, BATCH = 1000, 16
RATE = 0.005
SHARE = 0.3  # of the words to hide: twice BERT's, so each step teaches twice as much


def build() -> TransformerForMaskedLM:
    """Build the untrained model: BERT with two layers of four heads."""
    return TransformerForMaskedLM(
        TransformerConfig(
            vocab_size=tokenizer().get_vocab_size(),
            d_model=D_MODEL,
            num_heads=4,
            num_layers=2,
            d_ff=4 * D_MODEL,
            max_positions=64,
            dropout=0.0,
            attn_dropout=0.0,
            initializer_range=0.07,  # BERT's 0.02, scaled to this width: 0.02 * sqrt(768 / 64)
        )
    )


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train on halves of stories and, equally often, single sentences; return each step's loss."""
    stories = make_stories()["train"]
    halves = encode([story.halves for story in stories])
    single = encode([sentence for story in stories for sentence in story.sentences])
    size, device = tokenizer().get_vocab_size(), next(model.parameters()).device

    def draw() -> tuple[dict[str, Tensor], Tensor]:
        texts = halves if torch.rand(()) < 0.5 else single
        rows = torch.randint(len(texts["input_ids"]), (BATCH,))
        batch = {name: part[rows] for name, part in texts.items()}
        batch["input_ids"], labels = mask_tokens(
            batch["input_ids"],
            mask_token_id=MASK,
            special_ids=SPECIAL,
            vocab_size=size,
            share=SHARE,
        )
        return batch, labels

    def loss_fn(drawn: tuple[dict[str, Tensor], Tensor]) -> Tensor:
        batch, labels = drawn
        logits = model(**{name: part.to(device) for name, part in batch.items()})
        return cross_entropy(
            logits.flatten(0, 1),  # (batch · seq, vocab)
            labels.flatten().to(device),
            ignore_index=IGNORE_INDEX,
        )

    batches = (draw() for _ in range(STEPS))
    losses = fit_language_model(model, batches, loss_fn, steps=STEPS, rate=RATE, report=report)
    return {"loss": losses}


@torch.no_grad()
def guesses(
    model: TransformerForMaskedLM, text: str | tuple[str, str], count: int = 3
) -> list[tuple[str, float]]:
    """Return the likeliest words for the [MASK] in a text or a pair, with their probabilities.

    Raises:
        ValueError: The text doesn't have exactly one [MASK].
    """
    batch = encode([text])
    hidden = batch["input_ids"][0] == MASK
    if hidden.sum() != 1:
        raise ValueError(f"text ({text!r}) must have one [MASK], got {int(hidden.sum())}")
    device = next(model.parameters()).device
    logits = model(**{name: part.to(device) for name, part in batch.items()})[0, hidden][0].cpu()
    best = logits.softmax(-1).topk(count)
    words = (
        tokenizer().decode([token], skip_special_tokens=False) for token in best.indices.tolist()
    )
    return list(zip(words, best.values.tolist(), strict=True))


def data() -> Iterable[bytes]:
    """Return the stories."""
    return [story_bytes()]
