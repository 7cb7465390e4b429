"""The vision transformer: the encoder's layers on patches instead of tokens."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.layers.positions import LearnedPositions
from glassformer.models.builders import build_norm
from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoderLayer, init_weights
from glassformer.models.from_pretrained import FromPretrained


class PatchEmbeddings(nn.Module):
    """Patches projected to d_model, with a learned vector in front; each gets a learned position.

    The vector in front, [CLS] in BERT, reads the patches and represents the image.

    Shapes: Images (batch, channels, height, width) to vectors (batch, 1 + patches, d_model).

    Raises:
        ValueError: The configuration has no `patches`, or the images don't fit them.

    Source: Dosovitskiy et al. 2021, section 3.1, equation 1: projection is its `E`.

    >>> from glassformer.layers.patches import Patches
    >>> patches = Patches(image_size=(4, 6), patch_size=(2, 2))
    >>> config = TransformerConfig(d_model=8, num_heads=2, num_layers=1, d_ff=16, patches=patches)
    >>> PatchEmbeddings(config)(torch.zeros(1, 3, 4, 6)).shape
    torch.Size([1, 7, 8])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        if config.patches is None:
            raise ValueError("patches (None) must say how images are cut, as Patches(…) does")
        self.patches = config.patches
        self.projection = nn.Linear(self.patches.width, config.d_model)
        self.class_token = nn.Embedding(1, config.d_model)
        self.positions = LearnedPositions(1 + self.patches.count, config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch seq d_model"]:
        """Cut the images, project the patches, and add positions."""
        patches = self.projection(self.patches.cut(images))  # (batch, patches, d_model)
        first = self.class_token.weight.expand(len(images), 1, -1)
        vectors = torch.cat([first, patches], dim=1)
        position_ids = torch.arange(vectors.shape[1], device=vectors.device)
        return self.dropout(vectors + self.positions(position_ids))


class VisionEncoder(FromPretrained, nn.Module):
    """An encoder of images: one vector per patch, after one for the whole image.

    Shapes: Images (batch, channels, height, width); output (batch, 1 + patches, d_model).

    Raises:
        ValueError: As `PatchEmbeddings`.

    Source: Dosovitskiy et al. 2021, section 3.1; with transformers 5.23 `ViTModel` as the
    reference.

    >>> from glassformer.layers.patches import Patches
    >>> patches = Patches(image_size=(4, 6), patch_size=(2, 2))
    >>> config = TransformerConfig(d_model=8, num_heads=2, num_layers=1, d_ff=16, patches=patches)
    >>> VisionEncoder(config)(torch.zeros(1, 3, 4, 6)).shape
    torch.Size([1, 7, 8])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.embeddings = PatchEmbeddings(config)
        self.layers = nn.ModuleList(
            TransformerEncoderLayer(config) for _ in range(config.num_layers)
        )
        final_norm = config.norm_first if config.final_norm is None else config.final_norm
        self.final_norm = build_norm(config) if final_norm else None
        init_weights(self, config.initializer_range)

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch seq d_model"]:
        """Embed the patches, then pass them through every layer."""
        hidden = self.embeddings(images)  # (batch, 1 + patches, d_model)
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden if self.final_norm is None else self.final_norm(hidden)


class VisionForImageClassification(FromPretrained, nn.Module):
    """A classifier of images: one logit per label.

    Shapes: Images (batch, channels, height, width); logits (batch, num_labels).

    Raises:
        ValueError: As `PatchEmbeddings`.

    Source: Dosovitskiy et al. 2021, section 3.1; transformers 5.23, `ViTForImageClassification`.

    >>> from glassformer.layers.patches import Patches
    >>> patches = Patches(image_size=(4, 6), patch_size=(2, 2))
    >>> config = TransformerConfig(d_model=8, num_heads=2, num_layers=1, d_ff=16, patches=patches)
    >>> VisionForImageClassification(config)(torch.zeros(1, 3, 4, 6)).shape
    torch.Size([1, 2])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.encoder = VisionEncoder(config)
        self.classifier = nn.Linear(config.d_model, config.num_labels)
        init_weights(self.classifier, config.initializer_range)

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch num_labels"]:
        """Encode the images, and compute the logits from the vector in front."""
        return self.classifier(self.encoder(images)[:, 0])
