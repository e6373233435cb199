"""One run of a comparison."""

import numpy as np
import pytest

import hsb
from hsb.evaluate.simulated.run import data_seed, loss_range, marked_rounds, policy_seed


@pytest.mark.parametrize("rounds", [1, 5, 1000, 10**6])
def test_marks_rise_and_end_at_the_last_round(rounds):
    marks = marked_rounds(rounds, also=[1])
    assert marks[-1] == rounds and (np.diff(marks) > 0).all() and marks[0] >= 1 and len(marks) < 400


def test_seeds_are_independent():
    seeds = {policy_seed(0, run, p, name) for run in range(3) for p in range(2) for name in ("a", "b")}
    assert len(seeds) == 12 and len({data_seed(0, run) for run in range(50)}) == 50
    assert policy_seed(1, 0, 0, "a") not in seeds and policy_seed(0, 0, 0, "a") == policy_seed(0, 0, 0, "a")


def test_the_range_of_all_losses():
    assert loss_range({"a": hsb.Exp3(arms=2), "b": hsb.Exp3(arms=2, loss_range=(-1, 1))}) == (-1, 1)
    assert loss_range({"a": hsb.Exp3(arms=2, loss_range="auto")}) is None
