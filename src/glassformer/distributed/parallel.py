"""Ways to split a training step among several processes.

torch does the work; this module tells it how to split our models.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from jaxtyping import Int, Shaped
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    RowwiseParallel,
    parallelize_module,
)

from glassformer.layers.multihead import MultiHeadAttention
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.training.losses import next_token_loss, shift_targets

SET_BY_TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
NO_PADDING = -1  # no token has this id: the texts are cut to one length


@contextmanager
def joined(timeout: float = 60.0) -> Iterator[tuple[int, int]]:
    """Join the processes of `torchrun`, yield rank and size, and leave the group at the end.

    A process gives up after waiting `timeout` seconds, here or in a collective operation.

    Raises:
        ValueError: The program was not started by torchrun.
        TimeoutError: Another process never joined.
    """
    missing = [name for name in SET_BY_TORCHRUN if name not in os.environ]
    if missing:
        raise ValueError(f"{', '.join(missing)} must be set: start the program with torchrun")
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    try:
        dist.init_process_group("gloo", timeout=timedelta(seconds=timeout))
    except dist.DistError as error:
        raise TimeoutError(
            f"rank {rank} of {size} waited {timeout:g} s for a process that never joined: {error}"
        ) from error
    try:
        yield rank, size
    finally:
        dist.destroy_process_group()


def own_rows(batch: Shaped[Tensor, "batch *rest"], rank: int, size: int) -> Tensor:
    """Return every `size`-th row of a batch, from row `rank` on: this process's share.

    Shapes: (batch, ...) to (batch / size, ...).

    Raises:
        ValueError: The rows can't be divided evenly, so the mean of the processes' means would
            differ from the batch's mean.

    >>> own_rows(torch.arange(6), rank=1, size=3)
    tensor([1, 4])
    """
    if len(batch) % size:
        raise ValueError(
            f"batch ({len(batch)}) must be a multiple of the number of processes ({size})"
        )
    return batch[rank::size]


def shard(model: TransformerForCausalLM, mesh: DeviceMesh) -> TransformerForCausalLM:
    """Let each process keep a slice of every weight; gather a layer only when it's computed.

    The model is changed in place and returned.

    Source: Zhao et al. 2023; the idea: Rajbhandari et al. 2020, section 5, stage 3.
    """
    for layer in model.decoder.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


def tensor_parallel(model: TransformerForCausalLM, mesh: DeviceMesh) -> TransformerForCausalLM:
    """Give each process some of the heads and some of the feed-forward neurons of every layer.

    The model is changed in place and returned. Norms, embeddings, and the output
    layer stay whole.

    Raises:
        ValueError: Heads, key-value heads, or neurons can't be divided evenly, or queries and keys
            are normalized: each process would train these norms on its own heads.

    Source: Shoeybi et al. 2019, section 3.
    """
    size, config = mesh.size(), model.config
    kv_heads = config.num_heads if config.num_kv_heads is None else config.num_kv_heads
    divided = {"num_heads": config.num_heads, "num_kv_heads": kv_heads, "d_ff": config.d_ff}
    for name, number in divided.items():
        if number % size:
            raise ValueError(
                f"{name} ({number}) must be a multiple of the number of processes ({size})"
            )
    if config.qk_norm:
        raise ValueError("qk_norm (True) has weights that all heads share, so heads can't be split")
    plan: dict[str, ParallelStyle] = {f"attention.{name}_proj": ColwiseParallel() for name in "qkv"}
    plan |= {"attention.out_proj": RowwiseParallel(), "feed_forward.up_proj": ColwiseParallel()}
    plan |= {"feed_forward.gate_proj": ColwiseParallel()} if config.gated else {}
    plan |= {"feed_forward.down_proj": RowwiseParallel()}
    for layer in model.decoder.layers:
        parallelize_module(layer, mesh, plan)
        attention = layer.attention
        assert isinstance(attention, MultiHeadAttention)
        attention.num_heads //= size
        attention.num_kv_heads //= size
    return model


class Stage(nn.Module):
    """Consecutive layers of a language model; the first stage embeds ids, the last returns logits.

    The layers are the model's own, and they keep their names.

    Shapes: First stage: ids (batch, seq); others: hidden states (batch, seq, d_model). Output:
    hidden states; last stage: logits (batch, seq, vocab).

    Raises:
        ValueError: There are more stages than layers, or two stages need the same table.

    Source: Huang et al. 2019, section 2.
    """

    def __init__(self, model: TransformerForCausalLM, index: int, count: int):
        super().__init__()
        layers = model.decoder.layers
        if count > len(layers):
            raise ValueError(
                f"num_layers ({len(layers)}) must be at least the number of stages ({count})"
            )
        if model.config.tie_embeddings and count > 1:
            raise ValueError(
                "tie_embeddings (True) puts one table into both the first and the last stage"
            )
        self.index, self.count = index, count
        self.decoder = nn.Module()
        self.decoder.layers = nn.Module()
        for i in torch.arange(len(layers)).tensor_split(count)[index].tolist():
            self.decoder.layers.add_module(str(i), layers[i])
        if index == 0:
            self.decoder.embeddings = model.decoder.embeddings
        if index == count - 1:
            self.decoder.register_module("final_norm", model.decoder.final_norm)
            self.lm_head = model.lm_head

    def forward(self, given: Shaped[Tensor, "batch seq *d_model"]) -> Tensor:
        """Pass the previous stage's output, or the embedded ids, through these layers."""
        positions = torch.arange(given.shape[1], device=given.device)[None]
        hidden = given
        if self.index == 0:
            hidden = self.decoder.get_submodule("embeddings")(given, position_ids=positions)
        for layer in self.decoder.get_submodule("layers").children():
            hidden = layer(hidden, position_ids=positions)  # (batch, seq, d_model)
        if self.index < self.count - 1:
            return hidden
        norm = dict(self.decoder.named_children()).get("final_norm")
        return self.lm_head(hidden if norm is None else norm(hidden))


def pipeline(stage: Stage, microbatches: int) -> Callable[[Int[Tensor, "batch seq"]], Tensor]:
    """Return a function that sends a batch through all stages and back, and returns its loss.

    It also computes the gradients, as `backward` does. Every process calls it with the same batch.

    Raises:
        ValueError: There are fewer microbatches than stages; when called, the rows of the batch
            can't be divided evenly among microbatches.

    Source: Narayanan et al. 2021, section 2.2.1.
    """
    weight = next(stage.parameters())
    whole = PipelineStage(stage, stage.index, stage.count, weight.device)
    schedule = Schedule1F1B(whole, microbatches, loss_fn=token_loss)
    first, last = stage.index == 0, stage.index == stage.count - 1

    def loss_of(batch: Int[Tensor, "batch seq"]) -> Tensor:
        if len(batch) % microbatches:
            raise ValueError(
                f"batch ({len(batch)}) must be a multiple of the number of "
                f"microbatches ({microbatches})"
            )
        given, wanted = shift_targets(batch)
        losses: list[Tensor] = []
        own = [given] if first else []
        if last:
            schedule.step(*own, target=wanted, losses=losses)
        else:
            schedule.step(*own)
        loss = torch.stack(losses).mean().detach() if last else weight.new_zeros(())
        dist.broadcast(loss, src=stage.count - 1)
        return loss

    return loss_of


def token_loss(logits: Tensor, wanted: Int[Tensor, "batch seq"]) -> Tensor:
    """Return the mean loss of the next tokens, none of which is padding."""
    return next_token_loss(logits, wanted, pad_token_id=NO_PADDING)
