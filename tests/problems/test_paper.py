"""The models of Sections VI-A and VI-B."""

import numpy as np
import pytest

from hsb.problems.paper import SortedContexts, Stationary, SuddenChange, shift_models, waves_and_line

XS = np.random.default_rng(0).random((1000, 1))


def test_losses_average_to_what_is_expected():
    problem = Stationary()
    sample = problem.sample(200_000, seed=1)
    expected = problem.expected(sample.contexts, np.arange(200_000), 200_000)
    np.testing.assert_allclose(sample.losses.mean(axis=0), expected.mean(axis=0), atol=0.005)


def test_expected_losses_are_probabilities():
    assert waves_and_line(XS).shape == (1000, 3)
    assert (waves_and_line(XS) >= 0).all() and (waves_and_line(XS) <= 1).all()


@pytest.mark.parametrize("at", [0.25, 0.6])
def test_the_arms_change_places_once(at):
    problem = SuddenChange(at=at)
    assert problem.change(1000) == int(1000 * at)
    before, after = (problem.expected(XS, np.full(1000, t), 1000) for t in (problem.change(1000) - 1, problem.change(1000)))
    assert (before == waves_and_line(XS)).all() and (after == shift_models(before.copy(), np.ones(1000, dtype=bool))).all()
    assert (np.sort(before, axis=1) == np.sort(after, axis=1)).all() and (before != after).any()


def test_contexts_that_are_sorted_are_the_only_difference():
    result = SortedContexts().sample(500, seed=3).contexts.ravel()
    assert (np.diff(result) >= 0).all() and 0 <= result[0] < 0.1 and 0.9 < result[-1] <= 1
