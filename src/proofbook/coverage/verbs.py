"""Find the finite verbs of a sentence by word lists and endings.

Words are lowercase and are judged by their form and their neighbors, without a parser or a
dictionary. A word that is on no list counts as a noun, unless it follows a pronoun such as *it*.
"""

import re
from collections.abc import Sequence


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


ALWAYS = word_set(
    "is are was were has had does did can cannot may must shall will would isn't aren't wasn't"
    " weren't hasn't hadn't doesn't didn't don't haven't can't won't wouldn't mustn't it's"
    " that's there's they're we're you're"
)
"""Forms that are always finite verbs."""
PASTS = word_set(
    "arose ate became began broke came chose drew fell flew forgot gave grew knew ran rose saw sank"
    " showed spoke threw took went wore wrote"
)
"""Irregular past forms that aren't participles."""
PARTICIPLES = word_set(
    "bought brought built caught cut felt found fought held kept laid learnt led left lent lost"
    " made meant met put read said sat sent set sold spent split spread stood stuck taught thought"
    " told understood won"
)
"""Irregular past forms that are participles too."""
PURE = word_set(
    "accept account achieve act adapt add adhere adjust admit affect agree align allocate allow"
    " amplify appear apply approximate arise arrive ask assert assign assume attach attend avoid"
    " become begin behave belong bring build cancel carry cause choose clip collapse combine come"
    " compare compress compute concatenate concern confirm conform consist constrain contain"
    " continue contribute control converge convert correct correspond crash create cut deal"
    " decide decode decrease deduce define delete deliver demand depend derive describe detect"
    " determine differ disappear discard distinguish diverge divide dominate draw drop embed"
    " emerge emit enable encode ensure enter equal evaluate exceed execute exist expand expect"
    " explain explode export extend extract fail fall feed fill find finish fit fix flatten flip"
    " follow forget freeze gain generalize generate get give go grant grow handle happen hear"
    " help hide hold identify ignore implement import improve include increase indicate infer"
    " influence inherit initialize insert install interact introduce invite involve iterate join"
    " keep know lack lead learn leave let lie live lose lower maintain make manage match matter"
    " maximize mean memorize merge minimize miss mix modify multiply need normalize notice obey"
    " observe obtain occur omit operate optimize originate outnumber outperform outweigh overfit"
    " overflow overlap overwrite own parse pay permit pick possess precede predict prefer prepare"
    " preserve prevent proceed produce project prove provide publish pull push put quantify raise"
    " reach read receive recover reduce refer refuse reject relate relax rely remain remember"
    " remove render repeat replace represent reproduce require rescale resemble reside resize"
    " resolve restore retain return reuse reveal rewrite rise run satisfy saturate save say see"
    " seem select send separate serve show shrink sit skip sort speak specify spend stand stay"
    " store subtract suffer suffice suggest support suppress surpass surround survive take teach"
    " tell tend think throw tokenize train transform translate transpose treat truncate try turn"
    " understand unlock validate vanish vary verify visualize wait want warn watch widen write"
    " yield"
)
"""Verbs whose form with -s is rarely a noun."""
AMBIGUOUS = word_set(
    "access aim answer approach attack attempt average balance benefit block broadcast cache"
    " call change charge check claim comment copy cost count cover cross cycle decay default"
    " delay display effect end estimate exchange face favor filter form function gap group guess"
    " index jump land level limit link list load look map mark mask measure mirror move name"
    " offer output pad pass plan plot point pool present print process promise query rank rate"
    " record release report request rest result reward rotate round sample scale score search"
    " seed set shape share shift shuffle slice sound space split stack start step stop stream"
    " stress stretch study suit sum surprise swap switch test time touch trace trade trigger"
    " update use value view visit vote walk waste weigh weight wish work wrap zero"
)
"""Verbs whose form with -s is as often a plural noun."""
VERBS = PURE | AMBIGUOUS
RELATIVE = word_set("that which who")
PLURAL = RELATIVE | word_set(
    "they them these those both all some many few most others we you i people data"
    " two three four five six seven eight nine ten"
)
"""Words that a verb without -s may follow, besides plural nouns."""
SINGULAR = word_set(
    "its this as us plus less always perhaps thus yes towards besides across unless sometimes"
    " whereas hers ours yours theirs versus"
)
"""Words ending in -s that aren't plural nouns."""
AUXILIARY = word_set(
    "is are was were has have had be been being get gets isn't aren't wasn't weren't not"
)
"""Words that make a past form after them a participle."""
MODALS = word_set("can cannot could may might must shall should will would")
PREPOSITIONS = word_set(
    "of in on at by for with from to into over under between before after than as like"
)
DETERMINERS = word_set(
    "a an the its their his her our your my these those all both some any no many few several"
    " different more most other such same two three four five six seven eight nine ten twelve"
)
NO_NOUN = PREPOSITIONS | DETERMINERS | {"and", "or"}
"""Words that are followed by a noun rather than a verb."""
SUBJECTS = word_set("it he she who nothing everything something")
"""Pronouns after which any form with -s is a verb."""
AFTER_VERB = word_set(
    "a an the its their each every all both no not nothing one itself them it as to into with from"
    " only more less on at out over up down through what how that which"
)
"""Words that show that the form before them is a verb and not a noun."""
AFTER_NOUN = ALWAYS | frozenset(["", ",", "of", "and", "or"])
ADVERBS = word_set(
    "all also alone always both each ever even first here itself just merely more never no not now"
    " often once only rarely really seldom sometimes soon still then there themselves together too"
    " usually yet"
)


