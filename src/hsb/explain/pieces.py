"""What the searches share: weights of nodes, read exactly however small (`kernels/header.py`), and the pieces of a mapping that they return."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels import header as h
from ..state import Member
from ..structures import Structure
from ..structures.boxes import Boxes
from ..structures.walk import log_of
from ..types import Floats, Ints
from .columns import Parts

# Two values are equal if they differ by less than this, relative to the larger: more than rounding in a long run, less than
# anything that matters. Without it rounding would choose between mappings that are equally probable.
TIE = 1e-9


class Arms(NamedTuple):
    """The best arm of each of several nodes."""

    arm: Ints
    log_share: Floats  # ln of the largest share
    log_total: Floats  # ln of the sum of all weights
    seen: NDArray[np.bool_]  # is the node not at its prior?


def best_arms(member: Member, blocks: Ints) -> Arms:
    """The best arm of the nodes whose arm blocks begin at `blocks`: the lowest of equals. O(nodes * M)."""
    F, I = member
    M = int(I[h.ARMS])
    weights = F[blocks[:, None] + np.arange(M)]
    seen = (weights != F[I[h.TEMPLATE] : I[h.TEMPLATE] + M]).any(axis=1)
    aside = F[blocks[:, None] + I[h.LOGS] + np.arange(M)]
    logs = np.where(weights > 0.0, np.log(np.where(weights > 0.0, weights, 1.0)), aside)
    high = logs.max(axis=1)
    total = np.log(np.exp(logs - high[:, None]).sum(axis=1))
    return Arms(np.argmax(logs >= high[:, None] - TIE, axis=1), -total, high + total, seen)


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


def piece(boxes: Boxes, best: Arms, i: int, arms: int) -> Piece:
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
