"""Rounds from a CSV file."""

import numpy as np
import pytest

import hsb
from hsb.problems.losses_file import Losses


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "losses.csv"
    path.write_text("x,red,green\n0.1,0,1\n0.9,1,0\n0.4,0.5,0.25\n")
    return path


def about(path, more=()):
    return {"path": str(path), "contexts": ["x"], "losses": ["red", "green"]} | dict(more)


def test_rows_are_played_as_they_are(path):
    problem = Losses(about(path))
    sample = problem.sample(3, seed=5)
    np.testing.assert_array_equal(sample.contexts.ravel(), [0.1, 0.9, 0.4])
    np.testing.assert_array_equal(sample.losses, [[0, 1], [1, 0], [0.5, 0.25]])


@pytest.mark.parametrize("change", [{"path": "nowhere.csv"}, {"losses": ["red", "blue"]}, {"contexts": ["y"]}])
def test_what_is_not_there_is_refused(path, change):
    with pytest.raises((hsb.InputError, OSError)):
        Losses(about(path, change)).sample(3, seed=0)
