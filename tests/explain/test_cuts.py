"""The roundest number between two."""

import itertools

import numpy as np
import pytest

from hsb.explain.cuts import threshold


@pytest.mark.parametrize("seed", range(20))
def test_a_threshold_lies_between(seed):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-3, 6)).tolist()
    result = threshold(low, high)
    assert low < result <= high


@pytest.mark.parametrize(("low", "high"), [(0.4871, 0.5312), (1834.0, 2177.0), (29.2, 31.7)])
def test_it_has_few_digits(low, high):
    assert len(f"{threshold(low, high):g}".rstrip("0").replace(".", "")) <= 2


def test_with_edges_it_is_one_of_them():
    edges = np.array([0.0, 0.25, 0.375, 0.5, 0.625, 1.0])
    for low, high in itertools.pairwise([0.2, 0.4, 0.7]):
        assert threshold(low, high, edges) in edges
