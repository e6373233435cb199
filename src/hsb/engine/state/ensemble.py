"""An ensemble of models (`engine/kernels/ensemble.py`): creation, growth and rescaling. `ensemble_files.py` has its form in files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...files.memory_limit import afford
from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import ensemble as p
from .frequencies import frequencies
from .member import Member, aligned_zeros, arm_block, hung_as
from .views import EnsembleView

PRECISION = 0.15  # of a column's weight, times the number of features: the prior of the linear model
COSINE_PRECISION = 0.5
MOST_COSINES = 128
EXACT = 1 << 30  # arms * columns^3 up to which a change of scale leaves the prior unchanged
MOST_SIZE = 2.0**53  # of a weight: beyond, an arm's model is reset
MOST_SPREAD = (
    2.0**20
)  # of a weight's standard deviation: from 1e8 on one round may destroy the covariance; rounds lead to about 1e3 at most
FAR = 1e100  # a threshold beyond has all values on one side
TINY = 1e-6  # a column that shrinks by more than this at once loses its past
SKEW = 1e-11  # the largest rounding error between the two halves of a covariance
LARGEST = 1e6  # variance of a weight whose prior moves with its column: beyond, rounding destroys the covariance
MOST_WORDS = 1 << 22  # of the covariances of cosines and of the cuts that leaves watch; with many arms there are fewer of them
WIDEST = 1 << 23  # words of the linear covariances


def width_for(arms: int, wanted: int) -> int:
    """Return the number of columns, at most `wanted`, with which the covariances of all arms take at most 64 MB.

    >>> width_for(3, 256), width_for(1000, 256)
    (256, 91)
    """
    return max(2, min(wanted, math.isqrt(WIDEST // arms)))


def cosines_for(arms: int) -> int:
    """Return the number of cosines within the same kind of limit."""
    return max(4, min(MOST_COSINES, math.isqrt(MOST_WORDS // arms)))


def _stride(cosines: int) -> int:
    """Return the words of a row: rows begin on different cache lines."""
    return -(-(cosines + 1) // 8) * 8


def room_for(columns: int, width: int) -> int:
    """Return the room for `columns` used columns: a power of two, at most `width`, so that growth is rare."""
    return min(width, max(16, 1 << (columns - 1).bit_length()))


def make_ensemble(room: int, arms: int) -> Member:
    """Make an ensemble with room for `room` columns; only the constant is in use."""
    cosines, width = cosines_for(arms), 4 * arms + p.WATCH
    blocks = max(2 * p.TREES, MOST_WORDS // (p.CUTS * width))
    nodes = 2 * blocks
    I = np.zeros(h.HEADER + 1, dtype=np.int64)
    I[h.KIND], I[h.ARMS], I[h.PARENT], I[h.VISITS], I[h.BASES] = h.ENSEMBLE, arms, -1, 1, h.HEADER
    I[h.TOP], I[h.TOP_SIZE], I[h.WIDTH] = arm_block(arms)
    I[h.LOGS] = I[h.WIDTH]
    I[p.STRIDE] = _stride(cosines)
    I[p.ROOM], I[p.COLUMNS], I[p.COSINES], I[p.NODES], I[p.BLOCKS] = room, 1, cosines, nodes, blocks
    end = 8
    for name, size in (
        (p.RIDGE, room + cosines + 1),
        (p.STACK, p.MEMORIES + 4 * arms),
        (p.PROBABILITY, room),
        (p.COSINE, cosines * (room + 1) + arms * (cosines + 1) * (1 + _stride(cosines))),
        (p.LINEAR, arms * room * (room + 1)),
        (p.NODE, nodes * (2 * arms + p.COUNTS)),
        (p.BLOCK, blocks * p.CUTS * width),
        (p.END, 0),
        (h.WEIGHT, 8),
        (p.INDEX, arms),
        (p.SCRATCH, 8 + room + cosines + 1 + max(room, cosines + 1)),
        (p.TRACE, p.TREES * p.TRACED + p.DEEPEST),
        (h.HEADER, int(I[h.WIDTH]) + arms),
    ):
        I[name] = end
        end += -(-size // 8) * 8
    afford(end)
    F = aligned_zeros(end, sparse=True)
    logs = int(I[h.HEADER] + I[h.WIDTH])
    F[logs : logs + arms] = -np.inf  # the logarithms of arms without advice
    F[I[p.RIDGE]] = PRECISION
    F[I[p.RIDGE] + room] = PRECISION
    F[I[p.RIDGE] + room + 1 : I[p.RIDGE] + room + 1 + cosines] = COSINE_PRECISION
    rng = np.random.Generator(np.random.PCG64(0x485342))
    phases = int(I[p.COSINE]) + cosines * room
    F[phases : phases + cosines] = rng.uniform(size=cosines)
    member = Member(F, I)
    compiled()[0].begin(*member)
    return member


def compiled() -> Any:
    """Return the kernels of ensembles and of regressions, loaded on first use."""
    from ..kernels import ensemble, ridge

    return ensemble, ridge


def piece(member: Member, name: int, *shape: int, skip: int = 0) -> Floats:
    """Return a part of F as a table; a view."""
    offset = int(member.I[name]) + skip
    return member.F[offset : offset + math.prod(shape)].reshape(shape)


def linear_models(member: Member) -> tuple[Floats, Floats]:
    """Return weights (arms, room) and covariances (arms, room, room) of the linear models; views."""
    ensemble = EnsembleView(member)
    arms, room = ensemble.arms, ensemble.room
    return piece(member, p.LINEAR, arms, room), piece(member, p.LINEAR, arms, room, room, skip=arms * room)


def cosine_models(member: Member) -> tuple[Floats, Floats, Floats, Floats]:
    """Return frequencies, phases, weights and covariances of the cosines; views."""
    ensemble = EnsembleView(member)
    arms, room, k = ensemble.arms, ensemble.room, ensemble.cosines
    after = k * (room + 1)
    weights = piece(member, p.COSINE, arms, k + 1, skip=after)
    covariances = piece(member, p.COSINE, arms, k + 1, ensemble.stride, skip=after + arms * (k + 1))
    return piece(member, p.COSINE, room, k), piece(member, p.COSINE, k, skip=k * room), weights, covariances


def forest_nodes(member: Member, *, used: bool = True) -> Floats:
    """Return a row for each node of the forest, used or all; a view."""
    ensemble = EnsembleView(member)
    count, width = ensemble.nodes_used if used else ensemble.nodes, 2 * ensemble.arms + p.COUNTS
    return ensemble.F[ensemble.node0 : ensemble.node0 + count * width].reshape(count, width)


def forest_cuts(member: Member) -> Floats:
    """Return the candidate cuts of leaves: (blocks, cuts, words); a view."""
    ensemble = EnsembleView(member)
    count, width = ensemble.blocks_used, 4 * ensemble.arms + p.WATCH
    return ensemble.F[ensemble.block0 : ensemble.block0 + count * p.CUTS * width].reshape(count, p.CUTS, width)


class NewColumns:
    """New columns for an ensemble with updates. `groups`: the feature of each column but the constant.

    `add` changes a view in place. `take_back` undoes it, also after an interrupt or before `add`, if there was no update since.
    """

    def __init__(self, member: Member, groups: Sequence[int]) -> None:
        self.groups, self.first = groups, int(member.I[p.COLUMNS])
        self.before = [part.copy() for part in self._parts(member)]

    def _parts(self, member: Member) -> list[Any]:
        """Return the parts that change: I, precisions, probabilities, frequencies, variances, and the cuts of trees that never split."""
        ensemble, new = EnsembleView(member), slice(self.first, 1 + len(self.groups))
        F, room, arms = ensemble.F, ensemble.room, ensemble.arms
        ridge, probability, cosine, linear, block = member.I[[p.RIDGE, p.PROBABILITY, p.COSINE, p.LINEAR, p.BLOCK]].tolist()
        cosines = F[cosine : cosine + room * ensemble.cosines].reshape(room, ensemble.cosines)
        covariances = F[linear + arms * room : linear + arms * room * (room + 1)].reshape(arms, room, room)
        cuts = p.TREES * p.CUTS * (4 * arms + p.WATCH) if ensemble.nodes_used == p.TREES else 0
        parts = [F[ridge : ridge + room], F[probability : probability + new.stop], cosines[new], covariances[:, new, new]]
        return [member.I, *parts, F[block : block + cuts]]

    def add(self, member: Member) -> None:
        """Add the columns."""
        I, precision, probability, cosines, covariances, _ = self._parts(member)
        groups, columns, features = self.groups, 1 + len(self.groups), max(len(set(self.groups)), 1)
        precision[self.first : columns] = PRECISION * (features + 1)
        cosines[:] = frequencies(range(self.first, columns), cosines.shape[1], features)
        diagonal = np.arange(columns - self.first)
        covariances[:, diagonal, diagonal] = 1.0 / precision[self.first : columns]
        probability[:] = probabilities_of(groups, features)
        I[p.COLUMNS] = columns
        compiled()[0].look_again(*member)

    def take_back(self, member: Member) -> None:
        """Undo `add`."""
        for part, value in zip(self._parts(member), self.before, strict=True):
            part[...] = value


def set_columns(member: Member, groups: Sequence[int]) -> None:
    """Add columns to an ensemble; changes a view in place. An ensemble without updates is reset with them."""
    if piece(member, p.STACK, p.MEMORIES)[p.ROUNDS] != 0.0:
        NewColumns(member, groups).add(member)
        return
    ensemble = EnsembleView(member)
    before, columns, features = ensemble.columns, 1 + len(groups), max(len(set(groups)), 1)
    precision = piece(member, p.RIDGE, ensemble.room + 1)
    precision[:columns] = precision[-1] = PRECISION * (features + 1)
    cosines = cosine_models(member)[0]
    cosines[:columns] = frequencies(range(columns), cosines.shape[1], features)
    new = np.arange(before, columns)
    linear_models(member)[1][:, new, new] = 1.0 / precision[new]
    piece(member, p.PROBABILITY, columns)[:] = probabilities_of(groups, features)
    member.I[p.COLUMNS] = columns
    compiled()[0].begin(*member)


def probabilities_of(groups: Sequence[int], features: int) -> Floats:
    """Return the cumulative probabilities of columns that belong to these features."""
    sizes = np.bincount(groups, minlength=features) if len(groups) else np.ones(1)
    return probability_sums(sizes[list(groups)], int((sizes > 0).sum()))


def probability_sums(sizes: Floats | Ints, features: int) -> Floats:
    """Return the cumulative probabilities of cuts at each column: features are equally likely, and so are the columns of each.

    `sizes`: for each column but the constant, the number of columns of its feature.

    >>> probability_sums(np.array([1, 2, 2]), 2).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """
    sums = np.zeros(1 + len(sizes))
    sums[1:] = np.cumsum(1.0 / sizes / features)
    if len(sizes):
        sums[-1] = 1.0
    return sums


def rescale(member: Member, a: Floats, c: Floats, missing: Ints) -> None:
    """Rescale the models for columns that became a * z + c, and stay 0 if the indicator in `missing` is 1. Changes a view in place.

    The linear models and the trees become as if all updates had been in the new units; cosines stay as they are.
    """
    if (a == 1.0).all() and (c == 0.0).all():
        return
    n, arms = len(a), member.arms
    nodes, cuts = forest_nodes(member), forest_cuts(member).reshape(-1, forest_cuts(member).shape[2])
    split, set_ = nodes[:, p.LEFT] > 0.0, cuts[:, p.SET] > 0.0
    cut_columns = nodes[split, p.AT].astype(np.int64)
    nodes[split, p.THRESHOLD] = np.clip(a[cut_columns] * nodes[split, p.THRESHOLD] + c[cut_columns], -FAR, FAR)
    cut_columns = cuts[set_, 0].astype(np.int64)
    cuts[set_, 1] = np.clip(a[cut_columns] * cuts[set_, 1] + c[cut_columns], -FAR, FAR)
    weights, covariances = linear_models(member)
    precision = piece(member, p.RIDGE, n)
    exact = arms * n**3 <= EXACT
    for m in range(arms):
        prior = np.diag(1.0 / precision)
        if not np.array_equal(covariances[m, :n, :n], prior):
            move = _move_exactly if exact else _move
            w, P = move(weights[m, :n], covariances[m, :n, :n], precision, a, c, missing)
            if not is_regression(w[None], P[None]):
                w, P = np.zeros(n), prior
            weights[m, :n], covariances[m, :n, :n] = w, P


def is_regression(weights: Floats, covariances: Floats) -> bool:
    """Return whether weights are bounded and covariances within what their variances allow; a row and a matrix for each model."""
    spread = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    allowed = spread[:, :, None] * spread[:, None] * (1.0 + 1e-3) + 1e-9
    return bool((np.abs(covariances) <= allowed).all() and (spread < MOST_SPREAD).all() and (np.abs(weights) < MOST_SIZE).all())


def _move_exactly(w: Floats, P: Floats, precision: Floats, a: Floats, c: Floats, missing: Ints) -> tuple[Floats, Floats]:
    """Return a linear model for columns that moved, with its prior unchanged. O(columns^3)."""
    ridge = compiled()[1]
    A, scratch = np.ascontiguousarray(P), np.zeros_like(P)
    A = A.copy()
    ridge.invert(A, scratch, len(a))
    b = (A * w).sum(axis=1)
    A[np.diag_indices(len(a))] -= precision
    ridge.move(A, b, a, c, missing, np.zeros(len(a)))
    A[np.diag_indices(len(a))] += precision
    scratch[:] = 0.0
    ridge.invert(A, scratch, len(a))
    return (A * b).sum(axis=1), A


def _move(w: Floats, P: Floats, precision: Floats, a: Floats, c: Floats, missing: Ints) -> tuple[Floats, Floats]:
    """Return the same with a moved prior. O(columns^2) for each column that moved. Resets columns with a TINY scale.

    Also resets a weight whose variance in the new units is too large. The next round would take its variance from LARGEST to about 1, in
    steps of LARGEST * 2^-53; much larger variances came out below 0, with infinite weights.
    """
    gone = (a < TINY) | (np.diag(P) > LARGEST * a * a)
    scale = np.where(gone, 0.0, 1.0 / np.maximum(a, TINY))

    def transform(rows: Floats) -> Floats:
        """Transform a table with a row for each weight; sums in a fixed order."""
        new = scale[:, None] * rows
        for i in np.flatnonzero((c != 0.0) & ~gone):
            new[0] -= c[i] / a[i] * rows[i]
            if missing[i] >= 0:
                new[missing[i]] += c[i] / a[i] * rows[i]
        return new

    moved = transform(transform(P).T) + np.diag(np.where(gone, 1.0 / precision, 0.0))
    if (np.abs(moved - moved.T) > SKEW).any():  # updates never restore symmetry, and each move adds to the error
        moved = 0.5 * (moved + moved.T)
    return transform(w[:, None])[:, 0], moved


def resized_ensemble(member: Member, room: int, arms: int) -> Member:
    """Return the ensemble with room for more columns or one more arm; or with room for fewer columns, without the last ones."""
    before = EnsembleView(member)
    old_arms, old_room, columns = before.arms, min(before.room, room), min(before.columns, room)
    cosines = min(before.cosines, cosines_for(arms))
    wider = make_ensemble(room, arms)
    I = wider.I
    piece(wider, p.RIDGE, room)[:old_room] = piece(member, p.RIDGE, old_room)
    piece(wider, p.RIDGE, 1 + cosines, skip=room)[:] = piece(member, p.RIDGE, 1 + cosines, skip=before.room)
    piece(wider, p.STACK, p.MEMORIES + 4 * old_arms)[:] = piece(member, p.STACK, p.MEMORIES + 4 * old_arms)
    piece(wider, p.PROBABILITY, old_room)[:] = piece(member, p.PROBABILITY, old_room)
    (weights, covariances), (old_weights, old_covariances) = linear_models(wider), linear_models(member)
    weights[:old_arms, :old_room] = old_weights[:, :old_room]
    covariances[:old_arms, :old_room, :old_room] = old_covariances[:, :old_room, :old_room]
    diagonal = np.arange(columns)
    covariances[old_arms:, diagonal, diagonal] = 1.0 / piece(wider, p.RIDGE, columns)
    new, old = cosine_models(wider), cosine_models(member)
    some = slice(cosines + 1)  # with many arms, fewer cosines, each larger; the others are dropped
    ratio = np.ones(cosines + 1)
    ratio[1:] = math.sqrt(cosines / before.cosines)
    new[0][:old_room], new[1][:] = old[0][:old_room, :cosines], old[1][:cosines]
    new[2][:old_arms] = old[2][:, some] * ratio
    new[3][:old_arms, :, some] = old[3][:, some, some] * (ratio[:, None] * ratio)
    diagonal = np.arange(cosines + 1)
    new[3][old_arms:] = 0.0
    new[3][old_arms:, diagonal, diagonal] = 1.0 / piece(wider, p.RIDGE, 1 + cosines, skip=room)
    after = EnsembleView(wider)
    blocks, nodes = min(before.blocks_used, after.blocks), before.nodes_used
    I[p.COLUMNS] = columns
    hung_as(member, wider)
    if nodes > after.nodes or max(forest_nodes(member)[:, p.AT].max(), forest_cuts(member)[..., 0].max()) >= columns:
        compiled()[0].look_again(*wider)  # its cuts were drawn when only the constant was in use
        return wider  # too little room for the forest, or it cuts at dropped columns: it restarts
    I[p.COLUMNS], I[p.NODES_USED], I[p.BLOCKS_USED], I[p.SEED] = columns, nodes, blocks, before.seed
    rows, old_rows = forest_nodes(wider), forest_nodes(member)
    rows[:] = 0.0
    rows[:, : old_rows.shape[1]] = old_rows
    rows[rows[:, p.CUT] > blocks, p.CUT] = 0.0
    cuts, old_cuts = forest_cuts(wider), forest_cuts(member)[:blocks]
    cuts[:] = 0.0
    cuts[..., : p.WATCH + 2 * old_arms] = old_cuts[..., : p.WATCH + 2 * old_arms]
    right = p.WATCH + 2 * arms
    cuts[..., right : right + 2 * old_arms] = old_cuts[..., p.WATCH + 2 * old_arms :]
    return wider
