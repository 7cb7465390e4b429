"""A program for `torchrun`: train a small GPT on several processes, and resume it on any number.

torchrun --nproc-per-node 2 -m glassformer.parallel_training data my-run
"""

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist
from jaxtyping import Int
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

from glassformer.config import TransformerConfig
from glassformer.gpt import encode
from glassformer.heads import TransformerForCausalLM
from glassformer.parallel import (
    Stage,
    joined,
    own_rows,
    pipeline,
    shard,
    tensor_parallel,
    token_loss,
)
from glassformer.sharded_checkpoints import load, newest, save
from glassformer.stories import PAD, make_stories, tokenizer
from glassformer.training import shift_targets

SCHEMES = ("data", "shard", "tensor", "pipeline")
SEQ, BATCH, MICROBATCHES = 32, 16, 4
RATE = 0.003
LossOf = Callable[[Int[Tensor, "batch seq"]], Tensor]


def build() -> TransformerForCausalLM:
    """Build a GPT of four layers with four heads, so that four processes can share either."""
    torch.manual_seed(0)
    return TransformerForCausalLM(
        TransformerConfig(
            vocab_size=tokenizer().get_vocab_size(),
            d_model=32,
            num_heads=4,
            num_layers=4,
            d_ff=128,
            norm_first=True,
            positions="sinusoidal",
            max_positions=SEQ,
            embedding_norm=False,
            num_token_types=0,
            dropout=0.0,
            attn_dropout=0.0,
            tie_embeddings=False,
        )
    )


def texts() -> Int[Tensor, "rows seq"]:
    """Return all stories as one text, cut to rows of one length: no row is padded."""
    stories = encode([story.text for story in make_stories()["train"]])
    return stories[stories != PAD].unfold(0, SEQ + 1, SEQ + 1)


def batch_at(step: int, rows: Int[Tensor, "rows seq"], size: int) -> Int[Tensor, "size seq"]:
    """Return the batch of a step: each row once per epoch, in an order that depends on the epoch.

    It depends on nothing else. So a run can resume at any step, on any number of processes.

    Raises:
        ValueError: there are fewer rows than `size`.
    """
    if len(rows) < size:
        raise ValueError(f"rows ({len(rows)}) must be at least the batch ({size})")
    epoch, place = divmod(step, len(rows) // size)
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(epoch))
    return rows[order[place * size : (place + 1) * size]]


def split(
    scheme: str, model: TransformerForCausalLM, rank: int, size: int, microbatches: int
) -> tuple[nn.Module, LossOf]:
    """Return this process's part of the model, and a function for a batch's loss and gradient.

    Raises:
        ValueError: the scheme is none of `SCHEMES`, or it can't divide the model.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme ({scheme!r}) must be one of {', '.join(SCHEMES)}")
    if scheme == "pipeline":
        stage = Stage(model, rank, size)
        return stage, pipeline(stage, microbatches)
    mesh = init_device_mesh("cpu", (size,))
    if scheme == "tensor":
        part: nn.Module = tensor_parallel(model, mesh)
        return part, partial(backward, part)
    part = shard(model, mesh) if scheme == "shard" else DistributedDataParallel(model)
    return part, lambda batch: mean(backward(part, own_rows(batch, rank, size)))


def backward(model: nn.Module, batch: Int[Tensor, "batch seq"]) -> Tensor:
    """Leave the gradient of a batch's loss with the weights, and return the loss."""
    given, wanted = shift_targets(batch)
    loss = token_loss(model(given), wanted)
    loss.backward()
    return loss.detach()


def mean(loss: Tensor) -> Tensor:
    """Average a number over the processes, each of which had as many rows."""
    dist.all_reduce(loss)
    return loss / dist.get_world_size()


def train(
    scheme: str,
    folder: Path,
    *,
    steps: int,
    every: int,
    report: Callable[[int, float], None],
) -> None:
    """Train from the newest checkpoint in the folder; write another after each `every` steps.

    Raises:
        ValueError: as `joined`, `split` and `load`.
        TimeoutError: as `joined`.
    """
    torch.set_num_threads(1)
    with joined() as (rank, size):
        part, loss_of = split(scheme, build(), rank, size, MICROBATCHES)
        optimizer = torch.optim.AdamW(part.parameters(), lr=RATE)
        if first := newest(folder):
            load(folder, first, part, optimizer)
        rows = texts()
        for step in range(first, steps):
            optimizer.zero_grad()
            loss = loss_of(batch_at(step, rows, BATCH))
            optimizer.step()
            report(step, loss.item())
            if (step + 1) % every == 0:
                save(folder, step + 1, part, optimizer)


def main() -> None:
    """Read the command line, train, and print losses on the first process."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("scheme", choices=SCHEMES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--every", type=int, default=5)
    args = parser.parse_args()

    def report(step: int, loss: float) -> None:
        if dist.get_rank() == 0:
            print(f"step {step}: loss {loss:.4f}", flush=True)

    train(args.scheme, args.folder, steps=args.steps, every=args.every, report=report)


if __name__ == "__main__":
    main()
