"""A sentence that states something is told from one that asks, orders, defines or announces."""

import pytest

from proofbook.coverage.statements import states, unbound
from proofbook.parsing.page import parse

STATE = [
    "It rains.",
    "Each row sums to one.",
    "The rows sum to one.",
    "The loss fell after the first step.",
    "Both models agree.",
    "They are equal:",
    "`f` and `g` return the same list.",
    "`f` returns a list.",
    "$x$ grows with $n$.",
    "Nothing in the list says which it is.",
    "What it gives to one, it takes from the others.",
    "If the list is empty, the sum is zero.",
    "Where we look, the picture is black.",
    "We sort the list, and the function returns it.",
    "Sort the list: it has changed.",
    "The list that we built holds numbers.",
    "The function crashes when the list is empty.",
    "It crashes.",
    "A list, which stays short, has four rows.",
    "A [longer list](there.md) takes more time.",
    "The planets move around the sun.",
    "Water becomes steam, at a lower temperature on a mountain.",
    "Its colours differ.",
    "| the mean | is lower than the median |",
    "There's no rest.",
    "The twelve layers learned as well as before.",
    "So none of them would.",
    "Each list here is sorted.",
    "That of an empty row is zero.",
    "Those whose length is that of a list are read.",
    "If that list is empty, the mean is zero.",
    "A row that could be empty gets the same mean, and that of an empty row is zero.",
    "The list may be padded on either side.",
    "The result can't change.",
    "In the chapter on lists, a head moved.",
]
STATE_NOTHING = [
    "Is it raining?",
    "*How long is a row?*",
    "Sort the list.",
    "Then sort the list and print what it holds.",
    "Guess which of them is longest.",
    "Let the function return what it got.",
    "You need Python.",
    "We sort the list.",
    "Now we show what the function returns:",
    "I like lists.",
    "Nobody knows.",
    "A list that holds numbers, and one that holds words:",
    "The rows, sorted by length:",
    "The list that query two reads:",
    "A list that may have rows in it:",
    "The list scores, sorted:",
    "Three steps from the list to its sum:",
    "The runs of a list:",
    "How a list becomes a table.",
    "Here is the list:",
    "Here are the rows that it returned:",
    "And here is a list:",
    "This is called a *list*.",
    "Such a thing is a **list**.",
    "Lists: [Doe et al. (2020)](there.md).",
    "In Doe (2020) the rows are equal.",
    "[The next chapter](there.md).",
    "See [the list](there.md).",
    "**Next:** [lists](there.md) are sorted.",
    "*You will know:* what a list is.",
    '"A list is never empty at all", and so on.',
    "The numbers are those of this page.",
    "Each entry shows one of them.",
    "| name | `list` |",
    "| the rows, sorted | a list turned by its key |",
    "The list's output, sum and length:",
    "| [Lists](there.md) | how they are sorted |",
    "| [Zero is the last](there.md) | zeros |",
    "```",
    "",
]


@pytest.mark.parametrize("text", STATE)
def test_what_states_something(text):
    assert states(text)


@pytest.mark.parametrize("text", STATE_NOTHING)
def test_what_states_nothing(text):
    assert not states(text)


@pytest.mark.parametrize("text", [one for one in STATE_NOTHING if one.endswith(".")])
def test_a_claim_states_something_in_any_sentence(text):
    assert states(f"{text[:-1]}, [two]{{ equals='len(x)' }}.")
    assert not states(f"{text[:-1]}, [two]{{ .literal reason='example' }}.")


@pytest.mark.parametrize("spelling", ["normalizes", "normalises"])
def test_either_spelling_is_known(spelling):
    assert states(f"A layer {spelling} its input.")


TEXT = """---
title: A page
---

# It is a heading.

```python
x = [3, 4]
```

It is a list. It holds
numbers. There are [two]{ equals="len(x)" } of them. Sort it.

<!-- It is a comment. -->
"""


def test_what_is_bound_is_left_out_and_lines_are_those_of_the_file():
    page = parse("page.md", TEXT)
    text = page.source.text
    [claim] = page.source.spans
    free = [(11, "It is a list."), (11, "It holds numbers.")]
    assert list(unbound(page, [(claim.start, claim.end)])) == free
    assert list(unbound(page, [])) == [*free, (12, text[text.index("There") :].split(" Sort")[0])]


@pytest.mark.parametrize("phrase", ["It is a list", "list", "I", "list."])
def test_any_part_of_a_sentence_binds_it(phrase):
    page = parse("page.md", TEXT)
    first = page.source.text.index(phrase, page.source.text.index("It is a list"))
    [claim] = page.source.spans
    bound = [(first, first + len(phrase)), (claim.start, claim.end)]
    assert list(unbound(page, bound)) == [(11, "It holds numbers.")]
