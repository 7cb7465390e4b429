"""An exported graph gives what the module gives, and packed weights are nearly what they were."""

import gzip

import numpy as np
import onnx
import torch
from onnx.numpy_helper import from_array
from onnx.reference import ReferenceEvaluator

from glassbook.live import export as exporting
from glassbook.live.encoder import SHOWN, SwitchedEncoder
from glassbook.live.export import GROUP, export, in_halves, pack, unpack
from glassformer import TransformerConfig, TransformerEncoder


def test_the_graph_gives_what_the_module_gives(tmp_path):
    """Run by onnx's own evaluator, at another length and with other switches than the example."""
    sizes = {"vocab_size": 11, "d_model": 6, "num_heads": 2, "num_layers": 3, "d_ff": 13}
    switched = SwitchedEncoder(TransformerEncoder(TransformerConfig(**sizes, max_positions=17)))
    seq = torch.export.Dim("seq", min=2, max=17)
    axes = {name: {1: seq} for name in ("input_ids", "attention_mask", "token_type_ids")}
    packing = export(switched, switched.all_on(seq=5), axes, SHOWN, tmp_path)
    assert packing["total"] > 0
    graph = onnx.load_from_string(gzip.decompress((tmp_path / "graph.onnx.gz").read_bytes()))
    fill(graph, gzip.decompress((tmp_path / "weights.gz").read_bytes()), packing["parts"][0])
    inputs = switched.all_on(seq=7)
    inputs["input_ids"] = torch.tensor([[1, 5, 2, 9, 5, 3, 8]])
    inputs["heads"][1, 0], inputs["residuals"][2, 1], inputs["attention_mask"][0, 3] = 0, 0, 0
    feeds = {name: value.numpy() for name, value in inputs.items()}
    found = ReferenceEvaluator(graph).run(None, feeds)
    with torch.no_grad():
        wanted = switched(**inputs)
    for name, ours, theirs in zip(SHOWN, found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-5, err_msg=name)


def fill(graph, data, tensors):
    """Put the weights back into a graph, all of them in float32: none is a multiple of GROUP."""
    at, starts = 0, {}
    for start, count, kind in tensors:
        assert kind == "float32"
        starts[start] = np.frombuffer(data, np.float32, count, at)
        at += 4 * count
    assert at == len(data)
    for tensor in graph.graph.initializer:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if entries:
            assert entries["location"] == "weights"
            values = starts[int(entries["offset"])].reshape(tuple(tensor.dims))
            tensor.CopyFrom(from_array(values, tensor.name))


def test_a_packed_number_is_off_by_half_a_scale_at_most():
    numbers = np.random.default_rng(0).normal(size=(23, GROUP)).astype(np.float32)
    numbers[3] = 0
    integers, scales = pack(numbers.reshape(-1))
    assert (len(integers), len(scales)) == (numbers.size, 2 * 23)
    integers, scales = np.frombuffer(integers, np.int8), np.frombuffer(scales, np.uint16)
    found = unpack(integers, scales).reshape(numbers.shape)
    step = np.abs(numbers).max(axis=1, keepdims=True) / 127
    assert (np.abs(found - numbers) <= step * (0.5 + 0.005)).all()
    assert (found[3] == 0).all()
    assert np.abs(integers.astype(int)).max() == 127


def test_weights_are_spread_over_several_files(tmp_path, monkeypatch):
    """Each has what fits; together, they have every weight once."""
    monkeypatch.setattr(exporting, "PART", 1500)
    layers = torch.nn.Sequential(*(torch.nn.Linear(23, 23) for _ in range(3))).half().float()
    example = {"input": torch.zeros(2, 23)}
    packing = export(layers, example, {}, ("output",), tmp_path, in_halves)
    files = [tmp_path / f"{name}.gz" for name in ("weights", "weights-2", "weights-3")]
    assert sorted(tmp_path.glob("weights*")) == sorted(files)
    found = []
    for path, tensors in zip(files, packing["parts"], strict=True):
        data = gzip.decompress(path.read_bytes())
        assert len(data) <= 1500
        assert len(data) == sum(2 * count for _, count, _ in tensors)
        assert {kind for *_, kind in tensors} == {"float16"}
        found.append(np.frombuffer(data, np.float16))
    matrices = [layer.weight.detach().numpy() for layer in layers]
    total = sum(float(np.abs(matrix).sum()) for matrix in matrices)
    assert np.abs(np.concatenate(found).astype(np.float32)).sum() >= total * 0.999
