"""Which words of a sentence are its finite verbs, as far as lists and endings tell.

A word stands in lower case, and is judged by its form and by its neighbors. There is no parser
behind this, nor a dictionary: words that the lists lack count as nouns.
"""

import re
from collections.abc import Sequence

ALWAYS = frozenset(
    "is are was were has had does did can cannot will would must shall isn't aren't wasn't weren't"
    " hasn't hadn't doesn't didn't don't haven't can't won't wouldn't mustn't it's that's there's"
    " they're we're you're".split()
)
"""Forms that are finite verbs wherever they stand."""
PASTS = frozenset(
    "arose ate became began broke came chose drew fell flew forgot gave grew knew ran rose saw sank"
    " showed spoke threw took went wore wrote".split()
)
"""Irregular past forms that are no participles."""
PARTICIPLES = frozenset(
    "bought brought built caught cut felt found fought held kept laid learnt led left lent lost"
    " made meant met put read said sat sent set sold spent split spread stood stuck taught thought"
    " told understood won".split()
)
"""Irregular past forms that are participles too."""
PURE = frozenset(
    "accept account achieve act add adjust admit affect agree allow appear apply arise arrive ask"
    " assign assume attach attend avoid become begin behave belong bring build carry cause choose"
    " combine come compare compute concatenate confirm consist contain continue contribute converge"
    " convert correspond create decide decrease define deliver demand depend derive describe"
    " determine differ disappear discard distinguish divide draw drop emit enter equal evaluate"
    " exceed exist expand expect explain extend fail fall feed fill find finish fit fix follow"
    " forget form gain generate get give go grow happen help hide hold ignore implement improve"
    " include increase indicate inherit initialize insert introduce invite involve join keep know"
    " lack lead learn leave let lie live lose maintain make match matter mean memorize merge mix"
    " multiply need normalize obey obtain occur omit outnumber outperform outweigh overlap own pay"
    " pick possess predict prefer prepare preserve prevent print produce project prove provide put"
    " raise reach read receive recover reduce refer refuse reject rely remain remember remove"
    " repeat replace represent reproduce require resemble reside resolve retain return reveal rise"
    " run satisfy say scale search see seem select send separate serve share show shrink shuffle"
    " sit skip sort speak spend split stand start stay stop store subtract suffer suffice sum"
    " support survive take teach tell tend think throw train transform translate transpose treat"
    " try turn update vary wait want warn write yield".split()
)
"""Verbs whose form with -s is rarely a noun."""
AMBIGUOUS = frozenset(
    "aim answer approach attempt average balance benefit block call change charge check claim copy"
    " cost count cover cross cycle decay delay display effect end estimate exchange face favor"
    " function gap group guess index jump land level limit link list load look map mark mask measure"
    " mirror move name offer output pad pass plan plot point process promise query rank rate record"
    " rest result reward rotate round sample score set shape shift sound space step stream stress"
    " stretch study suit surprise swap switch test time touch trace trade trigger use value view"
    " visit vote walk waste weigh weight wish work wrap".split()
)
"""Verbs whose form with -s is as often a plural noun."""
VERBS = PURE | AMBIGUOUS
RELATIVE = frozenset("that which who".split())
PLURAL = RELATIVE | frozenset(
    "they them these those both all some many few most others we you i people data"
    " two three four five six seven eight nine ten".split()
)
"""What a verb without -s may follow, besides plural nouns."""
SINGULAR = frozenset(
    "its this as us plus less always perhaps thus yes towards besides across unless sometimes"
    " whereas hers ours yours theirs versus".split()
)
"""Words in -s that are no plural nouns."""
AUXILIARY = frozenset(
    "is are was were has have had be been being get gets isn't aren't wasn't weren't not".split()
)
"""What makes a past form after it a participle."""
MODALS = frozenset("can cannot could may might must shall should will would".split())
PREPOSITIONS = frozenset(
    "of in on at by for with from to into over under between before after than as like".split()
)
DETERMINERS = frozenset(
    "a an the its their his her our your my these those all both some any no many few several"
    " different more most other such same two three four five six seven eight nine ten twelve".split()
)
NO_NOUN = PREPOSITIONS | DETERMINERS | frozenset("and or".split())
"""Words after which a noun stands rather than a verb."""
AFTER_VERB = frozenset(
    "a an the its their each every all both no not nothing one itself them it as to into with from"
    " only more less on at out over up down through what how that which".split()
)
"""Words that stand after a verb rather than after its noun."""
AFTER_NOUN = ALWAYS | frozenset(["", ",", "of", "and", "or"])
ADVERBS = frozenset(
    "all also alone always both each ever even first here itself just merely more never no not now"
    " often once only rarely really seldom sometimes soon still then there themselves together too"
    " usually yet".split()
)


def is_finite(words: Sequence[str], at: int) -> bool:
    """Tell whether a word of a clause is a finite verb and could hardly be anything else."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    before = _before(words, at)
    if word in ALWAYS:
        return True
    if word in PASTS:
        return _is_noun(before) and before not in AUXILIARY
    if word in AMBIGUOUS and before in RELATIVE:
        return after in AFTER_VERB
    if word == "have":
        return _is_noun(before) and before not in MODALS
    if _in(VERBS | {"do"}, {word}):
        both = _is_noun(before) and "and" in words[max(0, at - 4) : at - 1]
        return both or _is_plural(before)
    stems = _stems(word, "s")
    if _in(PURE, stems):
        return words[at - 1 : at] != ["the"]
    is_subject = _is_noun(before) and not (_is_plural(before) and before not in RELATIVE)
    return _in(AMBIGUOUS, stems) and is_subject and after not in AFTER_NOUN


def is_past(words: Sequence[str], at: int) -> bool:
    """Tell whether a word of a clause is a past form, which may be a participle as well."""
    is_form = words[at] in PARTICIPLES or _in(VERBS, _stems(words[at], "ed"))
    before = _before(words, at)
    return is_form and _is_noun(before) and before not in AUXILIARY


def _before(words: Sequence[str], at: int) -> str:
    """Return the word before another, adverbs apart; "" at the beginning."""
    others = (word for word in reversed(words[:at]) if not _is_adverb(word))
    return next(others, "")


def _stems(word: str, ending: str) -> set[str]:
    """Return what a form with this ending could be made of; none where it ends otherwise."""
    if not word.endswith(ending):
        return set()
    stem = word.removesuffix(ending)
    if ending == "s":
        return {stem, stem.removesuffix("e"), re.sub("ie$", "y", stem)}
    return {stem, stem + "e", re.sub("i$", "y", stem), re.sub(r"(.)\1$", r"\1", stem)}


def _in(verbs: frozenset[str], stems: set[str]) -> bool:
    """Tell whether a verb is listed, in American spelling or another."""
    return not verbs.isdisjoint(stems | {re.sub("ise$", "ize", stem) for stem in stems})


def _is_plural(word: str) -> bool:
    """Tell whether a verb without -s may follow a word."""
    is_noun = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word in PLURAL or (is_noun and word not in SINGULAR | ALWAYS)


def _is_noun(word: str) -> bool:
    """Tell whether a word, or a sign in the place of code, could be a noun or pronoun."""
    return word not in NO_NOUN and bool(re.match(r"[\w\ue000-\ue0ff]", word))


def _is_adverb(word: str) -> bool:
    return word in ADVERBS or word.endswith("ly")
