"""Questions by examples, counted and read back."""

from collections import Counter

import pytest

from glassbook.metrics.few_shot import TRIPLES, opposite_questions


def test_forty_different_words_with_an_opposite_and_a_synonym():
    assert {len(triple) for triple in TRIPLES} == {3}
    assert len({triple[0] for triple in TRIPLES}) == len(TRIPLES) == 40


def test_examples_are_of_other_words_and_the_right_option_is_the_opposite(subtests):
    for shown in ["opposite", "synonym"]:
        with subtests.test(shown=shown):
            for (word, *answers), question in zip(
                TRIPLES, opposite_questions(5, shown=shown), strict=True
            ):
                *examples, asked = question.text.split("\n")
                assert asked == f"{word}:"
                found = [tuple(example.split(": ")) for example in examples]
                column = ["opposite", "synonym"].index(shown) + 1
                assert set(found) <= {(triple[0], triple[column]) for triple in TRIPLES}
                assert len({first for first, _ in found} - {word}) == 5
                assert question.options[question.right] == f" {answers[0]}"
                assert f" {answers[1]}" in question.options
                assert len(set(question.options)) == 4


def test_each_place_is_right_as_often_and_each_option_comes_twice():
    questions = opposite_questions(0)
    assert Counter(one.right for one in questions) == dict.fromkeys(range(4), 10)
    words = Counter(word for triple in TRIPLES for word in triple[1:])
    options = Counter(option.strip() for one in questions for option in one.options)
    assert options == {word: 2 * count for word, count in words.items()}


def test_a_seed_decides_the_examples():
    assert opposite_questions(3, seed=1) == opposite_questions(3, seed=1)
    assert opposite_questions(3, seed=1) != opposite_questions(3, seed=2)


def test_too_many_examples_are_refused():
    for shots in (-1, 40):
        with pytest.raises(ValueError, match=rf"shots \({shots}\) must be from 0 to 39"):
            opposite_questions(shots)


def test_another_relation_is_refused():
    with pytest.raises(ValueError, match=r"shown \('plural'\) must be 'opposite' or 'synonym'"):
        opposite_questions(1, shown="plural")
