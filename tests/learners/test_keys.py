"""Keys of contexts: one by one or in tables the same, and clear words for what is no context."""

import numpy as np
import pytest

import hsb
from hsb.learners.keys import Keys, NoContext, cells, columns

STRUCTURES = [
    hsb.BinaryTree(depth=4),
    hsb.BinaryTree(depth=5, space=hsb.Box.unit(2)),
    hsb.KaryTree(k=3, depth=3, space=hsb.Box([-1.0], [2.0])),
    hsb.Lexicographic(leaves=7),
    hsb.PositionSplits(bits=[2, 1]),
]


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: type(structure).__name__)
def test_a_context_has_the_same_key_alone_and_in_a_table(structure):
    keys = Keys(structure, [cells(structure, 3), columns(structure, 4)])
    low, high = structure.space.ends()
    points = np.random.default_rng(0).uniform(low, high, size=(50, len(low)))
    table = keys.keys(points)
    assert table.shape == (50, 1 + 4 + sum(structure.key_words()))
    for point, row in zip(points, table, strict=True):
        context = point if len(point) > 1 else float(point[0])
        assert keys.read(context)[0].tolist() == row.tolist() and keys.copy().read(point.tolist())[0].tolist() == row.tolist()


def test_what_lies_outside_is_clipped_and_counted():
    keys = Keys(hsb.BinaryTree(depth=4, space=hsb.Box([0.0], [1.0], outside="clip")))
    key, clipped = keys.read(1.5)
    assert clipped == 1 and key.tolist() == keys.read(1.0)[0].tolist()


def test_a_row_too_many_is_refused():
    with pytest.raises(hsb.InputError, match=r"One context at a time here; given 2. hsb.simulate takes whole tables"):
        Keys(STRUCTURES[1]).read([[0.1, 0.2], [0.3, 0.4]])


@pytest.mark.parametrize("context", ["a", None, float("nan"), [0.5, 0.5], 10**400])
def test_what_is_no_number_is_refused(context):
    keys = Keys(STRUCTURES[0])
    before = keys.read(0.3)[0].tolist()
    with pytest.raises(hsb.InputError):
        keys.read(context)
    assert keys.read(0.3)[0].tolist() == before


def test_without_contexts_there_is_one_cell():
    keys = NoContext()
    assert keys.read("anything")[0].tolist() == [0] and keys.keys(np.empty((3, 2))).tolist() == [[0]] * 3
    assert keys.check([1, 2, 3])[0].shape == (3, 1)
