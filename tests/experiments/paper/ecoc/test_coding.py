"""Output codes: matrices with the properties they promise, perceptrons equal to their slow twins, a decoder that breaks ties fairly."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import ecoc as naive_ecoc

from hsb import InputError, ecoc
from hsb.errors import BudgetError

# -- coding matrices -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1, 2, 3, 6, 10])
def test_one_versus_all(classes):
    matrix = ecoc.one_versus_all(classes)
    assert matrix.dtype == np.int8
    assert (matrix.sum(axis=0) == 2 - classes).all() and (np.diag(matrix) == 1).all()


@pytest.mark.parametrize("classes", [2, 3, 5, 8])
def test_exhaustive_has_every_division_once(classes):
    matrix = ecoc.exhaustive(classes)
    divisions = {frozenset([frozenset(np.flatnonzero(c > 0)), frozenset(np.flatnonzero(c < 0))]) for c in matrix.T}
    assert matrix.shape == (classes, 2 ** (classes - 1) - 1)
    assert len(divisions) == matrix.shape[1] and all(len(part) for d in divisions for part in d)
    assert ecoc.minimum_distance(matrix) == 2 ** (classes - 2)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(3, 12), st.integers(1, 6), st.integers(0, 1000))
def test_random_codes_keep_their_word(classes, bits, distance, seed):
    try:
        matrix = ecoc.random_code(classes, bits=bits, distance=distance, seed=seed)
    except InputError as error:
        assert "Use more bits or a smaller distance" in str(error)  # noqa: PT017
        return
    assert matrix.shape == (classes, bits)
    assert ecoc.minimum_distance(matrix) >= distance
    assert (matrix.min(axis=0) == -1).all() and (matrix.max(axis=0) == 1).all()
    assert (matrix == ecoc.random_code(classes, bits=bits, distance=distance, seed=seed)).all()


def test_what_cannot_be_is_refused_at_once_and_what_can_is_found():
    for classes in (3, 4):  # the exhaustive code meets Plotkin's count: its distance is possible, one more is not
        bits = 2 ** (classes - 1) - 1
        with pytest.raises(InputError, match="at most"):
            ecoc.random_code(classes, bits=bits, distance=2 ** (classes - 2) + 1)
    assert ecoc.minimum_distance(ecoc.random_code(3, bits=3, distance=2, seed=1)) == 2
    with pytest.raises(InputError, match="4 codewords"):
        ecoc.random_code(5, bits=2)


def test_codes_are_checked():
    with pytest.raises(BudgetError, match="random_code"):
        ecoc.exhaustive(40)
    for bad in ([[1, 0]], [["a", "b"]], [1, -1], [[]], [[1, -1], [1]], [[float("nan")]]):
        with pytest.raises(InputError):
            ecoc.contexts(bad)
    with pytest.raises(InputError, match="two codewords"):
        ecoc.minimum_distance([[1, -1]])


def test_contexts_fall_into_cells_of_their_own():
    import hsb

    words = 2 * np.array(list(np.ndindex(2, 2, 2))) - 1
    for structure in (hsb.PositionSplits(bits=[1] * 3), hsb.BinaryTree(depth=3, space=hsb.Box.unit(3))):
        assert sorted(structure.leaf_of(c) for c in ecoc.contexts(words)) == list(range(8))


# -- perceptrons ---------------------------------------------------------------------------------------------------------


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
    said = [slow.learn(x, t.tolist()) for x, t in zip(X, targets, strict=True)]
    assert machines.learn(X, targets).tolist() == said
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


# -- Hamming decoding ----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_every_tie_is_broken_fairly(classes, bits, seed):
    rng = np.random.default_rng(seed)
    matrix = 2 * rng.integers(0, 2, (classes, bits)) - 1
    word = 2 * rng.integers(0, 2, bits) - 1
    probabilities = naive_ecoc.nearest(matrix.tolist(), word.tolist())
    us = (np.arange(60) + 0.5) / 60  # each of up to six gets its share of a fine comb
    found = ecoc.HammingDecoder(matrix).decode(np.tile(word, (60, 1)), us)
    assert {k: int(n) for k, n in enumerate(np.bincount(found)) if n} == {k: int(60 * c) for k, c in probabilities.items()}
    assert ecoc.HammingDecoder(matrix, ties="lowest").decode([word])[0] == min(probabilities)


def test_wrong_bits_are_put_right():
    matrix = ecoc.exhaustive(5)  # distance 8: three wrong bits
    decoder = ecoc.HammingDecoder(matrix)
    wrong = list(combinations(range(15), 3))
    for label, word in enumerate(matrix):
        words = np.tile(word, (len(wrong), 1))
        for row, bits in zip(words, wrong, strict=True):
            row[list(bits)] *= -1
        assert (decoder.decode(words) == label).all()
    assert len(wrong) == comb(15, 3)


def test_the_decoder_is_checked_and_seeded():
    decoder = ecoc.HammingDecoder(ecoc.one_versus_all(3), seed=3)
    words = -np.ones((200, 3))
    found = decoder.decode(words)
    assert (found == ecoc.HammingDecoder(ecoc.one_versus_all(3), seed=3).decode(words)).all()
    assert set(found.tolist()) == {0, 1, 2}
    for us in ([0.5], [1.0] * 200, [[0.5]] * 200):
        with pytest.raises(InputError, match=r"\[0, 1\)"):
            decoder.decode(words, us)
    with pytest.raises(InputError, match="3 columns"):
        decoder.decode([[1, -1]])
    with pytest.raises(InputError, match="ties"):
        ecoc.HammingDecoder([[1]], ties="first")  # type: ignore[arg-type]
