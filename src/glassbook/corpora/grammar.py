"""A small grammar of German and English: sentences, their translations, and true alignments.

One meaning is written in both languages at once. Every word has names for the parts of the
meaning that it expresses, and words that share a name are translations of each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from glassbook.corpora.german import Adjective, Noun, Verb
from glassbook.corpora.german import adjective as inflect_adjective
from glassbook.corpora.german import determiner as inflect_determiner
from glassbook.corpora.german import noun as inflect_noun


@dataclass(frozen=True)
class Word:
    """A word and the names of what it expresses; not `sure` if it only helps another word."""

    text: str
    names: tuple[str, ...] = ()
    sure: bool = True


@dataclass(frozen=True)
class Pair:
    """A German sentence, its English translation, and which words belong together.

    Attributes:
        german: Words and punctuation, with single spaces between them.
        english: Likewise.
        sure: Links (English word, German word) that are beyond doubt, counted from 0.
        possible: The sure links, and links to words that only help, such as "hat" and "did".
        structures: Each verb of the sentence with its kind of clause.
    """

    german: str
    english: str
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]
    structures: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class NounPhrase:
    """A determiner, an optional adjective, and a noun; its words' names begin with `role`."""

    role: str
    determiner: str
    adjective: Adjective | None
    noun: Noun
    plural: bool = False

    @property
    def person(self) -> str:
        """The verb form that it requires as a subject."""
        return "plural" if self.plural else "third"

    @property
    def gender(self) -> str:
        """The gender of its noun, or "p" in the plural."""
        return "p" if self.plural else self.noun.gender

    def german(self, case: str) -> list[Word]:
        """Return the words, each with the ending for its gender and case."""
        determiner = inflect_determiner(self.determiner, self.gender, case)
        noun = inflect_noun(self.noun, self.gender, case)
        words = [Word(determiner, (f"{self.role} determiner",))]
        if self.adjective:
            bent = inflect_adjective(self.adjective, self.determiner, self.gender, case)
            words.append(Word(bent, (f"{self.role} adjective",)))
        return [*words, Word(noun, (f"{self.role} noun",))]

    def english(self) -> list[Word]:
        """Return the phrase in English, where only "a" depends on the next word."""
        words = [Word(self.determiner, (f"{self.role} determiner",))]
        if self.adjective:
            words.append(Word(self.adjective.english, (f"{self.role} adjective",)))
        noun = self.noun.english_plural if self.plural else self.noun.english
        words.append(Word(noun, (f"{self.role} noun",)))
        if self.determiner == "a" and words[1].text[0] in "aeiou":
            words[0] = replace(words[0], text="an")
        return words


@dataclass(frozen=True)
class Pronoun:
    """A subject of one word."""

    role: str
    person: str
    in_german: str
    in_english: str

    def german(self, case: str) -> list[Word]:
        """Return the pronoun, which is always a subject here."""
        assert case == "nominative"
        return [Word(self.in_german, (f"{self.role} noun",))]

    def english(self) -> list[Word]:
        """Return the pronoun."""
        return [Word(self.in_english, (f"{self.role} noun",))]


Subject = NounPhrase | Pronoun

PRONOUNS = (
    ("first", "ich", "I"),
    ("third", "er", "he"),
    ("third", "sie", "she"),
    ("plural", "sie", "they"),  # only the verb, perhaps far away, tells it from "she"
    ("plural", "wir", "we"),
)

# Helping verbs: with ich, with er, in the plural.
HELPERS = {
    "haben": ("habe", "hat", "haben"),
    "sein": ("bin", "ist", "sind"),
    "had haben": ("hatte", "hatte", "hatten"),
    "had sein": ("war", "war", "waren"),
    "will": ("werde", "wird", "werden"),
    "can": ("kann", "kann", "können"),
    "should": ("soll", "soll", "sollen"),
    "want": ("will", "will", "wollen"),
}
PERSONS = ("first", "third", "plural")
TENSES = ("present", "past", "had", "will", "can", "should", "want")

ADVERBS = {
    "heute": ("today", TENSES),
    "gestern": ("yesterday", ("past",)),
    "morgen": ("tomorrow", ("present", "will", "can", "should", "want")),
    "jetzt": ("now", ("present", "can", "should", "want")),
}
QUESTIONS = {"warum": "why", "wann": "when", "wo": "where"}
MATRIX = {  # with ich, with er, in the plural; English base and third person
    "wissen": (("weiß", "weiß", "wissen"), "know", "knows"),
    "sagen": (("sage", "sagt", "sagen"), "say", "says"),
    "glauben": (("glaube", "glaubt", "glauben"), "believe", "believes"),
    "hoffen": (("hoffe", "hofft", "hoffen"), "hope", "hopes"),
}


@dataclass(frozen=True)
class Clause:
    """One verb with its subject, its objects, and its adverb."""

    kind: str
    verb: Verb
    tense: str
    subject: Subject
    recipient: NounPhrase | None  # in the dative
    thing: NounPhrase | None  # in the accusative
    adverb: str | None
    negated: bool
    role: str = "clause"

    @property
    def structure(self) -> tuple[str, str]:
        """The verb and the kind of clause; some of these pairs are withheld from training."""
        return self.verb.name, self.kind

    def name(self, part: str) -> tuple[str]:
        """Return the name of a part, distinct from those in other clauses."""
        return (f"{self.role} {part}",)

    def word(self, text: str, part: str, sure: bool = True) -> Word:
        """Return a word with the name of a part of this clause."""
        return Word(text, self.name(part), sure)


