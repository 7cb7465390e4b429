"""Memory in use, counted by hand and by what autograd says that it saves."""

import math
from functools import partial

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from glassformer.training.live_memory import LiveMemory


def test_each_tensor_counts_from_when_it_is_made_until_it_is_freed():
    with LiveMemory([]) as memory:
        x = torch.ones(3, 5)
        y = x @ torch.ones(5, 7)  # the second matrix is gone right after
        view = y.T
        del x, y
        z = view + 1
        del view
    made = [(0, 60), (0, 200), (210, 284), (210, 144), (210, 84), (210, 168), (210, 84)]
    assert memory.path == [(0, 0), *made]
    assert memory.operations == 2 * 3 * 5 * 7
    assert z.shape == (7, 3)


def test_known_tensors_are_left_out_and_gradients_are_not():
    weight = torch.ones(3, 5, requires_grad=True)
    with LiveMemory([weight]) as memory:
        (weight.T @ weight).sum().backward()
    assert memory.path[-1][1] == weight.grad.nbytes == 60
    assert memory.operations == 3 * 2 * 5 * 3 * 5  # forward, and once for each factor


def saved(forward):
    """The bytes that autograd saves, each storage once."""
    sizes = {}

    def keep(tensor):
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        out = forward()
    return sum(sizes.values()), out


def model():
    torch.manual_seed(0)
    parts = [torch.nn.Linear(13, 13, bias=False), torch.nn.Tanh()]
    return torch.nn.Sequential(*parts, torch.nn.Linear(13, 13, bias=False), torch.nn.Tanh())


def test_after_the_forward_pass_what_was_saved_is_in_use():
    net = model()
    weights = [*net.parameters()]
    x = torch.randn(11, 13)
    size, _ = saved(lambda: net(x).sum())
    with LiveMemory([*weights, x]) as memory:
        loss = net(x).sum()
    own = x.nbytes + sum(w.nbytes for w in weights if w is not weights[0])  # saved, but not made
    assert memory.path[-1][1] == size - own + loss.nbytes


def test_checkpoints_take_less_memory_and_more_operations():
    x = torch.randn(1009, 13)
    found = {}
    for name in ("as usual", "checkpoints"):
        net, deep = model(), [model() for _ in range(5)]
        if name == "checkpoints":
            for one in deep:
                one.forward = partial(checkpoint, one.forward, use_reentrant=False)
        whole = torch.nn.Sequential(net, *deep)
        with LiveMemory(whole.parameters()) as memory:
            whole(x).sum().backward()
        found[name] = memory.operations, max(size for _, size in memory.path)
        assert memory.path[-1][1] == sum(w.grad.nbytes for w in whole.parameters())
    assert found["checkpoints"][1] < 0.8 * found["as usual"][1]
    product = 2 * 1009 * 13 * 13
    assert found["checkpoints"][0] == found["as usual"][0] + 2 * 5 * product


def test_a_stretch_has_its_peak_and_after_the_end_there_is_nothing():
    memory = LiveMemory([])
    memory.path = [(0, 0), (0, 7), (3, 5), (3, 11), (3, 2), (8, 13)]
    assert memory.most([0, 2, 3, 7, 8]) == [7, 7, 11, 2, 13]
    assert memory.most([5, 8]) == [11, 13]
    assert memory.most([8, 9])[0] == 13
    assert math.isnan(memory.most([8, 9])[1])
