"""The shapes in the signatures of the core modules are those that they really get and return.

All tests can run with checked signatures (`make test-all` does it); this one always does, in a
process of its own, since the checks slow everything down.
"""

import os
import subprocess
import sys

import pytest

USE = """
import torch
from jaxtyping import TypeCheckError, install_import_hook

install_import_hook("glassformer", "beartype.beartype")
from glassformer import (
    TransformerConfig, TransformerEncoder, TransformerForCausalLM, TransformerForMaskedLM,
    TransformerForSequenceClassification, generate, scaled_dot_product_attention,
)

sizes = {"vocab_size": 23, "d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 17}
ids, mask = torch.randint(23, (2, 5)), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
for make in (TransformerEncoder, TransformerForMaskedLM, TransformerForSequenceClassification):
    make(TransformerConfig(**sizes))(ids, mask).sum().backward()
for extra in ({"norm_first": True}, {"positions": "rotary", "num_kv_heads": 1}):
    model = TransformerForCausalLM(TransformerConfig(**sizes, num_token_types=0, **extra))
    model(ids).sum().backward()
    model.eval()
    for options in ({}, {"num_beams": 2}, {"use_cache": False}):
        generate(model, ids, max_new_tokens=3, **options)
query = torch.rand(2, 3, 5, 4)
scaled_dot_product_attention(query, query, query)
try:
    scaled_dot_product_attention(query, query, query.long())
except TypeCheckError as error:
    assert "value" in str(error)
    print("checked")
"""


@pytest.mark.slow
def test_shapes_in_the_core_modules_are_what_they_get_and_return():
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout.strip() == "checked", done.stderr[-3000:]
