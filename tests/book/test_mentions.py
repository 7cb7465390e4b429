"""What a piece of inline code names: the package's symbol, another thing, or nothing."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "hooks"))

from entries import program  # noqa: E402
from mentions import mentions  # noqa: E402
from symbols import read  # noqa: E402

PAGE = """
# A page

A sentence on `record` and ``two ` ticks``.

```python
from glassformer.pretrained import load
from glassformer import KVCache as Cache
from torch.nn.functional import scaled_dot_product_attention

weights = causal_mask = 3
```

```pycon
>>> from glassformer.views import (
...     heatmap,
... )
```

```python show="glassformer.masks:padding_mask"
```
"""


@pytest.fixture(scope="module")
def package():
    return read(ROOT)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        # full names, whatever the page imports
        ("glassformer.masks", "glassformer.masks"),
        ("glassformer.masks.causal_mask", "glassformer.masks.causal_mask"),
        ("glassformer.RMSNorm", "glassformer.norms.RMSNorm"),
        # what the page imports, under the name that it has there
        ("load", "glassformer.pretrained.load"),
        ("load(path)", "glassformer.pretrained.load"),
        ("Cache.reorder", "glassformer.cache.KVCache.reorder"),
        ("heatmap", "glassformer.views.grid.heatmap"),
        # what can only be ours
        ("MultiHeadAttention", "glassformer.multihead.MultiHeadAttention"),
        ("additive_mask(mask, dtype)", "glassformer.masks.additive_mask"),
        ("TransformerConfig.from_hf", "glassformer.config.TransformerConfig.from_hf"),
    ],
)
def test_symbols_are_found(package, code, name):
    assert mentions(PAGE, False).find(code, package).name == name


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
    assert mentions(PAGE, False).find(code, package) is None


def test_a_page_is_read_for_what_it_shows_imports_and_says(package):
    said = mentions(PAGE, False)
    assert said.shown == ("glassformer.masks.padding_mask",)
    assert "record" in said.codes
    assert {one.name for one in said.used(package)} == {
        "glassformer.pretrained.load",
        "glassformer.cache.KVCache",
        "glassformer.views.grid.heatmap",
    }


def test_a_lab_is_read_as_the_script_that_it_is(package):
    said = mentions("# `load` it\nfrom glassformer.probe import record\n", True)
    assert {one.name for one in said.used(package)} == {"glassformer.probe.record"}


def test_the_program_of_an_example_imports_what_it_reads_and_no_more():
    known = {"load": "glassformer.pretrained.load", "tape": "glassformer.probe.tape"}
    doctest = ">>> model = load(torch.tensor(1))\n>>> model\n'a model'"
    assert program(doctest, known) == (
        "import torch\n"
        "from glassformer.pretrained import load\n"
        "model = load(torch.tensor(1))\n"
        "model\n"
    )
