"""A page that trains a model is kept like any other: the next build doesn't run it again."""

from proofbook.checking.book import Book
from proofbook.settings import Settings

RECIPE = """\
import torch


def build():
    return torch.nn.Linear(3, 2)


def train(model, report):
    return {"loss": [0.5]}


def files():
    return []
"""
PAGE = """\
# A page

```python
from glassformer import recipes, trained

recipes.RECIPES = {"line": "line"}
trained("line").history
```
"""


def test_the_page_that_trains_is_kept_with_the_weights_it_made(tmp_path, monkeypatch):
    (tmp_path / "book" / "src").mkdir(parents=True)
    (tmp_path / "book" / "src" / "line.py").write_text(RECIPE)
    (tmp_path / "weights").mkdir()
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "weights"))
    for is_kept in (False, True):
        with Book(Settings(tmp_path / "book")) as book:
            [checked] = book.check({"docs/a.md": PAGE})
        assert not checked.problems
        assert checked.run.blocks[-1].outputs[-1].data == "{'loss': [0.5]}"
        assert checked.run.cached == is_kept, checked.run.unkept
    assert list((tmp_path / "weights").glob("line*.safetensors"))
