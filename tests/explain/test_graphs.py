"""The most probable mapping of a structure with several ways to split a node: against a list of all mappings."""

import math

import numpy as np
import pytest
from naive import mixture as naive
from support.explain_cases import every_mapping, learn, middle, run, some_rounds

import hsb
from hsb.explain import Region
from hsb.explain.graphs import solve

CASES_OF: dict[str, tuple[hsb.Structure, naive.Hierarchy]] = {
    "position": (hsb.PositionSplits(bits=[1, 1]), naive.position_splits([1, 1])),
    "arbitrary": (hsb.ArbitrarySplits(leaves=3), naive.arbitrary_splits(3)),
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
    assert len(ways) > 10 and np.sort(weights)[-2] < best  # control: there are others, and none is as heavy


def leaves_of(structure: hsb.Structure, region: Region) -> frozenset[int]:
    """Return the leaves whose middle lies in a region."""
    inside = []
    for leaf in range(structure.leaves):
        context = middle(structure, leaf)
        if any(all(low <= x < high for x, (low, high) in zip(context, box, strict=True)) for box in region.boxes):
            inside.append(leaf)
    return frozenset(inside)


def test_stopping_comes_first_of_equals() -> None:
    """Two leaves with the same best arm, each twice as good as others: to split costs the prior and gains nothing."""
    structure = hsb.PositionSplits(bits=[1, 1])
    members = structure.members(2, None)
    best = solve(structure, members[0])
    assert [(piece.arm, piece.share, piece.seen) for piece in best.pieces] == [(0, 0.5, False)]
    taught = learn(structure, members, [middle(structure, leaf) for leaf in range(4)], [1] * 4, [1.0] * 4)
    best = solve(structure, taught[0])
    assert [piece.arm for piece in best.pieces] == [0]
    assert best.pieces[0].share == pytest.approx(1.0 / (1.0 + math.exp(-4.0))) and best.structure is structure


def test_the_piece_of_an_arm_that_lost_everywhere_but_once() -> None:
    structure = hsb.PositionSplits(bits=[1, 1])
    leaves, arms = [0, 1, 2, 3], [0, 1, 1, 1]
    taught = learn(structure, structure.members(2, None), [middle(structure, leaf) for leaf in leaves], arms, [20.0] * 4)
    best = solve(structure, taught[0])
    assert len(best.pieces) == 3 and sorted(piece.arm for piece in best.pieces) == [0, 0, 1]
    [alone] = [piece for piece in best.pieces if piece.arm == 1]
    assert np.allclose(alone.boxes, [structure.region(0)])
