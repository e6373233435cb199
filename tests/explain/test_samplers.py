"""Where contexts come from when a policy is asked what it plays."""

import numpy as np
import pytest

from hsb.explain.columns import Column
from hsb.explain.samplers import Everywhere, SimilarContexts, world_of

COLUMNS = [Column("x", low=0.0, high=10.0), Column("y", low=-1.0, high=1.0)]


def test_everywhere_is_even():
    result = Everywhere(COLUMNS).draw(4000, np.random.default_rng(0))
    assert result.shape == (4000, 2) and (result >= [0, -1]).all() and (result <= [10, 1]).all()
    np.testing.assert_allclose(result.mean(axis=0), [5, 0], atol=0.3)


def test_within_a_part_nothing_lies_outside():
    part = ((2.0, 3.0), (0.0, 0.5))
    result = Everywhere(COLUMNS).within(part, 500, np.random.default_rng(0))
    assert (result >= [2, 0]).all() and (result <= [3, 0.5]).all()


def test_shares_of_the_space():
    regions = [(((0.0, 5.0), (-1.0, 1.0)),), (((5.0, 10.0), (-1.0, 0.0)),)]
    np.testing.assert_allclose(Everywhere(COLUMNS).shares(regions), [0.5, 0.25])


def test_similar_contexts_stay_near_the_sample():
    rng = np.random.default_rng(1)
    sample = np.column_stack([rng.normal(5, 0.1, 1000), rng.normal(0.5, 0.05, 1000)])
    world = world_of(COLUMNS, sample)
    assert isinstance(world, SimilarContexts) and isinstance(world_of(COLUMNS), Everywhere)
    result = world.draw(1000, np.random.default_rng(2))
    assert np.abs(result - [5, 0.5]).max() < 1.0
    assert world.shares([(((0.0, 5.0), (-1.0, 1.0)),), (((5.0, 10.0), (-1.0, 1.0)),)])[0] == pytest.approx(
        np.mean(sample[:, 0] < 5.0), abs=0.05
    )
