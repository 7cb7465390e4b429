"""When a sequence has ended, against the criteria of transformers."""

from itertools import product

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from glassformer import from_hf, generate
from glassformer.inference.generation import stream
from glassformer.inference.stopping import StoppingCriteria

TEXT = [
    "the cat sat on the mat",
    "a stop, stopping at stops",
    "naïve café 日本 🙂🙃",
    "no no no abcdef",
] * 3


def byte_level(size=300):
    """A tokenizer of bytes and some of their pairs, as GPT-2's is."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def word_pieces():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    trainer = trainers.WordPieceTrainer(
        vocab_size=90, special_tokens=["[UNK]"], show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


TOKENIZERS = {"bytes": byte_level(), "word pieces": word_pieces()}
STOPS = ["stop", "s", "t o", " the", "at stops", "é", "日本", "🙂", "no no"]


def theirs(tokenizer, stops):
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, clean_up_tokenization_spaces=False
    )
    return wrapped, transformers.StopStringCriteria(wrapped, stops)


@settings(max_examples=60)
@given(
    text=st.lists(st.sampled_from(["st", "op", "sto", "p", " ", "t", "o", "s", "the", *STOPS]))
    .map("".join)
    .filter(str.strip),
    stops=st.lists(st.sampled_from(STOPS), min_size=1, max_size=3, unique=True),
)
def test_after_each_token_as_transformers(text, stops):
    text = f"a cat {text}"  # a stop string at the very start of all text has nothing before it
    for tokenizer in TOKENIZERS.values():
        ids = torch.tensor([tokenizer.encode(text).ids])
        wrapped, criterion = theirs(tokenizer, stops)
        for ends in (
            StoppingCriteria(None, stops, tokenizer),
            StoppingCriteria(None, stops, wrapped),
        ):
            for length in range(2, ids.shape[1] + 1):
                expected = criterion(ids[:, :length], None).tolist()
                assert ends(ids[:, :length]).tolist() == expected, (text, length)


def test_a_string_may_end_within_a_token_and_lies_nowhere_but_at_the_end():
    tokenizer = Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(["st", "opera", "x"])})
    )
    tokenizer.decoder = decoders.Fuse()
    ends = StoppingCriteria(None, "stop", tokenizer)
    assert ends(torch.tensor([[2, 0, 1], [2, 1, 0], [0, 1, 2]])).tolist() == [True, False, False]


def test_a_character_in_two_tokens_is_whole_with_the_second():
    tokenizer = TOKENIZERS["bytes"]
    first, *rest = tokenizer.encode("x🙃").ids
    assert len(rest) > 1
    ends = StoppingCriteria(None, "🙃", tokenizer)
    for length in range(1, len(rest) + 1):
        written = torch.tensor([[first, *rest[:length]]])
        assert ends(written).tolist() == [length == len(rest)]


def test_the_end_token_and_a_stop_string_both_end():
    ends = StoppingCriteria(5, ["stop"], TOKENIZERS["bytes"])
    stop = TOKENIZERS["bytes"].encode("a stop").ids
    rows = torch.tensor([[0] * (len(stop) - 1) + [5], stop, [0] * len(stop)])
    assert ends(rows).tolist() == [True, True, False]


def test_what_can_end_nothing_is_false():
    assert not StoppingCriteria()
    assert StoppingCriteria(0)
    assert StoppingCriteria(None, "x", TOKENIZERS["bytes"])


def writer(vocab):
    sizes = {"vocab_size": vocab, "n_positions": 61, "n_embd": 35, "n_layer": 2, "n_head": 5}
    special = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 3}
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(**sizes, **special, initializer_range=0.5)
    ).eval()


def test_token_for_token_as_transformers(subtests):
    for way, stops in product(
        [{}, {"num_beams": 3}, {"no_repeat_ngram_size": 2}],
        [["t", "e"], "no", [" ", "a", "🙂"]],
    ):
        with subtests.test(way=way, stops=stops):
            tokenizer = TOKENIZERS["word pieces"]
            wrapped, _ = theirs(tokenizer, stops)
            model = writer(tokenizer.get_vocab_size())
            ids = torch.randint(4, tokenizer.get_vocab_size(), (3, 7))
            given = {"max_new_tokens": 17, "eos_token_id": 2, "pad_token_id": 3, **way}
            given |= {"stop_strings": stops, "attention_mask": torch.ones_like(ids)}
            expected = model.generate(ids, **given, tokenizer=wrapped, do_sample=False)
            written = generate(from_hf(model), ids, **given, tokenizer=tokenizer)
            assert written.tolist() == expected.tolist()
            if "num_beams" not in way:
                columns = [*stream(from_hf(model), ids, **given, tokenizer=tokenizer)]
                assert torch.stack(columns, dim=1).equal(written[:, 7:])


def test_stop_strings_that_cannot_be_found(subtests):
    rows = [
        ("", TOKENIZERS["bytes"], r"stop_strings \(\[''\]\) must not contain an empty"),
        (["a", ""], TOKENIZERS["bytes"], r"stop_strings \(\['a', ''\]\) must not contain an empty"),
        (["a"], None, r"stop_strings \(\['a'\]\) need a tokenizer"),
    ]
    for stops, tokenizer, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            StoppingCriteria(None, stops, tokenizer)
