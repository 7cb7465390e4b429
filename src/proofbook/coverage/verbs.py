"""Which words of a sentence are its finite verbs: by closed lists and endings, without a parser."""

import re
from collections.abc import Sequence

ALWAYS = frozenset(
    "is are was were has had does did isn't aren't wasn't weren't hasn't hadn't doesn't didn't don't"
    " haven't can cannot can't will won't would wouldn't must mustn't"
    " it's that's there's he's she's they're we're you're".split()
)
"""Forms that are verbs wherever they stand."""
PASTS = frozenset(
    "arose ate became began bought broke brought built came caught chose drew drove fell felt flew"
    " forgot found fought gave grew held hid kept knew laid learnt led left lent lost made meant met"
    " rose said sank sat saw sent showed sold spent spoke stood stuck taught thought threw told took"
    " understood went wore won wrote".split()
)
"""Irregular past forms, most of them participles too."""
PURE = frozenset(
    "accept achieve act add adjust admit affect agree allow appear apply arise arrive ask assign"
    " assume attach attend avoid become begin behave belong bring build carry cause choose combine"
    " come compare compute concatenate confirm consist contain continue contribute converge"
    " convert correspond create decide decrease define deliver demand depend derive describe"
    " determine differ disappear discard distinguish divide draw drop emit enter equal evaluate"
    " exceed exist expand expect explain extend fail fall feed fill find finish fit fix follow"
    " forget form gain generate get give go grow happen have help hide hold ignore implement improve"
    " include increase indicate inherit initialize insert introduce involve join keep know lack lead"
    " learn leave let lie live lose maintain make match matter mean memorize merge mix multiply"
    " need normalize obey obtain occur omit outnumber outperform outweigh overlap own pay pick"
    " possess predict prefer prepare preserve prevent print produce project prove provide put raise"
    " reach read receive recover reduce refer refuse reject rely remain remember remove repeat"
    " replace represent reproduce require resemble reside resolve retain reveal rise run satisfy"
    " say scale search see seem select send separate serve share show shrink shuffle sit skip sort"
    " speak spend split stand start stay stop store subtract suffer suffice sum support survive"
    " take teach tell tend think throw train transform translate transpose treat try turn update vary"
    " wait want warn write yield".split()
)
"""Verbs whose form with -s is rarely a noun."""
AMBIGUOUS = frozenset(
    "aim answer approach attempt average balance benefit block call change charge check claim copy"
    " cost count cover cross cut cycle decay decrease delay display effect end estimate exchange"
    " face favor favour function gap group guess index jump land level limit link list load look"
    " map mark mask measure mirror move name offer output pad pass plan plot point process promise"
    " query rank rate record rest result return reward rotate round sample score shape shift sound"
    " space step stream stress stretch study suit surprise swap switch test time touch trace trade"
    " trigger use value view visit vote walk waste weigh weight wish work wrap".split()
)
"""Verbs whose form with -s is as often a plural noun."""
PLURAL = frozenset(
    "they these those both all some many few most others which who that we you i people data"
    " two three four five six seven eight nine ten".split()
)
"""Words other than plural nouns that a form without -s may follow."""
SINGULAR_IN_S = frozenset(
    "its this as us plus less always perhaps thus yes towards besides across unless"
    " sometimes whereas hers ours yours theirs versus".split()
)
DETERMINER = frozenset(
    "a an the its their his her our your my these those all both some any no many few several"
    " different more most other such same two three four five six seven eight nine ten twelve"
    " of in on at by for with from to into over under between and or as than like".split()
)
"""Words before a noun: what follows them is no verb, whatever its ending."""
OBJECT = frozenset(
    "a an the its their each every all both no not nothing one itself them it as to into with from"
    " only more less on at out over up down up through what how that which".split()
)
"""Words that begin what comes after a verb."""
ADVERB = frozenset(
    "all also alone always both each ever even first here itself just merely more never no not now"
    " often once only rarely really seldom simply sometimes soon still then there themselves"
    " together too usually yet".split()
)


def _without_ending(word: str) -> set[str]:
    """Return what a form with -s or -ed could be made of."""
    if word.endswith("ies") or word.endswith("ied"):
        return {word[:-3] + "y", word[:-1], word[:-2]}
    stems = {word[:-1], word[:-2]}
    if word.endswith("ed") and word[-4:-3] == word[-3:-2]:
        stems.add(word[:-3])
    return {*stems, *(stem.replace("lis", "liz").replace("ris", "riz") for stem in stems)}


def is_finite(words: Sequence[str], at: int) -> bool:
    """Tell whether a word of a sentence, all in lower case, is a finite verb, as far as words tell."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    before = next((one for one in reversed(words[:at]) if not _is_adverb(one)), "")
    if word in ALWAYS:
        return True
    if word in {"have", "do", "are"} | PURE | AMBIGUOUS:
        return is_plural(before)
    if word in PASTS:
        return bool(re.match(r"\w", before)) and before not in DETERMINER
    if not word.endswith("s"):
        return False
    stems = _without_ending(word)
    if stems & PURE:
        return before not in DETERMINER or words[at - 1 : at] == ["and"]
    noun_before = bool(re.match(r"\w", before)) and before not in DETERMINER
    return bool(stems & AMBIGUOUS) and noun_before and not is_plural(before) and after in OBJECT


def is_past(words: Sequence[str], at: int) -> bool:
    """Tell whether a word is a regular past form, which may be a participle too."""
    before = words[at - 1] if at else ""
    past = words[at].endswith("ed") and _without_ending(words[at]) & (PURE | AMBIGUOUS)
    return bool(past) and bool(re.match(r"\w", before)) and before not in DETERMINER


def is_plural(word: str) -> bool:
    """Tell whether a form without -s may follow a word."""
    ends = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word in PLURAL or ends and word not in SINGULAR_IN_S | ALWAYS


def _is_adverb(word: str) -> bool:
    return word in ADVERB or word.endswith("ly")
