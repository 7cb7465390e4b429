"""A program for `torchrun`: train a small GPT on several processes, and resume it on any number.

torchrun --nproc-per-node 2 -m glassbook.apps.parallel_training data my-run

It trains on the book's stories, or on your own text files, with one token per byte.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import torch
import torch.distributed as dist
from jaxtyping import Int
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

from glassbook.corpora.stories import PAD, make_stories, tokenizer
from glassbook.recipes.gpt import encode
from glassformer.distributed.parallel import (
    Stage,
    joined,
    own_rows,
    pipeline,
    shard,
    tensor_parallel,
    token_loss,
)
from glassformer.distributed.sharded_checkpoints import load_sharded, newest_step, save_sharded
from glassformer.models.config import TransformerConfig
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.training.losses import shift_targets

SCHEMES = ("data", "shard", "tensor", "pipeline")
BY_ROWS = ("data", "shard")  # each process reads its own rows
SEQ, BATCH, MICROBATCHES = 32, 16, 4
RATE = 0.003
LossOf = Callable[[Int[Tensor, "batch seq"]], Tensor]


def build() -> TransformerForCausalLM:
    """Build a GPT of four layers with four heads, so four processes can split up either."""
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
    """Return all stories as one text, cut into rows of equal length, so none is padded."""
    stories = encode([story.text for story in make_stories()["train"]])
    return stories[stories != PAD].unfold(0, SEQ + 1, SEQ + 1)


def batch_at(step: int, rows: Int[Tensor, "rows seq"], size: int) -> Int[Tensor, "size seq"]:
    """Return the batch of a step: each row once per epoch, in an order that depends on the epoch.

    The order depends on nothing else, so a run can resume at any step, on any number of processes.

    Raises:
        ValueError: There are fewer rows than `size`.
    """
    if len(rows) < size:
        raise ValueError(f"rows ({len(rows)}) must be at least the batch ({size})")
    epoch, place = divmod(step, len(rows) // size)
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(epoch))
    return rows[order[place * size : (place + 1) * size]]


def stories(rank: int, size: int, first: int) -> Iterator[Int[Tensor, "own seq"]]:
    """Yield a process's share of each step's batch of stories, starting at step `first`."""
    rows = texts()
    for step in count(first):
        yield own_rows(batch_at(step, rows, BATCH), rank, size)


def own_files(
    files: Sequence[Path], rank: int, size: int, first: int
) -> Iterator[Int[Tensor, "own seq"]]:
    """Yield a process's share of each step's batch of your texts, starting at step `first`.

    Each byte is a token, and its value is the token's id: these are the first 256 of the stories'
    262 ids.

    Raises:
        ValueError: As `stream`, or the batch can't be divided among the processes.
    """
    from glassformer.text.text_stream import batches, stream

    own = len(own_rows(torch.empty(BATCH), rank, size))
    rows = stream(files, lambda text: [*text.encode()], SEQ + 1, rank=rank, size=size)
    return batches(rows, own, first=first)


def share(scheme: str, rank: int, size: int) -> tuple[int, int]:
    """Return the index of this process's share of the rows, and the number of shares.

    >>> share("shard", 1, 4), share("tensor", 1, 4)
    ((1, 4), (0, 1))
    """
    return (rank, size) if scheme in BY_ROWS else (0, 1)


def split(
    scheme: str, model: TransformerForCausalLM, rank: int, size: int, microbatches: int
) -> tuple[nn.Module, LossOf]:
    """Return this process's part of the model, and a function that computes loss and gradient.

    The function takes this process's rows and returns the loss of the whole batch.

    Raises:
        ValueError: The scheme isn't one of `SCHEMES`, or it can't divide the model.
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
    return part, lambda rows: mean(backward(part, rows))


def backward(model: nn.Module, batch: Int[Tensor, "batch seq"]) -> Tensor:
    """Store the gradient of a batch's loss in the weights' `grad`, and return the loss."""
    given, wanted = shift_targets(batch)
    loss = token_loss(model(given), wanted)
    loss.backward()
    return loss.detach()


def mean(loss: Tensor) -> Tensor:
    """Average a loss over the processes, each of which had the same number of rows."""
    dist.all_reduce(loss)
    return loss / dist.get_world_size()


def train(
    scheme: str,
    folder: Path,
    *,
    steps: int,
    every: int,
    report: Callable[[int, float], None],
    files: Sequence[Path] = (),
) -> None:
    """Train from the newest checkpoint in the folder; write another one every `every` steps.

    Raises:
        ValueError: As `joined`, `split`, `load`, and `own_files`.
        TimeoutError: As `joined`.
    """
    torch.set_num_threads(1)
    with joined() as (rank, size):
        part, loss_of = split(scheme, build(), rank, size, MICROBATCHES)
        optimizer = torch.optim.AdamW(part.parameters(), lr=RATE)
        if first := newest_step(folder):
            load_sharded(folder, first, part, optimizer)
        own = share(scheme, rank, size)
        batches = own_files(files, *own, first) if files else stories(*own, first)
        for step, batch in zip(range(first, steps), batches, strict=False):
            optimizer.zero_grad()
            loss = loss_of(batch)
            optimizer.step()
            report(step, loss.item())
            if (step + 1) % every == 0:
                save_sharded(folder, step + 1, part, optimizer)
        # The model goes before its group, or DDP ends that while it holds the GIL gloo may need.
        del part, loss_of, optimizer


def main() -> None:
    """Read the command line, train, and print losses on the first process."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("scheme", choices=SCHEMES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--files", type=Path, nargs="+", default=[], help="your own texts")
    args = parser.parse_args()

    def report(step: int, loss: float) -> None:
        if dist.get_rank() == 0:
            print(f"step {step}: loss {loss:.4f}", flush=True)

    chosen = {"steps": args.steps, "every": args.every, "files": args.files}
    train(args.scheme, args.folder, report=report, **chosen)


if __name__ == "__main__":
    main()
