"""Checkpoints of one process. That other numbers of them can read them is in test_parallel."""

from dataclasses import replace

import pytest
from parallel_worker import CONFIG, batch, build, optimizer_of

from glassformer.distributed.sharded_checkpoints import load_sharded, newest_step, save_sharded
from glassformer.models.task_models import TransformerForCausalLM


def trained():
    model = build()
    optimizer = optimizer_of(model)
    model(batch(0)).logsumexp(-1).sum().backward()
    optimizer.step()
    return model, optimizer


def test_weights_and_the_optimizers_state_come_back(tmp_path):
    model, optimizer = trained()
    save_sharded(tmp_path, 7, model, optimizer)
    other = build()
    again = optimizer_of(other)
    assert not other.lm_head.weight.equal(model.lm_head.weight)
    load_sharded(tmp_path, 7, other, again)
    for name, value in model.state_dict().items():
        assert other.state_dict()[name].equal(value)
    for p, q in zip(model.parameters(), other.parameters(), strict=True):
        assert optimizer.state[p]["exp_avg"].equal(again.state[q]["exp_avg"])
        assert again.state[q]["step"] == 1


def test_the_newest_checkpoint_is_the_last_whole_one(tmp_path):
    assert newest_step(tmp_path) == 0
    assert newest_step(tmp_path / "missing") == 0
    for step in (5, 11):
        save_sharded(tmp_path, step, *trained())
    assert newest_step(tmp_path) == 11
    (tmp_path / "step-000011" / ".metadata").unlink()  # as if its writing had been cut off
    assert newest_step(tmp_path) == 5


def test_a_checkpoint_of_another_shape_is_refused(tmp_path, subtests):
    for changes, message in [
        ({"d_ff": 29}, r"feed_forward.gate_proj.weight has shape \(29, 13\) in the model and \(28"),
        ({"num_layers": 7}, r"layers.5.attention.q_proj.weight has shape .* and no value in the"),
    ]:
        with subtests.test(changes=changes, message=message):
            save_sharded(tmp_path, 3, *trained())
            model = TransformerForCausalLM(replace(CONFIG, **changes))
            before = {name: value.clone() for name, value in model.state_dict().items()}
            with pytest.raises(ValueError, match=message):
                load_sharded(tmp_path, 3, model, optimizer_of(model))
            assert all(value.equal(before[name]) for name, value in model.state_dict().items())
