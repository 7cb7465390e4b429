"""One start for every test of the packages, and the trained models that several of them read."""

import contextlib
import os

import jaxtyping
import pytest
import torch
import transformers
from small_models import randomized, small_config

from glassbook.corpora.translation_corpus import make_corpus
from glassbook.recipes import trained_models
from glassformer import default_device, load, tokenizer
from glassformer.weights.checkpoints import DEFAULT_NAME, find_checkpoint

# One sentence pair, one single sentence, one word: three lengths, and both token types.
FIRST = ["time flies like an arrow", "the cat sat down", "duck"]
SECOND = ["fruit flies like a banana", "it purred", ""]


@pytest.fixture(autouse=True)
def same_start(monkeypatch):
    """Seed, threads, dtype and grad mode as a fresh interpreter would have them, and the device.

    `GLASSFORMER_DEVICE` says where tests make their tensors and models, as it does for chapters.
    """
    for name in ("GLASSFORMER_CHECKPOINT", "GLASSFORMER_LM"):
        monkeypatch.delenv(name, raising=False)
    if os.environ.get("GLASSFORMER_DEVICE"):
        torch.set_default_device(default_device())
    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_grad_enabled(True)


class Rows:
    """Rows of one table, each of which draws what it would draw in a test of its own."""

    def __init__(self, subtests):
        self.subtests = subtests

    def test(self, *message, **values):
        torch.manual_seed(0)
        return self.subtests.test(*message, **values)


@pytest.fixture
def subtests(subtests):
    """pytest's own, for rows that do not hang on those before them."""
    return Rows(subtests)


@contextlib.contextmanager
def without_hook():
    """Nothing looks at the signatures."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def unhooked():
    """Bad input meets our own checks, as it does where nothing looks at the signatures."""
    with without_hook():
        yield


@pytest.fixture(scope="session")
def corpus():
    """The translator's corpus, written in seconds and not in the minute that checks would take."""
    with without_hook():
        return make_corpus()


@pytest.fixture(scope="session")
def translator():
    """The trained translator."""
    with without_hook():
        return trained_models.trained("translator").model


@pytest.fixture(scope="session")
def trained():
    """The embedded checkpoint as our encoder; not to be changed."""
    return load(DEFAULT_NAME)


@pytest.fixture(scope="session")
def bert():
    """The embedded checkpoint as the reference; not to be changed."""
    return transformers.BertModel.from_pretrained(
        find_checkpoint(DEFAULT_NAME), attn_implementation="eager"
    ).eval()


@pytest.fixture(scope="session")
def words():
    """The embedded checkpoint's tokenizer."""
    return tokenizer(DEFAULT_NAME)


@pytest.fixture
def batch(words):
    """A padded batch of unequal sentences with both token types."""
    return words(FIRST, SECOND, padding=True, return_tensors="pt")


@pytest.fixture
def small_bert():
    """Makes a random BERT of the reference in float64, each axis of its own prime size."""

    def make(head=None, **changes):
        config = small_config("BertModel", **changes, attn_implementation="eager")
        if head is None:
            model = transformers.BertModel(config, add_pooling_layer=False)
        else:
            model = getattr(transformers, head)(config)
        return randomized(model, std=0.3).double()

    return make


@pytest.fixture
def small_batch():
    """Ids, a padding mask with unequal lengths, and token types, for `small_bert`."""
    batch, seq = 5, 11
    lengths = torch.tensor([11, 7, 3, 2, 1])
    return {
        "input_ids": torch.randint(101, (batch, seq)),
        "attention_mask": (torch.arange(seq) < lengths[:, None]).long(),
        "token_type_ids": torch.randint(5, (batch, seq)),
    }
