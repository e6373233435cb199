"""Perceptrons: equal to their slow twins, and nothing of the future is used."""

import numpy as np
import pytest
from naive import ecoc as naive_ecoc

from hsb import InputError, ecoc


def rows(seed: int, number: int = 80, features: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(number, features)) * [1, 10, 1e-3, 1][:features] + [0, 5, 1, -2][:features]
    X[:, 3] = np.where(np.arange(number) < 10, 7.0, X[:, 3])  # a feature that does not change at first
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 5)
    return X, y


@pytest.mark.nojit
@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("scaling", ["online", "none", "given"])
@pytest.mark.parametrize("seed", [0, 1])
def test_perceptrons_equal_their_slow_twins(scaling, averaged, seed):
    X, y = rows(seed)
    targets = ecoc.one_versus_all(3)[y]
    deviations = X.std(axis=0) * [1, 1, 1, 0]
    fixed = {"online": None, "none": (np.zeros(4), np.ones(4)), "given": (X.mean(axis=0), deviations)}[scaling]
    machines = ecoc.Perceptrons(4, columns=3, scaling=fixed if scaling == "given" else scaling, averaged=averaged)
    slow = naive_ecoc.Machines(3, 4, fixed, averaged)
    expected = [slow.learn(x, t.tolist()) for x, t in zip(X, targets, strict=True)]
    assert machines.learn(X, targets).tolist() == expected
    assert machines.weights == pytest.approx(np.array(slow.weights), rel=1e-9, abs=1e-9)
    assert machines.codewords(X).tolist() == [slow.codeword(x) for x in X]
    assert machines.rounds == 80


def test_whole_table_or_row_by_row():
    X, y = rows(3)
    targets = ecoc.one_versus_all(3)[y]
    whole, single = ecoc.Perceptrons(4, columns=3), ecoc.Perceptrons(4, columns=3)
    codes = whole.learn(X, targets)
    assert np.concatenate([single.learn(X[t : t + 1], targets[t : t + 1]) for t in range(len(X))]).tolist() == codes.tolist()
    assert (whole.weights == single.weights).all()
    one = ecoc.Perceptron(4)
    assert [one.learn(x, t) for x, t in zip(X, targets[:, 1].tolist(), strict=True)] == codes[:, 1].tolist()
    assert (one.weights == whole.weights[1]).all()
    twin = whole.copy()
    twin.learn(X, -targets)
    assert (whole.weights == single.weights).all()


def test_nothing_of_the_future_is_used():
    X, y = rows(4)
    targets = ecoc.one_versus_all(3)[y]
    other = X.copy()
    other[40:] *= 1000
    codes = [ecoc.Perceptrons(4, columns=3).learn(table, targets)[:40].tolist() for table in (X, other)]
    assert codes[0] == codes[1]


def test_separable_classes_are_learned_and_labels_at_random_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    sign = np.where(X[:, :1] - X[:, 1:2] > 0, 1, -1)
    machines = ecoc.Perceptrons(5, columns=1)
    assert (machines.learn(X, sign)[1000:] == sign[1000:]).mean() > 0.95
    noise = 2 * rng.integers(0, 2, (2000, 1)) - 1
    assert (ecoc.Perceptrons(5, columns=1).learn(X, noise) == noise).mean() < 0.55


def test_bad_rows_change_nothing():
    X, y = rows(5)
    targets = ecoc.one_versus_all(3)[y]
    machines = ecoc.Perceptrons(4, columns=3)
    machines.learn(X, targets)
    before = (machines.weights.copy(), machines._moments.copy(), machines.rounds)
    bad = X.copy()
    bad[50, 2] = np.nan
    for table, signs, text in (
        (bad, targets, "Row 50: feature 2"),
        (X[:, :3], targets, r"\(rows, 4\)"),
        (X, targets[:5], "80 rows"),
    ):
        with pytest.raises(InputError, match=text):
            machines.learn(table, signs)
    with pytest.raises(InputError, match="finite"):
        machines.codewords([[1e200, 0, 0, 0]])
    after = (machines.weights, machines._moments, machines.rounds)
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    for scaling in ("whole", (1, 2), ([0] * 4, [-1] * 4), ([0] * 3, [1] * 3), 7):
        with pytest.raises(InputError):
            ecoc.Perceptrons(4, columns=1, scaling=scaling)
