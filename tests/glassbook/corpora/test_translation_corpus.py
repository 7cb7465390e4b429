"""The corpus: large, distinct, split without overlap, the same for the same seed."""

from dataclasses import fields

from glassbook.corpora.german import NOUNS, VERBS
from glassbook.corpora.translation_corpus import (
    EXAMPLE,
    KINDS,
    SIZES,
    Writer,
    can_stand_in,
    taken_by,
    withheld,
)

PARTS = ("train", "by_sentence", "by_structure")


def test_sizes(corpus):
    assert [field.name for field in fields(corpus)] == list(PARTS) == list(SIZES)
    assert {name: len(getattr(corpus, name)) for name in PARTS} == SIZES
    assert sum(SIZES.values()) >= 20_000
    assert SIZES["by_structure"] >= 2_000


def test_no_sentence_stands_twice(corpus):
    """Nor does one with other capital letters, which tokens do not keep."""
    pairs = [pair for name in PARTS for pair in getattr(corpus, name)]
    assert len({pair.german.lower() for pair in pairs}) == len(pairs)


def test_no_structure_of_the_third_part_was_ever_seen(corpus):
    seen = {structure for pair in corpus.train for structure in pair.structures}
    assert not seen & withheld()
    assert all(pair.structures - seen for pair in corpus.by_structure)
    assert all(pair.structures <= seen for pair in corpus.by_sentence)


def test_a_structure_is_withheld_from_each_verb_and_only_one():
    hidden = withheld()
    assert sorted(name for name, _ in hidden) == sorted(verb.name for verb in VERBS)
    assert {kind for _, kind in hidden} == set(KINDS) - {"main"}


def test_every_word_to_be_translated_was_seen(corpus):
    for language in ("german", "english"):
        seen = {word for pair in corpus.train for word in getattr(pair, language).lower().split()}
        for name in PARTS[1:]:
            words = {
                word
                for pair in getattr(corpus, name)
                for word in getattr(pair, language).lower().split()
            }
            assert words <= seen


def test_the_example_is_held_out(corpus):
    example = corpus.by_sentence[0]
    assert (example.german, example.english) == (EXAMPLE, "This is an example .")
    assert example.sure == example.possible == {(i, i) for i in range(5)}


def test_every_english_word_has_a_german_one(corpus):
    for pair in corpus.train[:2000]:
        german, english = len(pair.german.split()), len(pair.english.split())
        assert pair.sure <= pair.possible
        assert {i for i, _ in pair.possible} == set(range(english))
        assert all(0 <= j < german for _, j in pair.possible)


def test_who_says_something_and_says_agree(corpus):
    """By the words alone: I, we, they and plurals say; he, she and one of a kind says."""
    plurals = {noun.english_plural for noun in NOUNS}
    bases = {"know", "say", "believe", "hope"}
    seen = set()
    for pair in corpus.train:
        *subject, verb = pair.english.lower().partition(" that ")[0].split()
        if verb.removesuffix("s") in bases:
            several = subject[-1] in {"i", "we", "they"} | plurals
            assert (verb in bases) == several, pair.english
            seen.add((verb, several))
    assert len(seen) == 2 * len(bases)


def test_the_seed_decides():
    first, again, other = (
        [pair.german for pair in (writer.pair() for _ in range(50))]
        for writer in (Writer(3), Writer(3), Writer(5))
    )
    assert first == again != other


def test_what_verbs_take(subtests):
    rows = [
        ("lachen", ("", ""), False),
        ("helfen", ("person pet", ""), False),
        ("geben", ("person", "thing"), False),
        ("sehen", ("", "person pet thing shut"), True),
    ]
    for name, taken, object_first in rows:
        with subtests.test(name=name, taken=taken, object_first=object_first):
            verb = next(verb for verb in VERBS if verb.name == name)
            assert taken_by(verb) == taken
            assert can_stand_in(verb, "object first") is object_first
