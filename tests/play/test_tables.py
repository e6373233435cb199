"""Whole tables of rounds."""

import numpy as np
import pytest

import hsb
from hsb.play.tables import CHUNK, Run

RNG = np.random.default_rng(0)
XS = RNG.random(2000)
LOSSES = np.column_stack([XS > 0.5, XS <= 0.5]).astype(float)


def policy():
    return hsb.HSB(hsb.BinaryTree(depth=3), arms=2, horizon=2000, seed=0)


def test_a_run_is_what_was_played_and_lost():
    run = hsb.simulate(policy(), XS, LOSSES)
    assert len(run) == 2000 and (run.losses == LOSSES[np.arange(2000), run.arms]).all()
    assert ((run.propensities > 0) & (run.propensities <= 1)).all() and run.losses[-500:].mean() < 0.1
    assert run.average_loss == pytest.approx(run.losses.mean())


def test_rewards_are_losses_from_the_other_end():
    one, other = hsb.simulate(policy(), XS, LOSSES), hsb.simulate(policy(), XS, rewards=1.0 - LOSSES)
    assert one.arms.tolist() == other.arms.tolist()


def test_it_goes_on_from_where_it_is():
    once, twice = policy(), policy()
    whole = hsb.simulate(once, XS, LOSSES)
    parts = [hsb.simulate(twice, XS[:700], LOSSES[:700]), hsb.simulate(twice, XS[700:], LOSSES[700:])]
    assert np.concatenate([part.arms for part in parts]).tolist() == whole.arms.tolist() and once.digest() == twice.digest()


def test_progress_is_told_up_to_the_end():
    told, n = [], CHUNK + 10
    hsb.simulate(
        hsb.Uniform(arms=2, seed=0), np.zeros(n), np.zeros((n, 2)), progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (n, n) and told == sorted(told)


def test_no_rounds_have_no_average():
    assert np.isnan(Run(np.zeros(0, dtype=int), np.zeros(0), np.zeros(0)).average_loss)
