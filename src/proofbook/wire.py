"""Results as JSON: what a child tells its parent and what the cache keeps are the same words."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from proofbook.model import BlockResult, Example, Failure, Output, Run, Value

dump = asdict
"""Turn a result into JSON data."""


def load_block(data: Mapping[str, Any]) -> BlockResult:
    """Rebuild a block's result."""
    return BlockResult(
        outputs=tuple(Output(**output) for output in data["outputs"]),
        examples=tuple(Example(**example) for example in data["examples"]),
        failure=_load_failure(data["failure"]),
        seconds=data["seconds"],
        payload=(data["payload"][0], data["payload"][1]),
    )


def load_value(data: Mapping[str, Any]) -> Value:
    """Rebuild a claim's value."""
    return Value(data["data"], data["after"], _load_failure(data["failure"]))


def dump_run(run: Run) -> dict[str, Any]:
    """Turn a run in which nothing died into JSON data."""
    return {
        "blocks": [dump(block) for block in run.blocks],
        "values": [[*claim, dump(value)] for claim, value in run.values.items()],
        "device": run.device,
        "seconds": run.seconds,
        "names": run.names,
    }


def load_run(data: Mapping[str, Any]) -> Run:
    """Rebuild a stored run; it counts as cached."""
    return Run(
        blocks=tuple(load_block(block) for block in data["blocks"]),
        values={(text, place): load_value(value) for text, place, value in data["values"]},
        device=data["device"],
        seconds=data["seconds"],
        names=data["names"],
        cached=True,
    )


def _load_failure(data: Mapping[str, Any] | None) -> Failure | None:
    return None if data is None else Failure(**data)
