"""Train on your own files: a classifier, a small GPT, and a search over sentences."""

import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from glassbook.corpora.examples import opinions, passages
from glassbook.corpora.stories import make_stories
from glassformer.inference.sentence_embeddings import embed, mean_pool
from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.text.mlm_masking import IGNORE_INDEX
from glassformer.training.loop import (
    Report,
    fit,
    fit_language_model,
    one_thread,
    warmup_linear_decay,
)
from glassformer.training.losses import next_token_loss, shift_targets
from glassformer.weights.checkpoints import default_checkpoint, tokenizer
from glassformer.weights.pretrained import load

WEIGHTS, NOTES = "model.safetensors", "notes.json"  # the files of a saved model


def example_files() -> Path:
    """Make a new folder with opinions.csv, stories.txt, and the folder shelf; return its path."""
    folder = Path(mkdtemp())
    with (folder / "opinions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for one in (*opinions("train"), *opinions("test")):
            writer.writerow([one.text, "good" if one.good else "bad"])
    told = ["\n".join(story.sentences) for story in make_stories()["train"][:600]]
    (folder / "stories.txt").write_text("\n\n".join(told), encoding="utf-8")
    (folder / "shelf").mkdir()
    for i, passage in enumerate(passages()):
        name = f"{i:02} {passage.topic}.txt"
        (folder / "shelf" / name).write_text(passage.text, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Labeled:
    """Texts with their labels, in the order of the file."""

    texts: list[str]
    labels: list[str]


def read_labeled(
    path: str | Path, *, text: str = "text", label: str = "label", encoding: str = "utf-8-sig"
) -> Labeled:
    """Read two columns of a CSV or TSV file by their names in its header.

    Raises:
        ValueError: The file is empty or in another encoding, lacks a column, has rows without a
            text or a label, or has only one label.
    """
    delimiter = "\t" if Path(path).suffix == ".tsv" else ","
    rows = csv.DictReader(io.StringIO(_read(path, encoding), newline=""), delimiter=delimiter)
    columns = list(rows.fieldnames or [])
    missing = [name for name in (text, label) if name not in columns]
    if missing:
        raise ValueError(
            f"{path} has the columns {columns} but lacks {missing}: pass the names of your columns "
            "as text= and label="
        )
    texts, labels, gaps = [], [], []
    for row in rows:
        texts.append((row[text] or "").strip())
        labels.append((row[label] or "").strip())
        if not texts[-1] or not labels[-1]:
            gaps.append(rows.line_num)
    if gaps:
        raise ValueError(
            f"{path} has no text or no label in {len(gaps)} of its rows, first on line {gaps[0]}: "
            "fill them in, or delete the rows"
        )
    if not texts:
        raise ValueError(f"{path} has a header but no rows")
    if len(set(labels)) == 1:
        raise ValueError(
            f"{path} has the label {labels[0]!r} in every row: a classifier needs at least two"
        )
    return Labeled(texts, labels)


def split(rows: Labeled, *, share: float = 0.2, seed: int = 0) -> tuple[Labeled, Labeled]:
    """Split rows into training rows and test rows, with `share` of each label in the test rows.

    Raises:
        ValueError: `share` is not between 0 and 1, or a label has only one row.
    """
    if not 0.0 < share < 1.0:
        raise ValueError(f"share ({share}) must be between 0 and 1")
    random, tested = Random(seed), set()
    for label in sorted(set(rows.labels)):
        places = [i for i, other in enumerate(rows.labels) if other == label]
        if len(places) < 2:
            raise ValueError(
                f"label {label!r} has only one row: it needs one for training and one for testing"
            )
        count = min(max(1, round(share * len(places))), len(places) - 1)
        tested |= set(random.sample(places, count))
    parts = [[i for i in range(len(rows.texts)) if (i in tested) is kept] for kept in (False, True)]
    train, test = (
        Labeled([rows.texts[i] for i in part], [rows.labels[i] for i in part]) for part in parts
    )
    return train, test


class TextClassifier(nn.Module):
    """An encoder, the mean over its tokens, and a linear layer with a logit for each label."""

    def __init__(self, encoder: TransformerEncoder, labels: Sequence[str]):
        super().__init__()
        self.encoder, self.labels = encoder, list(labels)
        self.head = nn.Linear(encoder.config.d_model, len(labels))
        self.has_own_body = False

    def forward(
        self, input_ids: Int[Tensor, "batch seq"], attention_mask: Shaped[Tensor, "batch seq"]
    ) -> Float[Tensor, "batch labels"]:
        """Return the logits of each text."""
        hidden = self.encoder(input_ids, attention_mask)
        return self.head(normalize(mean_pool(hidden, attention_mask)))

    @torch.no_grad()
    def predict(self, texts: Sequence[str]) -> list[str]:
        """Return the likeliest label of each text."""
        logits = self.head(embed(self.encoder, texts))
        return [self.labels[i] for i in logits.argmax(-1).tolist()]

    def save(self, folder: str | Path) -> None:
        """Write the head, the labels, and, if it was trained, the body to a folder."""
        body = {f"encoder.{name}": part for name, part in self.encoder.state_dict().items()}
        head = {f"head.{name}": part for name, part in self.head.state_dict().items()}
        _save(folder, head | body if self.has_own_body else head, {"labels": self.labels})


def load_classifier(folder: str | Path) -> TextClassifier:
    """Load a classifier saved by `TextClassifier.save`.

    Raises:
        ValueError: No model was saved in the folder.
    """
    weights, notes = _load(folder)
    model = TextClassifier(_body(), notes["labels"])
    model.load_state_dict(weights, strict=False)
    model.has_own_body = any(name.startswith("encoder.") for name in weights)
    return model.eval()


def fit_head(
    vectors: Float[Tensor, "texts width"], labels: Sequence[str], *, steps: int = 300
) -> nn.Linear:
    """Fit a linear layer that predicts the labels, in alphabetical order, from fixed vectors."""
    wanted = _numbers(labels)
    head = nn.Linear(vectors.shape[1], len(set(labels)))
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimizer = torch.optim.AdamW(head.parameters(), lr=0.1, weight_decay=0.01, fused=True)
    with one_thread():
        fit(
            head,
            (vectors for _ in range(steps)),
            lambda vectors: cross_entropy(head(vectors), wanted),
            optimizer,
            lr_factor=partial(warmup_linear_decay, steps=steps),
        )
    return head


def train_classifier(
    rows: Labeled, *, whole: bool = False, epochs: int = 4, rate: float = 5e-5, batch_size: int = 8
) -> TextClassifier:
    """Train a head on a frozen body, all-MiniLM-L6-v2; if `whole`, then train both together.

    While the body is frozen, it reads each text only once, so training the head takes a second. In
    each epoch, training the whole model takes as long as three forward passes over the texts.

    Raises:
        ValueError: A text has more tokens than the body has positions.
    """
    model = TextClassifier(_body(), sorted(set(rows.labels)))
    model.head = fit_head(embed(model.encoder, rows.texts), rows.labels)
    if not whole:
        return model.eval()
    model.has_own_body = True
    wanted = _numbers(rows.labels)
    optimizer = torch.optim.AdamW(
        [
            {"params": model.encoder.parameters(), "lr": rate},
            {"params": model.head.parameters(), "lr": 20 * rate},
        ],
        weight_decay=0.01,
        fused=True,
    )
    order = [part for _ in range(epochs) for part in torch.randperm(len(wanted)).split(batch_size)]

    def loss_fn(part: Int[Tensor, " batch"]) -> Tensor:
        texts = [rows.texts[i] for i in part.tolist()]
        batch = tokenizer()(texts, padding=True, return_tensors="pt")
        return cross_entropy(model(batch["input_ids"], batch["attention_mask"]), wanted[part])

    model.train()
    with _bar("training the whole model") as report:
        fit(
            model,
            order,
            loss_fn,
            optimizer,
            lr_factor=partial(warmup_linear_decay, steps=len(order)),
            max_norm=1.0,
            report=lambda step, said: report(step, len(order), said),
        )
    return model.eval()


def read_text(path: str | Path, *, encoding: str = "utf-8-sig") -> str:
    """Read a text file.

    Raises:
        ValueError: The file is empty or in another encoding.
    """
    return _read(path, encoding)


class CharacterGPT(nn.Module):
    """A small GPT whose tokens are the characters of its text."""

    def __init__(
        self, characters: str, *, d_model: int = 64, num_layers: int = 2, context: int = 64
    ):
        super().__init__()
        self.characters, self.context = characters, context
        self.sizes = {"d_model": d_model, "num_layers": num_layers, "context": context}
        self.gpt = TransformerForCausalLM(
            TransformerConfig(
                vocab_size=len(characters),
                d_model=d_model,
                num_heads=4,
                num_layers=num_layers,
                d_ff=4 * d_model,
                norm_first=True,
                positions="rotary",
                max_positions=context,
                embedding_norm=False,
                num_token_types=0,
                dropout=0.0,
                attn_dropout=0.0,
            )
        )

    def forward(self, ids: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        """Return the logits of each next character."""
        return self.gpt(ids)

    def encode(self, text: str) -> Int[Tensor, " seq"]:
        """Return the id of each character.

        Raises:
            ValueError: A character isn't one of the model's `characters`.
        """
        strange = sorted(set(text) - set(self.characters))
        if strange:
            raise ValueError(f"characters {strange} were not in the training text")
        return torch.tensor([self.characters.index(one) for one in text])

    @torch.no_grad()
    def loss(self, text: str) -> float:
        """Return the mean loss per character, in nats, computed window by window.

        Raises:
            ValueError: The text is shorter than one window.
        """
        if len(text) <= self.context:
            raise ValueError(
                f"text of {len(text)} characters is shorter than a window of {self.context + 1}"
            )
        windows = self.encode(text).unfold(0, self.context + 1, self.context)
        given, wanted = shift_targets(windows)
        return next_token_loss(self(given), wanted, pad_token_id=IGNORE_INDEX).item()

    @torch.no_grad()
    def write(self, prompt: str, length: int = 200, *, temperature: float = 0.8) -> str:
        """Continue a prompt of at least one character, drawing one character at a time.

        Raises:
            ValueError: The prompt is empty, or has an unknown character.
        """
        if not prompt:
            raise ValueError("prompt ('') must have at least one character to continue")
        ids = self.encode(prompt)[None]
        for _ in range(length):
            logits = self(ids[:, -self.context :])[:, -1]
            following = (logits / temperature).softmax(-1).multinomial(1)
            ids = torch.cat([ids, following], dim=1)
        return "".join(self.characters[i] for i in ids[0].tolist())

    def save(self, folder: str | Path) -> None:
        """Write the weights, the characters, and the sizes to a folder."""
        _save(folder, self.state_dict(), {"characters": self.characters, "sizes": self.sizes})


def load_gpt(folder: str | Path) -> CharacterGPT:
    """Load a GPT saved by `CharacterGPT.save`.

    Raises:
        ValueError: No model was saved in the folder.
    """
    weights, notes = _load(folder)
    model = CharacterGPT(notes["characters"], **notes["sizes"])
    model.load_state_dict(weights)
    return model.eval()


def train_gpt(
    text: str,
    *,
    characters: str | None = None,
    steps: int = 1000,
    batch_size: int = 16,
    rate: float = 0.004,
    **sizes: int,
) -> tuple[CharacterGPT, list[float]]:
    """Train a GPT on windows of a text, drawn anew at each step; also return each step's loss.

    Pass the `characters` of the whole text if you hold out part of it for testing.

    Raises:
        ValueError: The text is shorter than one window.
    """
    model = CharacterGPT(characters or "".join(sorted(set(text))), **sizes)
    ids, size = model.encode(text), model.context + 1
    if len(ids) < size:
        raise ValueError(f"text of {len(ids)} characters is shorter than a window of {size}")

    def draw() -> Int[Tensor, "batch seq"]:
        starts = torch.randint(len(ids) - size + 1, (batch_size, 1))
        return ids[starts + torch.arange(size)]

    def loss_fn(windows: Int[Tensor, "batch seq"]) -> Tensor:
        given, wanted = shift_targets(windows)
        return next_token_loss(model(given), wanted, pad_token_id=IGNORE_INDEX)

    with _bar("training a GPT") as report:
        batches = (draw() for _ in range(steps))
        losses = fit_language_model(model, batches, loss_fn, steps=steps, rate=rate, report=report)
    return model.eval(), losses


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the name of its file."""

    file: str
    text: str


def read_folder(
    folder: str | Path, *, pattern: str = "*.txt", encoding: str = "utf-8-sig"
) -> list[Sentence]:
    """Read the sentences of all files in a folder whose names match the pattern.

    Raises:
        ValueError: There is no such folder or file, or a file is empty or in another encoding.
    """
    if not Path(folder).is_dir():
        raise ValueError(f"{folder} is not a folder")
    paths = sorted(Path(folder).glob(pattern))
    if not paths:
        raise ValueError(f"{folder} has no file that matches {pattern!r}")
    return [
        Sentence(path.name, text)
        for path in paths
        for text in re.split(r"(?<=[.!?])\s+", _read(path, encoding).strip())
    ]


class SentenceIndex:
    """Sentences with their vectors, for search by meaning.

    Raises:
        ValueError: There is no sentence, or one has more tokens than the encoder has positions.
    """

    def __init__(self, sentences: Sequence[Sentence], vectors: Tensor | None = None):
        self.encoder, self.sentences = _body(), list(sentences)
        self.vectors = (
            embed(self.encoder, [one.text for one in sentences]) if vectors is None else vectors
        )

    def search(self, question: str, count: int = 3) -> list[tuple[float, Sentence]]:
        """Return the nearest sentences with their cosines, the nearest first."""
        cosines = (embed(self.encoder, [question]) @ self.vectors.mT)[0]
        best = cosines.topk(min(count, len(self.sentences)))
        found = (self.sentences[i] for i in best.indices.tolist())
        return list(zip(best.values.tolist(), found, strict=True))

    def save(self, folder: str | Path) -> None:
        """Write the sentences and their vectors to a folder."""
        notes = {"sentences": [asdict(one) for one in self.sentences]}
        _save(folder, {"vectors": self.vectors}, notes)


def load_index(folder: str | Path) -> SentenceIndex:
    """Load an index saved by `SentenceIndex.save`.

    Raises:
        ValueError: No index was saved in the folder.
    """
    weights, notes = _load(folder)
    return SentenceIndex([Sentence(**one) for one in notes["sentences"]], weights["vectors"])


def _read(path: str | Path, encoding: str) -> str:
    data = Path(path).read_bytes()
    if not data.strip():
        raise ValueError(f"{path} is empty")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not in {encoding.removesuffix('-sig')}: byte {error.start} is "
            f"{data[error.start]:#04x}. Save it as UTF-8, or pass its encoding; from Windows "
            "that's often encoding='cp1252'"
        ) from error


def _numbers(labels: Sequence[str]) -> Int[Tensor, " texts"]:
    kinds = sorted(set(labels))
    return torch.tensor([kinds.index(label) for label in labels])


def _body() -> TransformerEncoder:
    body = load(default_checkpoint())
    assert isinstance(body, TransformerEncoder)
    return body


def _save(folder: str | Path, weights: Mapping[str, Tensor], notes: Mapping[str, object]) -> None:
    from safetensors.torch import save_file

    Path(folder).mkdir(parents=True, exist_ok=True)
    # Tied weights are one tensor in memory, and two in the file.
    copies = {name: part.detach().contiguous().clone() for name, part in weights.items()}
    save_file(copies, Path(folder) / WEIGHTS)
    (Path(folder) / NOTES).write_text(json.dumps(notes, ensure_ascii=False), encoding="utf-8")


def _load(folder: str | Path) -> tuple[dict[str, Tensor], dict]:
    from safetensors.torch import load_file

    missing = [name for name in (WEIGHTS, NOTES) if not (Path(folder) / name).is_file()]
    if missing:
        raise ValueError(f"{folder} lacks {', '.join(missing)}: save a model there first")
    notes = json.loads((Path(folder) / NOTES).read_text(encoding="utf-8"))
    return load_file(Path(folder) / WEIGHTS), notes


@contextmanager
def _bar(title: str) -> Iterator[Report]:
    """Show a progress bar in terminals and notebooks, but not in logs."""
    from tqdm.auto import tqdm

    shown = sys.stderr.isatty() or "ipykernel" in sys.modules
    with tqdm(desc=title, disable=not shown) as bar:

        def report(done: int, total: int, text: str) -> None:
            bar.total = total
            bar.set_postfix_str(text, refresh=False)
            bar.update(done - bar.n)

        yield report
