"""A fact that notices an error is told from one that notices none."""

import re

import pytest
from books import make_book

from proofbook.__main__ import main
from proofbook.checking.against import against
from proofbook.checking.book import Book
from proofbook.integrations.reading import load

PAGE = """\
```python
import numpy as np

scores = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 1.0]])
weights = scores / scores.sum(axis=-1, keepdims=True)
other = np.full(2, 3.0)
```

Each row sums to one, and the largest weight is first. Nothing is negative, and others are there.

```facts
Each row sums to one: np.allclose(weights.sum(-1), np.ones(2))
the largest weight is first: weights[0].argmax() == 0
Nothing is negative: (weights >= 0).all()
others are there: other.sum() > 0
```

```python
later = scores.mean(axis=0)
```
"""


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    book = make_book(tmp_path_factory.mktemp("book"), {"page.md": PAGE})
    with Book(load(book / "mkdocs.yml")) as opened:
        checked = opened.check({"docs/page.md": PAGE})
        assert [one.problems for one in checked] == [[]]
        yield {trial.fact.text: trial for trial in against(checked, opened.settings)}


def test_a_fact_that_an_error_makes_false_has_been_seen_false(trials):
    assert trials["Each row sums to one"].noticed.kind in ("another axis", "another operator")


def test_a_fact_that_is_true_in_spite_of_all_is_told_with_what_it_survived(trials):
    trial = trials["Nothing is negative"]
    assert trial.noticed is None
    assert sorted(one.kind for one in trial.survived) == ["another axis", "another operator"]
    assert str(trial) == (
        "docs/page.md:14: 'Nothing is negative': stays true despite 2 planted errors "
        "(another operator, another axis)"
    )


def test_an_error_that_does_not_touch_what_a_fact_reads_is_not_tried(trials):
    trial = trials["others are there"]
    assert trial.survived == []
    assert str(trial).endswith("no error could be planted in the code it depends on")


def test_the_command_lists_what_survives(tmp_path, capsys):
    book = make_book(tmp_path, {"page.md": PAGE})
    assert main(["-f", str(book / "mkdocs.yml"), "check", "--against"]) == 1
    told = capsys.readouterr().out
    listed = re.findall(r"docs/page\.md:\d+: '([^']*)': ", told)
    assert "Nothing is negative" in listed
    assert "Each row sums to one" not in listed
    assert re.search(r"^4 facts: [12] caught an error, [23] did not$", told, re.MULTILINE)
