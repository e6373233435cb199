"""The results of a comparison: averages, differences, tables."""

import csv

import numpy as np
import pytest

from hsb.evaluate.simulated.comparison import Comparison

RNG = np.random.default_rng(0)
MARKS = np.array([10, 50, 100])
LOSSES = {"good": 0.2 + 0.01 * RNG.random((8, 1, 3)), "bad": 0.5 + 0.01 * RNG.random((8, 1, 3))}


@pytest.fixture
def compared():
    return Comparison(marks=MARKS, losses=LOSSES, best=0.1)


def test_the_last_mark_is_the_average(compared):
    np.testing.assert_allclose(compared.averages("good"), LOSSES["good"][:, 0, -1])
    low, high = compared.interval("good").low, compared.interval("good").high
    assert low <= LOSSES["good"][:, 0, -1].mean() <= high


def test_a_part_of_the_rounds(compared):
    part = compared.averages("bad", since=10, until=50)
    np.testing.assert_allclose(part, (50 * LOSSES["bad"][:, 0, 1] - 10 * LOSSES["bad"][:, 0, 0]) / 40)


def test_differences_are_of_the_same_runs(compared):
    result = compared.difference("bad", "good")
    assert result.low > 0.25 and result.high < 0.35


def test_rows_are_all_numbers(compared, tmp_path):
    assert len(list(compared.rows)) == 2 * 8 * 3 == len(compared.to_frame())
    compared.to_csv(tmp_path / "all.csv")
    with (tmp_path / "all.csv").open() as file:
        assert len(list(csv.reader(file))) == 1 + 48


def test_regret_is_what_was_lost_beyond_the_best(compared):
    curve = compared.regret_curves()["good"]
    np.testing.assert_allclose(curve.mean, MARKS * (LOSSES["good"].mean(axis=(0, 1)) - 0.1), rtol=1e-6)
