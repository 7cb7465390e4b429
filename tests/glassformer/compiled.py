"""Models compiled as one graph give what they give otherwise, and can still be recorded.

Run in a process of its own, since checked signatures cannot be compiled: with the name of a
backend, and those of the models.
"""

import sys

import torch
from small_models import small_model
from torch._dynamo.utils import counters

from glassformer import Transformer, TransformerConfig, TransformerEncoder, from_hf, record

torch.manual_seed(0)
LENGTHS = torch.tensor([[11], [7], [3], [2], [1]])
IDS, MASK = torch.randint(101, (5, 11)), (torch.arange(11) < LENGTHS).long()
SIZES = {"d_model": 24, "num_heads": 3, "num_layers": 2, "d_ff": 37, "vocab_size": 101}


def check(backend, model, *inputs):
    """Compile a model, and compare what it gives, compiled, with what it gives otherwise."""
    compiled = torch.compile(model.eval(), fullgraph=True, backend=backend)
    with torch.no_grad():
        expected, output = model(*inputs), compiled(*inputs)
        graphs = counters["stats"]["unique_graphs"]
        with record(compiled) as tape:
            recorded = compiled(*inputs)
        assert counters["stats"]["unique_graphs"] == graphs > 0, "recording compiled again"
    torch.testing.assert_close(output, expected, rtol=0, atol=2e-5)
    torch.testing.assert_close(recorded, expected, rtol=0, atol=2e-5)
    return tape


def encoder(backend):
    model = TransformerEncoder(TransformerConfig(**SIZES))
    assert len(check(backend, model, IDS, MASK, MASK).attentions) == 2


def pre_norm(backend):
    model = TransformerEncoder(TransformerConfig(**SIZES, norm_first=True))
    assert len(check(backend, model, IDS).attentions) == 2


def transformer(backend):
    decoder = TransformerConfig(**SIZES, num_token_types=0, cross_attention=True)
    config = TransformerConfig(**SIZES, num_token_types=0, decoder=decoder, share_embeddings=True)
    source = torch.randint(101, (5, 13))
    read = (torch.arange(13) < torch.tensor([[2], [13], [1], [5], [7]])).long()
    tape = check(backend, Transformer(config), source, IDS, read, MASK)
    assert len(tape.cross_attentions) == 2


def heads(backend):
    for task in ("SequenceClassification", "MaskedLM", "NextSentencePrediction"):
        check(backend, from_hf(small_model(f"BertFor{task}")), IDS, MASK, MASK)


def llama(backend):
    model = from_hf(small_model("LlamaForCausalLM", std=0.15, num_key_value_heads=2))
    check(backend, model, IDS)
    check(backend, model, IDS, MASK.flip(1))


if __name__ == "__main__":
    backend, *names = sys.argv[1:]
    for name in names:
        globals()[name](backend)
    print("equal")
