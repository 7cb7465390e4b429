"""Merges are those of the `tokenizers` library, pair by pair, and so are the pieces of words."""

import json
from itertools import pairwise, product
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from glassformer.text.bpe import apply, join, learn_merges

LETTERS = st.sampled_from("abcé한🙂")
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=11), min_size=1, max_size=31)


def trained(words, vocab_size):
    """The library's tokenizer of a text whose words are parted by blanks, and its merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False)
    tokenizer.train_from_iterator([" ".join(words)], trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return tokenizer, [tuple(pair) for pair in merges]


def drawn(seed, letters, count, length):
    """Words of random letters: few letters make many pairs equally frequent."""
    random = Random(seed)
    return ["".join(random.choices(letters, k=random.randint(1, length))) for _ in range(count)]


def test_the_merges_are_those_of_tokenizers(subtests):
    alphabets = [
        *(("ab", 13, 17), ("abcde", 53, 7), ("abcdefg", 211, 11), ("zyx", 5, 31)),
        ("äß한글🙂", 97, 5),
    ]
    for (letters, count, length), seed in product(alphabets, range(2)):
        with subtests.test(letters=letters, count=count, length=length, seed=seed):
            words = drawn(seed, letters, count, length)
            tokenizer, merges = trained(words, 127)
            assert len(merges) > 7
            assert learn_merges(words, len(merges)) == merges
            for word in {*words, *drawn(seed + 1000, sorted({*"".join(words)}), 23, 13)}:
                assert apply(word, merges) == tokenizer.encode(word).tokens


@given(words=WORDS, more=st.text(LETTERS, max_size=13), vocab_size=st.integers(1, 61))
def test_so_they_are_for_any_words(words, more, vocab_size):
    tokenizer, merges = trained(words, vocab_size)
    assert learn_merges(words, len(merges)) == merges
    known = "".join(letter for letter in more if letter in "".join(words))
    assert apply(known, merges) == tokenizer.encode(known).tokens


def test_learning_stops_where_nothing_is_left_to_merge():
    words = drawn(0, "abc", 7, 5)
    _, all_of_them = trained(words, 100_000)
    assert learn_merges(words, 100_000) == all_of_them
    assert all(apply(word, all_of_them) == [word] for word in words)


def test_fewer_merges_are_the_first_of_more():
    words = drawn(3, "abcd", 61, 7)
    more = learn_merges(words, 29)
    assert [learn_merges(words, n) for n in range(30)] == [more[:n] for n in range(30)]


@given(pieces=st.lists(LETTERS, max_size=17), pair=st.tuples(LETTERS, LETTERS))
def test_joining_keeps_the_text_and_leaves_no_such_pair(pieces, pair):
    joined = join(pieces, pair)
    assert "".join(joined) == "".join(pieces)
    assert pair not in pairwise(joined)
    assert {*joined} <= {*pieces, "".join(pair)}


def test_overlapping_pairs_are_joined_from_the_left():
    joined = {"aaa": ("aa", "a"), "aaaa": ("aa", "aa"), "baab": ("b", "aa", "b"), "": ()}
    assert {word: join(word, ("a", "a")) for word in joined} == joined
