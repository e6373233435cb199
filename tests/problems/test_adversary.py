"""Losses set by somebody who knows the learner's probabilities."""

import numpy as np
import pytest

import hsb
from hsb.problems.adversary import KINDS, Adversary, probabilities


@pytest.mark.parametrize("kind", KINDS)
def test_losses_are_zero_or_one_and_a_seed_is_a_fight(kind):
    one, other = (Adversary(kind=kind, arms=3).play(hsb.Exp3(arms=3, horizon=200, seed=1), 200, seed=2) for _ in range(2))
    assert set(np.unique(one.table)) <= {0.0, 1.0} and one.table.tolist() == other.table.tolist()
    assert one.losses.tolist() == one.table[np.arange(200), one.arms].tolist()


def test_spite_strikes_the_most_probable_arm():
    run = Adversary(kind="spite", arms=2).play(hsb.Exp3(arms=2, horizon=500, seed=0), 500, seed=0)
    assert 0 < run.regret(cells=1) < 500


def test_probabilities_are_probabilities():
    model = np.array([0.2, 0.5, 0.9])
    for kind in ("lure", "contradict", "contradict-but-one"):
        result = probabilities(kind, model, 1)
        assert result.shape == (3,) and (result >= 0).all() and (result <= 1).all()


@pytest.mark.parametrize("settings", [{"kind": "nice"}, {"arms": 0}])
def test_what_is_no_adversary_is_refused(settings):
    with pytest.raises(hsb.InputError):
        Adversary(**settings)
