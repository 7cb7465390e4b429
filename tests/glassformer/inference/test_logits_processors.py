"""What changes the logits by what is written, against the processors of transformers."""

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from glassformer.inference.logits_processors import (
    NoRepeatedNGrams,
    RepetitionPenalty,
    build_processors,
    process,
)

VOCAB = 7
SIZES = {"rows": st.integers(1, 5), "length": st.integers(1, 13), "seed": st.integers(0, 999)}


def drawn(rows, length, seed):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(VOCAB, (rows, length), generator=generator)
    return ids, torch.randn(rows, VOCAB, generator=generator) * 3


@given(**SIZES, penalty=st.sampled_from([0.5, 1.0, 1.2, 3.0]))
def test_repetition_penalty_equals_transformers(rows, length, seed, penalty):
    ids, logits = drawn(rows, length, seed)
    expected = transformers.RepetitionPenaltyLogitsProcessor(penalty)(ids, logits)
    torch.testing.assert_close(RepetitionPenalty(penalty)(ids, logits), expected, rtol=0, atol=0)


@given(**SIZES, beams=st.integers(1, 3))
def test_padding_on_the_left_is_not_penalized(rows, length, seed, beams):
    """Each row as its real tokens alone, whatever the padding is, and in each of its beams."""
    ids, logits = drawn(rows * beams, length, seed)
    padding = torch.randint(length, (rows,), generator=torch.Generator().manual_seed(seed))
    output = RepetitionPenalty(1.7, padding)(ids, logits)
    theirs = transformers.RepetitionPenaltyLogitsProcessor(1.7)
    for row, count in enumerate(padding.repeat_interleave(beams)):
        alone = theirs(ids[row : row + 1, count:], logits[row : row + 1])
        torch.testing.assert_close(output[row : row + 1], alone, rtol=0, atol=0)


@given(**SIZES, size=st.integers(1, 6))
def test_no_repeated_ngrams_equals_transformers(rows, length, seed, size):
    ids, logits = drawn(rows, length, seed)
    expected = transformers.NoRepeatNGramLogitsProcessor(size)(ids, logits)
    torch.testing.assert_close(NoRepeatedNGrams(size)(ids, logits), expected, rtol=0, atol=0)


def test_the_logits_that_were_given_are_left_as_they_are():
    ids, logits = drawn(3, 11, 0)
    before = logits.clone()
    changed = process(build_processors(1.3, 2, None), ids, logits)
    assert logits.equal(before)
    assert not changed.equal(before)


def test_both_in_the_order_of_transformers():
    ids, logits = drawn(3, 11, 0)
    expected = transformers.NoRepeatNGramLogitsProcessor(2)(
        ids, transformers.RepetitionPenaltyLogitsProcessor(1.3)(ids, logits)
    )
    assert process(build_processors(1.3, 2, None), ids, logits).equal(expected)


def test_half_precision_is_processed_in_float32():
    ids, logits = drawn(3, 11, 0)
    assert process(build_processors(1.3, None, None), ids, logits.bfloat16()).dtype == torch.float32
    assert process([], ids, logits.bfloat16()).dtype == torch.float32


def test_choices_out_of_range(subtests):
    rows = [
        (-1.0, None, r"repetition_penalty \(-1\.0\) must be more than 0"),
        (0.0, None, r"repetition_penalty \(0\.0\) must be more than 0"),
        (1.0, 0, r"no_repeat_ngram_size \(0\) must be at least 1"),
    ]
    for penalty, size, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            build_processors(penalty, size, None)
