"""Small random models of transformers, each axis with a size of its own, and what they put out.

Classes are named, and not imported: only what makes a model waits for all that transformers loads.
"""

from typing import Any

import torch
import transformers

from glassformer import from_hf

VOCAB = 101
TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-10}
CLOSE = {"rtol": 0.0, "atol": TOLERANCE[torch.float32]}
# What is computed is compared in float64, for six seeds; the type, for one in float32.
SEEDS = [*((seed, torch.float64) for seed in range(6)), (0, torch.float32)]

BERT: dict[str, Any] = {
    **{"vocab_size": VOCAB, "hidden_size": 21, "num_attention_heads": 3, "num_hidden_layers": 2},
    **{"intermediate_size": 37, "max_position_embeddings": 23, "type_vocab_size": 5},
}
LLAMA: dict[str, Any] = {
    **{"vocab_size": VOCAB, "hidden_size": 84, "intermediate_size": 37, "eos_token_id": None},
    **{"num_hidden_layers": 3, "num_attention_heads": 6, "max_position_embeddings": 61},
}
SIZES: dict[str, dict[str, Any]] = {
    "bert": BERT,
    "roberta": BERT | {"max_position_embeddings": 13, "type_vocab_size": 1},
    "distilbert": {
        **{"vocab_size": VOCAB, "dim": 21, "n_heads": 3, "n_layers": 2, "hidden_dim": 37},
        "max_position_embeddings": 23,
    },
    "gpt2": {
        **{"vocab_size": VOCAB, "n_positions": 43, "n_embd": 35, "n_layer": 2, "n_head": 5},
        **{"bos_token_id": 1, "eos_token_id": 2},
    },
    "llama": LLAMA,
    "mistral": LLAMA | {"num_key_value_heads": 2, "sliding_window": 5},
    "qwen2": LLAMA | {"num_key_value_heads": 2},
    "qwen3": LLAMA | {"num_key_value_heads": 2, "head_dim": 10},
    "vit": {
        **{"hidden_size": 21, "num_attention_heads": 3, "num_hidden_layers": 2},
        **{"intermediate_size": 37, "image_size": [19, 29], "patch_size": [5, 7]},
        "num_channels": 2,
    },
    "marian": {
        **{"vocab_size": VOCAB, "pad_token_id": 100, "decoder_start_token_id": 1, "d_model": 24},
        **{"encoder_attention_heads": 2, "decoder_attention_heads": 3, "encoder_layers": 1},
        **{"decoder_layers": 2, "encoder_ffn_dim": 37, "decoder_ffn_dim": 29},
        "max_position_embeddings": 19,
    },
}


def small_config(name, **changes):
    """Make the configuration of a class of transformers, in small."""
    kind = getattr(transformers, name).config_class
    return kind(**SIZES[kind.model_type] | changes)


def small_model(name, *, std=0.3, **changes):
    """Make a random model of a class of transformers, in eval mode, nothing left at zero or one."""
    return randomized(getattr(transformers, name)(small_config(name, **changes)), std)


def randomized(theirs, std):
    """Put the model in eval mode, with all weights that are trained drawn anew."""
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            if parameter.requires_grad:
                parameter.normal_(
                    1.0 if name.endswith(("norm.weight", "ln_f.weight")) else 0.0, std
                )
    return theirs.eval()


def keep_norms_exact(monkeypatch):
    """Let the norms of transformers' decoders compute in float64 where a model is of it.

    They compute in float32 otherwise, and no model could be compared with them to 1e-10.
    """

    def forward(self, hidden):
        wide = hidden if hidden.dtype == torch.float64 else hidden.float()
        size = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * (wide * size).to(hidden.dtype)

    for name in ("Llama", "Mistral", "Qwen2", "Qwen3"):
        module = getattr(getattr(transformers.models, name.lower()), f"modeling_{name.lower()}")
        monkeypatch.setattr(getattr(module, f"{name}RMSNorm"), "forward", forward)


def answer(theirs, *inputs, **named):
    """Return what a model of transformers puts out: logits, or the last hidden state."""
    output = theirs(*inputs, **named)
    return output["logits" if "logits" in output else "last_hidden_state"]


def check_gradients(ours, theirs, tolerance, skipped=()):
    """Compare our gradients with theirs, carried over as if they were weights."""
    for parameter in theirs.parameters():
        parameter.data = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    expected = dict(from_hf(theirs).named_parameters())
    for name, parameter in ours.named_parameters():
        if name in skipped:
            continue
        assert parameter.grad.ne(0).any() or name.endswith("k_proj.bias"), name
        largest = expected[name].abs().max().clamp(min=1)
        assert (parameter.grad - expected[name]).abs().max() / largest < tolerance, name
