"""Counted operations, against those that PyTorch counts when the model runs."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from glassformer.models.config import TransformerConfig
from glassformer.models.flops import flops
from glassformer.models.task_models import TransformerForCausalLM

SIZES = {"vocab_size": 23, "d_model": 24, "num_heads": 6, "num_layers": 3, "d_ff": 31}


def test_operations_are_those_that_torch_counts(subtests):
    for change in (
        {},
        {"num_kv_heads": 2, "bias": False, "norm": "rms", "norm_first": True},
        {"gated": True, "head_dim": 8, "embedding_norm": False, "num_token_types": 0},
        {"qkv_bias": False, "out_bias": True, "positions": "rotary"},
    ):
        with subtests.test(change=change):
            config = TransformerConfig(**SIZES, **change, tie_embeddings=True)
            model = TransformerForCausalLM(config).eval()
            counter = FlopCounterMode(display=False)
            with counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
                model(torch.tensor([[3, 5, 7, 11]]))
            assert counter.get_total_flops() == 4 * sum(flops(config, 4, writes=True).values())
