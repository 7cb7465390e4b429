"""Start programs of several processes, each in one thread, and train alone, to compare."""

import os
import subprocess
import sys
from pathlib import Path

import torch

from glassbook.apps.parallel_training import RATE, build

SOURCE = Path(__file__).parents[2] / "src"


def environment():
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    # A restarted process must not find the addresses of the dead: pytorch/pytorch#135712.
    fixed = {"OMP_NUM_THREADS": "1", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    return os.environ | fixed | {"PYTHONPATH": path}


def torchrun(processes, *program, restarts=0):
    """Run a program with torchrun, and return what it printed."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    sizes = [f"--nproc-per-node={processes}", f"--max-restarts={restarts}"]
    command = [*launcher, *sizes, *map(str, program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment())
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def trained_alone(batches):
    """Train the program's model in one process, with torch's own loss; return the losses."""
    model, losses = build(), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for batch in batches:
        logits = model(batch[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
