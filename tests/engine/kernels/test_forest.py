"""The forest: its random numbers, what a cut gains, and how a leaf splits."""

import math

import numpy as np
import pytest
from support.kernel_cases import INTERPRETED

from hsb.engine.kernels import forest
from hsb.engine.kernels.words import ensemble as p
from hsb.engine.state import make_ensemble, set_columns

pytestmark = INTERPRETED


def ensemble_of(arms=2):
    member = make_ensemble(16, arms)
    set_columns(member, [0, 1, 2])
    forest.start(*member)
    return member


def test_random_numbers_depend_on_how_many_were_drawn():
    one, other = ensemble_of(), ensemble_of()
    numbers = [forest.draw(one.I) for _ in range(2000)]
    assert numbers == [forest.draw(other.I) for _ in range(2000)] and len(set(numbers)) == 2000
    assert min(numbers) >= 0.0 and max(numbers) < 1.0 and np.mean(numbers) == pytest.approx(0.5, abs=0.03)


def test_a_fresh_forest_predicts_one_half():
    F, I = ensemble_of()
    z = np.array([1.0, 0.3, -0.2, 0.9])
    forest.trace(F, I, z)
    mean, width = forest.predict(F, I, 0)
    assert mean == 0.5 and width == pytest.approx(math.sqrt((0.25 + 1.0) / 2.0))
    forest.learn(F, I, z, 0, 1.0)
    forest.trace(F, I, z)
    assert forest.predict(F, I, 0)[0] == 0.75 and forest.predict(F, I, 1)[0] == 0.5  # (1 + 1/2) / 2


def test_a_cut_gains_what_two_means_predict_better_less_their_price():
    cut = np.array([1.0, 0.5, 1.0, 8.0, 2.0, 0.0, 0.0, 1.0, 9.0, 3.0, 3.0])  # arm 0 on both sides, arm 1 on one
    mu, h, d = (9.0 + 0.5) / 21.0, 100.0 / 20.0, 0.8 - 0.1
    assert forest.gain_of(cut, 0, 2) == pytest.approx(0.5 * (h * d * d / (mu * (1.0 - mu)) - math.log(1.0 + h)), rel=1e-12)
    cut[p.SET] = 0.0
    assert forest.gain_of(cut, 0, 2) == 0.0


def test_trees_split_where_the_losses_differ():
    F, I = ensemble_of(1)
    rng = np.random.default_rng(0)
    for _ in range(120):
        z = np.array([1.0, *rng.normal(size=3)])
        forest.trace(F, I, z)
        forest.learn(F, I, z, 0, float(z[2] > 0.0))
    assert I[p.NODES_USED] > p.TREES
    means = []
    for side in (-1.0, 1.0):
        forest.trace(F, I, np.array([1.0, 0.0, side, 0.0]))
        means.append(forest.predict(F, I, 0)[0])
    assert means[0] < 0.25 and means[1] > 0.75
