"""The corpus of the translator: sentences drawn from the grammar, and two ways to hold some out."""

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from random import Random

from glassbook.corpora.german import ADJECTIVES, NOUNS, VERBS, Adjective, Noun, Verb
from glassbook.corpora.german import determiner as inflect_determiner
from glassbook.corpora.grammar import (
    ADVERBS,
    HELPERS,
    MATRIX,
    PERSONS,
    PRONOUNS,
    QUESTIONS,
    TENSES,
    Clause,
    NounPhrase,
    Pair,
    Pronoun,
    Subject,
    Word,
    english_clause,
    german_clause,
    write,
)

SIZES = {"train": 24_000, "by_sentence": 2_000, "by_structure": 3_000}

KINDS = ("main", "adverb first", "object first", "polar", "wh", "that", "because", "if", "who")
"""The kinds of clause. In the last four, the German verb comes last."""

STOP, COMMA = Word(".", ("stop",)), Word(",")
DEFINITE = ("the", "the", "my", "our")

EXAMPLE = "Das ist ein Beispiel ."


@dataclass(frozen=True)
class Corpus:
    """Pairs to train on, and pairs that training never sees.

    Attributes:
        train: The pairs to learn from.
        by_sentence: Other sentences of the same kinds.
        by_structure: Sentences that have a verb in a kind of clause where `train` never has it.
    """

    train: tuple[Pair, ...]
    by_sentence: tuple[Pair, ...]
    by_structure: tuple[Pair, ...]


@lru_cache(maxsize=1)
def make_corpus(seed: int = 0) -> Corpus:
    """Draw distinct German sentences until each part is full; the same seed draws the same ones.

    A sentence with a withheld structure goes to `by_structure`. Of the others, the first go
    to `by_sentence`, after "Das ist ein Beispiel .", and the rest to `train`.
    """
    hidden = withheld()
    parts: dict[str, dict[str, Pair]] = {name: {} for name in SIZES}
    example = this_is(NounPhrase("thing", "a", None, noun_called("Beispiel")))
    parts["by_sentence"][example.german] = example
    writer = Writer(seed)
    while any(len(parts[name]) < size for name, size in SIZES.items()):
        pair = writer.pair()
        if any(pair.german in part for part in parts.values()):
            continue
        waiting = ["by_structure"] if pair.structures & hidden else ["by_sentence", "train"]
        for name in waiting:
            if len(parts[name]) < SIZES[name]:
                parts[name][pair.german] = pair
                break
    return Corpus(**{name: tuple(part.values()) for name, part in parts.items()})


def withheld() -> frozenset[tuple[str, str]]:
    """Return each verb with the one kind of clause that's withheld from training.

    Plain statements are never withheld, since they accompany other clauses.
    """
    pairs = set()
    for number, verb in enumerate(VERBS):
        kinds = [kind for kind in KINDS[1:] if can_stand_in(verb, kind)]
        pairs.add((verb.name, kinds[number % len(kinds)]))
    return frozenset(pairs)


def noun_called(singular: str) -> Noun:
    """Return the noun of the lexicon with this singular."""
    return next(noun for noun in NOUNS if noun.singular == singular)


@cache
def taken_by(verb: Verb) -> tuple[str, str]:
    """Return the kinds of thing that the verb takes in the dative and in the accusative."""
    parts = [part.strip() for part in verb.takes.split(",")]
    recipient = next((part.removeprefix("to ") for part in parts if part.startswith("to ")), "")
    return recipient, next((part for part in parts if not part.startswith("to ")), "")


@cache
def can_stand_in(verb: Verb, kind: str) -> bool:
    """Return whether a verb fits a kind of clause: "object first" needs exactly one object."""
    recipient, thing = taken_by(verb)
    return kind != "object first" or (thing != "" and recipient == "" and bool(masculine(thing)))


def masculine(kinds: str) -> list[Noun]:
    """Return the nouns of these kinds whose accusative differs from the nominative."""
    return [noun for noun in fitting(kinds) if noun.gender == "m"]


@cache
def describing(kinds: str) -> list[Adjective]:
    """Return the adjectives that may describe at least one of the kinds."""
    return [word for word in ADJECTIVES if set(word.kinds.split()) & set(kinds.split())]


@cache
def verbs_in(kind: str) -> list[Verb]:
    """Return the verbs that fit a kind of clause."""
    return [verb for verb in VERBS if can_stand_in(verb, kind)]


