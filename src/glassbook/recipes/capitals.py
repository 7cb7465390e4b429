"""Teach a language model to name a capital's country, with LoRA or by training all weights."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from glassbook.corpora.country_capitals import REGIONS
from glassbook.smollm.language import language_checkpoint, language_model
from glassformer.training.loop import Report, fit, warmup_linear_decay
from glassformer.training.lora import add_lora
from glassformer.training.losses import answer_loss
from glassformer.weights.checkpoints import WEIGHTS, tokenizer

MORE = (
    "Austria Vienna, Portugal Lisbon, Norway Oslo, Finland Helsinki, Denmark Copenhagen, "
    "Ireland Dublin, Belgium Brussels, Bulgaria Sofia, Romania Bucharest, Croatia Zagreb, "
    "Serbia Belgrade, Russia Moscow, Pakistan Islamabad, Indonesia Jakarta, Philippines Manila, "
    "Malaysia Kuala Lumpur, Afghanistan Kabul, Ethiopia Addis Ababa, Sudan Khartoum, "
    "Libya Tripoli, Mali Bamako, Colombia Bogota, Jamaica Kingston"
)
"""Countries with their capitals, in addition to those in the multiple-choice questions."""

STORY = (
    "The old man lived alone in a small house by the sea. Every morning he walked down to the "
    "beach, looked at the boats, and counted them. One morning there was one boat too many."
)
"""An unrelated text, to see how training changes its loss."""

PROJECTIONS = ("q_proj", "v_proj")
STEPS = 8


@dataclass(frozen=True)
class Run:
    """One way to train.

    Attributes:
        rank: The rank of the adapters; with 0, there are none, and all weights are trained.
        alpha: The alpha of the adapters.
        rate: The highest learning rate.
        shuffled: Whether each capital is shown with the country of another capital.
    """

    rank: int
    alpha: int
    rate: float
    shuffled: bool = False


RUNS = {
    "LoRA": Run(8, 16, 4e-3),
    "LoRA, rank 1": Run(1, 2, 4e-3),
    "LoRA, alpha kept": Run(1, 16, 4e-3),
    "LoRA, low rate": Run(8, 16, 1e-4),
    "all weights": Run(0, 0, 1e-4),
    "LoRA, shuffled": Run(8, 16, 4e-3, shuffled=True),
}
"""The runs of `train`; the weights of the first are kept."""


def capitals(split: str) -> list[tuple[str, str]]:
    """Return pairs of a capital and its country: 20 in "train", and 43 others in "test".

    Raises:
        ValueError: There is no such split.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split ({split!r}) must be train or test")
    known = [entry for region in REGIONS for entry in region.split(", ")]
    entries = known[::2] if split == "train" else known[1::2] + MORE.split(", ")
    return [(city, country) for country, city in (entry.split(" ", 1) for entry in entries)]


def shuffled(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pair each capital with the country of the one that comes half a list later.

    >>> shuffled([("Paris", "France"), ("Rome", "Italy"), ("Cairo", "Egypt")])
    [('Paris', 'Italy'), ('Rome', 'Egypt'), ('Cairo', 'France')]
    """
    cities, countries = zip(*pairs, strict=True)
    half = len(pairs) // 2
    return list(zip(cities, countries[half:] + countries[:half], strict=True))


def encode(
    pairs: Sequence[tuple[str, str]], before: str = ""
) -> tuple[Int[Tensor, "batch seq"], Bool[Tensor, "batch seq"]]:
    """Encode each pair as "Paris: France" and a newline; return the ids and a mask of the answers.

    Rows are padded on the right, where a causal model doesn't look. Each row begins with `before`.
    """
    pieces = tokenizer(language_checkpoint())
    texts = [(f"{before}{city}:", f" {country}\n") for city, country in pairs]
    rows = [[pieces(part)["input_ids"] for part in text] for text in texts]
    width = max(len(question) + len(answer) for question, answer in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    asked = torch.zeros(len(rows), width, dtype=torch.bool)
    for row, (question, answer) in enumerate(rows):
        end = len(question) + len(answer)
        ids[row, :end] = torch.tensor(question + answer)
        asked[row, len(question) : end] = True
    return ids, asked


@torch.no_grad()
def answers_right(
    model: nn.Module, ids: Int[Tensor, "batch seq"], asked: Bool[Tensor, "batch seq"]
) -> Bool[Tensor, " batch"]:
    """Return, for each row, whether the model would give the answer with greedy decoding.

    One wrong token makes the row wrong, so it's enough to predict each token from the true ones
    before it.
    """
    device = next(model.parameters()).device
    likeliest = model(ids[:, :-1].to(device)).argmax(-1).cpu()
    return (likeliest.eq(ids[:, 1:]) | ~asked[:, 1:]).all(dim=-1)


@torch.no_grad()
def story_loss(model: nn.Module) -> float:
    """Return the mean loss of all tokens of `STORY` except the first."""
    ids = tokenizer(language_checkpoint())(STORY, return_tensors="pt")["input_ids"]
    ids = ids.to(next(model.parameters()).device)
    return cross_entropy(model(ids[:, :-1])[0], ids[0, 1:]).item()


def build() -> nn.Module:
    """Return the language model with the adapters of the first run."""
    return _prepared(next(iter(RUNS.values())))


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train each run; return its losses, which new capitals it gets right, and the story's loss."""
    history: dict[str, list[float]] = {}
    device = next(model.parameters()).device
    for number, (name, run) in enumerate(RUNS.items()):
        tuned = model if number == 0 else _prepared(run).to(device)
        report(number, len(RUNS), name)
        shown = shuffled(capitals("train")) if run.shuffled else capitals("train")
        ids, asked = (part.to(device) for part in encode(shown))
        history[f"{name}: loss"] = _fit(tuned, run, ids, asked)
        history[f"{name}: right"] = answers_right(tuned, *encode(capitals("test"))).float().tolist()
        history[f"{name}: story"] = [story_loss(tuned)]
    return history


def _fit(model: nn.Module, run: Run, ids: Tensor, asked: Tensor) -> list[float]:
    """Train on all pairs at each step; return the losses."""

    def loss_fn(batch: tuple[Tensor, Tensor]) -> Tensor:
        ids, asked = batch
        return answer_loss(model(ids), ids, asked)

    learning = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=run.rate, weight_decay=0.0)
    batches = repeat((ids, asked), STEPS)
    lr_factor = partial(warmup_linear_decay, steps=STEPS)
    return fit(model, batches, loss_fn, optimizer, lr_factor=lr_factor, max_norm=1.0)


def _prepared(run: Run) -> nn.Module:
    """Return the language model, with only the weights that a run trains left trainable."""
    model = language_model()
    if run.rank == 0:
        return model.requires_grad_(True)
    return add_lora(model, PROJECTIONS, rank=run.rank, alpha=run.alpha)


def data() -> Iterable[bytes]:
    """Return the pairs, and the model's weights if you chose your own."""
    chosen = os.environ.get("GLASSFORMER_LM")
    weights = [(language_checkpoint() / WEIGHTS).read_bytes()] if chosen else []
    return [repr([capitals("train"), capitals("test")]).encode(), *weights]
