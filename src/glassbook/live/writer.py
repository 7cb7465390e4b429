"""The element in which a language model writes, in the reader's page, token by token."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from glassbook.corpora import stories
from glassbook.live.decoder import OUTPUTS, DecoderStep, layers_of
from glassbook.live.downloads import exported, fingerprint
from glassbook.live.element import Live, element
from glassbook.live.export import export, in_halves
from glassbook.live.gguf_weights import Blocks
from glassbook.recipes import trained
from glassbook.smollm import language_checkpoint, language_model
from glassbook.smollm.language import GGUF_SHA256, extract_gguf
from glassformer import TransformerForCausalLM, tokenizer
from glassformer.views.next_tokens import next_tokens

SCRIPTS = {
    "steps": "glassformer-live-steps.js",
    "sampling": "glassformer-live-sampling.js",
}
"""The scripts that only this element loads, by what it calls them."""


@dataclass(frozen=True)
class Language:
    """A language model for the page.

    Attributes:
        name: What its files are called.
        model: The model, in eval mode.
        encode: Returns the ids of a text.
        decode: Returns the text of one id.
        start: The ids before each text.
        end: The id that ends a text.
        unknown: The id of words that it doesn't know, if there is one.
        most: How many tokens the page lets it read.
        weights: What identifies its weights.
        tokenizer: Its tokenizer's JSON, and its settings'.
        pack: Returns how its weights are packed, given a folder for files that this needs.
        on_gpu: Whether WebGPU runs it in browsers that have it: a small model gains nothing.
    """

    name: str
    model: TransformerForCausalLM
    encode: Callable[[str], list[int]]
    decode: Callable[[int], str]
    start: tuple[int, ...]
    end: int
    unknown: int | None
    most: int
    weights: str
    tokenizer: tuple[object, object]
    pack: Callable[[Path], Callable]
    on_gpu: bool


def writer(text: str, model: str = "gpt") -> Live:
    """Export a language model, and show what it says after a text that readers can replace.

    Args:
        text: The text that's shown first.
        model: `gpt`, the small GPT that tells stories, or `smollm`, SmolLM2-135M-Instruct.

    Raises:
        MissingModelError: SmolLM2 was never fetched; the message says how to fetch it.
        ValueError: There is no such model.
    """
    if model not in LANGUAGES:
        raise ValueError(f"model ({model!r}) must be one of {', '.join(LANGUAGES)}")
    language = LANGUAGES[model]()
    ids = [*language.start, *language.encode(text)]
    with torch.inference_mode():
        chances = language.model(torch.tensor([ids]), last_only=True)[0, -1].softmax(-1)
    still = next_tokens({f"{text} …": chances}, language.decode, most=10)
    packing, downloads = exported(
        language.name, language.weights, lambda folder: write_files(language, folder)
    )
    return element(
        "writer",
        still,
        _sizes(language) | {"packing": packing},
        downloads,
        scripts=SCRIPTS,
        data={"text": text},
        on_gpu=language.on_gpu,
    )


def write_files(language: Language, folder: Path) -> dict[str, object]:
    """Write the model's graph, weights, and tokenizer into a folder; return the packing."""
    step = DecoderStep(language.model)
    past = torch.export.Dim("past", min=0, max=language.most)
    axes = {
        "input_ids": {1: torch.export.Dim("new", min=1, max=language.most)},
        "keys": {0: past},
        "values": {0: past},
        "layers": {0: torch.export.Dim("read", min=1, max=language.model.config.num_layers)},
    }
    # An axis of size 1 would stay of size 1, so the example has none.
    example = step.example(past=5, new=3) | {"layers": torch.tensor([0, 1])}
    data = json.dumps(language.tokenizer, ensure_ascii=False, separators=(",", ":")).encode()
    (folder / "tokenizer.gz").write_bytes(gzip.compress(data, 9, mtime=0))
    with TemporaryDirectory() as needed:
        return export(step, example, axes, OUTPUTS, folder, language.pack(Path(needed)))


def _sizes(language: Language) -> dict[str, object]:
    config = language.model.config
    attention = next(layers_of(language.model)).attention
    cache = {
        "layers": config.num_layers,
        "kvHeads": attention.num_kv_heads,
        "headDim": attention.head_dim,
    }
    return {
        "name": language.name,
        "layers": config.num_layers,
        "heads": config.num_heads,
        "cache": cache,
        "start": language.start,
        "end": language.end,
        "unknown": language.unknown,
        "most": language.most,
    }


def _gpt() -> Language:
    """Return the GPT of the stories."""
    words, model = stories.tokenizer(), trained("gpt").model
    assert isinstance(model, TransformerForCausalLM)
    return Language(
        name="gpt",
        model=model,
        encode=lambda text: words.encode(text, add_special_tokens=False).ids,
        decode=lambda token: str(words.id_to_token(token)),
        start=(stories.END,),
        end=stories.END,
        unknown=stories.UNKNOWN,
        most=model.config.max_positions,
        weights=fingerprint(model),
        tokenizer=(word_pieces(json.loads(words.to_str())), {}),
        pack=lambda folder: in_halves,
        on_gpu=False,
    )


def _smollm() -> Language:
    """Return SmolLM2."""
    folder, pieces = language_checkpoint(), tokenizer(language_checkpoint())
    names = ("tokenizer.json", "tokenizer_config.json")
    settings = [json.loads((folder / name).read_text("utf-8")) for name in names]
    return Language(
        name="smollm",
        model=language_model(),
        encode=lambda text: pieces(text)["input_ids"],
        decode=lambda token: str(pieces.decode(token)),
        start=(),
        end=pieces.eos_token_id,
        unknown=None,
        most=512,
        weights=GGUF_SHA256,
        tokenizer=(settings[0], settings[1]),
        pack=lambda folder: Blocks(extract_gguf(folder)),
        on_gpu=True,
    )


LANGUAGES: dict[str, Callable[[], Language]] = {"gpt": _gpt, "smollm": _smollm}


def word_pieces(settings: dict) -> dict[str, object]:
    """Return the settings of a tokenizer of whole words, as the page's library can read them.

    The library knows no `WordLevel`. A `WordPiece` without pieces that continue a word is the same:
    a word is in the vocabulary, or it's unknown. Words are found by Unicode's rules, as in Python,
    and nothing frames the text.
    """
    words = settings["model"]
    model = {"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 99}
    model |= {name: words[name] for name in ("vocab", "unk_token")}
    pattern = {"Regex": r"\w+|[^\w\s]+"}
    split = {"type": "Split", "pattern": pattern, "behavior": "Removed", "invert": True}
    decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    changed = {"model": model, "pre_tokenizer": split, "post_processor": None, "padding": None}
    return settings | changed | {"decoder": decoder}
