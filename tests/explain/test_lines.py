"""One column of numbers: where one arm is played."""

import numpy as np
import pytest

from hsb.explain.columns import Column
from hsb.explain.lines import intervals
from hsb.explain.samplers import Everywhere

AGE = Column("age", low=18.0, high=90.0)


def steps(*cuts):
    """A policy that plays arm k mod 2 between the cuts."""

    def play(rows):
        arm = np.searchsorted(cuts, rows[:, 0], side="right") % 2
        return np.column_stack([arm == 0, arm == 1]).astype(float)

    return play


@pytest.mark.parametrize("cuts", [(36.2,), (30.0, 60.0), (20.0, 21.5, 80.0)])
def test_cuts_are_found_closely(cuts):
    result = intervals(AGE, steps(*cuts), Everywhere([AGE]), None, np.random.default_rng(0))
    assert [arm for _, arm in result] == [k % 2 for k in range(len(cuts) + 1)]
    assert [side[1] for side, _ in result[:-1]] == pytest.approx(list(cuts), rel=1e-4)


def test_with_edges_they_are_exact():
    edges = np.array([18.0, 36.0, 54.0, 72.0, 90.0])
    result = intervals(AGE, steps(54.0), Everywhere([AGE]), edges, np.random.default_rng(0))
    assert [side[1] for side, _ in result[:-1]] == [54.0]
