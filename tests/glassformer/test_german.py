"""Endings against a table written by hand, and a lexicon without gaps."""

import re

import pytest

from glassformer.german import (
    ADJECTIVES,
    CASES,
    NOUNS,
    VERBS,
    Adjective,
    Noun,
    adjective,
    determiner,
    noun,
)

GOOD = Adjective("gut", "gut", "good", "")
NAMES = {"m": "Hund", "n": "Pferd", "f": "Katze", "p": "Hund"}

# From a school grammar: nominative, accusative, dative.
BY_HAND = {
    ("the", "m"): ["der gute Hund", "den guten Hund", "dem guten Hund"],
    ("the", "n"): ["das gute Pferd", "das gute Pferd", "dem guten Pferd"],
    ("the", "f"): ["die gute Katze", "die gute Katze", "der guten Katze"],
    ("the", "p"): ["die guten Hunde", "die guten Hunde", "den guten Hunden"],
    ("a", "m"): ["ein guter Hund", "einen guten Hund", "einem guten Hund"],
    ("a", "n"): ["ein gutes Pferd", "ein gutes Pferd", "einem guten Pferd"],
    ("a", "f"): ["eine gute Katze", "eine gute Katze", "einer guten Katze"],
    ("no", "m"): ["kein guter Hund", "keinen guten Hund", "keinem guten Hund"],
    ("no", "f"): ["keine gute Katze", "keine gute Katze", "keiner guten Katze"],
    ("no", "p"): ["keine guten Hunde", "keine guten Hunde", "keinen guten Hunden"],
    ("my", "n"): ["mein gutes Pferd", "mein gutes Pferd", "meinem guten Pferd"],
    ("my", "p"): ["meine guten Hunde", "meine guten Hunde", "meinen guten Hunden"],
    ("our", "m"): ["unser guter Hund", "unseren guten Hund", "unserem guten Hund"],
    ("our", "f"): ["unsere gute Katze", "unsere gute Katze", "unserer guten Katze"],
}


@pytest.mark.parametrize(("which", "gender"), BY_HAND)
def test_phrases_have_the_endings_of_a_school_grammar(which, gender):
    word = next(n for n in NOUNS if n.singular == NAMES[gender])
    made = [
        " ".join(
            [
                determiner(which, gender, case),
                adjective(GOOD, which, gender, case),
                noun(word, gender, case),
            ]
        )
        for case in CASES
    ]
    assert made == BY_HAND[which, gender]


def test_a_has_no_plural():
    with pytest.raises(ValueError, match=r"determiner \('a'\) has no plural"):
        determiner("a", "p", "dative")


def test_the_lexicon_names_nothing_twice():
    for words in (
        [n.singular for n in NOUNS],
        [n.english for n in NOUNS],
        [a.alone for a in ADJECTIVES],
        [v.name for v in VERBS],
        [v.english[0] for v in VERBS],
    ):
        assert len(words) == len(set(words))


@pytest.mark.parametrize("word", NOUNS, ids=lambda n: n.singular)
def test_nouns_follow_the_rule_of_the_dative_plural(word: Noun):
    """The dative plural adds n, unless the plural ends in n or s already."""
    added = "" if word.plural[-1] in "ns" else "n"
    assert word.dative_plural == word.plural + added
    assert word.gender in "mnf"
    assert word.singular[0].isupper()


@pytest.mark.parametrize("verb", VERBS, ids=lambda v: v.name)
def test_verbs_follow_the_rules_of_their_forms(verb):
    assert verb.infinitive.endswith("en")
    assert verb.third.endswith("t")
    assert verb.first == verb.infinitive[:-1]
    prefix = "" if re.match("(ver|be)", verb.name) or verb.name in ("vergessen",) else "ge"
    assert verb.participle.startswith(verb.particle + prefix)
    assert verb.participle.endswith(("t", "en"))
    assert verb.auxiliary in ("haben", "sein")
    assert len(verb.english) == 4
