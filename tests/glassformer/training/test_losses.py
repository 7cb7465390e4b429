import pytest
import small_models
import torch
from torch.nn.functional import cross_entropy

from glassformer import from_hf, next_token_loss, shift_targets, warmup_decay
from glassformer.training.losses import answer_log_probs, answer_loss, dpo_loss

BATCH, SEQ, VOCAB, PAD = 5, 11, 17, 3
LENGTHS = torch.tensor([11, 7, 3, 2, 1])


@pytest.fixture
def logits():
    return torch.randn(BATCH, SEQ, VOCAB, dtype=torch.float64, requires_grad=True)


@pytest.fixture
def labels():
    ids = torch.randint(PAD + 1, VOCAB, (BATCH, SEQ))
    return ids.masked_fill(torch.arange(SEQ) >= LENGTHS[:, None], PAD)


def test_each_answer_is_the_token_that_follows():
    read, answers = shift_targets(torch.tensor([[1, 4, 6, 2], [1, 8, 2, 3]]))
    assert read.tolist() == [[1, 4, 6], [1, 8, 2]]
    assert answers.tolist() == [[4, 6, 2], [8, 2, 3]]


def test_loss_equals_torchs_mean(logits, labels, subtests):
    for smoothing in [0.0, 0.1]:
        with subtests.test(smoothing=smoothing):
            expected = cross_entropy(
                logits.mT, labels, ignore_index=PAD, label_smoothing=smoothing, reduction="mean"
            )
            loss = next_token_loss(logits, labels, pad_token_id=PAD, label_smoothing=smoothing)
            torch.testing.assert_close(loss, expected, rtol=0, atol=1e-12)


def test_loss_of_padding_is_zero_and_moves_nothing(logits, labels, subtests):
    for smoothing in [0.0, 0.1]:
        with subtests.test(smoothing=smoothing):
            loss = next_token_loss(logits, labels, pad_token_id=PAD, label_smoothing=smoothing)
            loss.backward()
            pads = labels == PAD
            assert logits.grad[pads].eq(0).all()
            assert logits.grad[~pads].ne(0).all()
            logits.grad = None
            nothing = torch.full_like(labels, PAD)
            loss = next_token_loss(logits, nothing, pad_token_id=PAD, label_smoothing=smoothing)
            loss.backward()
            assert loss.item() == 0
            assert logits.grad.eq(0).all()


def test_learning_rate_by_hand():
    """Vaswani et al. 2017, equation 3, for a width of 16 and 4 steps of warm-up."""
    rates = [warmup_decay(step, d_model=16, warmup_steps=4) for step in (1, 2, 4, 16, 64)]
    assert rates == pytest.approx([1 / 32, 1 / 16, 1 / 8, 1 / 16, 1 / 32], rel=1e-12)


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_targets_too_short_to_be_shifted(self):
        with pytest.raises(ValueError, match=r"at least 2 tokens, got \(5, 1\)"):
            shift_targets(torch.zeros(5, 1, dtype=torch.int64))
        with pytest.raises(ValueError, match=r"at least 2 tokens, got \(5,\)"):
            shift_targets(torch.zeros(5, dtype=torch.int64))

    def test_labels_that_do_not_fit(self, logits, labels):
        with pytest.raises(ValueError, match=r"\(5, 11, 17\) must .* labels \(5, 10\)"):
            next_token_loss(logits, labels[:, 1:], pad_token_id=PAD)

    def test_smoothing_out_of_range(self, logits, labels, subtests):
        for smoothing in [-0.1, 1.0]:
            with (
                subtests.test(smoothing=smoothing),
                pytest.raises(ValueError, match=rf"label_smoothing \({smoothing}\) must be"),
            ):
                next_token_loss(logits, labels, pad_token_id=PAD, label_smoothing=smoothing)

    def test_rate_before_the_first_step(self, subtests):
        for name in ["step", "d_model", "warmup_steps"]:
            with subtests.test(name=name):
                sizes = {"step": 1, "d_model": 1, "warmup_steps": 1} | {name: 0}
                with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
                    warmup_decay(**sizes)


def test_losses_of_answers_are_those_of_transformers_with_the_request_ignored():
    torch.manual_seed(0)
    theirs = small_models.small_model("LlamaForCausalLM", num_key_value_heads=2)
    ids = torch.randint(small_models.VOCAB, (3, 11))
    answer = torch.arange(11) >= torch.tensor([[3], [5], [7]])
    answer[1, 9:] = False
    with torch.no_grad():
        expected = theirs(ids, labels=ids.where(answer, -100)).loss
        logits = from_hf(theirs)(ids)
        found = answer_loss(logits, ids, answer)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
        found = answer_log_probs(logits, ids, answer)
        for row in range(3):
            labels = ids[row : row + 1].where(answer[row], -100)
            count = answer[row].sum()
            expected = -theirs(ids[row : row + 1], labels=labels).loss * count
            torch.testing.assert_close(found[row], expected, rtol=0, atol=2e-4)


def test_answer_loss_gives_logits_before_the_request_and_after_the_answer_no_gradient():
    logits = torch.zeros(1, 7, 5, requires_grad=True)
    answer = torch.tensor([[False, False, False, True, True, False, False]])
    answer_loss(logits, torch.arange(7)[None] % 5, answer).backward()
    assert logits.grad.abs().sum(-1).gt(0).tolist() == [[False, False, True, True] + [False] * 3]


def test_dpo_loss_is_that_of_bradley_and_terry_with_the_implicit_rewards(subtests):
    """-log of exp(r_w) / (exp(r_w) + exp(r_l)), r = beta * log(p / p_ref), pair by pair."""
    for beta in [0.1, 0.7]:
        with subtests.test(beta=beta):
            torch.manual_seed(0)
            numbers = -7 * torch.rand(4, 13, dtype=torch.float64)
            expected = 0.0
            for chosen, rejected, was_chosen, was_rejected in numbers.exp().T.tolist():
                rewards = (chosen / was_chosen) ** beta, (rejected / was_rejected) ** beta
                expected -= (
                    torch.tensor(rewards[0] / sum(rewards), dtype=torch.float64).log().item() / 13
                )
            assert dpo_loss(*numbers, beta).item() == pytest.approx(expected, abs=1e-12)