def is_finite(words: Sequence[str], at: int) -> bool:
    """Return whether a word of a clause is a finite verb and could hardly be anything else."""
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
    if before in SUBJECTS and stems and not _is_adverb(word):
        return True
    if _in(PURE, stems):
        return words[at - 1 : at] != ["the"]
    is_subject = _is_noun(before) and not (_is_plural(before) and before not in RELATIVE)
    return _in(AMBIGUOUS, stems) and is_subject and after not in AFTER_NOUN


def is_past(words: Sequence[str], at: int) -> bool:
    """Return whether a word of a clause is a past form, which may be a participle as well."""
    is_form = words[at] in PARTICIPLES or _in(VERBS, _stems(words[at], "ed"))
    before = _before(words, at)
    return is_form and _is_noun(before) and before not in AUXILIARY


def _before(words: Sequence[str], at: int) -> str:
    """Return the word before another, skipping adverbs; "" at the beginning."""
    others = (word for word in reversed(words[:at]) if not _is_adverb(word))
    return next(others, "")


def _stems(word: str, ending: str) -> set[str]:
    """Return the stems that a form with this ending could have; none if it ends differently."""
    if not word.endswith(ending):
        return set()
    stem = word.removesuffix(ending)
    if ending == "s":
        return {stem, stem.removesuffix("e"), re.sub("ie$", "y", stem)}
    return {stem, stem + "e", re.sub("i$", "y", stem), re.sub(r"(.)\1$", r"\1", stem)}


def _in(verbs: frozenset[str], stems: set[str]) -> bool:
    """Return whether a verb is listed, in American or British spelling."""
    return not verbs.isdisjoint(stems | {re.sub("ise$", "ize", stem) for stem in stems})


def _is_plural(word: str) -> bool:
    """Return whether a verb without -s may follow a word."""
    is_noun = word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    return word in PLURAL or (is_noun and word not in SINGULAR | ALWAYS)


def _is_noun(word: str) -> bool:
    """Return whether a word, or a character that replaces code, could be a noun or pronoun."""
    return word not in NO_NOUN and bool(re.match(r"[\w\ue000-\ue0ff]", word))


def _is_adverb(word: str) -> bool:
    return word in ADVERBS or word.endswith("ly")
