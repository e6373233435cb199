"""What the searches share: weights of nodes, read exactly however small (`engine/kernels/header.py`), and the pieces of a mapping."""

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

# Two values are equal if they differ by less than this, relative to the larger: more than rounding in a long run, less than
# anything that matters. Without it rounding would choose between mappings that are equally probable.
TIE = 1e-9


class BestArms(NamedTuple):
    """The best arm of each of several nodes."""

    arm: Ints
    log_share: Floats  # ln of the largest share
    log_total: Floats  # ln of the sum of all weights
    seen: NDArray[np.bool_]  # is the node not at its prior?


def best_arms(member: Member, blocks: Ints) -> BestArms:
    """The best arm of the nodes whose arm blocks begin at `blocks`: the lowest of equals. O(nodes * M)."""
    M = member.arms
    seen = (member.F[blocks[:, None] + np.arange(M)] != member.template[:M]).any(axis=1)
    logs = _log_weights(member, blocks)
    high = logs.max(axis=1)
    total = np.log(np.exp(logs - high[:, None]).sum(axis=1))
    return BestArms(np.argmax(logs >= high[:, None] - TIE, axis=1), -total, high + total, seen)


def log_shares(member: Member, blocks: Ints) -> Floats:
    """ln of each arm's share of the weight of the nodes whose arm blocks begin at `blocks`: a row for each. O(nodes * M)."""
    logs = _log_weights(member, blocks)
    high = logs.max(axis=1, keepdims=True)
    return np.asarray(logs - high - np.log(np.exp(logs - high).sum(axis=1, keepdims=True)))


def _log_weights(member: Member, blocks: Ints) -> Floats:
    """ln of the arms' weights, those too small for a double too."""
    M = member.arms
    weights = member.F[blocks[:, None] + np.arange(M)]
    aside = member.F[blocks[:, None] + member.logs + np.arange(M)]
    return np.asarray(np.where(weights > 0.0, np.log(np.where(weights > 0.0, weights, 1.0)), aside))


def log_options(F: Floats, rows: Ints, n: int) -> Floats:
    """ln of the n option weights of each row, -inf where the prior is 0; shape (rows, n)."""
    at = rows[:, None] + 1 + np.arange(n)
    return np.asarray(log_of(F[at]) - F[at + n] * h.LOG_BASE)


def highest(values: Floats) -> Floats:
    """The largest value over the last axis."""
    return np.asarray(values.max(axis=-1))


def first_best(values: ArrayLike) -> int:
    """The place of the largest value, the first of equals."""
    each = np.asarray(values, dtype=np.float64)
    high = float(each.max())
    return int(np.argmax(each >= high - TIE * max(1.0, abs(high))))


class Piece(NamedTuple):
    """A part of the space with one arm; boxes are fractions of the features that the structure looks at."""

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
    """The region of node i of `best`, where it stops."""
    return Piece(boxes, int(best.arm[i]), math.exp(best.log_share[i]), True) if best.seen[i] else unseen(boxes, arms)


def unseen(boxes: Boxes, arms: int) -> Piece:
    """A part never learned from: every arm has the same share, so the first is named."""
    return Piece(boxes, 0, 1.0 / arms, False)


def in_users_units(structure: Structure, boxes: Boxes) -> Boxes:
    """The same boxes over every feature of the space; those that the structure does not look at span their whole range."""
    space = structure.space
    place = {feature: j for j, feature in enumerate(structure.features)}
    sides = [[box[place[j]] if j in place else (0.0, 1.0) for j in range(space.features)] for box in boxes]
    return tuple(tuple(space.bounds(j, *side) for j, side in enumerate(box)) for box in sides)


def names(structure: Structure) -> dict[Parts, str]:
    """What its regions are called, by their boxes in the user's units."""
    return {in_users_units(structure, boxes): name for boxes, name in structure.names().items()}


def called(structure: Structure, regions: Sequence[Parts]) -> list[str | None]:
    """What regions are called: by the name of a node or, of numbered cells, by those of the few nodes that make them up; None: by neither.

    >>> from ..structures import Hierarchy
    >>> parts = {"a": {"leaves": [0]}, "b": {"leaves": [1]}, "c": {"leaves": [2]}}
    >>> ages = Hierarchy({"all": {"leaves": [0, 1, 2], "groups": [["a", "b", "c"]]}, **parts})
    >>> called(ages, [(((0.0, 3.0),),), (((1.0, 3.0),),), (((0.5, 3.0),),)])
    ['all', 'b or c', None]
    """
    known = names(structure)
    if not known or not isinstance(structure.space, Cells):  # intervals of a number say more than a list of names
        return [known.get(boxes) for boxes in regions]
    within = {name: cells for boxes, name in known.items() if (cells := _cells(boxes))}
    return [known.get(boxes) or _made_up_of(_cells(boxes), within) for boxes in regions]


def _cells(boxes: Parts) -> frozenset[int]:
    """The numbers of the cells in a region; none where it cuts through one."""
    ends = [end for ((low, high),) in boxes for end in (low, high)]
    if any(end != int(end) for end in ends):
        return frozenset()
    return frozenset(cell for low, high in zip(ends[::2], ends[1::2], strict=True) for cell in range(int(low), int(high)))


def _made_up_of(wanted: frozenset[int], within: dict[str, frozenset[int]]) -> str | None:
    """Names whose cells are these, the largest nodes first and each cell once, in the order of the cells."""
    left, chosen = wanted, list[str]()
    for name, cells in sorted(within.items(), key=lambda each: -len(each[1])):
        if cells <= left:
            left = left - cells
            chosen.append(name)
    return None if left or not chosen else " or ".join(sorted(chosen, key=lambda name: min(within[name])))
