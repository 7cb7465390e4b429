"""Turn text into ids, and ids into batches: byte pairs, chats, masked tokens, streams of files."""

from glassformer.text.bpe import apply, join, learn_merges
from glassformer.text.chat import chat_text
from glassformer.text.mlm_masking import hide_one, mask_tokens
from glassformer.text.text_stream import batches, shuffled, stream

__all__ = [
    "apply",
    "batches",
    "chat_text",
    "hide_one",
    "join",
    "learn_merges",
    "mask_tokens",
    "shuffled",
    "stream",
]
