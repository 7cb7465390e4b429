"""Every checker accepts what is right, and says of what is wrong what is wrong with it."""

import ast
import re
from inspect import signature
from pathlib import Path

import pytest
import torch
import transformers
from answers_assistant import ASSISTANT
from answers_decoder import DECODER, written
from answers_encoder import ENCODER, blind_by_swaps
from answers_family import FAMILY
from answers_fewer_bits import FEWER_BITS
from answers_language_models import LANGUAGE_MODELS
from answers_longer_texts import LONGER_TEXTS
from answers_looking_inside import LOOKING_INSIDE
from answers_lora import LORA
from answers_making_it_fast import MAKING_IT_FAST
from answers_many_machines import MANY_MACHINES
from answers_training_in_practice import TRAINING_IN_PRACTICE

from glassbook import exercises
from glassbook.exercises.comparing import difference
from glassformer.layers.masks import causal_mask
from glassformer.layers.positions import RotaryPositions

DOCS = Path(__file__).parents[3] / "docs"
CHECKERS = exercises.checkers()
ANSWERS = (
    ENCODER
    | DECODER
    | FAMILY
    | LANGUAGE_MODELS
    | ASSISTANT
    | LOOKING_INSIDE
    | LORA
    | FEWER_BITS
    | LONGER_TEXTS
    | MANY_MACHINES
    | MAKING_IT_FAST
    | TRAINING_IN_PRACTICE
)

FENCE = re.compile(r"^([ ]*)```python\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def test_accepts_a_right_answer_of_another_kind():
    verdicts = {name: check(ANSWERS[name].right) for name, check in CHECKERS.items()}
    assert not {name: verdict for name, verdict in verdicts.items() if not verdict.right}


def test_says_what_is_wrong(subtests):
    for name, answers in ANSWERS.items():
        for pattern, answer in answers.wrong.items():
            with subtests.test(name, pattern=pattern):
                verdict = CHECKERS[name](answer)
                assert not verdict.right
                assert re.search(pattern, verdict.says, re.IGNORECASE), verdict


def test_every_known_mistake_is_told_from_the_others():
    """And each is made in another way too: what tells it is more than a copy of itself."""
    for name, checker in CHECKERS.items():
        wrong = ANSWERS[name].wrong
        assert len(wrong) >= 5, name
        for says, mistake in checker.mistakes.items():
            assert checker(mistake).says == f"Not yet. {says}", name
            told = [pattern for pattern in wrong if re.search(pattern, says, re.IGNORECASE)]
            assert len(told) == 1, (name, says)


def tried(name):
    """The examples of an exercise: what each is called, and what an answer is handed."""
    handed = []

    def answer(*given):
        handed.append(given)
        return ANSWERS[name].right(*given)

    examples = CHECKERS[name](answer).because[0].removeprefix("Checked with ")[:-1].split("; ")
    arguments = signature(CHECKERS[name].reference).parameters
    for example, given in zip(examples, handed, strict=True):
        yield example, dict(zip(arguments, given, strict=False))


@pytest.fixture(scope="module")
def examples():
    return [(f"{name}: {example}", given) for name in CHECKERS for example, given in tried(name)]


def test_no_answer_that_gives_one_thing_always_is_right(examples):
    """None of an exercise's examples is so simple that any constant would do."""
    wanted = {}
    for example, given in examples:
        name = example.partition(":")[0]
        wanted.setdefault(name, []).append(CHECKERS[name].reference(*given.values()))
    for name, results in wanted.items():
        for constant in (0, 1, True, False, torch.zeros(()), torch.ones(1), [], ""):
            assert any(difference(constant, one) for one in results), (name, constant)


NUMBERS = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8},
    **{"eleven": 11, "thirteen": 13},
}
ODD_PRIMES = {number for number in range(3, 1000) if all(number % d for d in range(2, number))}


def numbers_in(example):
    """What the name of an example says, in words or in digits."""
    for word in re.findall(r"−?[\d.]*\d|\w+", example):
        if word in NUMBERS:
            yield NUMBERS[word]
        elif word[-1].isdigit():
            yield float(word.replace("−", "-"))


def sizes(value):
    """How long something is along each axis; a whole number stands for itself."""
    if isinstance(value, torch.Tensor):
        return list(value.shape)
    return [len(value)] if isinstance(value, list) else [value] * isinstance(value, int)


def measures(argument, value, given):
    """What else of an argument the name of an example may tell."""
    if isinstance(value, float):
        return [value]
    if argument == "attention_mask":  # how many words each sentence has
        return value.sum(1).tolist()
    if argument == "labels" and "pad_token_id" in given:
        return (value != given["pad_token_id"]).sum(1).tolist()
    if argument in ("chosen", "mask"):  # how many are
        return [value.sum().item()]
    if argument == "logits" and value.ndim == 1:
        return value.softmax(-1).tolist()
    if argument in ("x", "position_ids"):
        return [value.min().item(), value.max().item()]
    return []


def test_what_the_name_of_an_example_does_not_say_is_an_odd_prime_or_usual(examples):
    """A width may also be that of heads, or of pairs, each an odd prime wide."""
    usual = {
        "eps": {torch.nn.LayerNorm(1).eps, transformers.LlamaConfig().rms_norm_eps},
        "theta": {signature(RotaryPositions).parameters["theta"].default},
    }
    for example, given in examples:
        said = set(numbers_in(example))
        found = {size for value in given.values() for size in sizes(value)}
        more = [one for about in given.items() for one in measures(*about, given)]
        for number in said:
            assert number in found or pytest.approx(number) in more, (example, number)
        parts = given.get("num_heads", 2 if "position_ids" in given else 1)
        widths = {sizes(value)[-1] for value in given.values() if sizes(value)}
        for size in found - said:
            of_parts = size in widths and size / parts in ODD_PRIMES
            assert size in ODD_PRIMES or of_parts, (example, size)
        for argument, value in given.items():
            if isinstance(value, float):
                assert value in said | usual.get(argument, set()), (example, argument)


