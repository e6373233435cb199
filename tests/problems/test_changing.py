"""Worlds that change."""

import numpy as np
import pytest

from hsb.problems.changing import Changes, HiddenImprovement, LocalChange

XS = np.linspace(0.01, 0.99, 50)[:, None]


def expected(problem, t, rounds=1000):
    return problem.expected(XS, np.full(len(XS), t), rounds)


def test_a_local_change_is_local():
    problem = LocalChange(at=0.5, below=0.25)
    before, after = expected(problem, 0), expected(problem, 999)
    here = XS[:, 0] < 0.25
    assert (before[~here] == after[~here]).all() and (before[here] != after[here]).any(axis=1).all()


@pytest.mark.parametrize("count", [1, 4])
def test_arms_change_places_as_often_as_is_said(count):
    problem = Changes(count=count)
    models = [expected(problem, t).tobytes() for t in range(1000)]
    changes = [t for t in range(1, 1000) if models[t] != models[t - 1]]
    assert 0 < len(changes) <= count
    assert (np.sort(expected(problem, 0), axis=1) == np.sort(expected(problem, 999), axis=1)).all()


def test_the_improvement_is_of_an_arm_that_was_not_the_best():
    before, after = expected(HiddenImprovement(), 0)[0], expected(HiddenImprovement(), 999)[0]
    assert before.tolist() == [0.3, 0.5, 0.6]
    assert before.argmin() != after.argmin() and after.min() < before.min()
