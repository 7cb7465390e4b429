"""Heads taken out, against a model whose output projections were cut by hand."""

from copy import deepcopy

import pytest
import torch
from small_decoder import CONFIG, weighted

from glassformer.interpret.ablation import ablated

LAYERS, HEADS, HEAD_DIM, BATCH, SEQ = 5, 3, 7, 2, 13


@pytest.fixture
def removed():
    """The first row lacks two heads, the second one other."""
    chosen = torch.zeros(BATCH, LAYERS, HEADS, dtype=torch.bool)
    chosen[0, 1, 2] = chosen[0, 3, 0] = chosen[1, 2, 1] = True
    return chosen


def cut(model, removed, replacement=None):
    """The model without some heads: their columns of the output projections are zero."""
    cut = deepcopy(model)
    for layer, head in removed.nonzero().tolist():
        projection = cut.decoder.layers[layer].attention.out_proj
        columns = slice(head * HEAD_DIM, (head + 1) * HEAD_DIM)
        if replacement is not None:
            projection.bias += projection.weight[:, columns] @ replacement[layer, head]
        projection.weight[:, columns] = 0
    return cut


def test_each_row_lacks_its_own_heads(removed, subtests):
    for replaced in [False, True]:
        with subtests.test(replaced=replaced):
            model, ids = weighted(CONFIG), torch.randint(101, (BATCH, SEQ))
            replacement = torch.randn(LAYERS, HEADS, HEAD_DIM).double() if replaced else None
            with ablated(model, removed, replacement):
                logits = model(ids)
            for row in range(BATCH):
                wanted = cut(model, removed[row], replacement)(ids[row : row + 1])[0]
                torch.testing.assert_close(logits[row], wanted)
                assert not torch.allclose(logits[row], model(ids)[row], atol=1e-3)


def test_nothing_removed_and_nothing_left_behind(removed):
    model, ids = weighted(CONFIG), torch.randint(101, (BATCH, SEQ))
    before = model(ids)
    with ablated(model, torch.zeros_like(removed)):
        assert model(ids).equal(before)
    with pytest.raises(RuntimeError, match="stop"), ablated(model, removed):
        raise RuntimeError("stop")
    assert model(ids).equal(before)


def test_another_models_heads(removed, unhooked):
    model = weighted(CONFIG)
    with (
        pytest.raises(ValueError, match=r"removed of shape \(2, 5, 2\) must be \(batch, 5, 3\)"),
        ablated(model, removed[:, :, :2]),
    ):
        pass
    with (
        pytest.raises(ValueError, match=r"of shape \(5, 3, 6\) must be \(5, 3, 7\)"),
        ablated(model, removed, torch.zeros(5, 3, 6)),
    ):
        pass
