"""LoRA against `peft`, and against arithmetic on the weights themselves."""

import copy

import pytest
import torch
from small_decoder import CONFIG, weighted
from torch import nn

from glassformer.training.lora import LoRALinear, adapter_state, add_lora, merge_lora

NAMES = ["q_proj", "v_proj", "down_proj"]
RANK, ALPHA = 3, 5


def adapted(names=NAMES):
    """A small model with adapters whose B is no longer zero, and the model as it was."""
    model = weighted(CONFIG)
    before = copy.deepcopy(model)
    add_lora(model, names, rank=RANK, alpha=ALPHA)
    for part in model.modules():
        if isinstance(part, LoRALinear):
            nn.init.normal_(part.B, std=0.3)
    return model, before


def with_peft(model, before):
    """Put the same matrices into a copy of the model, the way `peft` does it."""
    import peft

    config = peft.LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=NAMES)
    theirs = peft.inject_adapter_in_model(config, copy.deepcopy(before))
    for path, part in model.named_modules():
        if isinstance(part, LoRALinear):
            other = theirs.get_submodule(path)
            other.lora_A["default"].weight.data.copy_(part.A)
            other.lora_B["default"].weight.data.copy_(part.B)
    return theirs


def test_logits_and_gradients_are_those_of_peft():
    ours, before = adapted()
    theirs, ids = with_peft(ours, before), torch.randint(101, (2, 13))
    torch.testing.assert_close(ours(ids), theirs(ids))
    assert not torch.allclose(ours(ids), before(ids), atol=1e-3)
    for model in (ours, theirs):
        model(ids).logsumexp(-1).sum().backward()
    found = [p for p in ours.parameters() if p.requires_grad]
    wanted = [p for p in theirs.parameters() if p.requires_grad]
    assert len(found) == len(wanted) > 2 * len(NAMES)
    for p, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(p.grad, other.grad)


def test_a_merged_weight_is_that_of_peft():
    import peft

    ours, before = adapted()
    theirs = with_peft(ours, before)
    merge_lora(ours)
    for path, part in theirs.named_modules():
        if isinstance(part, peft.tuners.lora.Linear):
            part.merge()
            torch.testing.assert_close(ours.get_submodule(path).weight, part.weight)


def test_a_starts_as_peft_starts_it():
    import peft

    base, x = nn.Linear(11, 5), torch.randn(2, 3, 11)
    ours = LoRALinear(base, rank=RANK, alpha=ALPHA)
    assert ours(x).equal(base(x))  # B is zero
    layers = nn.ModuleDict({"map": nn.Linear(11, 5)})
    theirs = peft.inject_adapter_in_model(
        peft.LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=["map"]), layers
    )["map"]
    assert ours.A.abs().max() <= theirs.lora_A["default"].weight.abs().max() * 1.5
    bound = 11**-0.5
    assert 0.8 * bound < ours.A.abs().max() < bound
    assert 0.8 * bound < theirs.lora_A["default"].weight.abs().max() < bound


def test_only_a_and_b_learn_and_only_they_are_saved():
    model, before = adapted()
    learning = {name for name, p in model.named_parameters() if p.requires_grad}
    state = adapter_state(model)
    assert learning == {*state}
    assert {name.rpartition(".")[2] for name in state} == {"A", "B"}
    assert len(state) == 2 * len(NAMES) * CONFIG.num_layers
    frozen = {name: p for name, p in model.state_dict().items() if name not in state}
    assert {*frozen} == {*before.state_dict()}
    assert all(p.equal(before.state_dict()[name]) for name, p in frozen.items())


def test_saved_adapters_make_another_copy_answer_the_same():
    model, before = adapted()
    other = add_lora(before, NAMES, rank=RANK, alpha=ALPHA)
    ids = torch.randint(101, (2, 13))
    assert not torch.allclose(model(ids), other(ids), atol=1e-3)
    other.load_state_dict(adapter_state(model), strict=False)
    assert model(ids).equal(other(ids))


def test_merging_leaves_a_plain_model_that_answers_the_same():
    model, before = adapted()
    ids = torch.randint(101, (2, 13))
    wanted = model(ids)
    assert merge_lora(model) is model
    assert {*map(type, model.modules())} == {*map(type, before.modules())}
    assert {*model.state_dict()} == {*before.state_dict()}
    torch.testing.assert_close(model(ids), wanted)


def test_what_cannot_be_adapted_or_merged():
    with pytest.raises(ValueError, match=r"rank \(0\) must be at least 1"):
        LoRALinear(nn.Linear(3, 5), rank=0, alpha=1)
    with pytest.raises(ValueError, match=r"names \['norm', 'query'\] must be names of linear"):
        add_lora(weighted(CONFIG), ["query", "norm", "v_proj"], rank=2, alpha=2)
    model, _ = adapted()
    with pytest.raises(ValueError, match=r"names \['q_proj'\] must be names of linear"):
        add_lora(model, ["q_proj"], rank=2, alpha=2)  # it has adapters already
    with pytest.raises(ValueError, match="TransformerForCausalLM has no LoRALinear to merge"):
        merge_lora(merge_lora(model))
