"""Parts common to all searches: exact weights of nodes, however small (`engine/kernels/header.py`), and the pieces of a mapping."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine.kernels import header as h
from ..engine.state import Member
from ..structures import Structure
from ..structures.boxes import Boxes
from ..structures.spaces import Cells
from ..structures.walk import log_of
from ..types import Floats, Ints
from .columns import Parts

# Two values are equal if they differ by less than this, relative to the larger: more than rounding errors of a long run, less than
# any difference that matters. Without it rounding errors would choose between equally probable mappings.
TIE = 1e-9


class BestArms(NamedTuple):
    """The best arm of each of several nodes."""

    arm: Ints
    log_share: Floats  # ln of the largest share
    log_total: Floats  # ln of the sum of all weights
    seen: NDArray[np.bool_]  # is the node not at its prior?


def best_arms(member: Member, blocks: Ints) -> BestArms:
    """Return the best arm of the nodes whose arm blocks begin at `blocks`; ties: the lowest. O(nodes * M)."""
    M = member.arms
    seen = (member.F[blocks[:, None] + np.arange(M)] != member.template[:M]).any(axis=1)
    logs = _log_weights(member, blocks)
    high = logs.max(axis=1)
    total = np.log(np.exp(logs - high[:, None]).sum(axis=1))
    return BestArms(np.argmax(logs >= high[:, None] - TIE, axis=1), -total, high + total, seen)


def log_shares(member: Member, blocks: Ints) -> Floats:
    """Return ln of each arm's share of a node's weight, a row for each node; arm blocks begin at `blocks`. O(nodes * M)."""
    logs = _log_weights(member, blocks)
    high = logs.max(axis=1, keepdims=True)
    return np.asarray(logs - high - np.log(np.exp(logs - high).sum(axis=1, keepdims=True)))


def _log_weights(member: Member, blocks: Ints) -> Floats:
    """Return ln of the arms' weights, also of those that underflow a double."""
    M = member.arms
    weights = member.F[blocks[:, None] + np.arange(M)]
    aside = member.F[blocks[:, None] + member.logs + np.arange(M)]
    return np.asarray(np.where(weights > 0.0, np.log(np.where(weights > 0.0, weights, 1.0)), aside))


def log_options(F: Floats, rows: Ints, n: int) -> Floats:
    """Return ln of the n option weights of each row, -inf for a prior of 0; shape (rows, n)."""
    options = rows[:, None] + 1 + np.arange(n)
    return np.asarray(log_of(F[options]) - F[options + n] * h.LOG_BASE)


def highest(values: Floats) -> Floats:
    """Return the largest value over the last axis."""
    return np.asarray(values.max(axis=-1))


def first_best(values: ArrayLike) -> int:
    """Return the index of the largest value; ties: the first."""
    array = np.asarray(values, dtype=np.float64)
    high = float(array.max())
    return int(np.argmax(array >= high - TIE * max(1.0, abs(high))))


class Piece(NamedTuple):
    """A part of the space with one arm; boxes are fractions of the features that the structure uses."""

    boxes: Boxes
    arm: int
    share: float  # the node's posterior share of the arm
    seen: bool


class Best(NamedTuple):
    """The most probable mapping of a structure: V(root), its pieces, and the structure whose nodes they are."""

    value: float
    pieces: list[Piece]
    structure: Structure


def piece(boxes: Boxes, best: BestArms, i: int, arms: int) -> Piece:
    """Return the piece of node i of `best`, at which the mapping stops."""
    return Piece(boxes, int(best.arm[i]), math.exp(best.log_share[i]), True) if best.seen[i] else unseen(boxes, arms)


def unseen(boxes: Boxes, arms: int) -> Piece:
    """Return a part without updates: all arms have the same share, and it names the first."""
    return Piece(boxes, 0, 1.0 / arms, False)


def in_users_units(structure: Structure, boxes: Boxes) -> Boxes:
    """Return the boxes over every feature of the space; features that the structure does not use span their whole range."""
    space = structure.space
    dimension = {feature: j for j, feature in enumerate(structure.features)}
    sides = [[box[dimension[j]] if j in dimension else (0.0, 1.0) for j in range(space.features)] for box in boxes]
    return tuple(tuple(space.bounds(j, *side) for j, side in enumerate(box)) for box in sides)


def names(structure: Structure) -> dict[Parts, str]:
    """Return the names of a structure's regions by their boxes in the user's units."""
    return {in_users_units(structure, boxes): name for boxes, name in structure.names().items()}


def region_names(structure: Structure, regions: Sequence[Parts]) -> list[str | None]:
    """Return the name of each region: its node's or, for numbered cells, the names of the few nodes that make it up; None without any.

    >>> from ..structures import Hierarchy
    >>> parts = {"a": {"leaves": [0]}, "b": {"leaves": [1]}, "c": {"leaves": [2]}}
    >>> ages = Hierarchy({"all": {"leaves": [0, 1, 2], "groups": [["a", "b", "c"]]}, **parts})
    >>> region_names(ages, [(((0.0, 3.0),),), (((1.0, 3.0),),), (((0.5, 3.0),),)])
    ['all', 'b or c', None]
    """
    names_of_boxes = names(structure)
    if not names_of_boxes or not isinstance(structure.space, Cells):  # for numbers an interval is clearer than a list of names
        return [names_of_boxes.get(boxes) for boxes in regions]
    within = {name: cells for boxes, name in names_of_boxes.items() if (cells := _cells(boxes))}
    return [names_of_boxes.get(boxes) or _combined_name(_cells(boxes), within) for boxes in regions]


def _cells(boxes: Parts) -> frozenset[int]:
    """Return the indices of the cells in a region; the empty set if it cuts through a cell."""
    ends = [end for ((low, high),) in boxes for end in (low, high)]
    if any(end != int(end) for end in ends):
        return frozenset()
    return frozenset(cell for low, high in zip(ends[::2], ends[1::2], strict=True) for cell in range(int(low), int(high)))


def _combined_name(wanted: frozenset[int], within: dict[str, frozenset[int]]) -> str | None:
    """Join the names of nodes that together have the `wanted` cells: largest nodes first, each cell once; None if there are no such nodes."""
    left, chosen = wanted, list[str]()
    for name, cells in sorted(within.items(), key=lambda each: -len(each[1])):
        if cells <= left:
            left = left - cells
            chosen.append(name)
    return None if left or not chosen else " or ".join(sorted(chosen, key=lambda name: min(within[name])))
