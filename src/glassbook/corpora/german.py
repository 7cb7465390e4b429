"""German words: their inflection and their English translations.

Endings are computed from tables of gender and case; forms that follow no rule are in the lexicon.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Gender, or p for plural: endings in nominative, accusative, and dative.
Endings = Mapping[str, tuple[str, str, str]]
CASES = ("nominative", "accusative", "dative")

DEFINITE: Endings = MappingProxyType(
    {
        "m": ("der", "den", "dem"),
        "n": ("das", "das", "dem"),
        "f": ("die", "die", "der"),
        "p": ("die", "die", "den"),
    }
)
# For ein, kein, mein, and unser.
INDEFINITE: Endings = MappingProxyType(
    {
        "m": ("", "en", "em"),
        "n": ("", "", "em"),
        "f": ("e", "e", "er"),
        "p": ("e", "e", "en"),
    }
)
# For adjectives after der, die, das: the article already shows the case.
WEAK: Endings = MappingProxyType(
    {
        "m": ("e", "en", "en"),
        "n": ("e", "e", "en"),
        "f": ("e", "e", "en"),
        "p": ("en", "en", "en"),
    }
)
# For adjectives after ein: if the article has no ending, the adjective shows the case.
MIXED: Endings = MappingProxyType(
    {**WEAK, "m": ("er", "en", "en"), "n": ("es", "es", "en")},
)

DETERMINERS = MappingProxyType(
    {"the": "der", "a": "ein", "no": "kein", "my": "mein", "our": "unser"}
)


@dataclass(frozen=True)
class Noun:
    """A noun: its gender, its forms in German and English, and the kinds of thing it is."""

    gender: str
    singular: str
    plural: str
    dative_plural: str
    english: str
    english_plural: str
    kinds: str


@dataclass(frozen=True)
class Adjective:
    """An adjective: its uninflected form, its stem, and the kinds of thing it may describe."""

    alone: str
    stem: str
    english: str
    kinds: str


@dataclass(frozen=True)
class Verb:
    """A verb: its forms, its objects, and its forms in English.

    Attributes:
        particle: The part that leaves the verb and goes to the end, such as "an" in "ruft … an".
        infinitive: Without the particle, like the third person.
        third: The form with he, she, or it.
        participle: The past participle, with the particle.
        auxiliary: "haben" or "sein".
        takes: The kinds of its direct object, `to` and kinds for an object in the dative, or
            both, separated by a comma; empty for a verb that takes no object.
        english: Base, third person, past, participle.
    """

    particle: str
    infinitive: str
    third: str
    participle: str
    auxiliary: str
    takes: str
    english: tuple[str, str, str, str]

    @property
    def name(self) -> str:
        """The infinitive with the particle first, as in a dictionary."""
        return self.particle + self.infinitive

    @property
    def first(self) -> str:
        """The form with "ich"."""
        return self.infinitive.removesuffix("n")


def determiner(english: str, gender: str, case: str) -> str:
    """Return the German for *the*, *a*, *no*, *my*, or *our* in this gender and case.

    Raises:
        ValueError: "a" is requested for the plural, which has no indefinite article.
    """
    column = CASES.index(case)
    if english == "the":
        return DEFINITE[gender][column]
    if english == "a" and gender == "p":
        raise ValueError("determiner ('a') has no plural")
    return DETERMINERS[english] + INDEFINITE[gender][column]


def adjective(word: Adjective, after: str, gender: str, case: str) -> str:
    """Return the adjective with its ending, which depends on the (English) determiner before it."""
    endings = WEAK if after == "the" else MIXED
    return word.stem + endings[gender][CASES.index(case)]


def noun(word: Noun, gender: str, case: str) -> str:
    """Return the noun in the singular or plural; only the dative plural has its own ending."""
    if gender != "p":
        return word.singular
    return word.dative_plural if case == "dative" else word.plural


def _rows(text: str) -> Iterator[list[list[str]]]:
    """Yield the words of each row, column by column."""
    for row in text.strip().splitlines():
        yield [column.split() for column in row.split("|")]


NOUNS = tuple(
    Noun(gender, singular, plural, dative, one, many, " ".join(kinds))
    for (gender, singular, plural, dative), (one, many), kinds in _rows("""
