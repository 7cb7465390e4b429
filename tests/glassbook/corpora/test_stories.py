import re
from collections import Counter
from math import exp, log
from pathlib import Path
from random import Random

import pytest

from glassbook.corpora import DATA, stories
from glassbook.corpora.stories import (
    OPENING,
    SIZES,
    SPECIAL_TOKENS,
    Dice,
    Table,
    encode,
    make_stories,
    plot_of,
    read,
    read_plots,
    tell,
    tokenizer,
    ways,
)

STORIES = make_stories()


@pytest.fixture
def two_plots(monkeypatch):
    """A cat or a dog, of one of three colours, somewhere; and a plot that is always the same."""
    tables = (
        stories.Table(("pet", "noise"), (("cat", "meowed"), ("dog", "barked"))),
        stories.Table(("colour",), (("red",), ("blue",), ("green",))),
        stories.Table(("other",), (("cat",), ("dog",))),
    )
    first = "the {pet} {noise}.\nit was {colour}.\nit sat [in|under] a box.\nthe {other} came."
    plots = (first, "one.\ntwo.\nthree.\nfour.")
    monkeypatch.setattr(stories, "read_plots", lambda: (tables, plots))


def test_the_text_has_thousands_of_words_and_no_story_twice():
    texts = {split: [story.text for story in part] for split, part in STORIES.items()}
    assert {split: len(part) for split, part in texts.items()} == SIZES
    assert len(set(texts["train"]) | set(texts["test"])) == sum(SIZES.values())
    assert sum(len(text.split()) for text in texts["train"]) > 100_000


def test_a_seed_gives_the_same_stories_each_time():
    assert make_stories.__wrapped__(0) == STORIES
    assert make_stories.__wrapped__(1) != STORIES


@pytest.mark.usefixtures("two_plots")
def test_chance_fills_in_what_a_plot_leaves_open():
    """Two pets, three colours, two places; the other one is who is left."""
    random, count = Random(0), 2400
    told = Counter(tell(0, random).text for _ in range(count))
    assert len(told) == 12
    for text, times in told.items():
        pet, noise, colour, place, other = re.fullmatch(
            r"the (\w+) (\w+)\. it was (\w+)\. it sat (\w+) a box\. the (\w+) came\.", text
        ).groups()
        assert (pet, noise) in {("cat", "meowed"), ("dog", "barked")}
        assert {pet, other} == {"cat", "dog"}
        assert colour in {"red", "blue", "green"}
        assert place in {"in", "under"}
        assert abs(times - count / 12) < 4 * (count * 11 / 144) ** 0.5


@pytest.mark.usefixtures("two_plots")
def test_surprise_is_the_logarithm_of_the_chance():
    assert tell(0, Random(0)).surprise == pytest.approx(log(2 * 12))
    assert exp(-tell(1, Random(0)).surprise) == pytest.approx(1 / 2)


@pytest.mark.usefixtures("two_plots")
def test_a_plot_is_recognised_by_every_word_of_it(subtests):
    rows = [
        ("the cat meowed. it was red. it sat under a box. the dog came.", 0),
        ("one. two. three. four.", 1),
        ("the cat barked. it was red. it sat under a box. the dog came.", None),
        ("the cat meowed. it was red. it sat under a box. the cat came.", None),
        ("the cat meowed. it was red. it sat on a box. the dog came.", None),
        ("one. two. three.", None),
    ]
    for text, plot in rows:
        with subtests.test(text=text, plot=plot):
            assert plot_of(text) == plot


def test_a_word_that_stands_again_is_the_same_one():
    """By hand, from the first plot of the file."""
    kite = (
        "mia made a red kite out of paper. she ran up the hill to fly it. "
        "the wind was wild and the string broke. tom found the {} kite in a tree."
    )
    assert plot_of(kite.format("red")) == 0
    assert plot_of(kite.format("blue")) is None
    assert plot_of(kite.format("red").replace("she", "he")) is None
    assert plot_of(kite.format("red").replace("tom", "mia")) is None


def test_every_story_is_recognised():
    assert all(plot_of(story.text) == story.plot for story in STORIES["test"])
    assert {story.plot for story in STORIES["train"]} == set(range(len(read_plots()[1])))


def test_a_plot_has_four_sentences_and_takes_words_from_tables_that_exist():
    tables, plots = read_plots()
    columns = {name for table in tables for name in table.names}
    for plot in plots:
        assert len(plot.splitlines()) == 4
        assert all(re.fullmatch(r"[^.]+\.", line) for line in plot.splitlines())
        used = {name for name, given in OPENING.findall(plot) if not given}
        assert used <= columns
        for table in tables:  # by the words that a plot takes, a row is told from the others
            taken = [i for i, name in enumerate(table.names) if name in used]
            rows = {tuple(row[i] for i in taken) for row in table.rows}
            assert len(rows) == len(table.rows) or not taken
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.names)}


def test_words_of_the_test_stories_are_known():
    unknown = tokenizer().token_to_id("[UNK]")
    assert not encode([story.text for story in STORIES["test"]])["input_ids"].eq(unknown).any()


def test_special_tokens_have_the_numbers_that_the_code_says():
    names = ["PAD", "UNKNOWN", "CLS", "SEP", "MASK", "END"]
    for name, token in zip(names, SPECIAL_TOKENS, strict=True):
        assert tokenizer().token_to_id(token) == getattr(stories, name)


def test_texts_and_pairs_are_framed_as_bert_frames_them():

    def tokens(row):
        return " ".join(tokenizer().id_to_token(i) for i in row.tolist())

    pairs = encode([("Time flies.", "Like an arrow."), ("Fruit", "flies like a banana.")])
    first, second = pairs["input_ids"]
    assert tokens(first) == "[CLS] time flies . [SEP] like an arrow . [SEP]"
    assert tokens(second) == "[CLS] fruit [SEP] flies like a banana . [SEP] [PAD]"
    assert pairs["token_type_ids"].tolist() == [[0] * 5 + [1] * 5, [0] * 3 + [1] * 6 + [0]]
    single = encode(["a [MASK].", "arrow"])
    assert tokens(single["input_ids"][0]) == "[CLS] a [MASK] . [SEP]"
    assert single["attention_mask"].tolist() == [[1] * 5, [1] * 3 + [0] * 2]


def test_ids_are_read_back():
    story = STORIES["test"][0]
    assert read(encode([story.halves])["input_ids"][0].tolist()) == story.text


def test_ways_to_fill_a_gap_by_hand(subtests):
    rows = [
        ("mia", 0, 3),  # a girl
        ("red", 0, 1),  # it is named again
        ("she", 0, 1),
        ("wild", 0, 3),
        ("tom", 0, 5),  # anybody but the heroine
        ("river", 0, 1),  # after "the"
        (".", 2, 1),
    ]
    for word, place, count in rows:
        with subtests.test(word=word, place=place, count=count):
            story = (
                "mia made a red kite out of paper . she ran up the hill to fly it . "
                "the wind was wild and the string broke . tom found the red kite in the river ."
            )
            kite = story.split()
            gaps = [i for i, other in enumerate(kite) if other == word]
            kite[gaps[place]] = "[MASK]"
            assert ways(encode([" ".join(kite)])["input_ids"][0].tolist()) == count


def test_is_installed_with_the_package():
    assert (DATA / "plots.txt").is_relative_to(Path(stories.__file__).parent)


def test_a_row_has_a_word_for_each_name_of_its_table():
    dice = Dice([Table(("cat", "colour"), (("tom",),))], Random(0))
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        OPENING.sub(dice.fill, "{cat} is {colour}")
