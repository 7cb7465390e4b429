"""Time training steps of our encoder-decoder against two others of the same size, in turns.

(a) `MarianMTModel` of transformers, with torch's fused attention, from whose weights ours starts;
(b) `torch.nn.Transformer` between the same embeddings and the same output layer.

A step is forward, label-smoothed loss, backward, and AdamW, with dropout, on a batch whose sources
are padded. All process the same number of tokens. A ratio is the other's time divided by ours: more
than 1 means that ours is faster. The goal is at least 1.00 × (a) and (b), which means that both
intervals reach up to 1.00. A size lists the layers of each stack, `d_model`, heads, `d_ff`,
vocabulary, batch, source length, and target length.

    python bench/training.py [--turns 30] [--threads N] [--json]
"""

import argparse
from collections.abc import Callable

import torch
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

from _turns import in_turn, keep, machine, ratio
from glassformer import Transformer, from_hf
from glassformer.layers.masks import causal_mask, invert_mask
from glassformer.training.losses import next_token_loss, shift_targets

# (layers of each stack, d_model, heads, d_ff, vocabulary, batch, source length, target length)
SIZES = ((2, 128, 4, 512, 307, 128, 13, 17), (3, 256, 8, 1024, 2048, 32, 29, 31))
PAD = 0
TOLERANCE = 2e-5
Step = Callable[[], Tensor]


class TorchTransformer(nn.Module):
    """torch's encoder-decoder between the embeddings and the output layer of ours."""

    def __init__(self, ours: Transformer):
        super().__init__()
        config = ours.config
        self.source, self.target = ours.encoder.embeddings, ours.decoder.embeddings
        self.lm_head = ours.lm_head
        self.stacks = nn.Transformer(
            config.d_model,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.d_ff,
            dropout=config.dropout,
            batch_first=True,
        )
        for module in self.stacks.modules():  # Marian drops neither weights nor activations
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0

    def forward(self, src_ids: Tensor, tgt_ids: Tensor, src_attention_mask: Tensor) -> Tensor:
        padding = invert_mask(src_attention_mask.bool())
        hidden = self.stacks(
            self.source(src_ids),
            self.target(tgt_ids),
            tgt_mask=invert_mask(causal_mask(tgt_ids.shape[1])),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return self.lm_head(hidden)


def marian(layers: int, d_model: int, heads: int, d_ff: int, vocab: int) -> MarianMTModel:
    """Return a new Marian model with ReLU and dropout, both as in `torch.nn.Transformer`."""
    sizes = {"layers": layers, "attention_heads": heads, "ffn_dim": d_ff}
    stacks = {f"{side}_{k}": v for side in ("encoder", "decoder") for k, v in sizes.items()}
    config = MarianConfig(
        vocab_size=vocab,
        d_model=d_model,
        max_position_embeddings=64,
        activation_function="relu",
        dropout=0.1,
        scale_embedding=True,
        pad_token_id=PAD,
        eos_token_id=1,
        forced_eos_token_id=None,
        decoder_start_token_id=2,
        attn_implementation="sdpa",
        **stacks,
    )
    return MarianMTModel(config)


def logits(model: nn.Module, src_ids: Tensor, tgt_ids: Tensor, src_mask: Tensor) -> Tensor:
    """Return the logits for the token after each target token, whatever the model wraps them in."""
    if isinstance(model, MarianMTModel):
        output = model(src_ids, attention_mask=src_mask, decoder_input_ids=tgt_ids, use_cache=False)
        return output.logits
    return model(src_ids, tgt_ids, src_attention_mask=src_mask)


def training(model: nn.Module, src_ids: Tensor, tgt_ids: Tensor) -> Step:
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
    src_mask = (src_ids != PAD).long()
    inputs, labels = shift_targets(tgt_ids)

    def step() -> Tensor:
        optimizer.zero_grad()
        predicted = logits(model, src_ids, inputs, src_mask)
        loss = next_token_loss(predicted, labels, pad_token_id=PAD, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        return loss

    return step


def batch(vocab: int, rows: int, src_len: int, tgt_len: int) -> tuple[Tensor, Tensor]:
    """Return random ids; every other source is a third shorter."""
    src_ids = torch.randint(3, vocab, (rows, src_len))
    src_ids[::2, -src_len // 3 :] = PAD
    return src_ids, torch.randint(3, vocab, (rows, tgt_len))


def require_equal(ours: nn.Module, theirs: nn.Module, src_ids: Tensor, tgt_ids: Tensor) -> None:
    """End the run if ours does not compute what Marian computes."""
    src_mask = (src_ids != PAD).long()
    with torch.no_grad():
        found = logits(ours.eval(), src_ids, tgt_ids, src_mask)
        wanted = logits(theirs.eval(), src_ids, tgt_ids, src_mask)
    difference = (found - wanted).abs().max().item()
    if difference > TOLERANCE:
        raise SystemExit(f"ours differs from Marian by {difference:.1e}")


def measure(size: tuple[int, ...], turns: int) -> dict:
    """Measure one row: target tokens per second of ours over those of each peer."""
    *model_size, rows, src_len, tgt_len = size
    theirs = marian(*model_size)
    given = batch(model_size[-1], rows, src_len, tgt_len)
    require_equal(from_hf(theirs), theirs, *given)
    steps = {
        "ours": training(from_hf(theirs), *given),
        "marian": training(theirs, *given),
        "torch": training(TorchTransformer(from_hf(theirs)), *given),
    }
    seconds = in_turn(steps, turns)
    return {
        "size": size,
        "tokens": rows * (tgt_len - 1) / sorted(seconds["ours"])[turns // 2],
        "marian": vars(ratio(seconds["marian"], seconds["ours"])),
        "torch": vars(ratio(seconds["torch"], seconds["ours"])),
    }


def line(row: dict) -> str:
    """Write a row of the table."""
    ratios = []
    for peer in ("marian", "torch"):
        found = row[peer]
        mark = "✓" if found["high"] >= 1.0 else "✗"
        ratios.append(f"{found['median']:.2f} [{found['low']:.2f}, {found['high']:.2f}] {mark}")
    return f"| {row['size']} | {row['tokens']:,.0f} | {' | '.join(ratios)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument(
        "--json", action="store_true", help="also write bench/results/training.json"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print(
        "| layers, d_model, heads, d_ff, vocab, batch, src, tgt | tokens/s | × Marian | × torch |"
    )
    print("|---|---:|---:|---:|")
    rows = []
    for size in SIZES:
        rows.append(measure(size, options.turns))
        print(line(rows[-1]), flush=True)
    if options.json:
        keep("training", rows)


if __name__ == "__main__":
    main()
