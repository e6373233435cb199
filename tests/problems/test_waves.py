"""Random worlds: `model` says which, `seed` what happens in it."""

import numpy as np
import pytest

from hsb.problems import waves

WORLDS = [waves.Smooth, waves.RealLosses, waves.RareClicks, waves.Articles, waves.SlowDrift, waves.Piecewise, waves.TwoFeatures]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_a_model_is_a_world_and_a_seed_a_run(world):
    one, same, other = world(model=3), world(model=3), world(model=4)
    draw = one.sample(50, seed=0)
    assert draw.losses.tolist() == same.sample(50, seed=0).losses.tolist()
    when = np.arange(50)
    assert not np.array_equal(one.expected(draw.contexts, when, 50), other.expected(draw.contexts, when, 50))
    assert not np.array_equal(draw.contexts, one.sample(50, seed=1).contexts)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_losses_average_to_what_is_expected(world):
    problem, rounds = world(model=1), 20_000
    sample = problem.sample(rounds, seed=2)
    expected = problem.expected(sample.contexts, np.arange(rounds), rounds)
    assert (expected >= 0).all() and (expected <= 1).all() and (sample.losses >= 0).all() and (sample.losses <= 1).all()
    np.testing.assert_allclose(sample.losses.mean(axis=0), expected.mean(axis=0), atol=0.03)


def test_in_noise_there_is_nothing_to_learn():
    losses = waves.Noise(arms=3).sample(20_000, seed=0).losses
    np.testing.assert_allclose(losses.mean(axis=0), 0.5, atol=0.02)


def test_the_best_of_piecewise_is_exact():
    problem = waves.Piecewise(arms=3, pieces=4, model=2)
    xs = (np.arange(200_000)[:, None] + 0.5) / 200_000
    assert problem.best_loss(1000) == pytest.approx(
        problem.expected(xs, np.zeros(len(xs), dtype=int), 1000).min(axis=1).mean(), abs=1e-4
    )
