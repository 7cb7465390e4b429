"""Encoder, decoder, and encoder-decoder, with a head for each task."""

from glassformer.models.builders import build_attention, build_cache, build_feed_forward, build_norm
from glassformer.models.config import HFConfig, TransformerConfig
from glassformer.models.decoder import TransformerDecoder, TransformerDecoderLayer, check_memory
from glassformer.models.embeddings import Embeddings, check_ids, check_same_shape
from glassformer.models.encoder import TransformerEncoder, TransformerEncoderLayer, init_weights
from glassformer.models.from_pretrained import FromPretrained
from glassformer.models.task_models import (
    Pooler,
    TransformerForCausalLM,
    TransformerForMaskedLM,
    TransformerForNextSentencePrediction,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
)
from glassformer.models.transformer import Transformer
from glassformer.models.vision import PatchEmbeddings, VisionEncoder, VisionForImageClassification

__all__ = [
    "Embeddings",
    "FromPretrained",
    "HFConfig",
    "PatchEmbeddings",
    "Pooler",
    "Transformer",
    "TransformerConfig",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TransformerForCausalLM",
    "TransformerForMaskedLM",
    "TransformerForNextSentencePrediction",
    "TransformerForSequenceClassification",
    "TransformerForTokenClassification",
    "VisionEncoder",
    "VisionForImageClassification",
    "build_attention",
    "build_cache",
    "build_feed_forward",
    "build_norm",
    "check_ids",
    "check_memory",
    "check_same_shape",
    "init_weights",
]
