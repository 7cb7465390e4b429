"""Feed-forward networks: linear layers around an activation, the same at every position."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "gelu": nn.GELU,
    "gelu_tanh": lambda: nn.GELU(approximate="tanh"),
    "relu": nn.ReLU,
    "silu": nn.SiLU,
}


class FeedForward(nn.Module):
    """Two linear layers with an activation in between: d_model to d_ff and back.

    Shapes: (..., d_model) to the same; no position sees another.

    Raises:
        ValueError: A size is less than one, or the activation is not in `ACTIVATIONS`.

    Source: Vaswani et al. 2017, section 3.3, equation 2: up_proj has its `W_1` and `b_1`,
    down_proj its `W_2` and `b_2`; GELU instead of ReLU: Devlin et al. 2019, appendix A.2.

    >>> FeedForward(d_model=8, d_ff=32)(torch.randn(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: str = "gelu",
        dropout: float = 0.0,
        bias: bool = True,
    ):
        super().__init__()
        _check(d_model, d_ff, activation)
        self.up_proj = nn.Linear(d_model, d_ff, bias=bias)
        self.activation = ACTIVATIONS[activation]()
        self.down_proj = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position by itself."""
        inner = self.activation(self.up_proj(hidden))  # (..., d_ff)
        return self.dropout(self.down_proj(inner))  # (..., d_model)


class GatedFeedForward(nn.Module):
    """A feed-forward network with a gate: one widened copy scales the other, element by element.

    With SiLU as the activation, it's called SwiGLU.

    Shapes: (..., d_model) to the same; no position sees another.

    Raises:
        ValueError: As `FeedForward`.

    Source: Shazeer 2020, section 2, equation 6: gate_proj is its `W`, up_proj its `V`,
    down_proj its `W_2`.

    >>> GatedFeedForward(d_model=8, d_ff=32)(torch.randn(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: str = "silu",
        dropout: float = 0.0,
        bias: bool = False,
    ):
        super().__init__()
        _check(d_model, d_ff, activation)
        self.gate_proj = nn.Linear(d_model, d_ff, bias=bias)
        self.activation = ACTIVATIONS[activation]()
        self.up_proj = nn.Linear(d_model, d_ff, bias=bias)
        self.down_proj = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position by itself."""
        gate = self.activation(self.gate_proj(hidden))  # (..., d_ff)
        return self.dropout(self.down_proj(gate * self.up_proj(hidden)))  # (..., d_model)


def _check(d_model: int, d_ff: int, activation: str) -> None:
    if d_model < 1 or d_ff < 1:
        raise ValueError(f"d_model ({d_model}) and d_ff ({d_ff}) must be at least 1")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation ({activation!r}) must be one of {', '.join(ACTIVATIONS)}")
