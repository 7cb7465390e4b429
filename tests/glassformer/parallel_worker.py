"""What each process of the tests does, started by torchrun: `parallel_worker.py TASK FOLDER`."""

import os
import signal
import sys
from pathlib import Path

import torch
from torch import distributed as dist
from torch.distributed.tensor import DTensor

from glassbook.apps.parallel_training import SCHEMES, share, split, train
from glassformer.distributed.parallel import joined, own_rows
from glassformer.distributed.sharded_checkpoints import load_sharded, save_sharded
from glassformer.models.config import TransformerConfig
from glassformer.models.task_models import TransformerForCausalLM

STEPS, ROWS = 3, 12
CONFIG = TransformerConfig(
    vocab_size=53,
    d_model=13,
    num_heads=4,
    head_dim=6,
    num_layers=5,
    d_ff=28,
    gated=True,
    activation="silu",
    norm_first=True,
    positions="rotary",
    embedding_norm=False,
    num_token_types=0,
    dropout=0.0,
    attn_dropout=0.0,
    tie_embeddings=False,
    initializer_range=0.3,
)


def build(**changes):
    torch.manual_seed(5)
    return TransformerForCausalLM(CONFIG if not changes else CONFIG.__class__(**changes)).double()


def batch(step):
    return torch.randint(53, (ROWS, 8), generator=torch.Generator().manual_seed(step))


def optimizer_of(part):
    return torch.optim.AdamW(part.parameters(), lr=0.01)


def whole(tensor):
    return (tensor.full_tensor() if isinstance(tensor, DTensor) else tensor).clone()


def gradients(part):
    """The gradient of each weight this process has, whole, under its name in the model."""
    named = part.named_parameters()
    return {name.removeprefix("module."): whole(p.grad) for name, p in named if p.grad is not None}


def run(part, loss_of, optimizer, steps, own):
    losses, first = [], {}
    for step in steps:
        optimizer.zero_grad()
        losses.append(loss_of(own_rows(batch(step), *own)).item())
        first = first or gradients(part)
        optimizer.step()
    return losses, first


def fresh(folder, scheme, rank, size):
    part, loss_of = split(scheme, build(), rank, size, 4)
    optimizer = optimizer_of(part)
    losses, first = run(part, loss_of, optimizer, range(STEPS), share(scheme, rank, size))
    save_sharded(folder / f"{scheme}-{size}", STEPS, part, optimizer)
    torch.save((losses, first), folder / f"{scheme}-{size}-{rank}.pt")


def resumed(folder, scheme, other, rank, size):
    """Go on where two processes, which had split the model in another way, have stopped."""
    part, loss_of = split(scheme, build(), rank, size, 4)
    optimizer = optimizer_of(part)
    with torch.no_grad():
        for p in part.parameters():
            p.mul_(2)  # so that only loading can bring the weights back
    load_sharded(folder / f"{other}-2", STEPS, part, optimizer)
    own = share(scheme, rank, size)
    losses, _ = run(part, loss_of, optimizer, range(STEPS, 2 * STEPS), own)
    torch.save(losses, folder / f"{scheme}-resumed-{rank}.pt")


def equal(folder):
    with joined(timeout=120) as (rank, size):
        for scheme in SCHEMES:
            fresh(folder, scheme, rank, size)
        if size == 4:
            for scheme, other in zip(SCHEMES, SCHEMES[1:] + SCHEMES[:1], strict=True):
                resumed(folder, scheme, other, rank, size)


def killed(folder):
    """Train, and have one process killed at step 4 of the first attempt."""
    attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]

    def report(step, loss):
        with (folder / f"losses-{dist.get_rank()}.txt").open("a") as file:
            print(attempt, step, loss, file=file)
        if (attempt, step, dist.get_rank()) == ("0", 4, 1):
            os.kill(os.getpid(), signal.SIGKILL)

    train("shard", folder, steps=7, every=3, report=report)


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"equal": equal, "killed": killed}[sys.argv[1]](Path(sys.argv[2]))
