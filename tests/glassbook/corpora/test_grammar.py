"""Sentences and alignments against translations made by hand."""

from glassbook.corpora.german import ADJECTIVES, NOUNS, VERBS
from glassbook.corpora.grammar import (
    PRONOUNS,
    Clause,
    NounPhrase,
    Pronoun,
    Word,
    as_text,
    english_clause,
    german_clause,
    write,
)


def phrase(role, determiner, noun, adjective=None, plural=False):
    found = next(n for n in NOUNS if n.singular == noun)
    how = next((a for a in ADJECTIVES if a.alone == adjective), None)
    return NounPhrase(role, determiner, how, found, plural)


def clause(kind, name, tense, subject, *, to=None, thing=None, adverb=None, negated=False):
    verb = next(v for v in VERBS if v.name == name)
    return Clause(kind, verb, tense, subject, to, thing, adverb, negated)


MAN = phrase("subject", "the", "Mann", "alt")
WOMEN = phrase("subject", "our", "Frau", plural=True)
ME, HE, SHE, THEY, WE = (Pronoun("subject", *row) for row in PRONOUNS)
DOCTOR = phrase("thing", "a", "Ärztin")
DOOR = phrase("thing", "the", "Tür", "rot")
DOG = phrase("recipient", "my", "Hund", "müde")
APPLE = phrase("thing", "no", "Apfel")

BY_HAND = [
    (
        clause("main", "anrufen", "present", MAN, thing=DOCTOR),
        "Der alte Mann ruft eine Ärztin an",
        "The old man calls a doctor",
    ),
    (
        clause("that", "anrufen", "present", MAN, thing=DOCTOR),
        "Der alte Mann eine Ärztin anruft",
        "The old man calls a doctor",
    ),
    (
        clause("main", "anrufen", "past", WE, thing=DOOR, adverb="gestern", negated=True),
        "Wir haben gestern die rote Tür nicht angerufen",
        "We did not call the red door yesterday",
    ),
    (
        clause("because", "aufmachen", "past", SHE, thing=DOOR),
        "Sie die rote Tür aufgemacht hat",
        "She opened the red door",
    ),
    (
        clause("because", "aufmachen", "past", THEY, thing=DOOR),
        "Sie die rote Tür aufgemacht haben",
        "They opened the red door",
    ),
    (
        clause("polar", "helfen", "want", WOMEN, to=DOG),
        "Wollen unsere Frauen meinem müden Hund helfen",
        "Do our women want to help my tired dog",
    ),
    (
        clause("main", "geben", "can", HE, to=DOG, thing=APPLE),
        "Er kann meinem müden Hund keinen Apfel geben",
        "He can give my tired dog no apple",
    ),
    (
        clause("main", "geben", "can", ME, to=DOG, thing=DOOR, negated=True),
        "Ich kann meinem müden Hund die rote Tür nicht geben",
        "I cannot give my tired dog the red door",
    ),
    (
        clause("wh", "ankommen", "had", HE),
        "War er angekommen",
        "Had he arrived",
    ),
    (
        clause("adverb first", "zumachen", "will", MAN, thing=DOOR, adverb="morgen"),
        "Morgen wird der alte Mann die rote Tür zumachen",
        "Tomorrow the old man will close the red door",
    ),
    (
        clause(
            "object first", "sehen", "should", WOMEN, thing=phrase("thing", "a", "Brief", "gut")
        ),
        "Einen guten Brief sollen unsere Frauen sehen",
        "Our women should see a good letter",
    ),
    (
        clause("who", "ausleihen", "present", MAN, thing=APPLE, adverb="jetzt"),
        "Jetzt keinen Apfel ausleiht",
        "Borrows no apple now",
    ),
]


def test_clauses_against_translations_by_hand():
    for meaning, german, english in BY_HAND:
        assert as_text(german_clause(meaning)) == german
        assert as_text(english_clause(meaning)) == english


def test_a_becomes_an_before_a_vowel():
    assert as_text(phrase("thing", "a", "Beispiel").english()) == "An example"
    assert as_text(phrase("thing", "a", "Beispiel", "gut").english()) == "A good example"
    assert as_text(phrase("thing", "a", "Mann", "alt").english()) == "An old man"


def aligned(meaning):
    pair = write(german_clause(meaning), english_clause(meaning), {meaning.structure})
    german, english = pair.german.split(), pair.english.split()
    return [
        {(english[i], german[j]) for i, j in links}
        for links in (pair.sure, pair.possible - pair.sure)
    ]


def test_links_of_a_separable_verb():
    sure, weak = aligned(clause("main", "anrufen", "present", SHE, thing=DOCTOR, adverb="heute"))
    assert sure == {
        ("She", "Sie"),
        ("calls", "ruft"),
        ("a", "eine"),
        ("doctor", "Ärztin"),
        ("today", "heute"),
    }
    assert weak == {("calls", "an")}


def test_links_of_a_perfect_and_of_do():
    sure, weak = aligned(clause("that", "aufmachen", "past", SHE, thing=DOOR, negated=True))
    assert ("not", "nicht") in sure
    assert ("open", "aufgemacht") in sure
    assert weak == {("open", "hat"), ("did", "hat"), ("did", "aufgemacht")}


def test_one_english_word_may_stand_for_two():
    sure, _ = aligned(clause("main", "lachen", "can", HE, negated=True))
    assert {("cannot", "kann"), ("cannot", "nicht")} <= sure


def test_words_without_a_name_are_linked_to_nothing():
    pair = write([Word("ja"), Word(",", ("x",))], [Word("yes"), Word(",", ("x",))], set())
    assert pair.possible == {(1, 1)}
    assert pair.german == "Ja ,"
