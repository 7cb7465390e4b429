"""Train a model: losses, the loop, and LoRA."""

from glassformer.training.loop import fit, fit_language_model, warmup_linear_decay
from glassformer.training.lora import LoRALinear, adapter_state, add_lora, merge_lora
from glassformer.training.losses import (
    answer_log_probs,
    answer_loss,
    dpo_loss,
    next_token_loss,
    shift_targets,
    warmup_decay,
)

__all__ = [
    "LoRALinear",
    "adapter_state",
    "add_lora",
    "answer_log_probs",
    "answer_loss",
    "dpo_loss",
    "fit",
    "fit_language_model",
    "merge_lora",
    "next_token_loss",
    "shift_targets",
    "warmup_decay",
    "warmup_linear_decay",
]