@cache
def fitting(kinds: str) -> list[Noun]:
    """Return the nouns of at least one of the kinds."""
    return [noun for noun in NOUNS if set(noun.kinds.split()) & set(kinds.split())]


class Writer:
    """A source of random meanings, each written in both languages."""

    def __init__(self, seed: int):
        self.random = Random(seed)

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.random.random() < probability

    def phrase(self, role: str, nouns: list[Noun], determiners: tuple[str, ...]) -> NounPhrase:
        """Return a phrase with one of the nouns."""
        noun = self.random.choice(nouns)
        determiner = self.random.choice(determiners)
        plural = determiner != "a" and self.chance(0.3)
        adjective = self.random.choice(describing(noun.kinds)) if self.chance(0.4) else None
        return NounPhrase(role, determiner, adjective, noun, plural)

    def subject(self, role: str, kinds: str = "person", pronouns: float = 0.3) -> Subject:
        """Return the subject of a clause: a pronoun, or a phrase about a person or a thing."""
        if self.chance(pronouns):
            return Pronoun(role, *self.random.choice(PRONOUNS))
        return self.phrase(role, fitting(kinds), (*DEFINITE, "a"))

    def clause(self, kind: str) -> Clause:
        """Draw a clause of the given kind, with one of the verbs that fit it."""
        verb = self.random.choice(verbs_in(kind))
        tense = self.random.choice((*TENSES, "present", "present", "past"))
        subject = self.subject("subject", pronouns=0.0 if kind == "who" else 0.3)
        objects = self.objects(verb, kind, subject)
        adverbs = [word for word, (_, tenses) in ADVERBS.items() if tense in tenses]
        wanted = kind == "adverb first" or (kind != "wh" and self.chance(0.25))
        adverb = self.random.choice(adverbs) if wanted else None
        vague = any(phrase and phrase.determiner in ("a", "no") for phrase in objects)
        return Clause(kind, verb, tense, subject, *objects, adverb, not vague and self.chance(0.25))

    def objects(
        self, verb: Verb, kind: str, subject: Subject
    ) -> tuple[NounPhrase | None, NounPhrase | None]:
        """Return the verb's objects, in the dative and in the accusative.

        No noun occurs twice.
        """
        kinds_to, kinds_of = taken_by(verb)
        taken = [subject.noun.singular] if isinstance(subject, NounPhrase) else []
        recipient = thing = None
        if kinds_to:
            free = [noun for noun in fitting(kinds_to) if noun.singular not in taken]
            recipient = self.phrase("recipient", free, (*DEFINITE, "a"))
            taken.append(recipient.noun.singular)
        if kinds_of:
            free = [noun for noun in fitting(kinds_of) if noun.singular not in taken]
            thing = self.phrase("thing", free, (*DEFINITE, "a", "a", "no"))
        if kind == "object first":
            free = [noun for noun in masculine(kinds_of) if noun.singular not in taken]
            thing = replace(self.phrase("thing", free, (*DEFINITE, "a")), plural=False)
        return recipient, thing

    def aside(self, kind: str, subject: Subject) -> Clause:
        """Return a short clause to go with another, with a verb that takes no object."""
        verb = self.random.choice([verb for verb in VERBS if not verb.takes and not verb.particle])
        negated = self.chance(0.2)
        return Clause(kind, verb, "present", subject, None, None, None, negated, "aside")

    def pair(self) -> Pair:
        """Draw a sentence in both languages."""
        if self.chance(0.06):
            return self.being()
        kind = self.random.choice(KINDS)
        clause = self.clause(kind)
        if kind in ("polar", "wh"):
            return self.question(clause)
        if kind == "that":
            return self.told(clause)
        if kind in ("because", "if"):
            return self.beside(clause)
        if kind == "who":
            return self.relative(clause)
        german, english = german_clause(clause), english_clause(clause)
        return write([*german, STOP], [*english, STOP], {clause.structure})

    def question(self, clause: Clause) -> Pair:
        """Return the clause as a yes-no question, or as one beginning with why, when, or where."""
        ours: list[Word] = []
        theirs: list[Word] = []
        if clause.kind == "wh":
            asked = self.random.choice(list(QUESTIONS))
            ours, theirs = [Word(asked, ("wh",))], [Word(QUESTIONS[asked], ("wh",))]
        stop = Word("?", ("stop",))
        german, english = german_clause(clause), english_clause(clause)
        return write([*ours, *german, stop], [*theirs, *english, stop], {clause.structure})

    def told(self, clause: Clause) -> Pair:
        """Return the clause as something that a person knows, says, believes, or hopes."""
        subject = self.subject("speaker")
        forms, base, third = MATRIX[self.random.choice(list(MATRIX))]
        german = Word(forms[PERSONS.index(subject.person)], ("tells",))
        english = Word(third if subject.person == "third" else base, ("tells",))
        return write(
            [
                *(*subject.german("nominative"), german, COMMA, Word("dass", ("that",))),
                *(*german_clause(clause), STOP),
            ],
            [*subject.english(), english, Word("that", ("that",)), *english_clause(clause), STOP],
            {clause.structure},
        )

    def beside(self, clause: Clause) -> Pair:
        """Return the clause as the reason for another, or as its condition."""
        german, english = german_clause(clause), english_clause(clause)
        if clause.kind == "because":
            other = self.aside("main", self.subject("speaker"))
            german = [*german_clause(other), COMMA, Word("weil", ("because",)), *german]
            english = [*english_clause(other), Word("because", ("because",)), *english]
        else:
            other = self.aside("verb first", self.subject("speaker"))
            comma = Word(",", ("comma",))
            german = [Word("wenn", ("if",)), *german, comma, *german_clause(other)]
            english = [Word("if", ("if",)), *english, comma, *english_clause(other)]
        return write([*german, STOP], [*english, STOP], {clause.structure, other.structure})

    def relative(self, clause: Clause) -> Pair:
        """Return the clause as a relative clause within another."""
        assert isinstance(clause.subject, NounPhrase)
        other = self.aside("main", clause.subject)
        who = inflect_determiner("the", clause.subject.gender, "nominative")
        german, english = clause.subject.german("nominative"), clause.subject.english()
        german_end = german_clause(other)[len(german) :]
        english_end = english_clause(other)[len(english) :]
        ours, theirs = Word(who, ("who",)), Word("who", ("who",))
        return write(
            [*german, COMMA, ours, *german_clause(clause), COMMA, *german_end, STOP],
            [*english, theirs, *english_clause(clause), *english_end, STOP],
            {clause.structure, other.structure},
        )

    def being(self) -> Pair:
        """Return a sentence with "to be": this is a thing, or a person has a quality."""
        past, asks = self.chance(0.3), self.chance(0.3)
        if self.chance(0.6):
            nouns = fitting("person pet thing text")
            phrase = self.phrase("thing", nouns, ("the", "a", "a", "no", "my"))
            return this_is(replace(phrase, plural=False), past=past, asks=asks)
        subject = self.subject("subject", "person pet")
        how = self.random.choice(describing("pet"))
        german, english = [Word(how.alone, ("how",))], [Word(how.english, ("how",))]
        if self.chance(0.3):
            german.insert(0, Word("nicht", ("not",)))
            english.insert(0, Word("not", ("not",)))
        ours, theirs = subject.german("nominative"), subject.english()
        return being(subject.person, (ours, theirs), (german, english), past, asks)


def this_is(phrase: NounPhrase, *, past: bool = False, asks: bool = False) -> Pair:
    """Return a sentence like "this is a house", present or past, as a statement or a question."""
    this = [Word("das", ("this",))], [Word("this", ("this",))]
    rest = phrase.german("nominative"), phrase.english()
    return being("third", this, rest, past, asks)


def being(
    person: str,
    subject: tuple[list[Word], list[Word]],
    rest: tuple[list[Word], list[Word]],
    past: bool,
    asks: bool,
) -> Pair:
    """Return a sentence with "to be", given the words before and after it in each language."""
    column = PERSONS.index(person)
    forms = ("was", "was", "were") if past else ("am", "is", "are")
    verbs = HELPERS["had sein" if past else "sein"][column], forms[column]
    stop = Word("?" if asks else ".", ("stop",))
    sentences = []
    for front, verb, back in zip(subject, verbs, rest, strict=True):
        is_ = Word(verb, ("is",))
        sentences.append([is_, *front, *back, stop] if asks else [*front, is_, *back, stop])
    german, english = sentences
    return write(german, english, {("sein", "polar" if asks else "main")})
