import math
import threading

import pytest
import torch
from torch import nn

from glassformer import (
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    TransformerDecoder,
    TransformerEncoder,
    record,
)

BATCH, SEQ, HEADS, HEAD_DIM, LAYERS = 5, 11, 3, 7, 2
D_MODEL = HEADS * HEAD_DIM


@pytest.fixture
def encoder():
    config = TransformerConfig(
        vocab_size=101,
        d_model=D_MODEL,
        num_heads=HEADS,
        num_layers=LAYERS,
        d_ff=37,
        max_positions=23,
        initializer_range=0.3,
    )
    return TransformerEncoder(config).double().eval()


@pytest.fixture
def inputs():
    lengths = torch.tensor([[11], [7], [3], [2], [1]])
    return torch.randint(101, (BATCH, SEQ)), (torch.arange(SEQ) < lengths).long()


def state(model):
    """Everything that recording might leave behind."""
    return [
        (
            name,
            sorted(set(vars(m)) - {"recorder"}),
            getattr(m, "recorder", None),
            len(m._forward_hooks),
            len(m._forward_pre_hooks),
        )
        for name, m in model.named_modules()
    ]


def test_every_step_of_an_attention_is_on_the_tape(encoder, inputs):
    with record(encoder) as tape:
        encoder(*inputs)
    step = {name: tape[f"layers.1.attention.{name}"] for name in ("query", "key", "value")}
    per_head = (BATCH, HEADS, SEQ, HEAD_DIM)
    assert all(tensor.shape == per_head for tensor in step.values())
    attention, read = encoder.layers[1].attention, tape["layers.0.output"]
    query = attention.q_proj(read).view(BATCH, SEQ, HEADS, HEAD_DIM).transpose(1, 2)
    assert torch.equal(step["query"], query)
    scores = step["query"] @ step["key"].mT / math.sqrt(HEAD_DIM)
    scores = scores.masked_fill(inputs[1][:, None, None, :] == 0, -math.inf)
    torch.testing.assert_close(tape["layers.1.attention.scores"], scores)
    weights = scores.softmax(-1)
    torch.testing.assert_close(tape["layers.1.attention.weights"], weights)
    output = weights @ step["value"]
    torch.testing.assert_close(tape["layers.1.attention.output"], output)
    merged = output.transpose(1, 2).reshape(BATCH, SEQ, D_MODEL)
    projected = attention.out_proj(merged)
    torch.testing.assert_close(tape["layers.1.attention.out_proj.output"], projected)


def test_every_other_module_gives_its_output(encoder, inputs):
    with record(encoder) as tape:
        output = encoder(*inputs)
    for name, module in encoder.named_modules():
        if not isinstance(module, nn.ModuleList | MultiHeadAttention):
            assert f"{name}.output".lstrip(".") in tape
    assert torch.equal(tape["output"], output)
    torch.testing.assert_close(output, encoder(*inputs), rtol=0, atol=1e-12)  # by another kernel
    layer = encoder.layers[0].feed_forward
    inner = tape["layers.0.feed_forward.activation.output"]
    torch.testing.assert_close(layer.down_proj(inner), tape["layers.0.feed_forward.output"])


def test_hidden_states_are_the_embeddings_and_each_layers_output(encoder, inputs):
    with record(encoder) as tape:
        output = encoder(*inputs)
    assert len(tape.hidden_states) == LAYERS + 1
    assert torch.equal(tape.hidden_states[0], encoder.embeddings(inputs[0]))
    assert torch.equal(tape.hidden_states[-1], output)


def test_nothing_is_left_behind(encoder, inputs):
    before = state(encoder)
    with record(encoder):
        encoder(*inputs)
        assert state(encoder) != before
    assert state(encoder) == before
    with pytest.raises(RuntimeError, match="stop"), record(encoder):
        raise RuntimeError("stop")
    assert state(encoder) == before


def test_nothing_of_an_earlier_pass_stays_where_a_later_one_does_not_come():
    class Skips(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x, deep):
            return self.second(self.first(x)) if deep else self.first(x)

    model = Skips()
    with record(model) as tape:
        model(torch.ones(2, 3), deep=True)
        assert set(tape) == {"first.output", "second.output", "output"}
        model(torch.ones(2, 3), deep=False)
    assert set(tape) == {"first.output", "output"}


