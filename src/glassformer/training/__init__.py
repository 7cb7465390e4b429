"""Train a model: losses, the loop, and LoRA."""

from glassformer.training.loop import at_most, fit, fit_language_model, one_thread, slope
from glassformer.training.lora import LoRALinear, adapter_state, add_lora, merge_lora
from glassformer.training.losses import next_token_loss, shift_targets, warmup_decay

__all__ = [
    "LoRALinear",
    "adapter_state",
    "add_lora",
    "at_most",
    "fit",
    "fit_language_model",
    "merge_lora",
    "next_token_loss",
    "one_thread",
    "shift_targets",
    "slope",
    "warmup_decay",
]
