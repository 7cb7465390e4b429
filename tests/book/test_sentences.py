"""What coverage takes for statements is what a reader of this book takes for them."""

import tomllib
from pathlib import Path

from proofbook.coverage.statements import states

LABELS = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))
SENTENCES = LABELS["sentence"]


def test_nine_statements_of_ten_are_found():
    """A sentence with a claim is found by it, so those without are counted apart as well."""
    for name, some in (
        ("all", SENTENCES),
        ("without a claim", [one for one in SENTENCES if not one["bound"]]),
    ):
        found = [one["states"] for one in some if states(one["text"])]
        recall = sum(found) / sum(one["states"] for one in some)
        print(f"{name}: recall {recall:.0%}, precision {sum(found) / len(found):.0%}")
        assert recall >= 0.9, name


def test_both_labels_are_there():
    assert len(SENTENCES) >= 100
    assert {(one["states"], one["bound"]) for one in SENTENCES} >= {(True, False), (False, False)}
