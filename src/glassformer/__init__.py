"""The transformer from first principles, one idea per file."""

from glassformer.attention import attention_scores, attention_weights, scaled_dot_product_attention
from glassformer.cache import KVCache
from glassformer.checkpoints import (
    CheckpointError,
    MissingModelError,
    default_checkpoint,
    default_device,
    tokenizer,
)
from glassformer.config import TransformerConfig
from glassformer.decoder import TransformerDecoder, TransformerDecoderLayer
from glassformer.embeddings import Embeddings
from glassformer.encoder import TransformerEncoder, TransformerEncoderLayer
from glassformer.feed_forward import FeedForward, GatedFeedForward
from glassformer.generation import generate, stream
from glassformer.heads import (
    TransformerForCausalLM,
    TransformerForMaskedLM,
    TransformerForNextSentencePrediction,
    TransformerForSequenceClassification,
)
from glassformer.language import language_checkpoint, language_model
from glassformer.masks import (
    additive_mask,
    causal_mask,
    combine_masks,
    invert_mask,
    padding_mask,
)
from glassformer.multihead import AttentionHead, MultiHeadAttention
from glassformer.norms import RMSNorm, layer_norm
from glassformer.patches import Patches
from glassformer.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from glassformer.pretrained import from_hf, load
from glassformer.probe import Tape, record
from glassformer.reading import Reading, read
from glassformer.sentences import embed, mean_pool
from glassformer.token_classification import TransformerForTokenClassification
from glassformer.trained_models import Trained, trained
from glassformer.training import next_token_loss, shift_targets, warmup_decay
from glassformer.transformer import Transformer
from glassformer.vision import VisionEncoder, VisionForImageClassification
from glassformer.window import SlidingWindowCache

__all__ = [
    "AttentionHead",
    "CheckpointError",
    "Embeddings",
    "FeedForward",
    "GatedFeedForward",
    "KVCache",
    "LearnedPositions",
    "MissingModelError",
    "MultiHeadAttention",
    "Patches",
    "RMSNorm",
    "Reading",
    "RotaryPositions",
    "SinusoidalPositions",
    "SlidingWindowCache",
    "Tape",
    "Trained",
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
    "additive_mask",
    "attention_scores",
    "attention_weights",
    "causal_mask",
    "combine_masks",
    "default_checkpoint",
    "default_device",
    "embed",
    "from_hf",
    "generate",
    "invert_mask",
    "language_checkpoint",
    "language_model",
    "layer_norm",
    "load",
    "mean_pool",
    "next_token_loss",
    "padding_mask",
    "read",
    "record",
    "scaled_dot_product_attention",
    "shift_targets",
    "stream",
    "tokenizer",
    "trained",
    "warmup_decay",
]
