"""Time our encoder against two others that hold the same weights, as ratios within one run.

(a) `BertModel` of transformers, with torch's fused attention;
(b) `torch.nn.TransformerEncoder` behind our embeddings: its fast path in inference mode;
(c) the multiplications alone, at the rate at which this machine multiplies square matrices.

Sizes, weights, and threads are the same, and so is the padding: none, or a quarter of the batch.
All take turns. A ratio is our time divided by the other's: less than 1 means that ours is faster.
The goal is at most 1.00 × (a) and (b), which means that both intervals reach down to 1.00. Memory
is the most bytes that the tensors made by one call take at once.

    python bench/encoder.py [--turns 30] [--threads N] [--json]
"""

import argparse
import copy
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn
from transformers import BertModel
from transformers.utils import logging

from _turns import in_turn, keep, machine, peak_bytes, ratio
from glassformer import TransformerConfig, TransformerEncoder, default_checkpoint, from_hf

SIZES = ((1, 16), (8, 128), (2, 512))
SQUARE = 1024
TOLERANCE = 2e-5
Call = Callable[[], Tensor]


class TorchEncoder(nn.Module):
    """torch's own encoder with the weights of ours; it has no embeddings, so it gets ours."""

    def __init__(self, ours: TransformerEncoder):
        super().__init__()
        config = ours.config
        layer = nn.TransformerEncoderLayer(
            config.d_model,
            config.num_heads,
            config.d_ff,
            dropout=config.dropout,
            activation=config.activation,
            layer_norm_eps=config.norm_eps,
            batch_first=True,
        )
        layer.dropout.p = 0.0  # between activation and second linear layer, where BERT has none
        self.embeddings = copy.deepcopy(ours.embeddings)
        self.encoder = nn.TransformerEncoder(layer, config.num_layers)
        for theirs, layer in zip(self.encoder.layers, ours.layers, strict=True):
            attention, feed_forward = layer.attention, layer.feed_forward
            projections = (attention.q_proj, attention.k_proj, attention.v_proj)
            with torch.no_grad():
                theirs.self_attn.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
                theirs.self_attn.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
            theirs.self_attn.out_proj.load_state_dict(attention.out_proj.state_dict())
            theirs.linear1.load_state_dict(feed_forward.up_proj.state_dict())
            theirs.linear2.load_state_dict(feed_forward.down_proj.state_dict())
            theirs.norm1.load_state_dict(layer.attention_norm.state_dict())
            theirs.norm2.load_state_dict(layer.feed_forward_norm.state_dict())

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        padding = None if attention_mask is None else attention_mask == 0
        return self.encoder(self.embeddings(input_ids), src_key_padding_mask=padding)


def models() -> dict[str, nn.Module]:
    """Return ours and the two peers, with the weights of the embedded checkpoint."""
    theirs = BertModel.from_pretrained(
        default_checkpoint(), attn_implementation="sdpa", add_pooling_layer=False
    )
    ours = from_hf(theirs)
    return {"ours": ours, "transformers": theirs, "torch": TorchEncoder(ours)}


