"""The book's three kinds of transformer, each with a sentence that it has read."""

from collections.abc import Callable

from tokenizers import Tokenizer

from glassbook.corpora import stories
from glassbook.recipes import gpt, translation
from glassbook.recipes.trained_models import trained
from glassformer.views.head_activations import HeadActivations, head_activations
from glassformer.weights import default_checkpoint, load, tokenizer


def three_heads() -> dict[str, HeadActivations]:
    """Run an encoder, an encoder-decoder, and a decoder, and record one head of each."""
    encoding = tokenizer()("time flies like an arrow", return_tensors="pt")
    german, english = translation.tokenizers()
    source = translation.encode(german, ["Das ist ein Beispiel ."])
    target = translation.encode(english, ["This is an example ."])[:, :-2]
    story = gpt.encode(["mia made a"])[:, :-1]
    write_english, write_story = naming(english), naming(stories.tokenizer())
    return {
        "Encoder": head_activations(
            load(default_checkpoint()),
            encoding["input_ids"],
            tokens=encoding.tokens(),
            layer=4,
            head=9,
        ),
        "Encoder-decoder": head_activations(
            trained("translator").model,
            *(source, target),
            tokens=[write_english(token) for token in target[0].tolist()],
            source=[naming(german)(token) for token in source[0].tolist()],
            name=write_english,
        ),
        "Decoder only": head_activations(
            trained("gpt").model,
            story,
            tokens=[write_story(token) for token in story[0].tolist()],
            name=write_story,
        ),
    }


def naming(vocabulary: Tokenizer) -> Callable[[int], str]:
    """Return a function that returns the token for an id."""
    return lambda token: vocabulary.id_to_token(token) or f"#{token}"
