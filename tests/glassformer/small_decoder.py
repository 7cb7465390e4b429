"""A small decoder of ours with random weights."""

import torch

from glassformer import TransformerConfig, TransformerForCausalLM

CONFIG = TransformerConfig(
    vocab_size=101,
    d_model=21,
    num_heads=3,
    num_layers=5,
    d_ff=37,
    max_positions=23,
    norm="rms",
    norm_first=True,
    num_token_types=0,
    initializer_range=0.3,
)


def weighted(config):
    """A model whose norms are not all ones, so that none of them can be left out."""
    model = TransformerForCausalLM(config).double().eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter += torch.randn_like(parameter) * 0.1
    return model