def in_float32(value):
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.float() if is_float else value


def test_an_answer_may_compute_in_float32(subtests):
    """No example is such that rounding would be taken for a mistake."""
    for name, checker in CHECKERS.items():
        reference = checker.reference
        if {"model", "score", "attend", "layers"}.isdisjoint(signature(reference).parameters):
            with subtests.test(name):
                assert checker(lambda *given, of=reference: of(*map(in_float32, given)))


def test_the_axes_of_an_example_are_told_apart_by_their_sizes(examples):
    """Save the last two of what is square: weights, or how words look at words."""
    for example, given in examples:
        for argument, value in given.items():
            shape = sizes(value)
            axes = shape[:-1] if shape[-2:-1] == shape[-1:] else shape
            longer = [size for size in axes if size > 1]
            assert len(set(longer)) == len(longer), (example, argument, shape)


def places_moved(model):
    """Where the output changes when the first of eleven words does; the last is before it."""
    hidden = torch.zeros(11, 5, dtype=torch.float64)
    changed = torch.cat([1 + hidden[:1], hidden[1:]])
    return (model(changed) != model(hidden)).any(1).nonzero().flatten().tolist()


SAYS = {
    "in the thousands": lambda scores, *_: 2000 < scores.std() < 4000,
    "attention$|network for each word|average of all": lambda model, hidden: blind_by_swaps(
        model, hidden
    ),
    "with positions|sum|difference": lambda model, hidden: not blind_by_swaps(model, hidden),
    "sum of neighbors": lambda model, hidden: places_moved(model) == [0, 1, 10],
    "difference of neighbors": lambda model, hidden: (
        places_moved(model) == [0, 1] and not model(torch.ones_like(hidden)).any()
    ),
    "running sum": lambda model, hidden: places_moved(model) == list(range(11)),
    "three sentences of 5, 3": lambda *given: (
        given[-1].sum(1)[:2].tolist() == [5, 3] and (given[-1].diff(dim=1) <= 0).all()
    ),
    "padded on the left": lambda mask: (mask.diff(dim=1) >= 0).all(),
    "without padding": lambda hidden, mask: mask.all(),
    "causal mask": lambda scores, mask: mask.equal(causal_mask(mask.shape[1])),
    "second may look at nothing": lambda scores, mask: mask.any(1).tolist() == [True, False],
    "as long as its memory": lambda hidden, memory, *_: hidden.shape == memory.shape,
    "longer memories": lambda hidden, memory, *_: hidden.shape[1] < memory.shape[1],
    "attends to itself": lambda query, key, value: query.shape == key.shape == value.shape,
    "a prompt of": lambda model, ids, *_: model(ids).shape[1] in ODD_PRIMES,
    "and no end": lambda model, ids, count, end: (
        len(written(model, ids, count, end)) == len(ids) + count
    ),
    "an end at token": lambda model, ids, count, end: written(model, ids, count, end)[-1] == end,
    "from position": lambda x, position_ids, theta: position_ids.diff().eq(1).all(),
    "as long as it's wide": lambda x, keys, *_: keys.shape == (len(x), len(x)),
    "raise the maximum": lambda maximum, total, output, scores, value: scores.max() > maximum,
    "below the maximum": lambda maximum, total, output, scores, value: scores.max() < maximum,
    "large scores": lambda maximum, total, output, scores, value: scores.min() > 15,
    "proposed too often": lambda p, q, token: q[token] > p[token],
    "proposed too rarely": lambda p, q, token: q[token] < p[token],
    "sure of token": lambda p, q, token: q[token] == q.sum() == 1,
    "layers of .* heads": lambda weights, *_: torch.allclose(
        weights.sum(-1), torch.ones(()).double()
    ),
}


def test_an_example_is_what_its_name_says(examples):
    for phrase, holds in SAYS.items():
        found = [(example, given) for example, given in examples if re.search(phrase, example)]
        assert found, phrase
        for example, given in found:
            assert holds(*given.values()), example


EXERCISES = re.compile(r"^## Exercises$.*import check_", flags=re.MULTILINE | re.DOTALL)


def verdicts(chapter):
    """The checkers that a page calls, and what they say there, in the page's order."""
    names = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn}
    for indent, text in FENCE.findall((DOCS / chapter).read_text()):
        if "check_" not in text:
            continue
        tree = ast.parse(re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))
        last = tree.body.pop()
        if isinstance(last.value.func, ast.Attribute):  # .keep(...)
            last = ast.Expr(last.value.func.value)
        exec(compile(tree, chapter, "exec"), names)
        yield last.value.func.id, eval(compile(ast.Expression(last.value), chapter, "eval"), names)


def chapters():
    """The chapters with exercises, in the order of the book."""
    nav = (DOCS.parent / "mkdocs.yml").read_text()
    listed = re.findall(r"- ((?!reference)[\w-]+/[\w-]+\.md)", nav)
    return [page for page in listed if EXERCISES.search((DOCS / page).read_text())]


def test_a_page_asks_and_its_solution_is_right(subtests):
    found = []
    for chapter in chapters():
        with subtests.test(chapter):
            said = list(verdicts(chapter))
            found += [name for name, _ in said[::2]]
            for asked, solved in zip(said[::2], said[1::2], strict=True):
                assert asked[0] == solved[0], "the stub, then the solution"
                assert not asked[1].right, f"{asked[0]} is solved before it is asked"
                assert solved[1].right, solved[1]
    assert {*found} == {*CHECKERS}
