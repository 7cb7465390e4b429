"""Endings against a table written by hand, and a lexicon without gaps."""

import re

import pytest

from glassbook.corpora.german import (
    ADJECTIVES,
    CASES,
    NOUNS,
    VERBS,
    Adjective,
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


def test_phrases_have_the_endings_of_a_school_grammar():
    made = {}
    for which, gender in BY_HAND:
        word = next(n for n in NOUNS if n.singular == NAMES[gender])
        made[which, gender] = [
            f"{determiner(which, gender, case)} {adjective(GOOD, which, gender, case)} "
            f"{noun(word, gender, case)}"
            for case in CASES
        ]
    assert made == BY_HAND


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


def test_nouns_follow_the_rule_of_the_dative_plural():
    """The dative plural adds n, unless the plural ends in n or s already."""
    for word in NOUNS:
        added = "" if word.plural[-1] in "ns" else "n"
        assert word.dative_plural == word.plural + added
        assert word.gender in "mnf", word
        assert word.singular[0].isupper()


def test_verbs_follow_the_rules_of_their_forms():
    for verb in VERBS:
        assert verb.infinitive.endswith("en"), verb
        assert verb.third.endswith("t"), verb
        assert verb.first == verb.infinitive[:-1]
        prefix = "" if re.match("(ver|be)", verb.name) or verb.name in ("vergessen",) else "ge"
        assert verb.participle.startswith(verb.particle + prefix), verb
        assert verb.participle.endswith(("t", "en")), verb
        assert verb.auxiliary in ("haben", "sein"), verb
        assert len(verb.english) == 4, verb
