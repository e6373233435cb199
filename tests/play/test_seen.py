"""A running digest of all that was read of a log."""

from dataclasses import replace

import numpy as np
import pytest

from hsb.logs import Batch
from hsb.play.seen import LogDigest

GIVEN = {
    "contexts": [[0.1], [0.7], [0.3]],
    "arm": [0, 1, 0],
    "reward": [1, 0, 1],
    "propensity": [0.5, 0.5, 0.25],
    "arms": ["a", "b"],
}


def digest(*batches, context=None):
    seen = LogDigest(context)
    for batch in batches:
        seen.add(batch)
    return seen.digest()


def test_how_a_log_is_cut_does_not_matter():
    batch = Batch.of(**GIVEN)
    assert digest(batch) == digest(batch.take(slice(0, 1)), batch.take(slice(1, None))) == digest(batch.take(np.arange(3)))


@pytest.mark.parametrize(
    "change",
    [
        {"reward": [1, 1, 1]},
        {"arm": [0, 1, 1]},
        {"contexts": [[0.1], [0.7], [0.4]]},
        {"propensity": [0.5] * 3},
        {"arms": ["a", "c"]},
    ],
)
def test_another_log_has_another(change):
    assert digest(Batch.of(**GIVEN)) != digest(Batch.of(**(GIVEN | change)))


def test_so_has_the_same_log_in_another_order():
    batch = Batch.of(**GIVEN)
    assert digest(batch) != digest(batch.take(np.array([2, 1, 0])))


def test_features_of_arms_are_part_of_it():
    batch, features = Batch.of(**GIVEN), np.empty(3, dtype=object)
    features[:] = [{"a": {"price": 9}, "b": None}, {"a": None, "b": None}, {"a": {"price": 9}, "b": None}]
    priced = replace(batch, arm_features=features)
    other = replace(batch, arm_features=features[::-1].copy())
    assert digest(priced) == digest(priced.take(slice(0, 2)), priced.take(slice(2, 3))) != digest(batch)
    features[1] = {"a": {"price": 8}, "b": None}
    assert digest(priced) != digest(other) != digest(batch)
