"""A small GPT: a decoder that learns to tell the stories, one word at a time."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor, nn

from glassbook.corpora.stories import PAD, make_stories, story_bytes, tokenizer
from glassformer.models.config import TransformerConfig
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.training.loop import Report, fit_language_model
from glassformer.training.losses import next_token_loss, shift_targets

D_MODEL = 64
STEPS, BATCH = 800, 16
RATE = 0.006


def build() -> TransformerForCausalLM:
    """Build the untrained model: GPT-2 with two layers of four heads and sinusoidal positions.

    Learning positions would take up a good part of such a short training run.
    """
    return TransformerForCausalLM(
        TransformerConfig(
            vocab_size=tokenizer().get_vocab_size(),
            d_model=D_MODEL,
            num_heads=4,
            num_layers=2,
            d_ff=4 * D_MODEL,
            activation="gelu_tanh",
            norm_eps=1e-5,
            norm_first=True,
            positions="sinusoidal",
            max_positions=64,
            scale_embeddings=True,
            embedding_norm=False,
            num_token_types=0,
            dropout=0.0,
            attn_dropout=0.0,
            initializer_range=D_MODEL**-0.5,  # scaled, a vector is about as long as a position's
        )
    )


def encode(texts: Sequence[str]) -> Int[Tensor, "batch seq"]:
    """Return the ids of whole stories, with [END] before and after, padded on the right."""
    framed = [f"[END] {text} [END]" for text in texts]
    encodings = tokenizer().encode_batch(framed, add_special_tokens=False)
    return torch.tensor([encoding.ids for encoding in encodings])


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train on whole stories to predict the next word at each position; return each step's loss."""
    stories = encode([story.text for story in make_stories()["train"]])
    device = next(model.parameters()).device

    batches = (stories[torch.randint(len(stories), (BATCH,))] for _ in range(STEPS))

    def loss_fn(batch: Int[Tensor, "batch seq"]) -> Tensor:
        given, wanted = shift_targets(batch.to(device))
        return next_token_loss(model(given), wanted, pad_token_id=PAD)

    losses = fit_language_model(model, batches, loss_fn, steps=STEPS, rate=RATE, report=report)
    return {"loss": losses}


def data() -> Iterable[bytes]:
    """Return the stories."""
    return [story_bytes()]
