"""A decoding step with explicit keys and values, against the model with its own cache."""

import pytest
import torch

from glassbook.live.decoder import DecoderStep
from glassformer import TransformerConfig, TransformerForCausalLM
from glassformer.interpret.recording import record

VOCAB, LAYERS = 11, 3


def make(**changes):
    sizes = {"vocab_size": VOCAB, "d_model": 20, "num_heads": 5, "num_layers": LAYERS, "d_ff": 17}
    config = TransformerConfig(**sizes, norm_first=True, num_token_types=0, **changes)
    return TransformerForCausalLM(config).eval()


KINDS = {
    "sinusoidal positions": {"positions": "sinusoidal"},
    "rotary positions, shared keys": {"positions": "rotary", "head_dim": 4, "num_kv_heads": 1},
}


@torch.inference_mode()
@pytest.mark.parametrize("kind", KINDS)
def test_steps_give_what_the_model_gives(kind):
    """At whatever place the text is cut in two, or not cut at all."""
    model = make(**KINDS[kind])
    ids = torch.randint(VOCAB, (1, 7))
    logits = model(ids)[0, -1:]
    with record(model) as tape:
        model(ids)
    weights = [tape[f"decoder.layers.{k}.attention.weights"][0, :, -1] for k in range(LAYERS)]
    step = DecoderStep(model)
    for cut in (0, 1, 4, 6):
        kept = step.example(past=0, new=1)
        given = [kept["keys"], kept["values"]]
        if cut:
            *_, keys, values = step(ids[:, :cut], *given, kept["layers"])
            given = [keys, values]
        result = step(ids[:, cut:], *given, kept["layers"])
        torch.testing.assert_close(result[0], logits, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(result[1], torch.stack(weights), atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_the_output_layer_reads_the_layers_that_are_asked_for():
    model = make(positions="sinusoidal")
    ids = torch.randint(VOCAB, (1, 7))
    states = []
    for layer in model.decoder.layers:
        layer.register_forward_hook(lambda module, inputs, output: states.append(output[0, -1]))
    model(ids)
    wanted = model.lm_head(model.decoder.final_norm(torch.stack(states)))
    step = DecoderStep(model)
    given = step.example(past=0, new=1) | {"input_ids": ids, "layers": torch.tensor([2, 0])}
    torch.testing.assert_close(step(**given)[0], wanted[[2, 0]], atol=1e-5, rtol=1e-5)
