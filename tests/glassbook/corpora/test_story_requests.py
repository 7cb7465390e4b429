"""Requests against the stories that answer them, and templates token by token."""

from collections import Counter

from glassbook.corpora.stories import END, PAD, SEP, make_stories, tokenizer
from glassbook.corpora.story_requests import (
    NAMES,
    TOPICS,
    Request,
    encode_answers,
    encode_requests,
    every_request,
    read_answers,
    request_for,
)

STORIES = make_stories()["test"]
KITE = (
    "mia made a red kite out of paper. she ran up the hill to fly it. the wind was cold and the "
    "string broke. tom found the red kite in a field."
)


def test_every_story_answers_its_request_and_no_other():
    for story in STORIES[:101]:
        request = request_for(story)
        assert request.topic in story.text
        assert [one for one in every_request() if one.answered_by(story.text)] == [request]


def test_an_answer_is_a_sound_story_of_the_topic_about_the_hero(subtests):
    rows = [
        ("kite", "mia", KITE, True),
        ("kite", "tom", KITE, False),
        ("boat", "mia", KITE, False),
        ("kite", "mia", KITE.replace("the red", "the blue"), False),
        ("kite", "mia", KITE.replace(" in a field", ""), False),
        ("kite", "mia", "", False),
    ]
    for topic, name, text, right in rows:
        with subtests.test(topic=topic, name=name, text=text, right=right):
            assert Request(topic, name).answered_by(text) == right


def test_one_request_in_four_is_held_out_and_no_topic_or_name_is():
    held = [one for one in every_request() if one.held_out]
    assert len(held) * 4 == len(every_request()) == len(TOPICS) * len(NAMES) == 96
    assert set(Counter(one.topic for one in held).values()) == {1, 2}
    assert Counter(one.name for one in held) == dict.fromkeys(NAMES, 4)


def test_only_the_answer_and_its_end_are_marked():
    pairs = [(Request("kite", "mia"), KITE), (Request("key", "ben"), "ben laughed.")]
    ids, answer = encode_answers(pairs)
    for row, marks, (request, text) in zip(ids, answer, pairs, strict=True):
        tokens = [tokenizer().id_to_token(token) for token in row.tolist() if token != PAD]
        assert tokens[:4] == ["[CLS]", request.topic, request.name, "[SEP]"]
        assert row[marks][-1] == END
        assert tokenizer().decode(row[marks].tolist()).replace(" .", ".") == text
        assert marks.nonzero().flatten().tolist() == [*range(4, len(tokens))]


def test_prompts_end_where_the_answer_begins_and_answers_are_read_back():
    requests = [Request("kite", "mia"), Request("kite", "ben")]
    prompts = encode_requests(requests)
    ids, _ = encode_answers([(request, KITE) for request in requests])
    assert prompts.equal(ids[:, :4])
    assert prompts[:, -1].eq(SEP).all()
    assert read_answers(ids, requests) == [KITE] * 2
