"""A made-up log of the Today Module."""

import numpy as np
import pytest

from hsb.logs.synthetic import SyntheticToday


def test_a_seed_is_a_log():
    one, same, other = (np.concatenate([b.reward for b in SyntheticToday(5000, seed=seed)]) for seed in (1, 1, 2))
    assert len(one) == 5000 and (one == same).all() and (one != other).any()


def test_articles_are_drawn_uniformly_from_those_that_are_there():
    for batch in SyntheticToday(4000, seed=0):
        assert batch.is_uniform
        assert batch.available[np.arange(len(batch)), batch.arm].all()


def test_clicks_are_rare():
    rewards = np.concatenate([batch.reward for batch in SyntheticToday(40_000, seed=3)])
    assert 0.02 < rewards.mean() < 0.08 and set(np.unique(rewards)) == {0.0, 1.0}


@pytest.mark.parametrize("articles", [20, 50])
def test_no_more_articles_than_are_asked_for(articles):
    batches = list(SyntheticToday(3000, seed=0, articles=articles))
    assert all(batch.available.sum(axis=1).max() <= articles for batch in batches)
