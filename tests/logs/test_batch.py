"""The one form in which every log is read."""

import numpy as np
import pytest

import hsb
from hsb.logs.batch import Batch, Pools, number_pools

GIVEN = {
    "contexts": [[0.1], [0.7], [0.3]],
    "arm": [0, 1, 2],
    "reward": [1, 0, 1],
    "propensity": [0.5, 0.5, 0.25],
    "arms": ["a", "b", "c"],
}


def test_columns_are_checked_and_kept():
    batch = Batch.of(**GIVEN)
    assert len(batch) == 3 and batch.labels().tolist() == ["a", "b", "c"] and batch.available.all()


@pytest.mark.parametrize(
    "rows", [slice(1, None), np.array([2, 0]), np.array([True, False, True])], ids=["slice", "indices", "booleans"]
)
def test_some_of_the_rows(rows):
    batch = Batch.of(**GIVEN, available=np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool))
    part = batch.take(rows)
    assert part.labels().tolist() == batch.labels()[rows].tolist()
    assert part.available.tolist() == batch.available[rows].tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"arm": [0, 1, 3]},
        {"arm": [0, 1]},
        {"propensity": [0.5, 0.5, 0.0]},
        {"propensity": [0.5, 0.5, 1.5]},
        {"reward": [1, 0, "x"]},
        {"arms": ["a", "a", "b"]},
    ],
)
def test_what_cannot_be_is_refused(change):
    with pytest.raises(hsb.InputError):
        Batch.of(**(GIVEN | change))


def test_pools_are_the_different_rows():
    table = np.array([[1, 0, 1], [1, 1, 1], [1, 0, 1]], dtype=bool)
    which, pools = number_pools(table)
    assert which.tolist() == [0, 1, 0] and pools.sizes.tolist() == [2, 3]
    assert pools.table(3)[which].tolist() == table.tolist()
    assert Pools.of([[2, 0], [1]]).table(3).tolist() == [[True, False, True], [False, True, False]]


def test_uniform_logs_are_known():
    assert Batch.of(**(GIVEN | {"propensity": [1 / 3] * 3})).is_uniform and not Batch.of(**GIVEN).is_uniform
