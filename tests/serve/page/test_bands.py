"""Intervals that hold however often one looks."""

import numpy as np
import pytest

from hsb.serve.page import bands


def sums_of(terms):
    return np.stack([bands.bets(terms).sum(axis=0), bands.bets(1.0 - terms).sum(axis=0)])[None]


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_mean_is_inside_at_every_look(p):
    """Of 40 streams looked at ten times each, at most a few may ever be wrong."""
    wrong = 0
    for seed in range(40):
        terms = (np.random.default_rng(seed).random(2000) < p).astype(float)
        looks = [bands.intervals(sums_of(terms[:n]), np.array([float(n)])) for n in range(200, 2001, 200)]
        wrong += any(not low[0] <= p <= high[0] for low, high in looks)
    assert wrong <= 6


def test_more_rows_make_it_shorter():
    terms = np.arange(4000) % 2.0
    lengths = []
    for n in (100, 1000, 4000):
        low, high = bands.intervals(sums_of(terms[:n]), np.array([float(n)]))
        lengths.append(float(high[0] - low[0]))
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] < 0.2


def test_errors_of_all_arms_add_to_no_more_than_one_error():
    assert sum(bands.arm_error(index, first=3) for index in range(10_000)) <= bands.ERROR * (1 + 1e-9)
