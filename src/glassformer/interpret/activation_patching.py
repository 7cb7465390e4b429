"""Activation patching: copy part of one run's activations into another run."""

from jaxtyping import Float
from torch import Tensor

from glassformer.interpret.lens import logit_lens
from glassformer.models.task_models import TransformerForCausalLM


def patched(
    hidden: Float[Tensor, "batch seq d_model"],
    source: Float[Tensor, "batch seq d_model"],
    position: int,
) -> Float[Tensor, "batch seq d_model"]:
    """Return a run's residual stream with another run's vectors at one position.

    Shapes: Both (batch, seq, d_model), and so is the result.

    Raises:
        ValueError: The two runs differ in shape, or have no such position.

    Source: Meng et al. 2022, section 2.1, which calls it causal tracing.

    >>> patched(torch.zeros(1, 3, 1), torch.ones(1, 3, 1), position=1).flatten()
    tensor([0., 1., 0.])
    """
    if hidden.shape != source.shape:
        raise ValueError(
            f"hidden of shape {tuple(hidden.shape)} and source of shape {tuple(source.shape)} must "
            "be the same shape: patching copies from a position to the same position"
        )
    if not 0 <= position < hidden.shape[1]:
        raise ValueError(f"position ({position}) must be from 0 to {hidden.shape[1] - 1}")
    changed = hidden.clone()
    changed[:, position] = source[:, position]
    return changed


def read_on(
    model: TransformerForCausalLM, hidden: Float[Tensor, "batch seq d_model"], layer: int
) -> Float[Tensor, "batch vocab"]:
    """Continue from the residual stream that a layer receives; return the next token's logits.

    Layer 0 receives the embeddings. If `layer` is the number of layers, only the final norm and
    the output layer are left.

    Shapes: (batch, seq, d_model) to the last position's logits, (batch, vocab). No padding.

    Raises:
        ValueError: There is no such layer.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=3, d_ff=16)
    >>> read_on(TransformerForCausalLM(config), torch.randn(5, 7, 8), layer=2).shape
    torch.Size([5, 11])
    """
    layers = model.decoder.layers
    if not 0 <= layer <= len(layers):
        raise ValueError(f"layer ({layer}) must be from 0 to {len(layers)}")
    for following in layers[layer:]:
        hidden = following(hidden)
    return logit_lens(model, hidden[:, -1])
