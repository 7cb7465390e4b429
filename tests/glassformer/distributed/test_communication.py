"""What is sent and held, against arithmetic and torch's own debug mode."""

import pytest
import torch
import torch.distributed as dist
from parallel_worker import CONFIG, batch, build, optimizer_of
from torch.distributed.tensor.debug import CommDebugMode

from glassbook.apps.parallel_training import backward
from glassformer.distributed.communication import CommCounter, fake_process_group, held, replicated
from glassformer.distributed.parallel import shard, tensor_parallel

WEIGHTS = sum(p.numel() for p in build().parameters())
LAYER = sum(p.numel() for p in build().decoder.layers[0].parameters())
LAYERS = CONFIG.num_layers


def measured(part):
    """The traffic of a forward and a backward pass, what torch's debug mode counts, and memory."""
    optimizer = optimizer_of(part)
    with CommDebugMode() as debug, CommCounter() as traffic:
        backward(part, batch(0))
    optimizer.step()
    return traffic, debug.get_total_counts(), held(part, optimizer)


def test_data_parallel_reduces_each_gradient_once():
    with fake_process_group(5):
        traffic, _, memory = measured(replicated(build()))
    assert traffic.about == {"all-reduce": 8 * WEIGHTS}
    assert traffic.sent(5) == pytest.approx(2 * 4 / 5 * 8 * WEIGHTS)
    assert memory == {
        "weights": 8 * WEIGHTS,
        "gradients": 8 * WEIGHTS,
        "states": 16 * WEIGHTS,
    }


def test_sharding_gathers_twice_and_reduces_once():
    with fake_process_group(5) as mesh:
        traffic, count, memory = measured(shard(build(), mesh))
    assert sum(traffic.calls.values()) == count
    gathers, scatters = traffic.about["all-gather"], traffic.about["reduce-scatter"]
    assert traffic.calls["reduce-scatter"] == LAYERS + 1
    assert 1 <= scatters / (8 * WEIGHTS) < 1.15  # rows are padded to a multiple of five
    assert scatters < gathers <= 2 * scatters
    assert 1 <= 5 * memory["weights"] / (8 * WEIGHTS) < 1.15
    assert memory["states"] == 2 * memory["gradients"] == 2 * memory["weights"]


def test_tensor_parallel_adds_twice_a_layer_each_way():
    with fake_process_group(4) as mesh:
        traffic, count, memory = measured(tensor_parallel(build(), mesh))
    hidden = 8 * 12 * 7 * CONFIG.d_model
    assert traffic.calls == {"all-reduce": count}
    assert traffic.calls["all-reduce"] in (4 * LAYERS, 7 * LAYERS)
    assert traffic.about["all-reduce"] == count * hidden
    norms = 2 * 2 * CONFIG.d_model
    rest = WEIGHTS - LAYERS * LAYER
    biases = 2 * CONFIG.d_model
    shared = LAYERS * (norms + biases) + rest
    assert memory["weights"] == 8 * (shared + (WEIGHTS - shared) // 4)


def test_pretending_ends_and_needs_a_process():
    with fake_process_group(1000) as mesh:
        assert mesh.size() == dist.get_world_size() == 1000
    assert not dist.is_initialized()
    with pytest.raises(ValueError, match=r"size \(0\) must be at least 1"), fake_process_group(0):
        pass
    with pytest.raises(ZeroDivisionError), fake_process_group(2):
        torch.tensor(1 // 0)
    assert not dist.is_initialized()
