"""A classifier that the book trains itself: who did it, a person, an animal, or a thing."""

import csv
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from glassbook.corpora import DATA
from glassformer.models.encoder import TransformerEncoder
from glassformer.models.task_models import TransformerForSequenceClassification
from glassformer.training.loop import Report, fit, warmup_linear_decay
from glassformer.weights.checkpoints import WEIGHTS, default_checkpoint, tokenizer
from glassformer.weights.pretrained import load

LABELS = ("person", "animal", "thing")

EPOCHS, BATCH = 8, 16
RATE, HEAD_RATE = 1.3e-4, 3e-4
FROZEN = 2  # lowest layers, which keep their pretrained weights


@dataclass(frozen=True)
class Example:
    """A sentence of the corpus.

    Attributes:
        text: The sentence, where a person, an animal, or a thing acts on another of the three.
        label: Which of `LABELS` acts.
        triple: A number that the three sentences with the same words share.
    """

    text: str
    label: str
    triple: int


def corpus(split: str) -> list[Example]:
    """Return the sentences of a split, "train" or "test", with the three of a triple together.

    Raises:
        ValueError: There is no such split.
    """
    with corpus_file().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    splits = sorted({row["split"] for row in rows})
    if split not in splits:
        raise ValueError(f"split ({split!r}) must be one of {', '.join(splits)}")
    return [
        Example(row["sentence"], row["label"], int(row["triple"]))
        for row in rows
        if row["split"] == split
    ]


def corpus_file() -> Path:
    """Return the path of the corpus: tab-separated, with a header."""
    return DATA / "who_did_it.tsv"


def encode(texts: Sequence[str]) -> dict[str, Int[Tensor, "batch seq"]]:
    """Return ids from [CLS] to [SEP], padded to the longest text, and the attention mask."""
    batch = tokenizer()(list(texts), padding=True, return_tensors="pt")
    return {name: batch[name] for name in ("input_ids", "attention_mask")}


def build() -> TransformerForSequenceClassification:
    """Return the trained body with a new head."""
    body = load(default_checkpoint())
    assert isinstance(body, TransformerEncoder)
    model = TransformerForSequenceClassification(replace(body.config, num_labels=len(LABELS)))
    model.encoder.load_state_dict(body.state_dict())
    return model


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train the head and the upper layers; return each step's loss and each epoch's accuracy."""
    assert isinstance(model, TransformerForSequenceClassification)
    examples = corpus("train")
    batch = encode([example.text for example in examples])
    ids, mask, labels = batch["input_ids"], batch["attention_mask"], label_ids(examples)
    steps = EPOCHS * -(-len(examples) // BATCH)
    right: list[int] = []  # in each batch

    def loss_fn(rows: Int[Tensor, " batch"]) -> Tensor:
        longest = int(mask[rows].sum(-1).max())
        wanted = labels[rows].to(model.classifier.weight.device)
        inputs = (part[rows, :longest].to(wanted.device) for part in (ids, mask))
        logits = model(*inputs)  # (batch, num_labels)
        right.append(int((logits.argmax(-1) == wanted).sum()))
        return cross_entropy(logits, wanted)

    losses = fit(
        model,
        (rows for _ in range(EPOCHS) for rows in torch.randperm(len(examples)).split(BATCH)),
        loss_fn,
        optimizer_of(model),
        lr_factor=partial(warmup_linear_decay, steps=steps),
        max_norm=1.0,
        report=lambda step, text: report(step, steps, text),
    )
    epochs = torch.tensor(right).split(steps // EPOCHS)
    return {"loss": losses, "accuracy": [epoch.sum().item() / len(examples) for epoch in epochs]}


def optimizer_of(model: TransformerForSequenceClassification) -> torch.optim.Optimizer:
    """Return AdamW for the head and the upper layers, and freeze the rest."""
    body = model.encoder
    for module in (body.embeddings, *body.layers[:FROZEN]):
        module.requires_grad_(False)
    upper = [p for p in body.parameters() if p.requires_grad]
    head = [*model.pooler.parameters(), *model.classifier.parameters()]
    groups = [{"params": upper, "lr": RATE}, {"params": head, "lr": HEAD_RATE}]
    return torch.optim.AdamW(groups, fused=True)


def label_ids(examples: Sequence[Example]) -> Int[Tensor, " batch"]:
    """Return the index of each example's label in `LABELS`."""
    return torch.tensor([LABELS.index(example.label) for example in examples])


@torch.no_grad()
def classify(
    model: TransformerForSequenceClassification, texts: Sequence[str]
) -> Float[Tensor, "batch num_labels"]:
    """Return the probability of each label, for each text.

    Raises:
        ValueError: The model is in training mode, where dropout would change the answers.
    """
    if model.training:
        raise ValueError("model.training (True) must be False to classify: call model.eval()")
    device = model.classifier.weight.device
    logits = model(**{name: part.to(device) for name, part in encode(texts).items()})
    return logits.softmax(-1).cpu()


def bag_of_words(
    train: Sequence[str], labels: Int[Tensor, " batch"], test: Sequence[str]
) -> Int[Tensor, " tests"]:
    """Return the predictions of a logistic regression on word counts for the test sentences."""
    seen, counts = count_tokens(train), count_tokens(test)
    known = seen.any(0)  # (vocab,)
    seen, counts = seen[:, known], counts[:, known]
    model = nn.Linear(seen.shape[1], len(LABELS))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    fit(model, repeat(seen, 100), lambda seen: cross_entropy(model(seen), labels), optimizer)
    return model(counts).argmax(-1)


def count_tokens(texts: Sequence[str]) -> Float[Tensor, "batch vocab"]:
    """Count how often each token of the vocabulary occurs in each text."""
    rows = tokenizer()(list(texts), add_special_tokens=False)["input_ids"]
    size = len(tokenizer())
    return torch.stack([torch.tensor(ids).bincount(minlength=size) for ids in rows]).float()


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval for the true share behind a measured one, at 95% for z = 1.96.

    Raises:
        ValueError: `right` is not between 0 and `total`, or `total` is 0.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    """
    if not 0 <= right <= total or total == 0:
        raise ValueError(f"right ({right}) must be between 0 and total ({total}), and total not 0")
    share, weight = right / total, z * z / total
    middle = (share + weight / 2) / (1 + weight)
    reach = z / (1 + weight) * (share * (1 - share) / total + weight / (4 * total)) ** 0.5
    return middle - reach, middle + reach


def data() -> Iterable[bytes]:
    """Return the corpus, and the body's weights if you chose your own."""
    chosen = os.environ.get("GLASSFORMER_CHECKPOINT")
    weights = [(default_checkpoint() / WEIGHTS).read_bytes()] if chosen else []
    return [corpus_file().read_bytes(), *weights]
