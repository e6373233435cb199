"""An ensemble of models (`engine/kernels/ensemble.py`): made, grown, rescaled. `ensemble_files.py` keeps it in files."""

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

PRECISION = 0.15  # of a place's weight, for each feature that there is: the prior of the linear model
COSINE_PRECISION = 0.5
MOST_COSINES = 128
EXACT = 1 << 30  # arms * places^3 up to which a change of scale keeps the prior as it is
MOST_SIZE = 2.0**53  # of a weight: beyond, an arm's model begins anew
MOST_SPREAD = (
    2.0**20
)  # and of a weight's standard deviation: from 1e8 on one round may leave no covariance; rounds lead to some 1e3 at most
FAR = 1e100  # a threshold beyond has all there is on one side
TINY = 1e-6  # a place that shrinks more than this at once says nothing of what it was
SKEW = 1e-11  # by how much rounding may part the two halves of a covariance
LARGEST = 1e6  # variance of a weight whose prior moves with its place: beyond, learning loses the covariance to rounding
MOST_WORDS = 1 << 22  # of the covariances of cosines and of the cuts that leaves watch; with many arms there are fewer of them
WIDEST = 1 << 23  # words of the linear covariances


def width_for(arms: int, wanted: int) -> int:
    """How many places an ensemble can take: covariances of arms together stay within 64 MB.

    >>> width_for(3, 256), width_for(1000, 256)
    (256, 91)
    """
    return max(2, min(wanted, math.isqrt(WIDEST // arms)))


def cosines_for(arms: int) -> int:
    """How many cosines, likewise."""
    return max(4, min(MOST_COSINES, math.isqrt(MOST_WORDS // arms)))


def _stride(cosines: int) -> int:
    """Rows begin on a cache line, and not all on the same lines."""
    return -(-(cosines + 1) // 8) * 8


def room_for(places: int, width: int) -> int:
    """How many places there is room for where so many are in use: a power of two, so that growing is rare."""
    return min(width, max(16, 1 << (places - 1).bit_length()))


def make_ensemble(room: int, arms: int) -> Member:
    """An ensemble with room for so many places, of which it knows the constant only."""
    cosines, width = cosines_for(arms), 4 * arms + p.WATCH
    blocks = max(2 * p.TREES, MOST_WORDS // (p.CUTS * width))
    nodes = 2 * blocks
    I = np.zeros(h.HEADER + 1, dtype=np.int64)
    I[h.KIND], I[h.ARMS], I[h.PARENT], I[h.VISITS], I[h.BASES] = h.ENSEMBLE, arms, -1, 1, h.HEADER
    I[h.TOP], I[h.TOP_SIZE], I[h.WIDTH] = arm_block(arms)
    I[h.LOGS] = I[h.WIDTH]
    I[p.STRIDE] = _stride(cosines)
    I[p.ROOM], I[p.PLACES], I[p.COSINES], I[p.NODES], I[p.BLOCKS] = room, 1, cosines, nodes, blocks
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
    F[logs : logs + arms] = -np.inf  # the logarithms of the arms that are not advised
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
    """The kernels of ensembles and of regressions, loaded on first use."""
    from ..kernels import ensemble, ridge

    return ensemble, ridge


def piece(member: Member, name: int, *shape: int, skip: int = 0) -> Floats:
    """A part of F as a table; a view."""
    at = int(member.I[name]) + skip
    return member.F[at : at + math.prod(shape)].reshape(shape)


def linear_models(member: Member) -> tuple[Floats, Floats]:
    """Weights (arms, room) and covariances (arms, room, room) of the linear models."""
    ensemble = EnsembleView(member)
    arms, room = ensemble.arms, ensemble.room
    return piece(member, p.LINEAR, arms, room), piece(member, p.LINEAR, arms, room, room, skip=arms * room)


def cosine_models(member: Member) -> tuple[Floats, Floats, Floats, Floats]:
    """Frequencies, phases, weights and covariances."""
    ensemble = EnsembleView(member)
    arms, room, k = ensemble.arms, ensemble.room, ensemble.cosines
    after = k * (room + 1)
    weights = piece(member, p.COSINE, arms, k + 1, skip=after)
    covariances = piece(member, p.COSINE, arms, k + 1, ensemble.stride, skip=after + arms * (k + 1))
    return piece(member, p.COSINE, room, k), piece(member, p.COSINE, k, skip=k * room), weights, covariances


def forest_nodes(member: Member, *, used: bool = True) -> Floats:
    """A row for each node of the forest, of those in use or of all; a view."""
    ensemble = EnsembleView(member)
    count, width = ensemble.nodes_used if used else ensemble.nodes, 2 * ensemble.arms + p.COUNTS
    return ensemble.F[ensemble.node0 : ensemble.node0 + count * width].reshape(count, width)


def forest_cuts(member: Member) -> Floats:
    """What leaves watch: (blocks, cuts, words); a view."""
    ensemble = EnsembleView(member)
    count, width = ensemble.blocks_used, 4 * ensemble.arms + p.WATCH
    return ensemble.F[ensemble.block0 : ensemble.block0 + count * p.CUTS * width].reshape(count, p.CUTS, width)


class NewPlaces:
    """Places to be added to an ensemble that has learned rounds: `groups` says of each place but the constant which feature it belongs to.

    `add` changes a view in place. `take_back` puts back what it changed, also if it was interrupted or never begun, as long as nothing was
    learned since.
    """

    def __init__(self, member: Member, groups: Sequence[int]) -> None:
        self.groups, self.first = groups, int(member.I[p.PLACES])
        self.before = [part.copy() for part in self._parts(member)]

    def _parts(self, member: Member) -> list[Any]:
        """What changes: words of I, precisions, probabilities, frequencies, variances, and the cuts of trees that never split."""
        ensemble, new = EnsembleView(member), slice(self.first, 1 + len(self.groups))
        F, room, arms = ensemble.F, ensemble.room, ensemble.arms
        ridge, probability, cosine, linear, block = member.I[[p.RIDGE, p.PROBABILITY, p.COSINE, p.LINEAR, p.BLOCK]].tolist()
        cosines = F[cosine : cosine + room * ensemble.cosines].reshape(room, ensemble.cosines)
        covariances = F[linear + arms * room : linear + arms * room * (room + 1)].reshape(arms, room, room)
        cuts = p.TREES * p.CUTS * (4 * arms + p.WATCH) if ensemble.nodes_used == p.TREES else 0
        parts = [F[ridge : ridge + room], F[probability : probability + new.stop], cosines[new], covariances[:, new, new]]
        return [member.I, *parts, F[block : block + cuts]]

    def add(self, member: Member) -> None:
        """Add them."""
        I, precision, probability, cosines, covariances, _ = self._parts(member)
        groups, places, features = self.groups, 1 + len(self.groups), max(len(set(self.groups)), 1)
        precision[self.first : places] = PRECISION * (features + 1)
        cosines[:] = frequencies(range(self.first, places), cosines.shape[1], features)
        at = np.arange(places - self.first)
        covariances[:, at, at] = 1.0 / precision[self.first : places]
        probability[:] = probabilities_of(groups, features)
        I[p.PLACES] = places
        compiled()[0].look_again(*member)

    def take_back(self, member: Member) -> None:
        """Put back what was."""
        for part, value in zip(self._parts(member), self.before, strict=True):
            part[...] = value


def set_places(member: Member, groups: Sequence[int]) -> None:
    """Add places to an ensemble; a view is changed in place. One that has learned nothing begins anew with them."""
    if piece(member, p.STACK, p.MEMORIES)[p.ROUNDS] != 0.0:
        NewPlaces(member, groups).add(member)
        return
    ensemble = EnsembleView(member)
    before, places, features = ensemble.places, 1 + len(groups), max(len(set(groups)), 1)
    precision = piece(member, p.RIDGE, ensemble.room + 1)
    precision[:places] = precision[-1] = PRECISION * (features + 1)
    cosines = cosine_models(member)[0]
    cosines[:places] = frequencies(range(places), cosines.shape[1], features)
    at = np.arange(before, places)
    linear_models(member)[1][:, at, at] = 1.0 / precision[at]
    piece(member, p.PROBABILITY, places)[:] = probabilities_of(groups, features)
    member.I[p.PLACES] = places
    compiled()[0].begin(*member)


def probabilities_of(groups: Sequence[int], features: int) -> Floats:
    """The sums of probabilities of places that belong to these features."""
    sizes = np.bincount(groups, minlength=features) if len(groups) else np.ones(1)
    return probability_sums(sizes[list(groups)], int((sizes > 0).sum()))


def probability_sums(sizes: Floats | Ints, features: int) -> Floats:
    """Sums of the probabilities of the places up to each: features are equally likely to be cut at, and so are the places of each.

    `sizes` says of each place but the constant how many places its feature has.

    >>> probability_sums(np.array([1, 2, 2]), 2).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """
    sums = np.zeros(1 + len(sizes))
    sums[1:] = np.cumsum(1.0 / sizes / features)
    if len(sizes):
        sums[-1] = 1.0
    return sums


def rescale(member: Member, a: Floats, c: Floats, missing: Ints) -> None:
    """Places became a * z + c, and stay 0 where the place `missing` says so is 1. A view is changed in place.

    The linear models and the trees become what they would be had all been learned so; cosines go on as they are.
    """
    if (a == 1.0).all() and (c == 0.0).all():
        return
    n, arms = len(a), member.arms
    nodes, cuts = forest_nodes(member), forest_cuts(member).reshape(-1, forest_cuts(member).shape[2])
    split, set_ = nodes[:, p.LEFT] > 0.0, cuts[:, p.SET] > 0.0
    at = nodes[split, p.AT].astype(np.int64)
    nodes[split, p.THRESHOLD] = np.clip(a[at] * nodes[split, p.THRESHOLD] + c[at], -FAR, FAR)
    at = cuts[set_, 0].astype(np.int64)
    cuts[set_, 1] = np.clip(a[at] * cuts[set_, 1] + c[at], -FAR, FAR)
    weights, covariances = linear_models(member)
    precision = piece(member, p.RIDGE, n)
    exact = arms * n**3 <= EXACT
    for m in range(arms):
        prior = np.diag(1.0 / precision)
        if not np.array_equal(covariances[m, :n, :n], prior):
            move = _moved_exactly if exact else _moved
            w, P = move(weights[m, :n], covariances[m, :n, :n], precision, a, c, missing)
            if not is_regression(w[None], P[None]):
                w, P = np.zeros(n), prior
            weights[m, :n], covariances[m, :n, :n] = w, P


def is_regression(weights: Floats, covariances: Floats) -> bool:
    """Weights of some size, and covariances whose entries are no larger than their variances allow; a row, and a matrix, for each model."""
    spread = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    allowed = spread[:, :, None] * spread[:, None] * (1.0 + 1e-3) + 1e-9
    return bool((np.abs(covariances) <= allowed).all() and (spread < MOST_SPREAD).all() and (np.abs(weights) < MOST_SIZE).all())


def _moved_exactly(w: Floats, P: Floats, precision: Floats, a: Floats, c: Floats, missing: Ints) -> tuple[Floats, Floats]:
    """A linear model for places that moved, its prior being what it was. O(places^3)."""
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


def _moved(w: Floats, P: Floats, precision: Floats, a: Floats, c: Floats, missing: Ints) -> tuple[Floats, Floats]:
    """The same, its prior being moved too. O(places^2) for each place that moved. What is TINY now begins anew.

    So does a weight of which nearly nothing is known in the new units. The next round would take its variance from LARGEST to about 1, in
    steps of LARGEST * 2^-53; from much larger ones, variances came out below 0, and weights without end.
    """
    gone = (a < TINY) | (np.diag(P) > LARGEST * a * a)
    scale = np.where(gone, 0.0, 1.0 / np.maximum(a, TINY))

    def turned(rows: Floats) -> Floats:
        """What the weights become, of a table with a row a weight; sums in a fixed order."""
        new = scale[:, None] * rows
        for i in np.flatnonzero((c != 0.0) & ~gone):
            new[0] -= c[i] / a[i] * rows[i]
            if missing[i] >= 0:
                new[missing[i]] += c[i] / a[i] * rows[i]
        return new

    moved = turned(turned(P).T) + np.diag(np.where(gone, 1.0 / precision, 0.0))
    if (
        np.abs(moved - moved.T) > SKEW
    ).any():  # learning never brings the halves together again, and each move parts them further
        moved = 0.5 * (moved + moved.T)
    return turned(w[:, None])[:, 0], moved


def resized_ensemble(member: Member, room: int, arms: int) -> Member:
    """The same ensemble with room for more places, or one more arm; or with room for fewer, the last of which it forgets."""
    before = EnsembleView(member)
    old_arms, old_room, places = before.arms, min(before.room, room), min(before.places, room)
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
    at = np.arange(places)
    covariances[old_arms:, at, at] = 1.0 / piece(wider, p.RIDGE, places)
    new, old = cosine_models(wider), cosine_models(member)
    some = slice(cosines + 1)  # with many arms, fewer cosines, each larger: what was learned of the others is left out
    ratio = np.ones(cosines + 1)
    ratio[1:] = math.sqrt(cosines / before.cosines)
    new[0][:old_room], new[1][:] = old[0][:old_room, :cosines], old[1][:cosines]
    new[2][:old_arms] = old[2][:, some] * ratio
    new[3][:old_arms, :, some] = old[3][:, some, some] * (ratio[:, None] * ratio)
    at = np.arange(cosines + 1)
    new[3][old_arms:] = 0.0
    new[3][old_arms:, at, at] = 1.0 / piece(wider, p.RIDGE, 1 + cosines, skip=room)
    after = EnsembleView(wider)
    blocks, nodes = min(before.blocks_used, after.blocks), before.nodes_used
    I[p.PLACES] = places
    hung_as(member, wider)
    if nodes > after.nodes or max(forest_nodes(member)[:, p.AT].max(), forest_cuts(member)[..., 0].max()) >= places:
        compiled()[0].look_again(*wider)  # its cuts were drawn when it knew of no place but the constant
        return wider  # with more arms there is no room for so large a forest, or what it cuts at is forgotten: it grows anew
    I[p.PLACES], I[p.NODES_USED], I[p.BLOCKS_USED], I[p.SEED] = places, nodes, blocks, before.seed
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
