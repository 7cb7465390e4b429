"""Scores against transformers, an answer at a time; questions by counting."""

from collections import Counter

import pytest
import torch
from small_models import VOCAB, small_model

from glassbook.metrics.multiple_choice import (
    capital_questions,
    score_answers,
    sum_questions,
)
from glassformer import from_hf

QUESTION = [5, 17, 3, 71, 2]
ANSWERS = [[7], [11, 0, 13], [23, 29, 31, 37, 41, 43, 47], [0, 0]]


@pytest.fixture(scope="module")
def theirs():
    torch.manual_seed(0)
    return small_model("LlamaForCausalLM", num_key_value_heads=2)


def test_each_score_is_the_loss_of_transformers_on_the_answer_alone(theirs):
    """Its mean loss over the labels that are not −100, times how many there are."""
    expected = []
    for answer in ANSWERS:
        ids = torch.tensor([[*QUESTION, *answer]])
        labels = ids.clone()
        labels[:, : len(QUESTION)] = -100
        with torch.no_grad():
            expected.append(-theirs(ids, labels=labels).loss * len(answer))
    found = score_answers(from_hf(theirs), [(QUESTION, answer) for answer in ANSWERS])
    torch.testing.assert_close(found, torch.stack(expected), rtol=0, atol=2e-4)


def test_each_answer_is_scored_after_its_own_question(theirs):
    model = from_hf(theirs)
    pairs = [(QUESTION[start:], answer) for start in range(3) for answer in ANSWERS]
    alone = torch.cat([score_answers(model, [pair]) for pair in pairs])
    torch.testing.assert_close(score_answers(model, pairs), alone, rtol=0, atol=2e-4)


def test_answers_of_one_token_share_what_the_whole_vocabulary_has(theirs):
    every = score_answers(from_hf(theirs), [(QUESTION, [token]) for token in range(VOCAB)])
    assert every.exp().sum().item() == pytest.approx(1, abs=1e-5)


def test_nothing_to_score_is_refused(theirs, subtests):
    rows = [
        ([], r"\[\]"),
        ([([], [1])], r"\[\(0, 1\)\]"),
        ([([1, 2, 3], [1, 2]), ([1], [])], r"\[\(3, 2\), \(1, 0\)\]"),
    ]
    for pairs, told in rows:
        with (
            subtests.test(pairs=pairs, told=told),
            pytest.raises(
                ValueError, match=f"pairs of {told} tokens: need at least one pair, and a token"
            ),
        ):
            score_answers(from_hf(theirs), pairs)


def test_each_capital_is_right_once_and_an_option_four_times():
    questions = capital_questions()
    right = Counter(question.options[question.right] for question in questions)
    options = Counter(option for question in questions for option in question.options)
    assert len(questions) == len({question.text for question in questions}) == 40
    assert set(right.values()) == {1}
    assert {*options} == {*right}
    assert set(options.values()) == {4}
    assert Counter(question.right for question in questions) == dict.fromkeys(range(4), 10)


def test_capitals_that_are_known():
    right = {one.text: one.options[one.right] for one in capital_questions()}
    for country, capital in (("Turkey", "Ankara"), ("Nigeria", "Abuja"), ("Canada", "Ottawa")):
        assert right[f"The capital of {country} is"] == f" {capital}"
    assert right["The capital of Argentina is"] == " Buenos Aires"


def test_sums_are_right_among_four_in_a_row():
    questions = sum_questions(37)
    for question in questions:
        assert question.options[question.right] == f" {eval(question.text.rstrip('='))}"
        values = [int(option) for option in question.options]
        assert values == [*range(values[0], values[0] + 4)]
    assert Counter(question.right for question in questions) == {0: 10, 1: 9, 2: 9, 3: 9}
    assert questions == sum_questions(41)[:37]


def test_no_sums_are_refused():
    with pytest.raises(ValueError, match=r"count \(0\) must be at least 1"):
        sum_questions(0)
