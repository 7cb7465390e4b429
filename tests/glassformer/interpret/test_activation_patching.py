"""Patches against hooks of torch, which change the model while it reads."""

import pytest
import torch
from small_decoder import CONFIG, weighted

from glassformer import record
from glassformer.interpret.activation_patching import patched, read_on

BATCH, SEQ = 2, 13


def recorded(model, ids):
    with record(model) as tape:
        logits = model(ids)
    return tape.hidden_states, logits[:, -1]


def test_reading_on_gives_what_reading_gave():
    model, ids = weighted(CONFIG), torch.randint(101, (BATCH, SEQ))
    states, logits = recorded(model, ids)
    for layer in (0, 3, 5):
        torch.testing.assert_close(read_on(model, states[layer], layer), logits)


def replacing(source, position):
    """A hook that changes what a layer reads at one position."""

    def replace(module, inputs):
        inputs[0][:, position] = source[:, position]

    return replace


def test_a_patched_run_is_one_with_a_hook():
    model = weighted(CONFIG)
    ids, others = torch.randint(101, (2, BATCH, SEQ))
    (states, logits), (source, _) = recorded(model, ids), recorded(model, others)
    for layer, position in [(0, 4), (2, 0), (4, 12)]:
        replace = replacing(source[layer], position)
        hook = model.decoder.layers[layer].register_forward_pre_hook(replace)
        wanted = model(ids)[:, -1]
        hook.remove()
        found = read_on(model, patched(states[layer], source[layer], position), layer)
        torch.testing.assert_close(found, wanted)
        assert not torch.allclose(found, logits, atol=1e-6)


def test_a_patch_changes_one_position_of_a_copy():
    hidden, source = torch.randn(2, 3, 5, 7)
    before = hidden.clone()
    changed = patched(hidden, source, 1)
    assert hidden.equal(before)
    assert changed[:, 1].equal(source[:, 1])
    assert changed[:, [0, 2, 3, 4]].equal(hidden[:, [0, 2, 3, 4]])


def test_what_cannot_be_patched(unhooked):
    with pytest.raises(ValueError, match=r"\(3, 5, 7\) and source of shape \(3, 11, 7\) must be"):
        patched(torch.randn(3, 5, 7), torch.randn(3, 11, 7), 1)
    for position in (-1, 5):
        with pytest.raises(ValueError, match=rf"position \({position}\) must be from 0 to 4"):
            patched(torch.randn(3, 5, 7), torch.randn(3, 5, 7), position)
    for layer in (-1, 6):
        with pytest.raises(ValueError, match=rf"layer \({layer}\) must be from 0 to 5"):
            read_on(weighted(CONFIG), torch.randn(3, 5, 21), layer)
