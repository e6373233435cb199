"""Edges of a number's cells."""

import numpy as np
import pytest
from naive.features import edges as naive_edges

from hsb.engine.kernels.inputs import CELLS
from hsb.features.refit import edges


@pytest.mark.parametrize("seed", range(5))
def test_edges_rise_and_cut_a_sample_into_parts_of_about_one_size(seed):
    sample = np.random.default_rng(seed).normal(size=2000)
    result = edges(sample)
    assert 0 < len(result) <= CELLS - 1 and (np.diff(result) > 0).all()
    counts = np.bincount(np.searchsorted(result, sample, side="right"), minlength=len(result) + 1)
    assert counts.max() < 2 * 2000 / (len(result) + 1)


def test_few_values_have_few_edges_and_none_has_none():
    assert len(edges(np.array([1.0, 1.0, np.nan]))) <= 1 and len(edges(np.array([3.0, 1.0, np.nan, 1.0]))) <= 2
    assert len(edges(np.full(5, np.nan))) == 0


@pytest.mark.parametrize("seed", range(20))
def test_edges_are_those_of_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    sample = rng.normal(size=int(rng.integers(1, 600)))
    if seed % 2:
        sample = np.round(sample, seed % 3)  # some values are common
    sample[rng.random(len(sample)) < 0.1] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0])
    assert edges(sample).tolist() == naive_edges(sample).tolist()
