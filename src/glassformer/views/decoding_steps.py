"""Recording how a model writes: what each step guesses, attends to, and computes."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.inference.generation import GenerationState, Writer
from glassformer.interpret.recording import ActivationCache, record


class Attended(NamedTuple):
    """What the last token of a step attends to.

    Attributes:
        weights: (keys), averaged over the heads.
        new: How many of the keys and values were computed in this step.
    """

    weights: Tensor
    new: int


class DecodingStep(NamedTuple):
    """One step of greedy decoding.

    Attributes:
        read: The ids of the tokens so far, those with cached keys and values included.
        chances: (vocab), each token's probability of coming next.
        own: The attention to the tokens so far.
        source: The attention to the source, if there is one.
    """

    read: list[int]
    chances: Float[Tensor, " vocab"]
    own: Attended
    source: Attended | None

    @property
    def written(self) -> int:
        """The id of the likeliest token, which is written."""
        return int(self.chances.argmax())


def decoding_steps(
    model: Writer,
    input_ids: Int[Tensor, "1 seq"],
    *,
    max_new_tokens: int,
    eos_token_id: int | None = None,
    decoder_start_token_id: int | None = None,
) -> list[DecodingStep]:
    """Write greedily as `generate` does, and record the attention of the last layer in each step.

    The arguments are those of `generate`, for one text.

    Raises:
        ValueError: There is more than one text, or as in `generate`.
    """
    if len(input_ids) != 1:
        raise ValueError(f"decoding_steps needs one text, but got {len(input_ids)}")
    state = GenerationState.of(
        model,
        input_ids,
        max_new_tokens=max_new_tokens,
        decoder_start_token_id=decoder_start_token_id,
    )
    ids = state.sequences[:, : state.length]
    done: list[DecodingStep] = []
    last = f"layers.{len(model.decoder.layers) - 1}"
    with torch.inference_mode(), record(model.decoder) as tape:
        while len(done) < max_new_tokens and (not done or done[-1].written != eos_token_id):
            chances = state.next_logits(ids)[0].float().softmax(-1)
            own, source = (attended(tape, f"{last}.{k}attention") for k in ("", "cross_"))
            assert own is not None
            done.append(DecodingStep(ids[0].tolist(), chances, own, source))
            ids = torch.cat([ids, chances.argmax().view(1, 1)], dim=1)
    return done


def attended(tape: ActivationCache, path: str) -> Attended | None:
    """Return the weights of the last query, if this attention was computed."""
    if f"{path}.weights" not in tape:
        return None
    keys = tape.get(f"{path}.k_proj.output")  # only what this step computed
    return Attended(tape[f"{path}.weights"][0].mean(0)[-1], 0 if keys is None else keys.shape[1])
