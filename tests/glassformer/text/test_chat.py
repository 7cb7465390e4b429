"""The template by hand against the one that the tokenizer has."""

from itertools import product

import pytest

from glassbook.smollm import language_checkpoint
from glassformer import tokenizer
from glassformer.text.chat import chat_text

MESSAGES = [
    {"role": "system", "content": "Answer in French."},
    {"role": "user", "content": "Where is Paris?\nTell me."},
    {"role": "assistant", "content": "En France."},
    {"role": "user", "content": "Thanks!"},
]


def test_frames_each_message_and_opens_the_answer():
    assert chat_text(MESSAGES[:1] + MESSAGES[3:]) == (
        "<|im_start|>system\nAnswer in French.<|im_end|>\n"
        "<|im_start|>user\nThanks!<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


@pytest.mark.language_model
def test_is_the_template_of_the_tokenizer(subtests):
    for opens, first in product([True, False], [0, 1, 3]):
        with subtests.test(opens=opens, first=first):
            theirs = tokenizer(language_checkpoint()).apply_chat_template(
                MESSAGES[first:], tokenize=False, add_generation_prompt=opens
            )
            assert chat_text(MESSAGES[first:], add_generation_prompt=opens) == theirs


def test_no_message_is_refused():
    with pytest.raises(ValueError, match=r"messages \(\[\]\) must contain at least one message"):
        chat_text([])
