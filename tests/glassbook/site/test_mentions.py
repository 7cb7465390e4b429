"""What a piece of inline code names: the package's symbol, another thing, or nothing."""

from pathlib import Path

import pytest

from glassbook.site.api.mentions import Mentions
from glassbook.site.api.mentions import mentions as read_mentions
from glassbook.site.api.package import Packages
from glassbook.site.page_text import read_lab, read_page

ROOT = Path(__file__).parents[3]

PAGE = """
# A page

A sentence on `record` and ``two ` ticks``.

```python
from glassformer.weights.pretrained import load
from glassformer import KVCache as Cache
from torch.nn.functional import scaled_dot_product_attention

weights = causal_mask = 3
```

```pycon
>>> from glassformer.views import (
...     heatmap,
... )
```

```python show="glassformer.layers.masks:padding_mask"
```
"""


@pytest.fixture(scope="module")
def package():
    rooms = [f"glassformer.{room}.*" for room in ("layers", "models", "weights", "interpret")]
    return Packages(ROOT, ["src/glassformer"], [*rooms, "glassformer.views"])


def mentions(text: str) -> Mentions:
    return read_mentions(read_page(text), ("glassformer",))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        # full names, whatever the page imports
        ("glassformer.layers.masks", "glassformer.layers.masks"),
        ("glassformer.layers.masks.causal_mask", "glassformer.layers.masks.causal_mask"),
        ("glassformer.RMSNorm", "glassformer.layers.norms.RMSNorm"),
        # what the page imports, under the name that it has there
        ("load", "glassformer.weights.pretrained.load"),
        ("load(path)", "glassformer.weights.pretrained.load"),
        ("Cache.reorder", "glassformer.layers.kv_cache.KVCache.reorder"),
        ("heatmap", "glassformer.views.grid.heatmap"),
        # what can only be ours
        ("MultiHeadAttention", "glassformer.layers.multihead.MultiHeadAttention"),
        ("additive_mask(mask, dtype)", "glassformer.layers.masks.additive_mask"),
        ("TransformerConfig.from_hf", "glassformer.models.config.TransformerConfig.from_hf"),
    ],
)
def test_symbols_are_found(package, code, name):
    assert mentions(PAGE).find(code, package).name == name


@pytest.mark.parametrize(
    "code",
    [
        "record",  # an ordinary word, which the page does not import
        "weights",
        "causal_mask",  # the page's own
        "scaled_dot_product_attention",  # torch's, on this page
        "torch.nn.functional.scaled_dot_product_attention",
        "nn.RMSNorm",
        "BERT",  # a table in two modules, and a name of its own
        "forward",
        "glassformer.nowhere",
        "MultiHeadAttention.nothing",
        "load or not",
        "d_model",
    ],
)
def test_other_code_is_left_alone(package, code):
    assert mentions(PAGE).find(code, package) is None


def test_a_page_is_read_for_what_it_shows_imports_and_says(package):
    said = mentions(PAGE)
    assert said.shown == ("glassformer.layers.masks.padding_mask",)
    assert "record" in said.codes
    assert {one.name for one in said.used(package)} == {
        "glassformer.weights.pretrained.load",
        "glassformer.layers.kv_cache.KVCache",
        "glassformer.views.grid.heatmap",
    }


def test_a_lab_is_read_as_a_page(package):
    lab = (
        "# %% [markdown]\n# `load` it\n\n# %%\nfrom glassformer.interpret.recording import record\n"
    )
    said = read_mentions(read_lab(lab), ("glassformer",))
    assert {one.name for one in said.used(package)} == {"glassformer.interpret.recording.record"}


def test_what_is_no_program_mentions_nothing():
    text = "```pycon\n>>> from glassformer import load\n  stray\n```\n\n```pycon\n>>>load\n```\n"
    assert mentions(f"{text}\n```python\nfrom glassformer import (\n```\n").imported == {
        "load": "glassformer.load"
    }


def test_code_in_another_language_shows_and_imports_nothing():
    inner = '```python show="glassformer.layers.masks:causal_mask"\n```'
    said = mentions(f"````markdown\n{inner}\n````\n\n```text\nimport glassformer `x`\n```\n")
    assert said == Mentions({}, frozenset())
