"""The logit lens: what a model would predict if it stopped after fewer layers."""

from jaxtyping import Float
from torch import Tensor

from glassformer.models.task_models import TransformerForCausalLM


def logit_lens(
    model: TransformerForCausalLM, hidden: Float[Tensor, "*batch d_model"]
) -> Float[Tensor, "*batch vocab"]:
    """Return the logits of the next token as if the residual stream were the last layer's.

    Only the final norm, if the model has one, and the output layer are applied.

    Shapes: Residual streams (..., d_model) to logits (..., vocab).

    Raises:
        ValueError: The vectors are not as wide as the model's.

    Source: Belrose et al. 2023, section 2, which extends it.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=3, d_ff=16)
    >>> logit_lens(TransformerForCausalLM(config), torch.randn(4, 5, 8)).shape
    torch.Size([4, 5, 11])
    """
    d_model = model.config.d_model
    if hidden.shape[-1] != d_model:
        raise ValueError(
            f"hidden of shape {tuple(hidden.shape)} must end in d_model ({d_model}), the width of "
            "the model's residual stream"
        )
    norm = model.decoder.final_norm
    return model.lm_head(hidden if norm is None else norm(hidden))
