import pytest
import torch

from glassformer.text.mlm_masking import IGNORE_INDEX, hide_one, mask_tokens

BATCH, SEQ, VOCAB = 211, 307, 1009
MASK, SPECIAL = 7, (0, 3, 7)


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (BATCH, SEQ))


def hide(ids, share=0.15, seed=5):
    return mask_tokens(
        ids,
        mask_token_id=MASK,
        special_ids=SPECIAL,
        vocab_size=VOCAB,
        share=share,
        generator=torch.Generator().manual_seed(seed),
    )


def special(ids):
    return torch.isin(ids, torch.tensor(SPECIAL))


def within(count, total, share):
    """Whether a count lies within four standard deviations of what is expected."""
    return abs(count - total * share) < 4 * (total * share * (1 - share)) ** 0.5


def test_shares_are_those_of_bert(ids, subtests):
    for share in [0.15, 0.4]:
        with subtests.test(share=share):
            hidden, labels = hide(ids, share)
            chosen, words = labels != IGNORE_INDEX, (~special(ids)).sum().item()
            total = chosen.sum().item()
            assert within(total, words, share)
            assert within((hidden == MASK)[chosen].sum().item(), total, 0.8 + 0.1 / VOCAB)
            # A token drawn at random is the true one, or the mask token, once in so many.
            assert within((hidden == ids)[chosen].sum().item(), total, 0.1 + 0.1 / VOCAB)
            swapped = chosen & (hidden != ids) & (hidden != MASK)
            assert within(swapped.sum().item(), total, 0.1 * (1 - 2 / VOCAB))


def test_tokens_swapped_in_are_any_of_the_vocabulary(ids):
    hidden, labels = hide(ids, share=1.0)
    drawn = hidden[(labels != IGNORE_INDEX) & (hidden != ids) & (hidden != MASK)].double()
    assert drawn.max() < VOCAB
    middle, spread = (VOCAB - 1) / 2, VOCAB / 12**0.5
    assert abs(drawn.mean() - middle) < 4 * spread / len(drawn) ** 0.5
    assert drawn.std() == pytest.approx(spread, rel=0.03)


def test_labels_stand_where_something_was_chosen_and_nowhere_else(ids):
    hidden, labels = hide(ids)
    chosen = labels != IGNORE_INDEX
    assert labels[chosen].equal(ids[chosen])
    assert hidden[~chosen].equal(ids[~chosen])
    assert not chosen[special(ids)].any()


def test_what_is_not_asked_for_is_what_torchs_losses_ignore():
    assert torch.nn.CrossEntropyLoss().ignore_index == IGNORE_INDEX


def test_with_a_share_of_one_everything_but_special_tokens_is_asked_for(ids):
    _, labels = hide(ids, share=1.0)
    assert (labels != IGNORE_INDEX).equal(~special(ids))


def test_a_generator_decides_and_what_was_given_stays(ids):
    before = ids.clone()
    first, again, other = hide(ids), hide(ids), hide(ids, seed=6)
    assert ids.equal(before)
    assert all(a.equal(b) for a, b in zip(first, again, strict=True))
    assert not first[1].equal(other[1])


def test_a_share_out_of_range(ids, subtests):
    for share in [0.0, 1.5, -0.1]:
        with (
            subtests.test(share=share),
            pytest.raises(
                ValueError, match=rf"share \({share}\) must be more than 0 and at most 1"
            ),
        ):
            hide(ids, share)


def test_one_token_a_row_is_hidden():
    ids = torch.randint(VOCAB, (BATCH, 11))
    ids[:, 0] = 11  # a row has at least one word
    hidden, labels = hide_one(ids, mask_token_id=MASK, special_ids=SPECIAL)
    chosen = labels != IGNORE_INDEX
    assert chosen.sum(1).eq(1).all()
    assert hidden[chosen].eq(MASK).all()
    assert hidden[~chosen].equal(ids[~chosen])
    assert labels[chosen].equal(ids[chosen])
    assert not special(labels[chosen]).any()


def test_every_word_of_a_row_is_hidden_as_often():
    ids = torch.tensor([[3, 11, 13, 17, 19, 0, 0]]).expand(2000, -1)
    _, labels = hide_one(
        ids, mask_token_id=MASK, special_ids=SPECIAL, generator=torch.Generator().manual_seed(5)
    )
    times = (labels != IGNORE_INDEX).sum(0).tolist()
    assert times[0] == times[5] == times[6] == 0
    assert all(within(count, 2000, 1 / 4) for count in times[1:5])


def test_a_row_without_words():
    ids = torch.tensor([[3, 11], [3, 0], [3, 3]])
    with pytest.raises(ValueError, match=r"rows \[1, 2\] of input_ids have only special tokens"):
        hide_one(ids, mask_token_id=MASK, special_ids=SPECIAL)
