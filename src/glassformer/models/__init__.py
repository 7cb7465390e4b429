"""Encoder, decoder, and encoder-decoder, with a head for each task."""

from glassformer.models.config import TransformerConfig
from glassformer.models.decoder import TransformerDecoder, TransformerDecoderLayer
from glassformer.models.embeddings import Embeddings
from glassformer.models.encoder import TransformerEncoder, TransformerEncoderLayer
from glassformer.models.task_models import (
    TransformerForCausalLM,
    TransformerForMaskedLM,
    TransformerForNextSentencePrediction,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
)
from glassformer.models.transformer import Transformer
from glassformer.models.vision import VisionEncoder, VisionForImageClassification

__all__ = [
    "Embeddings",
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
]