m Mann Männer Männern               | man men               | person
f Frau Frauen Frauen                | woman women           | person
n Kind Kinder Kindern               | child children        | person
n Mädchen Mädchen Mädchen           | girl girls            | person
m Lehrer Lehrer Lehrern             | teacher teachers      | person
f Ärztin Ärztinnen Ärztinnen        | doctor doctors        | person
m Bruder Brüder Brüdern             | brother brothers      | person
f Schwester Schwestern Schwestern   | sister sisters        | person
m Onkel Onkel Onkeln                | uncle uncles          | person
f Tante Tanten Tanten               | aunt aunts            | person
m Bäcker Bäcker Bäckern             | baker bakers          | person
f Königin Königinnen Königinnen     | queen queens          | person
m Hund Hunde Hunden                 | dog dogs              | pet
f Katze Katzen Katzen               | cat cats              | pet
n Pferd Pferde Pferden              | horse horses          | pet
n Buch Bücher Büchern               | book books            | thing text
m Brief Briefe Briefen              | letter letters        | thing text
f Zeitung Zeitungen Zeitungen       | newspaper newspapers  | thing text
n Beispiel Beispiele Beispielen     | example examples      | text
n Haus Häuser Häusern               | house houses          | thing shut
f Tür Türen Türen                   | door doors            | shut
n Fenster Fenster Fenstern          | window windows        | shut
m Koffer Koffer Koffern             | suitcase suitcases    | thing shut
f Tasche Taschen Taschen            | bag bags              | thing shut
m Apfel Äpfel Äpfeln                | apple apples          | thing
m Schlüssel Schlüssel Schlüsseln    | key keys              | thing
n Bild Bilder Bildern               | picture pictures      | thing
f Lampe Lampen Lampen               | lamp lamps            | thing
m Tisch Tische Tischen              | table tables          | thing
f Kamera Kameras Kameras            | camera cameras        | thing
""")
)

ADJECTIVES = tuple(
    Adjective(alone, stem, english, " ".join(kinds))
    for (alone, stem, english), kinds in _rows("""
alt alt old                         | person pet thing shut
jung jung young                     | person pet
klein klein small                   | person pet thing shut
groß groß big                       | person pet thing shut
müde müd tired                      | person pet
klug klug clever                    | person pet
freundlich freundlich friendly      | person pet
neu neu new                         | thing shut text
schön schön beautiful               | thing shut text
gut gut good                        | text
interessant interessant interesting | text
rot rot red                         | thing shut
blau blau blue                      | thing shut
""")
)

VERBS = tuple(
    Verb(part.strip("-"), infinitive, third, past, auxiliary, " ".join(takes), (a, b, c, d))
    for (part, infinitive, third, past, auxiliary), takes, (a, b, c, d) in _rows("""
-      lachen    lacht    gelacht        haben||laugh laughs laughed laughed
-      schlafen  schläft  geschlafen     haben||sleep sleeps slept slept
-      arbeiten  arbeitet gearbeitet     haben||work works worked worked
-      weinen    weint    geweint        haben||cry cries cried cried
-      tanzen    tanzt    getanzt        haben||dance dances danced danced
-      singen    singt    gesungen       haben||sing sings sang sung
-      warten    wartet   gewartet       haben||wait waits waited waited
an     kommen    kommt    angekommen     sein||arrive arrives arrived arrived
zurück kommen    kommt    zurückgekommen sein||return returns returned returned
auf    wachen    wacht    aufgewacht     sein||wake wakes woke woken
weg    laufen    läuft    weggelaufen    sein||flee flees fled fled
-      kaufen    kauft    gekauft        haben|thing|buy buys bought bought
-      verkaufen verkauft verkauft       haben|thing|sell sells sold sold
-      verlieren verliert verloren       haben|thing|lose loses lost lost
-      tragen    trägt    getragen       haben|thing|carry carries carried carried
-      lesen     liest    gelesen        haben|text|read reads read read
-      schreiben schreibt geschrieben    haben|text|write writes wrote written
-      brauchen  braucht  gebraucht      haben|person thing text|need needs needed needed
-      finden    findet   gefunden       haben|person pet thing text|find finds found found
-      sehen     sieht    gesehen        haben|person pet thing shut|see sees saw seen
-      hören     hört     gehört         haben|person pet|hear hears heard heard
-      malen     malt     gemalt         haben|person pet thing|paint paints painted painted
-      vergessen vergisst vergessen      haben|person thing text|forget forgets forgot forgotten
-      besuchen  besucht  besucht        haben|person|visit visits visited visited
-      waschen   wäscht   gewaschen      haben|person pet|wash washes washed washed
an     rufen     ruft     angerufen      haben|person|call calls called called
ein    laden     lädt     eingeladen     haben|person|invite invites invited invited
ab     holen     holt     abgeholt       haben|person pet thing|collect collects collected collected
an     schauen   schaut   angeschaut     haben|person pet thing|watch watches watched watched
mit    bringen   bringt   mitgebracht    haben|person pet thing|bring brings brought brought
auf    machen    macht    aufgemacht     haben|shut|open opens opened opened
zu     machen    macht    zugemacht      haben|shut|close closes closed closed
aus    leihen    leiht    ausgeliehen    haben|thing|borrow borrows borrowed borrowed
weg    werfen    wirft    weggeworfen    haben|thing|discard discards discarded discarded
ein    packen    packt    eingepackt     haben|thing|pack packs packed packed
-      helfen    hilft    geholfen       haben|to person pet|help helps helped helped
-      danken    dankt    gedankt        haben|to person|thank thanks thanked thanked
-      folgen    folgt    gefolgt        sein|to person pet|follow follows followed followed
-      geben     gibt     gegeben        haben|to person, thing|give gives gave given
-      zeigen    zeigt    gezeigt        haben|to person, thing text|show shows showed shown
-      schicken  schickt  geschickt      haben|to person, thing|send sends sent sent
""")
)
