"""Orderings against scipy, and intervals against the draws they come from."""

import pytest
import torch

from glassbook.metrics.measures import bootstrap, places, ranks, spearman


def test_places_by_hand():
    scores = torch.tensor([[0.3, 0.9, 0.5], [0.3, 0.9, 0.5], [0.1, 0.1, 0.1], [0.0, 0.5, 0.5]])
    assert places(scores, torch.tensor([1, 0, 0, 1])).tolist() == [1, 3, 3, 2]


def test_a_right_column_that_is_not_there(subtests):
    for right in [-1, 3]:
        with (
            subtests.test(right=right),
            pytest.raises(
                ValueError, match=rf"right \(\[2, {right}\]\) must name columns from 0 to 2"
            ),
        ):
            places(torch.randn(2, 3), torch.tensor([2, right]))


def test_ranks_and_spearman_equal_scipys(subtests):
    from scipy import stats

    for distinct in [1000, 5, 2]:
        with subtests.test(distinct=distinct):
            first = torch.randint(distinct, (37,)).float()
            second = torch.randint(distinct, (37,)).float() + first / 2
            torch.testing.assert_close(
                ranks(first).double(), torch.from_numpy(stats.rankdata(first))
            )
            wanted = stats.spearmanr(first, second).statistic
            assert spearman(first, second) == pytest.approx(wanted, abs=1e-6)
            assert spearman(first, -second) == pytest.approx(-wanted, abs=1e-6)


def test_grades_may_be_integers():
    assert spearman(torch.tensor([0, 1, 2, 4]), torch.tensor([0.1, 0.2, 0.8, 0.9])) == (
        pytest.approx(1)
    )


def test_what_is_all_the_same_orders_nothing():
    with pytest.raises(ValueError, match=r"3 values, all 7\.0, have no order"):
        spearman(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([7.0, 7.0, 7.0]))
    with pytest.raises(ValueError, match=r"1 values, all 5\.0, have no order"):
        spearman(torch.tensor([5.0]), torch.tensor([2.0]))


def mean(values):
    return values.mean().item()


def test_the_interval_of_a_mean_is_as_wide_as_theory_says():
    values = torch.randn(401)
    low, high = bootstrap(mean, values)
    reach = 1.96 * values.std().item() / 401**0.5
    assert high - low == pytest.approx(2 * reach, rel=0.08)
    assert (high + low) / 2 == pytest.approx(mean(values), abs=0.1 * reach)


def test_rows_stay_together():
    """Each draw has the same rows of both columns: their difference is always one."""
    first = torch.randn(11)

    def distance(one, other):
        return (other - one).max().item()

    assert bootstrap(distance, first, first + 1) == pytest.approx((1, 1))


def test_the_interval_is_the_same_each_time_and_disturbs_nobody():
    values, before = torch.arange(7.0), torch.random.get_rng_state()
    assert bootstrap(mean, values) == bootstrap(mean, values)
    assert torch.random.get_rng_state().equal(before)


def test_columns_that_do_not_fit(unhooked, subtests):
    for lengths in [(0, 0), (3, 2)]:
        with subtests.test(lengths=lengths):
            columns = [torch.zeros(length) for length in lengths]
            with pytest.raises(
                ValueError, match=rf"columns of \[{lengths[0]}, {lengths[1]}\] rows must"
            ):
                bootstrap(lambda *_: 0.0, *columns)