def german_verb(clause: Clause) -> tuple[Word, list[Word]]:
    """Return the finite verb, and the words at the end: particle, participle, or infinitive."""
    verb, column = clause.verb, PERSONS.index(clause.subject.person)
    if clause.tense == "present":
        finite = (verb.first, verb.third, verb.infinitive)[column]
        end = [clause.word(verb.particle, "verb", sure=False)] if verb.particle != "" else []
        return clause.word(finite, "verb"), end
    if clause.tense == "past":
        helper = clause.word(HELPERS[verb.auxiliary][column], "verb", sure=False)
        return helper, [clause.word(verb.participle, "verb")]
    if clause.tense == "had":
        helper = clause.word(HELPERS[f"had {verb.auxiliary}"][column], "helper")
        return helper, [clause.word(verb.participle, "verb")]
    helper = clause.word(HELPERS[clause.tense][column], "helper")
    return helper, [clause.word(verb.name, "verb")]


def german_clause(clause: Clause) -> list[Word]:
    """Return the clause in German order, without a conjunction or punctuation."""
    finite, end = german_verb(clause)
    subject = clause.subject.german("nominative")
    adverb = [clause.word(clause.adverb, "adverb")] if clause.adverb else []
    recipient = clause.recipient.german("dative") if clause.recipient else []
    thing = clause.thing.german("accusative") if clause.thing else []
    negation = [clause.word("nicht", "not")] if clause.negated else []
    middle = [*adverb, *recipient, *thing, *negation]
    match clause.kind:
        case "main":
            return [*subject, finite, *middle, *end]
        case "adverb first":
            return [*adverb, finite, *subject, *recipient, *thing, *negation, *end]
        case "object first":
            return [*thing, finite, *subject, *adverb, *negation, *end]
        case "polar" | "wh" | "verb first":
            return [finite, *subject, *middle, *end]
    subject = [] if clause.kind == "who" else subject  # its pronoun comes before the clause
    return [*subject, *middle, *at_the_end(clause, finite, end)]


def at_the_end(clause: Clause, finite: Word, end: list[Word]) -> list[Word]:
    """Return the verbs of a verb-final clause: the finite one last, with its particle."""
    if clause.tense == "present":
        return [clause.word(clause.verb.particle + finite.text, "verb")]
    return [*end, finite]


def english_verbs(clause: Clause) -> list[Word]:
    """Return the verbs in English order; in a question, the subject goes after the first."""
    base, third, past, participle = clause.verb.english
    asks = clause.kind in ("polar", "wh")
    is_third = clause.subject.person == "third"
    negation = [clause.word("not", "not")] if clause.negated else []
    to_verb = [clause.word("to", "helper", sure=False), clause.word(base, "verb")]
    if clause.tense in ("had", "will", "should", "can"):
        rest = [clause.word(participle if clause.tense == "had" else base, "verb")]
        if clause.tense == "can" and clause.negated and not asks:
            return [Word("cannot", clause.name("helper") + clause.name("not")), *rest]
        return [clause.word(clause.tense, "helper"), *negation, *rest]
    if asks or clause.negated:
        do = "did" if clause.tense == "past" else "does" if is_third else "do"
        helped = "helper" if clause.tense == "want" else "verb"
        rest = [clause.word("want", "helper"), *to_verb] if clause.tense == "want" else to_verb[1:]
        return [clause.word(do, helped, sure=False), *negation, *rest]
    if clause.tense == "want":
        return [clause.word("wants" if is_third else "want", "helper"), *to_verb]
    return [clause.word(past if clause.tense == "past" else third if is_third else base, "verb")]


def english_clause(clause: Clause) -> list[Word]:
    """Return the clause in English order, without a conjunction or punctuation."""
    verbs = english_verbs(clause)
    subject = [] if clause.kind == "who" else clause.subject.english()
    recipient = clause.recipient.english() if clause.recipient else []
    thing = clause.thing.english() if clause.thing else []
    adverb = [clause.word(ADVERBS[clause.adverb][0], "adverb")] if clause.adverb else []
    objects = [*recipient, *thing]
    if clause.kind in ("polar", "wh"):
        return [verbs[0], *subject, *verbs[1:], *objects, *adverb]
    if clause.kind == "adverb first":
        return [*adverb, *subject, *verbs, *objects]
    return [*subject, *verbs, *objects, *adverb]


def write(german: list[Word], english: list[Word], structures: Iterable[tuple[str, str]]) -> Pair:
    """Return the two sentences as text, and the links between words that share a name."""
    places: dict[str, list[int]] = {}
    for j, word in enumerate(german):
        for name in word.names:
            places.setdefault(name, []).append(j)
    possible, sure = set(), set()
    for i, word in enumerate(english):
        for j in (j for name in word.names for j in places.get(name, ())):
            possible.add((i, j))
            if word.sure and german[j].sure:
                sure.add((i, j))
    sentences = as_text(german), as_text(english)
    return Pair(*sentences, frozenset(sure), frozenset(possible), frozenset(structures))


def as_text(words: list[Word]) -> str:
    """Return the words with single spaces between them, the first with a capital letter."""
    text = " ".join(word.text for word in words)
    return text[0].upper() + text[1:]
