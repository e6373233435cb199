"""Learners that follow a leader: how much noise, when to explore, and a mapping in hindsight."""

import math

import numpy as np
import pytest

from hsb.learners.leaders import EpochLeader, FixedMapping, Perturbation, PerturbedLeader
from hsb.learners.leaf_totals import LeafTotals
from hsb.policy.learner import Played


def table_of(rounds, arms, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.random((rounds, 1))
    return Played(
        points, None, rng.random((rounds, arms)), rng.random(rounds), np.zeros(rounds, dtype=np.int64), np.zeros(rounds)
    )


def test_noise_grows_with_the_rounds_unless_the_horizon_is_known():
    table = LeafTotals.fresh(4, 3)
    growing = Perturbation.of(table, horizon=None, mean=None, resamples=None)
    assert growing.size(9) == pytest.approx(3.0 * growing.size(1)) and growing.size(1) == math.sqrt(12.0 / growing.cost)
    assert growing.redraws(12) == 6.0  # sqrt(M t)
    fixed = Perturbation.of(table, horizon=200, mean=None, resamples=None)
    assert fixed.size(1) == fixed.size(150) == pytest.approx(math.sqrt(2 * 3 * 200 / fixed.cost))
    assert fixed.redraws(1) == math.ceil(math.sqrt(600)) and fixed._replace(resamples=7).redraws(1) == 7


@pytest.mark.parametrize(
    "make",
    [
        lambda: PerturbedLeader(
            table := LeafTotals.fresh(4, 3), Perturbation.of(table, horizon=None, mean=None, resamples=None)
        ),
        lambda: PerturbedLeader(
            table := LeafTotals.fresh(4, 3, 2), Perturbation.of(table, horizon=90, mean=None, resamples=None)
        ),
        lambda: EpochLeader(LeafTotals.fresh(4, 3)),
        lambda: EpochLeader(LeafTotals.fresh(4, 3, 2)),
        lambda: FixedMapping(LeafTotals.fresh(4, 3), np.array([2, 0, 1, 1])),
    ],
    ids=["perturbed", "perturbed, two regions", "epochs", "epochs, two regions", "fixed"],
)
def test_a_table_is_its_rounds_and_a_file_resumes_them(make):
    whole, single, table = make(), make(), table_of(90, 3)
    whole.play(whole.read_rows(table.points, 0), table, 0, 0.0, 0)
    for t in range(90):
        leaf = single.read(float(table.points[t, 0]))[0]
        arm, probability, _ = single.choose(leaf, None, table.us[t])
        assert (arm, probability) == (table.arms[t], table.probabilities[t])
        single.learn(leaf, None, arm, table.losses[t, arm], probability, None)
    again = make().from_arrays({name: array.copy() for name, array in single.to_arrays().items()}, 90)
    for learner in (whole, single, again, single.copy()):
        assert learner.rounds == 90
        assert all(np.array_equal(a, b) for a, b in zip(learner.to_arrays().values(), whole.to_arrays().values(), strict=True))


def test_with_one_arm_there_is_nothing_to_explore():
    learner = EpochLeader(LeafTotals.fresh(4, 1))
    learner.learn(0, None, 0, 1.0, 0.5, None)
    assert learner.price == math.inf and learner.counts.tolist() == [1, 0, 1]


def test_the_best_mapping_in_hindsight_plays_the_best_arm_where_nothing_was_seen():
    losses = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.0]])
    learner = FixedMapping(LeafTotals.fresh(4, 2), np.zeros(4, dtype=np.int64))
    best = learner.best_for(np.array([[0.1], [0.3], [0.4]]), losses, None, low=-1.0, unit=2.0)
    assert best.mapping.tolist() == [0, 1, 1, 1]  # arm 1 lost 1.0 overall, arm 0 lost 1.5
    assert best.average_loss == -1.0 and not learner.table.totals.any()
    assert best.with_arm("c").table.totals[:, 2].tolist() == [1.0, 1.5, 0.0, 0.0]


def test_files_with_impossible_numbers_are_refused():
    learner = EpochLeader(LeafTotals.fresh(2, 2))
    arrays = learner.to_arrays()
    with pytest.raises(ValueError, match="counts are not those of rounds"):
        learner.copy().from_arrays({**arrays, "counts": np.array([-1, 0])}, 3)
    fixed = FixedMapping(LeafTotals.fresh(2, 2), np.array([0, 1]))
    with pytest.raises(ValueError, match="names arms that it does not have"):
        fixed.from_arrays({**fixed.to_arrays(), "mapping": np.array([0, 2])}, 3)
