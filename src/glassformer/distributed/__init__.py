"""Train on several processes: split batches, weights, and layers; keep checkpoints in shards."""

from glassformer.distributed.communication import CommCounter, fake_process_group, held, replicated
from glassformer.distributed.parallel import (
    Stage,
    joined,
    own_rows,
    pipeline,
    shard,
    tensor_parallel,
)
from glassformer.distributed.sharded_checkpoints import load_sharded, newest_step, save_sharded

__all__ = [
    "CommCounter",
    "Stage",
    "fake_process_group",
    "held",
    "joined",
    "load_sharded",
    "newest_step",
    "own_rows",
    "pipeline",
    "replicated",
    "save_sharded",
    "shard",
    "tensor_parallel",
]
