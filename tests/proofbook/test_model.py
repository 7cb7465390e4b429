"""Results survive the way through JSON."""

import json
from dataclasses import replace

from proofbook.model import (
    BlockResult,
    Example,
    Failure,
    Output,
    Run,
    Value,
    dump,
    dump_run,
    load_block,
    load_run,
    load_value,
)

FAILURE = Failure("ValueError: x", 2, "Traceback …")
BLOCK = BlockResult(
    (Output("svg", "<svg>"), Output("html", "<b>", {"a": "/b"})),
    (Example("1", "1\n", "2\n", 3),),
    FAILURE,
    0.5,
)


def test_blocks_and_values_come_back_equal():
    assert load_block(json.loads(json.dumps(dump(BLOCK)))) == BLOCK
    for value in (Value([1, float("inf")], 3), Value(None, 1, FAILURE)):
        assert load_value(json.loads(json.dumps(dump(value)))) == value


def test_a_run_comes_back_as_a_cached_one():
    names = {"x": True, "y.z": False}
    run = Run((BLOCK,), {("x", 1): Value(3, 1)}, device="mps", seconds=2.5, names=names)
    loaded = load_run(json.loads(json.dumps(dump_run(run))))
    assert loaded == replace(run, cached=True)
