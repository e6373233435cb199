"""The shop with five banners: its numbers, its conventions, and what is earned in it by policies that are given its visitors as they are."""

import math
import pickle

import banners
import numpy as np
import pytest

import hsb
from hsb.problems import Banners, by_name

PROBLEM = Banners()


def test_clicks_at_random_and_at_best():
    """.068 and .136 to within .0015, the numbers it was made for; losses are what is expected, banner by banner (five standard errors)."""
    visitors, losses, expected = PROBLEM.sample(200_000, seed=5)
    assert 1.0 - expected.mean() == pytest.approx(0.068, abs=0.0015)
    assert 1.0 - expected.min(axis=1).mean() == pytest.approx(0.136, abs=0.0015)
    assert 1.0 - PROBLEM.best_loss(200_000) == pytest.approx(0.136, abs=0.0015)
    assert PROBLEM.best_loss(10) == pytest.approx(expected.min(axis=1).mean(), abs=5 * 0.06 / math.sqrt(200_000) + 3e-4)
    error = 5 * np.sqrt(expected * (1.0 - expected)).mean(axis=0) / math.sqrt(200_000)
    assert (np.abs((losses - expected).mean(axis=0)) < error).all() and set(np.unique(losses)) == {0.0, 1.0}
    shares = np.bincount(expected.argmin(axis=1), minlength=5) / 200_000
    assert shares.min() > 0.1  # no banner is idle
    assert np.isnan(visitors["age"]).mean() == pytest.approx(0.3, abs=0.01)
    assert np.isnan(visitors["spend"]).mean() == pytest.approx(0.1, abs=0.01)
    evening = visitors["hour"] >= 19
    film = 1.0 - expected[:, 2]
    assert film[evening].mean() > 2.0 * film[~evening].mean()


def test_a_sample_follows_from_its_seed():
    first, again, other = PROBLEM.sample(50, seed=3), PROBLEM.sample(50, seed=3), PROBLEM.sample(50, seed=4)
    assert (first.losses == again.losses).all() and (first.expected == again.expected).all()
    assert first.contexts.tobytes() == again.contexts.tobytes()
    assert (first.contexts["hour"] != other.contexts["hour"]).any()
    assert set(first.contexts.dtype.names) == {"country", "age", "device", "hour", "is_member", "spend"}
    assert PROBLEM.synthetic and first.losses.shape == first.expected.shape == (50, 5)


def test_plain_data_and_back():
    assert by_name(**PROBLEM.to_dict()) == PROBLEM == pickle.loads(pickle.dumps(PROBLEM)) and repr(PROBLEM) == "Banners()"


def test_no_structure_fits_and_it_says_what_does():
    for call in (lambda: PROBLEM.structure(5), lambda: PROBLEM.space):
        with pytest.raises(hsb.InputError, match=r"hsb\.HSB\(arms=5\)"):
            call()


def test_visitors_may_come_one_by_one_or_as_a_table():
    """The same decisions, bit for bit."""
    visitors, losses, _ = PROBLEM.sample(300, seed=1)
    run = hsb.simulate(hsb.HSB(arms=5, seed=2), visitors, losses)
    policy = hsb.HSB(arms=5, seed=2)
    for t in range(300):
        decision = policy.decide(dict(zip(visitors.dtype.names, visitors[t].item(), strict=True)))
        assert (decision.arm, decision.propensity) == (run.arms[t], run.propensities[t])
        policy.learn(decision, loss=losses[t, decision.arm])


def test_compare_takes_it():
    compared = hsb.evaluate.compare({"HSB": hsb.HSB(arms=5), "uniform": hsb.Uniform(arms=5)}, PROBLEM, rounds=300, runs=1)
    assert compared.best == pytest.approx(PROBLEM.best_loss(300))


def test_hsb_without_a_structure_earns_what_features_are_worth():
    """10,000 visitors, one seed: six tenths of the way from probability (.068) to the best (.136); measured .116 with each of three seeds.

    Negative control: with every visitor's features shuffled among the visitors there is nothing to learn but the best banner.
    """
    visitors, losses, _ = PROBLEM.sample(10_000, seed=0)
    run = hsb.simulate(hsb.HSB(arms=5, seed=0), visitors, losses)
    assert 1.0 - run.average_loss > 0.109
    shuffled = np.random.default_rng(0).permutation(visitors)
    run = hsb.simulate(hsb.HSB(arms=5, seed=0), shuffled, losses)
    assert 1.0 - run.average_loss < 0.085


def test_the_comparison_by_hand_runs():
    for name in banners.POLICIES:
        assert len(banners.earned(name, 0, 2_000)) == 1
