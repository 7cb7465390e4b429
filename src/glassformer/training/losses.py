"""Training a language model: targets, a loss, and a learning rate."""

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor


def shift_targets(
    tgt_ids: Int[Tensor, "batch seq"],
) -> tuple[Int[Tensor, "batch shifted"], Int[Tensor, "batch shifted"]]:
    """Split ids into the decoder's input and its targets: at each position, the next token.

    This is teacher forcing: each prediction follows the true past, not the model's own output.

    Shapes: (batch, seq) to two tensors (batch, seq − 1): all but the last token, and all but
    the first.

    Raises:
        ValueError: There are fewer than two tokens, so none follows another.

    >>> given, asked = shift_targets(torch.tensor([[1, 5, 2]]))
    >>> given.tolist(), asked.tolist()
    ([[1, 5]], [[5, 2]])
    """
    if tgt_ids.ndim != 2 or tgt_ids.shape[1] < 2:
        raise ValueError(
            f"targets must be (batch, seq) with at least 2 tokens, got {tuple(tgt_ids.shape)}"
        )
    return tgt_ids[:, :-1], tgt_ids[:, 1:]


def next_token_loss(
    logits: Float[Tensor, "batch seq vocab"],
    labels: Int[Tensor, "batch seq"],
    *,
    pad_token_id: int,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Return the cross-entropy, averaged over labels that aren't padding, or 0 if there are none.

    Label smoothing aims for a probability of 1 − label_smoothing on the true token and spreads the
    rest evenly over the whole vocabulary.

    Shapes: Logits (batch, seq, vocab), labels (batch, seq), loss ().

    Raises:
        ValueError: The shapes don't fit, or label_smoothing is not in [0, 1).

    Source: Vaswani et al. 2017, section 5.4; Szegedy et al. 2016, section 7.

    >>> next_token_loss(torch.zeros(1, 2, 4), torch.tensor([[3, 1]]), pad_token_id=0)
    tensor(1.3863)
    """
    if logits.ndim != 3 or logits.shape[:2] != labels.shape:
        raise ValueError(
            f"logits {tuple(logits.shape)} must be (batch, seq, vocab) and labels "
            f"{tuple(labels.shape)} (batch, seq)"
        )
    if not 0.0 <= label_smoothing < 1.0:
        raise ValueError(f"label_smoothing ({label_smoothing}) must be at least 0 and less than 1")
    total = F.cross_entropy(
        logits.flatten(0, 1),  # (batch · seq, vocab)
        labels.flatten(),
        ignore_index=pad_token_id,
        label_smoothing=label_smoothing,
        reduction="sum",
    )
    # torch's own mean is 0 / 0 where every label is padding.
    return total / labels.ne(pad_token_id).sum().clamp(min=1)


def answer_loss(
    logits: Float[Tensor, "batch seq vocab"],
    ids: Int[Tensor, "batch seq"],
    answer: Bool[Tensor, "batch seq"],
) -> Float[Tensor, ""]:
    """Return the next-token loss, averaged over the answers' tokens alone.

    Shapes: Logits (batch, seq, vocab) and ids (batch, seq) of whole texts; `answer` (batch, seq)
    is true at the answers' tokens.

    >>> ids, answer = torch.tensor([[1, 2, 3]]), torch.tensor([[False, False, True]])
    >>> answer_loss(torch.zeros(1, 3, 4), ids, answer)
    tensor(1.3863)
    """
    wanted = answer[:, 1:]
    return F.cross_entropy(logits[:, :-1][wanted], ids[:, 1:][wanted])


def answer_log_probs(
    logits: Float[Tensor, "batch seq vocab"],
    ids: Int[Tensor, "batch seq"],
    answer: Bool[Tensor, "batch seq"],
) -> Float[Tensor, " batch"]:
    """Return the log-probability of each answer, summed over its tokens.

    Shapes: As for `answer_loss`; the result is (batch).

    >>> ids, answer = torch.tensor([[1, 2, 3]]), torch.tensor([[False, True, True]])
    >>> answer_log_probs(torch.zeros(1, 3, 4), ids, answer)
    tensor([-2.7726])
    """
    of_tokens = logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
    return (of_tokens * answer[:, 1:]).sum(1)


def dpo_loss(
    chosen: Float[Tensor, " batch"],
    rejected: Float[Tensor, " batch"],
    reference_chosen: Float[Tensor, " batch"],
    reference_rejected: Float[Tensor, " batch"],
    beta: float = 0.1,
) -> Float[Tensor, ""]:
    """Return the loss of direct preference optimization (DPO) from the answers' log-probabilities.

    Each log-probability is a sum over an answer's tokens, given its request. The first two are the
    model's; the other two are the reference's.

    Shapes: Four times (batch) to a number.

    Source: Rafailov et al. 2023, equation 7.

    >>> a, b = torch.tensor([-3.0]), torch.tensor([-5.0])
    >>> dpo_loss(a, b, a, b)
    tensor(0.6931)
    """
    margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -F.logsigmoid(beta * margin).mean()


def warmup_decay(step: int, *, d_model: int, warmup_steps: int) -> float:
    """Return the learning rate at step 1, 2, …: it rises linearly, then falls as `1 / sqrt(step)`.

    It's highest at warmup_steps: `1 / sqrt(d_model * warmup_steps)`.

    Raises:
        ValueError: A number is less than one.

    Source: Vaswani et al. 2017, section 5.3, equation 3.

    >>> [round(warmup_decay(step, d_model=16, warmup_steps=4), 4) for step in (1, 4, 16)]
    [0.0312, 0.125, 0.0625]
    """
    for name, value in (("step", step), ("d_model", d_model), ("warmup_steps", warmup_steps)):
        if value < 1:
            raise ValueError(f"{name} ({value}) must be at least 1")
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
