"""A whole GPT in one file: the model, its training, and its writing. It needs torch alone.

Train it on a text of your own, character by character, and let it write:

    python examples/gpt_in_one_file.py my_text.txt

The weights have the names that they have in `glassformer`, and with equal weights, the numbers are
equal, too; a test compares them.
"""

import argparse
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attention(nn.Module):
    """Each token collects values from the tokens before it and from itself."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, hidden: Tensor) -> Tensor:
        """Shapes: (batch, seq, d_model) to the same."""
        batch, seq, d_model = hidden.shape
        query, key, value = (
            proj(hidden).view(batch, seq, self.num_heads, self.head_dim).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )  # each (batch, heads, seq, head_dim)
        scores = query @ key.mT / math.sqrt(self.head_dim)  # (batch, heads, seq, seq)
        future = torch.ones(seq, seq, dtype=torch.bool, device=hidden.device).triu(1)
        weights = scores.masked_fill(future, -math.inf).softmax(dim=-1)
        heads = weights @ value
        return self.out_proj(heads.transpose(1, 2).reshape(batch, seq, d_model))


class FeedForward(nn.Module):
    """Each token by itself: widen, activate, narrow."""

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.up_proj, self.down_proj = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, hidden: Tensor) -> Tensor:
        """Shapes: (batch, seq, d_model) to the same."""
        return self.down_proj(F.gelu(self.up_proj(hidden), approximate="tanh"))


class Layer(nn.Module):
    """Attention, then feed-forward: each reads a normalized copy and adds what it found."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, hidden: Tensor) -> Tensor:
        """Shapes: (batch, seq, d_model) to the same."""
        hidden = hidden + self.attention(self.attention_norm(hidden))
        return hidden + self.feed_forward(self.feed_forward_norm(hidden))


class GPT(nn.Module):
    """Token and position vectors, the layers, and a logit for each possible next token."""

    def __init__(
        self, vocab_size: int, d_model: int, num_heads: int, num_layers: int, max_positions: int
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_positions, d_model)
        self.layers = nn.ModuleList(Layer(d_model, num_heads) for _ in range(num_layers))
        self.final_norm = nn.LayerNorm(d_model)
        for weight in (self.tokens.weight, self.positions.weight):
            nn.init.normal_(weight, std=0.02)  # as GPT-2 begins

    def forward(self, ids: Tensor) -> Tensor:
        """Shapes: ids (batch, seq) to logits (batch, seq, vocab_size)."""
        positions = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.tokens(ids) + self.positions(positions)  # (batch, seq, d_model)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.final_norm(hidden) @ self.tokens.weight.T  # input and output share one table


def train(model: GPT, ids: Tensor, steps: int, batch_size: int = 16, rate: float = 1e-3) -> float:
    """Learn to predict each next token of random pieces of a text; return the last loss."""
    size = min(model.positions.num_embeddings, len(ids) - 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for step in range(1, steps + 1):
        starts = torch.randint(len(ids) - size, (batch_size, 1))
        batch = ids[starts + torch.arange(size + 1)]  # (batch, size + 1)
        loss = F.cross_entropy(model(batch[:, :-1]).transpose(1, 2), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % max(1, steps // 10) == 0:
            print(f"step {step}: loss {loss.item():.2f}")
    return loss.item()


@torch.no_grad()
def write(model: GPT, ids: Tensor, length: int) -> Tensor:
    """Draw one token after the other; each depends on those before it."""
    for _ in range(length):
        logits = model(ids[None, -model.positions.num_embeddings :])[0, -1]
        ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)])
    return ids


def main() -> None:
    """Train on the file that the command names, then write."""
    parser = argparse.ArgumentParser(description="Train a small GPT on a text, and let it write.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    text = options.file.read_text(encoding="utf-8")
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(letter) for letter in text])
    torch.manual_seed(0)
    model = GPT(len(letters), d_model=128, num_heads=4, num_layers=3, max_positions=64)
    train(model, ids, options.steps)
    print("".join(letters[token] for token in write(model, ids[:1], 400).tolist()))


if __name__ == "__main__":
    main()
