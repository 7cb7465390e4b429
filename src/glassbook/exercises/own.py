"""The last exercises: the reader's own file has a whole model in it, equal to a published one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassbook.exercises.every import checkers
from glassbook.exercises.keeping import defined, kept
from glassbook.exercises.verdict import Verdict
from glassbook.smollm import language_checkpoint
from glassformer import default_checkpoint, load, tokenizer


@dataclass(frozen=True)
class WholeModel:
    """A checker of a file whose functions together are a published model.

    Attributes:
        asks: What the model returns.
        pieces: The functions, each with its checker and its chapter.
        checkpoint: Finds the published model.
        auto: The class in transformers that loads it.
    """

    asks: str
    pieces: dict[str, tuple[str, str]]
    checkpoint: Callable[[], Path]
    auto: str

    def __call__(self, file: str, whole: Callable[..., Tensor]) -> Verdict:
        """Find a missing or wrong piece; if there's none, compare `whole(ids, weights, config)`.

        Raises:
            CheckpointError: The published model isn't here; the message says how to get it.
        """
        if not Path(file).exists():
            says = f"There's no {file} in this folder. The exercises before this one write it."
            return Verdict(False, f"Nothing to check yet. {says}")
        mine = defined(kept(Path(file).read_text(encoding="utf-8"), whole), file)
        for name, (checker, chapter) in self.pieces.items():
            where = f"It's an exercise in the chapter {chapter}."
            if name not in mine:
                return Verdict(False, f"Not yet. {name} is missing from {file}.", (where,))
            if not (verdict := checkers()[checker](mine[name])):
                return Verdict(False, f"Not yet. {name} in {file} is wrong.", (verdict.says, where))
        with torch.inference_mode():
            return self._compared(mine, file, whole)

    def _compared(self, mine: dict[str, Any], file: str, whole: Callable[..., Tensor]) -> Verdict:
        """Run both models on a text."""
        import transformers

        checkpoint, name = self.checkpoint(), whole.__name__
        model, words = load(checkpoint), tokenizer(checkpoint)
        reference = getattr(transformers, self.auto).from_pretrained(
            checkpoint, dtype=torch.float32
        )
        text, given = "The opposite of hot is", (model.state_dict(), model.config)
        ids = words(text, return_tensors="pt")["input_ids"]
        theirs = reference(ids)[0]
        apart = (mine[name](ids, *given) - theirs).abs().max().item()
        if not apart < 1e-5 * theirs.abs().max():
            says = f"Not yet. All pieces are right, but {self.asks} differ by up to {apart:.0e}."
            return Verdict(False, says, (f"Compare {name} with the page's.",))
        if "write_greedily" in self.pieces:
            write, run = mine["write_greedily"], lambda row: mine[name](row[None], *given)[0]
            text = str(words.decode(write(run, ids[0], 2, words.eos_token_id)))
        says = f"Right. {file} equals transformers: {self.asks} differ by at most {apart:.0e}."
        return Verdict(True, says, (f"The text: {text!r}",), whole)


equals_minilm = WholeModel(
    "hidden states",
    {
        "token_and_position": ("check_embed", "Tokens and embeddings"),
        "attention_from_memory": ("check_attention", "Attention"),
        "into_heads": ("check_split_heads", "Many heads"),
        "up_and_down": ("check_feed_forward", "Feed-forward"),
        "norm_by_hand": ("check_layer_norm", "Norms and residuals"),
        "run_layers": ("check_stack", "The whole encoder"),
    },
    default_checkpoint,
    "AutoModel",
)
equals_smollm2 = WholeModel(
    "logits",
    {
        "pre_norm_layer": ("check_pre_norm", "Norms and residuals"),
        "mask_of_a_decoder": ("check_decoder_mask", "Masks"),
        "write_greedily": ("check_greedy", "Generation"),
        "heads_that_share": ("check_grouped", "The KV cache"),
        "turn_pairs": ("check_rotary", "Rotary positions"),
        "rms_by_hand": ("check_rms_norm", "The modern block"),
        "open_and_close": ("check_gated", "The modern block"),
    },
    language_checkpoint,
    "AutoModelForCausalLM",
)
