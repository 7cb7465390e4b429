"""A mixture of experts: many feed-forward networks; each token passes through a few of them."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.layers.feed_forward import GatedFeedForward


class MixtureOfExperts(nn.Module):
    """Feed-forward networks, and a router that sends each token to the best few of them.

    A token's output is the weighted average of its experts' outputs; the other experts don't see
    it. The layer can replace a `GatedFeedForward`.

    Shapes: (..., d_model) to the same; no position sees another.

    Raises:
        ValueError: A size is less than one, more experts are chosen than there are, or the hidden
            states have a different width.

    Source: Shazeer et al. 2017, section 2; Jiang et al. 2024, section 2.1; transformers 5.23,
    `MixtralSparseMoeBlock`.

    >>> layer = MixtureOfExperts(d_model=8, d_ff=32, num_experts=4, experts_per_token=2)
    >>> layer(torch.randn(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, d_model: int, d_ff: int, *, num_experts: int, experts_per_token: int):
        super().__init__()
        _check_choice(experts_per_token, num_experts)
        self.experts_per_token = experts_per_token
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(GatedFeedForward(d_model, d_ff) for _ in range(num_experts))

    def forward(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Choose experts for each token, and run each expert only on its own tokens."""
        d_model = self.router.in_features
        if hidden.shape[-1] != d_model:
            raise ValueError(
                f"hidden of shape {tuple(hidden.shape)} must end in d_model ({d_model}), the width "
                "of the experts"
            )
        tokens = hidden.reshape(-1, d_model)
        weights, chosen = choose_experts(self.router(tokens), self.experts_per_token)
        output = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, rank = (chosen == number).nonzero(as_tuple=True)
            weighted = weights[token, rank, None] * expert(tokens[token])
            output = output.index_add(0, token, weighted)
        return output.view_as(hidden)

    @property
    def active_parameters(self) -> int:
        """The number of parameters that a token uses: the router's and those of its experts."""
        of_an_expert = sum(weight.numel() for weight in self.experts[0].parameters())
        return self.router.weight.numel() + self.experts_per_token * of_an_expert


def choose_experts(
    logits: Float[Tensor, "*batch num_experts"], experts_per_token: int
) -> tuple[
    Float[Tensor, "*batch {experts_per_token}"],
    Int[Tensor, "*batch {experts_per_token}"],
]:
    """Return the weights and the numbers of each token's experts, the best first.

    The weights are the probabilities of the chosen experts, divided by their sum. Types narrower
    than float32 are computed in float32.

    Shapes: The router's logits (..., num_experts) to two tensors (..., experts_per_token).

    Raises:
        ValueError: `experts_per_token` is less than 1 or more than the number of experts.

    Source: Jiang et al. 2024, section 2.1; choosing by the logits and then taking the softmax
    gives the same weights.

    >>> choose_experts(torch.tensor([0.3, 0.1, 0.6]).log(), experts_per_token=2)
    (tensor([0.6667, 0.3333]), tensor([2, 0]))
    """
    _check_choice(experts_per_token, logits.shape[-1])
    wide = logits.float() if logits.element_size() < 4 else logits
    best, chosen = wide.softmax(dim=-1).topk(experts_per_token)
    return (best / best.sum(dim=-1, keepdim=True)).to(logits.dtype), chosen


def balancing_loss(
    logits: Float[Tensor, "tokens num_experts"], experts_per_token: int
) -> Float[Tensor, ""]:
    """Return a loss that falls as tokens are spread more evenly over the experts.

    It's the number of experts times a sum over the experts: the share of tokens that chose the
    expert, times the average probability that the router gave it. Only the probability has a
    gradient. If the router has no preference, the loss is `experts_per_token`.

    Shapes: The router's logits (tokens, num_experts), without padding, to a number. Those of
    several layers can be joined along the first axis.

    Raises:
        ValueError: `experts_per_token` is less than 1 or more than the number of experts.

    Source: Fedus, Zoph, and Shazeer 2022, section 2.2, equations 4 to 6, without its factor α;
    transformers 5.23, `load_balancing_loss_func`.

    >>> logits = torch.tensor([[0.9, 0.1], [0.7, 0.3]]).log()  # both choose expert 0
    >>> balancing_loss(logits, experts_per_token=1)
    tensor(1.6000)
    """
    num_experts = logits.shape[-1]
    _, chosen = choose_experts(logits, experts_per_token)
    tokens = chosen.flatten().bincount(minlength=num_experts)  # per expert
    share = tokens.to(logits.dtype) / len(logits)
    return num_experts * (share * logits.softmax(dim=-1).mean(dim=0)).sum()


def _check_choice(experts_per_token: int, num_experts: int) -> None:
    if not 1 <= experts_per_token <= num_experts:
        raise ValueError(
            f"experts_per_token ({experts_per_token}) must be from 1 to num_experts ({num_experts})"
        )
