"""The most probable mapping of ordered leaves: against a list of all ways to cut and to choose arms."""

import math

import numpy as np
import pytest
from naive import mixture as naive
from support.explain_cases import every_mapping, learn, middle, run, some_rounds

import hsb
from hsb.explain import Region
from hsb.explain.intervals import solve

CASES_OF: dict[str, tuple[hsb.Structure, naive.Hierarchy]] = {
    "lexicographic": (hsb.Lexicographic(leaves=4), naive.lexicographic(4)),
    "3-group": (hsb.GroupedLexicographic(leaves=4, groups=3), naive.grouped_lexicographic(4, 3)),
    "more groups than leaves": (hsb.GroupedLexicographic(leaves=2, groups=3), naive.grouped_lexicographic(2, 3)),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CASES_OF)
def test_it_is_the_heaviest_of_all_mappings(name: str, seed: int) -> None:
    structure, shape = CASES_OF[name]
    explanation, penalties = run(structure, None, *some_rounds(structure.leaves, seed, 2.0))
    ways = every_mapping(shape, penalties)
    weights = np.array([weight for weight, _ in ways])
    best, pieces = max(ways, key=lambda way: way[0])
    total = best + math.log(np.exp(weights - best).sum())
    assert explanation.log_probability == pytest.approx(best - total, abs=1e-9)
    assert {(leaves_of(structure, region), region.arm) for region in explanation} == pieces
    assert len(ways) > 9 and np.sort(weights)[-2] < best  # control: there are others, and none is as heavy


def leaves_of(structure: hsb.Structure, region: Region) -> frozenset[int]:
    """Return the leaves whose middle lies in a region."""
    inside = []
    for leaf in range(structure.leaves):
        context = middle(structure, leaf)
        if any(all(low <= x < high for x, (low, high) in zip(context, box, strict=True)) for box in region.boxes):
            inside.append(leaf)
    return frozenset(inside)


def test_without_updates_it_is_one_piece() -> None:
    structure = hsb.Lexicographic(leaves=5)
    best = solve(structure, structure.members(3, None)[0])
    assert [(piece.boxes, piece.arm, piece.seen) for piece in best.pieces] == [((((0.0, 1.0),),), 0, False)]
    assert best.pieces[0].share == pytest.approx(1.0 / 3.0)


def test_one_bad_leaf_is_cut_out() -> None:
    structure = hsb.Lexicographic(leaves=4)
    arms, penalties = [0, 0, 1, 0], [30.0] * 4  # arm 1 is best but in the third leaf
    points = [middle(structure, leaf) for leaf in range(4)]
    best = solve(structure, learn(structure, structure.members(2, None), points, arms, penalties)[0])
    assert sorted((piece.boxes[0][0], piece.arm) for piece in best.pieces) == [
        ((0.0, 0.5), 1),
        ((0.5, 0.75), 0),
        ((0.75, 1.0), 1),
    ]
