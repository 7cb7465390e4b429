"""ViT: a pre-norm encoder of images, with patches instead of tokens."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from glassformer.layers.patches import Patches
from glassformer.models.vision import VisionEncoder, VisionForImageClassification
from glassformer.weights.families.family import Architecture, Family, Fields, with_heads
from glassformer.weights.families.fields import BODY, ENCODER, HARMLESS, LABELS, ONE_STACK

NAMES = MappingProxyType(
    {
        "embeddings.patch_embeddings.projection": "embeddings.projection",
        "layers.*.layernorm_before": "layers.*.attention_norm",
        "layers.*.attention.q_proj": "layers.*.attention.q_proj",
        "layers.*.attention.k_proj": "layers.*.attention.k_proj",
        "layers.*.attention.v_proj": "layers.*.attention.v_proj",
        "layers.*.attention.o_proj": "layers.*.attention.out_proj",
        "layers.*.layernorm_after": "layers.*.feed_forward_norm",
        "layers.*.mlp.fc1": "layers.*.feed_forward.up_proj",
        "layers.*.mlp.fc2": "layers.*.feed_forward.down_proj",
        "layernorm": "final_norm",
    }
)
# Files use the names of an older ViT.
IN_FILES = MappingProxyType(
    {
        "encoder.layer.*.layernorm_before": "layers.*.layernorm_before",
        "encoder.layer.*.attention.attention.query": "layers.*.attention.q_proj",
        "encoder.layer.*.attention.attention.key": "layers.*.attention.k_proj",
        "encoder.layer.*.attention.attention.value": "layers.*.attention.v_proj",
        "encoder.layer.*.attention.output.dense": "layers.*.attention.o_proj",
        "encoder.layer.*.layernorm_after": "layers.*.layernorm_after",
        "encoder.layer.*.intermediate.dense": "layers.*.mlp.fc1",
        "encoder.layer.*.output.dense": "layers.*.mlp.fc2",
    }
)
ROWS = MappingProxyType(
    {
        "embeddings.cls_token": "embeddings.class_token.weight",
        "embeddings.position_embeddings": "embeddings.positions.table.weight",
    }
)
SIZES: Mapping[str, Any] = MappingProxyType(
    {"image_size": 224, "patch_size": 16, "num_channels": 3}
)


def settle(fields: Fields) -> Fields:
    """Combine the three fields about cutting images into one `patches`."""
    given = {name: fields.get(name, default) for name, default in SIZES.items()}
    settled = {name: value for name, value in fields.items() if name not in SIZES}
    settled["patches"] = Patches(
        image_size=_both(given["image_size"]),
        patch_size=_both(given["patch_size"]),
        channels=given["num_channels"],
    )
    return settled


def _both(size: Any) -> tuple[int, int]:
    """Return height and width; one number stands for both."""
    height, width = (size, size) if isinstance(size, int) else size
    return height, width


VIT = Family(
    model_type="vit",
    honored={
        **{**BODY, **LABELS, **ENCODER},
        "patches": "patches",
        "head_dim": "head_dim",
        "qkv_bias": "qkv_bias",
    },
    refused_unless=ONE_STACK,
    harmless=HARMLESS
    | {"encoder_stride", "pooler_output_size", "pooler_act"}
    | {"vocab_size", "pad_token_id", "tie_word_embeddings"},  # for tokens, which ViT doesn't have
    # ViT's own defaults, and the values that every ViT has.
    base={
        **{"norm_first": True, "dropout": 0.0, "attn_dropout": 0.0, "num_token_types": 0},
        **{"embedding_norm": False, "pad_token_id": None},
    },
    settle=settle,
    architectures=with_heads(
        "ViTModel",
        Architecture(
            VisionEncoder,
            NAMES,
            rows=ROWS,
            in_files=IN_FILES,
            unused=frozenset({"pooler.dense.weight", "pooler.dense.bias"}),
        ),
        there="vit",
        here="encoder",
        heads={
            "ViTForImageClassification": Architecture(
                VisionForImageClassification, {"classifier": "classifier"}
            )
        },
    ),
)
