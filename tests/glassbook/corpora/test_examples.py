"""The corpora are what the chapter says of them."""

import re
from collections import Counter

import pytest

from glassbook.corpora.examples import documents, graded_pairs, opinions, passages

SENTENCE = re.compile(r"[A-Z][\w,;:' -]+[.?]")

# Words that carry the grammar and not the subject.
SMALL = set(
    re.findall(
        r"\w+",
        """
        a an the and or but if in on at of to for from with by so not no it its is are be was were
        do does did has have how what when where why which who whom that this those these there
        then too me my you your they them their he she his her i we us our other another each some
        any all only most much many more long big early often may must can should need until before
        after as against over under out up off away back down now right still again get make keep
        """,
    )
)


def content(text):
    """The words that carry the subject, roughly without endings."""
    words = set(re.findall(r"[a-z]+", text.lower())) - SMALL
    return {re.sub(r"(ing|ed|es|s|e)$", "", word) for word in words if len(word) > 2}


def all_texts():
    for passage in passages():
        yield from (*passage.sentences, passage.same_words, passage.other_words)
    for document in documents():
        yield from document.sentences
    for pair in graded_pairs():
        yield from (pair.first, pair.second)
    yield from (opinion.text for split in ("train", "test") for opinion in opinions(split))


def test_sentences_are_sentences():
    for text in all_texts():
        assert SENTENCE.fullmatch(text), text


class TestPassages:
    def test_three_to_a_topic(self):
        assert set(Counter(passage.topic for passage in passages()).values()) == {3}
        assert len(passages()) == 48

    def test_every_sentence_and_question_stands_once(self):
        texts = [t for p in passages() for t in (*p.sentences, p.same_words, p.other_words)]
        assert len(set(texts)) == len(texts)

    def test_every_answer_is_one_of_the_three_and_none_is_always_right(self):
        counts = Counter(passage.answer for passage in passages())
        assert set(counts) == {0, 1, 2}
        assert max(counts.values()) < 0.55 * len(passages())

    def test_one_question_uses_the_words_and_the_other_does_not(self):
        shared = {"same_words": [], "other_words": []}
        for passage in passages():
            for kind, found in shared.items():
                found.append(len(content(getattr(passage, kind)) & content(passage.text)))
        assert min(shared["same_words"]) >= 1
        assert sum(shared["same_words"]) > 2.5 * len(passages())
        assert sum(shared["other_words"]) < 0.4 * len(passages())


class TestDocuments:
    def test_length_does_not_tell_the_key_sentence(self):
        """It is the longest of the five in as many documents as chance would have it."""
        longest = [max(d.sentences, key=len) == d.sentences[d.key] for d in documents()]
        assert sum(longest) <= len(longest) / 5 + 1

    def test_as_many_of_each_kind(self):
        assert Counter(document.kind for document in documents()) == {"news": 12, "story": 12}

    def test_news_begin_with_the_key_sentence_and_stories_never(self):
        keys = {kind: Counter() for kind in ("news", "story")}
        for document in documents():
            keys[document.kind][document.key] += 1
        assert keys["news"] == {0: 12}
        assert keys["story"] == {1: 3, 2: 3, 3: 3, 4: 3}


class TestPairs:
    def test_as_many_of_each_grade(self):
        assert Counter(pair.grade for pair in graded_pairs()) == dict.fromkeys(range(5), 12)

    def test_no_pair_stands_twice(self):
        pairs = {frozenset((pair.first, pair.second)) for pair in graded_pairs()}
        assert len(pairs) == len(graded_pairs())


class TestOpinions:
    def test_half_are_good(self):
        for split, half in [("train", 12), ("test", 30)]:
            assert Counter(one.good for one in opinions(split)) == {True: half, False: half}

    def test_none_is_in_both_splits(self):
        train, test = ([opinion.text for opinion in opinions(s)] for s in ("train", "test"))
        assert len(set(train + test)) == len(train + test)

    def test_split_that_is_not_there(self):
        with pytest.raises(ValueError, match=r"split \('dev'\) must be train or test"):
            opinions("dev")
