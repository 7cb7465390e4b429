"""From a module to what a page can run: an ONNX graph, and its weights in a fifth of the space."""

import gzip
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn

GROUP = 16
"""So many neighboring weights share a scale."""
WEIGHTS = "weights"
"""What the graph calls the file of its weights."""
PART = 45_000_000
"""So many bytes of packed weights fit in a file, unless a single weight has more."""


Packed = tuple[list[object], bytes]
"""What a page needs to unpack a weight, and the weight's bytes."""


def in_eight_bits(weight: np.ndarray) -> Packed:
    """Pack a matrix in 8 bits and a scale for each group; leave other weights in float32."""
    if weight.ndim > 1 and weight.size % GROUP == 0:
        return [weight.size, "int8", GROUP], b"".join(pack(weight))
    return [weight.size, "float32"], weight.tobytes()


def in_halves(weight: np.ndarray) -> Packed:
    """Write a weight in float16 if that loses nothing, otherwise in float32.

    >>> in_halves(torch.full((2,), 0.5).numpy())[0], in_halves(torch.full((2,), 0.1).numpy())[0]
    ([2, 'float16'], [2, 'float32'])
    """
    halves = weight.astype(np.float16)
    if np.array_equal(halves.astype(np.float32), weight):
        return [weight.size, "float16"], halves.tobytes()
    return [weight.size, "float32"], weight.tobytes()


def export(
    module: nn.Module,
    inputs: Mapping[str, Tensor],
    axes: Mapping[str, Mapping[int, torch.export.Dim]],
    outputs: tuple[str, ...],
    folder: Path,
    pack: Callable[[np.ndarray], Packed] = in_eight_bits,
) -> dict[str, object]:
    """Write a module's graph and weights into a folder, for ONNX Runtime in a page.

    Returns what a page needs to unpack the weights: `total`, the bytes of all weights in float32,
    and `parts`, for each file a list of where each weight starts there, and what `pack` says of it.

    Args:
        module: What is exported.
        inputs: An example of each input of its `forward`, by name.
        axes: The axes of the inputs that vary, by the input's name.
        outputs: The names of the outputs.
        folder: Where the files go: `graph.onnx.gz` and `weights.gz`, and if there are more weights
            than a file may have, `weights-2.gz` and so on.
        pack: How a weight is written, given in the graph's layout: a list, which the page's script
            `glassformer-live-unpack.js` reads, and bytes.
    """
    path = folder / "graph.onnx"
    _program(module, inputs, axes, outputs).save(path, external_data=True)
    model = onnx.load(path, load_external_data=False)
    values = np.fromfile(f"{path}.data", dtype=np.uint8)
    parts: list[tuple[list[list[object]], list[bytes]]] = [([], [])]
    for start, tensor in sorted(_external(model.graph), key=itemgetter(0)):
        numbers = values[start : start + 4 * int(np.prod(tensor.dims))].view(np.float32)
        about, data = pack(numbers.reshape(tensor.dims))
        if sum(map(len, parts[-1][1])) + len(data) > PART:
            parts.append(([], []))
        parts[-1][0].append([start, *about])
        parts[-1][1].append(data)
    _strip(model)
    _zip(path, model.SerializeToString())
    for number, (_, packed) in enumerate(parts, start=1):
        _zip(folder / (WEIGHTS if number == 1 else f"{WEIGHTS}-{number}"), b"".join(packed))
    return {"total": values.size, "parts": [tensors for tensors, _ in parts]}


def pack(numbers: np.ndarray) -> list[bytes]:
    """Write float32 numbers as 8-bit integers, and a scale for each group of `GROUP`.

    A group's scale, in bfloat16, takes the largest of its numbers to 127, or a little less: it's
    rounded up. So an error is at most half a scale.

    >>> [len(part) for part in pack(torch.ones(64).numpy())]
    [64, 8]
    """
    groups = numbers.reshape(-1, GROUP)
    exact = np.abs(groups).max(axis=1) / np.float32(127)
    high = ((exact.view(np.uint32) + 0xFFFF) >> 16).astype(np.uint16)  # bfloat16, rounded up
    scales = (high.astype(np.uint32) << 16).view(np.float32)[:, None]
    integers = np.round(groups / np.where(scales == 0, 1, scales)).astype(np.int8)
    return [integers.tobytes(), high.tobytes()]


def unpack(integers: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the float32 numbers that a page makes of packed ones, as its script does.

    >>> import numpy as np
    >>> integers, high = pack(np.full(16, 127, dtype=np.float32))
    >>> unpack(np.frombuffer(integers, np.int8), np.frombuffer(high, np.uint16))[:2]
    array([127., 127.], dtype=float32)
    """
    scales = (high.astype(np.uint32) << 16).view(np.float32)[:, None]
    return (integers.reshape(-1, GROUP) * scales).reshape(-1)


def _program(
    module: nn.Module,
    inputs: Mapping[str, Tensor],
    axes: Mapping[str, Mapping[int, torch.export.Dim]],
    outputs: tuple[str, ...],
) -> torch.onnx.ONNXProgram:
    # A missing torchvision, and names of attributes and axes: nothing that a reader could use.
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module.eval(),
            kwargs=dict(inputs),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_shapes={name: axes.get(name) for name in inputs},
            opset_version=18,
            verbose=False,
        )
    assert program is not None
    return program


def _external(graph: onnx.GraphProto) -> Iterator[tuple[int, onnx.TensorProto]]:
    """Yield where each weight starts in the file of all, and rename the file in the graph."""
    for tensor in graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = WEIGHTS
            if entry.key == "offset":
                yield int(entry.value), tensor


def _strip(model: onnx.ModelProto) -> None:
    """Remove where each node came from, which is most of the exporter's file."""
    del model.metadata_props[:], model.graph.metadata_props[:]
    for part in (*model.graph.node, *model.graph.value_info, *model.functions):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def _zip(path: Path, data: bytes) -> None:
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(data, 9, mtime=0))