def test_the_tape_outlives_the_recording_and_is_detached(encoder, inputs):
    with record(encoder) as tape:
        encoder(*inputs).sum().backward()
    assert not any(tensor.requires_grad for tensor in tape.values())
    assert encoder.layers[0].attention.q_proj.weight.grad.ne(0).any()


def test_recordings_can_be_nested(encoder, inputs):
    with record(encoder) as outer:
        with record(encoder.layers[1]) as inner:
            encoder(*inputs)
        encoder(*inputs)
    assert torch.equal(inner["attention.weights"], outer["layers.1.attention.weights"])
    assert len(outer.attentions) == LAYERS


def test_weights_are_recorded_before_dropout(encoder, inputs):
    for layer in encoder.layers:
        layer.attention.dropout = 0.5
        layer.attention.train()
    with record(encoder) as tape:
        encoder(*inputs)
    sums = tape.attentions[0].sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


@pytest.fixture
def translator():
    """An encoder of two layers and three heads, a decoder of one layer and seven heads."""
    sizes = {"d_model": D_MODEL, "d_ff": 37, "max_positions": 23, "num_token_types": 0}
    decoder = TransformerConfig(
        vocab_size=103, num_heads=HEAD_DIM, num_layers=1, cross_attention=True, **sizes
    )
    return Transformer(
        TransformerConfig(
            vocab_size=101, num_heads=HEADS, num_layers=LAYERS, decoder=decoder, **sizes
        )
    ).eval()


def test_a_decoder_alone_and_under_a_head_has_its_own_attentions(translator, inputs):
    config = TransformerConfig(
        vocab_size=101, d_model=D_MODEL, num_heads=HEADS, num_layers=LAYERS, d_ff=37
    )
    head = nn.ModuleDict({"decoder": TransformerDecoder(config)})
    with record(head) as tape:
        head["decoder"](inputs[0])
    shapes = [(BATCH, HEADS, SEQ, SEQ)] * LAYERS
    for weights in (tape.attentions, tape.decoder_attentions):
        assert [w.shape for w in weights] == shapes
    assert len(tape.hidden_states) == len(tape.decoder_hidden_states) == LAYERS + 1
    memory = torch.randn(BATCH, 13, D_MODEL)
    with record(translator.decoder) as tape:
        translator.decoder(inputs[0], memory=memory)
    assert [w.shape for w in tape.attentions] == [(BATCH, HEAD_DIM, SEQ, SEQ)]
    assert [w.shape for w in tape.cross_attentions] == [(BATCH, HEAD_DIM, SEQ, 13)]
    assert [h.shape for h in tape.hidden_states] == [(BATCH, SEQ, D_MODEL)] * 2


def test_what_was_not_recorded_is_never_silently_empty(encoder, inputs, subtests):
    with record(encoder) as empty:
        pass
    with record(encoder) as tape:
        encoder(*inputs)
    rows = [
        (empty, "attentions", r"no attention was recorded; call the model inside"),
        (empty, "hidden_states", "no layer was recorded"),
        (tape, "decoder_attentions", "no decoder attention was recorded"),
        (tape, "decoder_hidden_states", "no decoder layer was recorded"),
        (tape, "cross_attentions", "no cross-attention was recorded"),
    ]
    for asked, name, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            getattr(asked, name)
    with pytest.raises(KeyError, match="nothing was recorded; call the model inside"):
        empty["layers.0.attention.weights"]
    with pytest.raises(KeyError, match=r"not recorded; close matches: layers.0.attention.weights"):
        tape["layer.0.attention.weights"]
    assert "layers.0.attention.weights" in tape
    assert "layers.1.attention.weights: (5, 3, 11, 11)" in repr(tape)


def test_models_of_others_can_be_looked_into():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU())
    with record(model) as tape:
        model(torch.randn(2, 3))
    assert {path: tuple(tensor.shape) for path, tensor in tape.items()} == {
        "0.output": (2, 5),
        "1.output": (2, 5),
        "output": (2, 5),
    }


def test_recording_works_in_a_thread(encoder, inputs):
    shapes = []

    def run():
        with record(encoder) as tape:
            encoder(*inputs)
        shapes.extend(weights.shape for weights in tape.attentions)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert shapes == [(BATCH, HEADS, SEQ, SEQ)] * LAYERS
