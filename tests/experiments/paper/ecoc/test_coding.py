"""Coding matrices have the properties they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsb import InputError, ecoc
from hsb.errors import BudgetError


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
