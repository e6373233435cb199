"""Parts joined where together they are one part."""

import itertools

import pytest

from hsb.explain.joining import join, position, union


def grid(n):
    """The square cut into n by n parts."""
    sides = [(k / n, (k + 1) / n) for k in range(n)]
    return list(itertools.product(sides, repeat=2))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_whole_grid_is_one_part(n):
    assert union(grid(n)) == (((0.0, 1.0), (0.0, 1.0)),)


def test_parts_that_only_touch_stay_apart():
    corner = [((0.0, 0.5), (0.0, 0.5)), ((0.5, 1.0), (0.5, 1.0))]
    assert len(union(corner)) == 2


def test_each_part_is_in_one_of_those_joined():
    parts = [part for part in grid(3) if part != ((0.0, 1 / 3), (0.0, 1 / 3))]
    result = join(parts)
    assert sorted(k for _, which in result for k in which) == list(range(len(parts))) and len(result) < len(parts)


def test_order_of_position():
    parts = grid(3)
    assert sorted(parts, key=position) == sorted(parts, key=position)
