"""Recording: every tensor of a forward pass, without changing the model."""

import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from glassformer.layers.multihead import MultiHeadAttention

_STATE = r"(embeddings|layers\.\d+)\.output"


class ActivationCache(Mapping[str, Tensor]):
    """The tensors of the last forward pass that `record` kept: detached, by dotted path.

    For an attention layer, these are `query`, `key`, `value`, `scores`, `weights`, and `output`
    (per head, before `out_proj`), under the layer's own path. For every other module that returns a
    tensor, there is only `output`.
    """

    def __init__(self) -> None:
        self._tensors: dict[str, Tensor] = {}

    def __getitem__(self, path: str) -> Tensor:
        if path in self._tensors:
            return self._tensors[path]
        if not self._tensors:
            raise KeyError(f"{path!r}: nothing was recorded; call the model inside record(model)")
        close = difflib.get_close_matches(path, self._tensors, n=3, cutoff=0.0)
        raise KeyError(f"{path!r} was not recorded; close matches: {', '.join(close)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        lines = (f"{path}: {tuple(tensor.shape)}" for path, tensor in self.items())
        return "\n".join(["ActivationCache", *lines])

    @property
    def attentions(self) -> tuple[Tensor, ...]:
        """The weights of each layer's self-attention, (batch, heads, q_len, k_len).

        If the model has an encoder, these are the encoder's.

        Raises:
            ValueError: No attention was recorded.
        """
        return self._first_stack(r"(.+\.)?(?<!cross_attention\.)weights", "attention")

    @property
    def decoder_attentions(self) -> tuple[Tensor, ...]:
        """The weights of each layer's self-attention in a model's decoder.

        Raises:
            ValueError: No attention under a `decoder` was recorded.
        """
        return self._all(
            r"(.+\.)?decoder\.(.+\.)?(?<!cross_attention\.)weights", "decoder attention"
        )

    @property
    def cross_attentions(self) -> tuple[Tensor, ...]:
        """The weights of each layer's cross-attention, (batch, heads, tgt_len, src_len).

        Raises:
            ValueError: No cross-attention was recorded.
        """
        return self._all(r"(.+\.)?cross_attention\.weights", "cross-attention")

    @property
    def hidden_states(self) -> tuple[Tensor, ...]:
        """The embeddings' output, then each layer's, (batch, seq, d_model).

        If the model has an encoder, these are the encoder's.

        Raises:
            ValueError: No layer was recorded.
        """
        return self._first_stack(rf"(.+\.)?{_STATE}", "layer")

    @property
    def decoder_hidden_states(self) -> tuple[Tensor, ...]:
        """The output of a decoder's embeddings, then of each of its layers.

        Raises:
            ValueError: No layer under a `decoder` was recorded.
        """
        return self._all(rf"(.+\.)?decoder\.(.+\.)?{_STATE}", "decoder layer")

    def _first_stack(self, pattern: str, what: str) -> tuple[Tensor, ...]:
        """Return the encoder's tensors if the model has an encoder, otherwise all of them."""
        if any(re.fullmatch(r"(.+\.)?encoder\..+", path) for path in self):
            pattern = rf"(?!(.+\.)?decoder\.){pattern}"
        return self._all(pattern, what)

    def _all(self, pattern: str, what: str) -> tuple[Tensor, ...]:
        found = tuple(self[path] for path in self if re.fullmatch(pattern, path))
        if not found:
            raise ValueError(f"no {what} was recorded; call the model inside record(model)")
        return found


@contextmanager
def record(model: nn.Module) -> Iterator[ActivationCache]:
    """Keep the tensors of the model's next forward pass; another pass replaces them.

    Inside the block, attention is computed step by step and a compiled model runs uncompiled.
    Outside it, nothing is kept and nothing is slower. The tape stays readable afterward.

    >>> from glassformer import default_checkpoint, load
    >>> encoder = load(default_checkpoint())
    >>> with record(encoder) as tape, torch.no_grad():
    ...     hidden = encoder(torch.tensor([[101, 2051, 102]]))
    >>> tape["layers.0.attention.weights"].shape
    torch.Size([1, 12, 3, 3])
    """
    model = getattr(model, "_orig_mod", model)
    tape = ActivationCache()
    with ExitStack() as stack:
        # A compiled model has the fused path and no hooks baked in. Without Dynamo loaded,
        # nothing can have been compiled, and loading it takes a second.
        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        for path, module in model.named_modules():
            _listen(module, f"{path}." if path else "", tape._tensors, stack)
        restart = model.register_forward_pre_hook(lambda *_: tape._tensors.clear())
        stack.callback(restart.remove)
        yield tape


def _listen(module: nn.Module, prefix: str, tensors: dict[str, Tensor], stack: ExitStack) -> None:
    """Write this module's tensors to `tensors` until the stack is unwound."""

    def keep(name: str, tensor: Tensor) -> None:
        tensors[prefix + name] = tensor.detach()

    def keep_output(module: nn.Module, inputs: tuple, output: object) -> None:
        if isinstance(output, Tensor):
            keep("output", output)

    if isinstance(module, MultiHeadAttention):
        stack.callback(setattr, module, "recorder", module.recorder)
        module.recorder = keep
    else:
        stack.callback(module.register_forward_hook(keep_output).remove)