def batch(size: tuple[int, int], vocab_size: int, padded: bool) -> tuple[Tensor, Tensor | None]:
    """Return random ids; when padded, every other row has half the length."""
    input_ids = torch.randint(1, vocab_size, size)
    if not padded:
        return input_ids, None
    attention_mask = torch.ones_like(input_ids)
    attention_mask[::2, size[1] // 2 :] = 0
    return input_ids, attention_mask


def hidden(model: nn.Module, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Return the last hidden states, whatever the model wraps them in."""
    output = model(input_ids, attention_mask=attention_mask)
    return output if isinstance(output, Tensor) else output.last_hidden_state


def inference(model: nn.Module, input_ids: Tensor, attention_mask: Tensor | None) -> Call:
    model.eval()

    @torch.inference_mode()
    def call() -> Tensor:
        return hidden(model, input_ids, attention_mask)

    return call


def training(model: nn.Module, input_ids: Tensor, attention_mask: Tensor | None) -> Call:
    """Make a training step: forward, backward, and a step of AdamW, with dropout."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)

    def call() -> Tensor:
        optimizer.zero_grad()
        loss = hidden(model, input_ids, attention_mask).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return call


def require_equal(calls: dict[str, Call], attention_mask: Tensor | None) -> None:
    """End the run if the models that are compared don't compute the same."""
    ours = calls["ours"]()
    kept = torch.ones(ours.shape[:2]) if attention_mask is None else attention_mask
    for name, call in calls.items():
        difference = ((call() - ours) * kept[..., None]).abs().max().item()
        if difference > TOLERANCE:
            raise SystemExit(f"{name} differs from ours by {difference:.1e}")


def multiplications(config: TransformerConfig, batch: int, seq: int) -> int:
    """Return the multiply-adds of a forward pass: projections, feed-forward layers, attention."""
    maps = 4 * config.d_model**2 + 2 * config.d_model * config.d_ff
    attention = 2 * seq * config.d_model
    return config.num_layers * batch * seq * (maps + attention)


def square_product() -> Call:
    """Return the product of two square matrices, from which the machine's rate is taken."""
    left, right = torch.randn(2, SQUARE, SQUARE)
    return lambda: left @ right


def measure(kind: str, size: tuple[int, int], padded: bool, turns: int) -> dict:
    """Measure one row: ours against each peer and the multiplications, and the memory of each."""
    peers = models()
    config = peers["ours"].config
    given = batch(size, config.vocab_size, padded)
    prepare = inference if kind == "inference" else training
    calls: dict[str, Call] = {name: prepare(model, *given) for name, model in peers.items()}
    if kind == "inference":
        require_equal(calls, given[1])
    memory = {name: peak_bytes(call) for name, call in calls.items()}
    repeats = 4 if size[0] * size[1] < 100 else 1
    seconds = in_turn(calls | {"square": square_product()}, turns, repeats)
    passes = 1 if kind == "inference" else 3  # a backward pass multiplies twice
    share = passes * multiplications(config, *size) / SQUARE**3
    alone = [share * s for s in seconds.pop("square")]
    return {
        "kind": kind,
        "batch": size[0],
        "seq": size[1],
        "padded": padded,
        "transformers": vars(ratio(seconds["ours"], seconds["transformers"])),
        "torch": vars(ratio(seconds["ours"], seconds["torch"])),
        "multiplications": vars(ratio(seconds["ours"], alone)),
        "memory": memory,
    }


def line(row: dict) -> str:
    """Write a row of the table."""
    size = f"({row['batch']}, {row['seq']})" + (" padded" if row["padded"] else "")
    ratios = []
    for peer in ("transformers", "torch", "multiplications"):
        found = row[peer]
        mark = "" if peer == "multiplications" else (" ✓" if found["low"] <= 1.0 else " ✗")
        ratios.append(f"{found['median']:.2f} [{found['low']:.2f}, {found['high']:.2f}]{mark}")
    ours, *others = (row["memory"][name] for name in ("ours", "transformers", "torch"))
    memory = f"{ours / 2**20:.1f} / " + " / ".join(f"{other / 2**20:.1f}" for other in others)
    return f"| {row['kind']} | {size} | {' | '.join(ratios)} | {memory} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true", help="also write bench/results/encoder.json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    warnings.filterwarnings("ignore", message=".*nested tensors.*")
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print(
        "| | (batch, seq) | ÷ transformers | ÷ torch | ÷ multiplications | MiB: ours / tf / torch |"
    )
    print("|---|---|---:|---:|---:|---:|")
    rows = []
    for kind in ("inference", "training"):
        for padded in (False, True):
            for size in SIZES:
                if padded and (kind == "training" or size[0] == 1):
                    continue
                turns = options.turns if kind == "inference" else max(7, options.turns // 3)
                rows.append(measure(kind, size, padded, turns))
                print(line(rows[-1]), flush=True)
    if options.json:
        keep("encoder", rows)


if __name__ == "__main__":
    main()
