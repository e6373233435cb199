"""An ensemble of models in files: what they hold, and the checks of what is read."""

from __future__ import annotations

import numpy as np

from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import ensemble as p
from .ensemble import (
    cosine_models,
    forest_cuts,
    forest_nodes,
    is_regression,
    linear_models,
    piece,
    probability_sums,
    resized_ensemble,
)
from .member import Kind, Member
from .sound import CLOSE
from .views import EnsembleView

# Larger than rounds can reach, and small enough that nothing overflows. One further round stays within: 2^53 + 1 rounds to 2^53.
MOST_ROUNDS, MOST_EVIDENCE, MOST_PLAYS = 2.0**53, 1e100, 501.0
MOST_PRECISION = 1e9
MOST_TURNS = 1e3  # of a frequency


class Ensemble(Kind):
    """Ensembles: everything but scratch is learned; files hold the used part of the forest."""

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        return [(0, 8)]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        return [(p.ADVICE, 1)]

    def trimmed(self, member: Member) -> Member:
        learned = member.F[: EnsembleView(member).node0]
        return Member(np.concatenate([learned, forest_nodes(member).ravel(), forest_cuts(member).ravel()]), member.I)

    def bytes_in_use(self, member: Member) -> int:
        return 8 * (EnsembleView(member).node0 + forest_nodes(member).size + forest_cuts(member).size)

    def pour(self, member: Member, F: Floats, I: Ints) -> None:
        """Copy what was learned; of a trimmed member, its words."""
        own = Member(F, I)
        I[:] = member.I
        start, nodes, cuts = EnsembleView(own).node0, forest_nodes(own), forest_cuts(own)
        F[:start] = member.F[:start]
        if len(member.F) == len(F):
            nodes[:], cuts[:] = forest_nodes(member), forest_cuts(member)
        else:
            nodes[:] = member.F[start : start + nodes.size].reshape(nodes.shape)
            cuts[:] = member.F[start + nodes.size :].reshape(cuts.shape)
        logs = int(I[h.HEADER]) + own.width
        F[logs : logs + own.arms] = -np.inf

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        """Return whether the header is that of the settings and the numbers of nodes and cuts match it."""
        free = [p.ADVICE, p.NODES_USED, p.BLOCKS_USED, p.SEED]
        if I.shape != fresh.I.shape or not np.array_equal(np.delete(I, free), np.delete(fresh.I, free)):
            return False
        ensemble = EnsembleView(Member(F, I))
        n, blocks = ensemble.nodes_used, ensemble.blocks_used
        if not (p.TREES <= n <= ensemble.nodes and p.TREES <= blocks <= ensemble.blocks and 0 <= ensemble.seed < MOST_ROUNDS):
            return False
        return len(F) == ensemble.node0 + n * (2 * ensemble.arms + p.COUNTS) + blocks * p.CUTS * (4 * ensemble.arms + p.WATCH)

    def empty(self, F: Floats, I: Ints, fresh: Member) -> Member:
        """Return a member with as many nodes and cuts as the file."""
        own = super().empty(F, I, fresh)
        own.I[[p.NODES_USED, p.BLOCKS_USED, p.SEED]] = I[[p.NODES_USED, p.BLOCKS_USED, p.SEED]]
        return own

    def take(self, own: Member, F: Floats) -> bool:
        """Take models, stack, probabilities and forest for the used columns; constant parts must be as in a new member."""
        stored, start = Member(F, own.I), EnsembleView(own).node0
        nodes, cuts = forest_nodes(own), forest_cuts(own)
        theirs = F[start : start + nodes.size].reshape(nodes.shape), F[start + nodes.size :].reshape(cuts.shape)
        if not (
            np.isfinite(F[8:]).all() and _are_models(stored) and _is_forest(theirs[0], theirs[1], EnsembleView(own).columns)
        ):
            return False
        if not all(np.array_equal(mine, fixed) for mine, fixed in zip(_fixed_parts(stored), _fixed_parts(own), strict=True)):
            return False
        for mine, learned in zip(_learned_parts(own), _learned_parts(stored), strict=True):
            mine[...] = learned
        nodes[:], cuts[:] = theirs
        return True

    def add_arm(self, member: Member) -> Member:
        return resized_ensemble(member, EnsembleView(member).room, member.arms + 1)


def _fixed_parts(member: Member) -> list[Floats]:
    """Return the constant parts of a whole or a trimmed member: the phases."""
    return [cosine_models(member)[1]]


def _learned_parts(member: Member) -> list[Floats]:
    """Return the learned parts of the models, for the used columns; views.

    Precisions, frequencies and probabilities depend on the features at the time when the last place was added. That cannot be derived
    later: once all columns are used, a new feature shares the column of another, and probabilities stay.
    """
    ensemble = EnsembleView(member)
    n, cosines = ensemble.columns, ensemble.cosines
    weights, covariances = linear_models(member)
    frequencies, _, more, others = cosine_models(member)
    stack = piece(member, p.STACK, p.MEMORIES + 4 * ensemble.arms)
    precision = piece(member, p.RIDGE, ensemble.room + cosines + 1)
    each = [precision[:n], precision[ensemble.room :], frequencies[:n], weights[:, :n], covariances[:, :n, :n]]
    return [*each, more, others[:, :, : cosines + 1], stack[: p.MEMORIES], stack[p.MEMORIES :], piece(member, p.PROBABILITY, n)]


def _are_models(member: Member) -> bool:
    """Return whether the numbers of the regressions and the stack are possible."""
    precision, cosine_precision, frequencies, weights, covariances, more, others, stack, memories, sums = _learned_parts(member)
    if not _are_probabilities(sums):
        return False
    rounds, lost, evidence, logged = stack[[p.ROUNDS, p.LOST, p.EVIDENCE, p.LOGGED]]
    for each in (precision, cosine_precision):
        if not ((each >= 1.0 / MOST_PRECISION) & (each <= MOST_PRECISION)).all():
            return False
    plays, residuals = memories[1::2], np.abs(memories[::2])
    if (
        not ((plays >= 0.0) & (plays <= MOST_PLAYS) & (residuals <= plays + CLOSE)).all()
        or (np.abs(frequencies) > MOST_TURNS).any()
    ):
        return False
    if not (0.0 <= lost <= rounds * (1.0 + CLOSE) and rounds <= MOST_ROUNDS and 1.0 <= evidence <= MOST_EVIDENCE):
        return False
    if not 0.0 <= logged <= rounds:
        return False
    own = (
        stack[p.WEIGHTS : p.WEIGHTS + p.INPUTS][None],
        stack[p.COVARIANCE : p.COVARIANCE + p.INPUTS**2].reshape(1, p.INPUTS, -1),
    )
    return all(is_regression(*model) for model in ((weights, covariances), (more, others), own))


def _are_probabilities(sums: Floats) -> bool:
    """Return whether these are the cumulative probabilities of `set_columns` for some grouping of columns into features. O(columns^2)."""
    if len(sums) == 1 or sums[0] != 0.0:
        return bool(sums[0] == 0.0)
    each = np.diff(sums)
    if not (each > 0.0).all():
        return False
    for features in range(1, len(sums)):
        sizes = np.rint(1.0 / (each * features))  # of the feature that each column belongs to
        if not ((sizes >= 1.0) & (sizes < len(sums))).all():
            continue
        columns = np.bincount(sizes.astype(np.int64))
        of_size = np.arange(len(columns))
        if (columns[1:] % of_size[1:]).any() or (columns[1:] // of_size[1:]).sum() != features:
            continue
        if np.array_equal(probability_sums(sizes, features), sums):
            return True
    return False


def _is_forest(nodes: Floats, cuts: Floats, columns: int) -> bool:
    """Return whether links lead from trees to later nodes, each reached once and not too deep, and cuts to used columns."""
    blocks, cuts = len(cuts), cuts.reshape(-1, cuts.shape[2])
    whole = np.concatenate([nodes[:, [p.AT, p.LEFT, p.CUT]].ravel(), cuts[:, 0], cuts[:, p.SET]])
    counts = np.concatenate([nodes[:, p.COUNTS :].ravel(), nodes[:, [p.VISITED, p.NEXT]].ravel(), cuts[:, p.WATCH :].ravel()])
    if not ((whole >= 0.0) & (whole == np.floor(whole)) & (whole < MOST_ROUNDS)).all():
        return False
    if (
        not ((counts >= 0.0) & (counts <= MOST_ROUNDS)).all()
        or not ((nodes[:, p.STOP] >= 0.0) & (nodes[:, p.STOP] <= 1.0)).all()
    ):
        return False
    cut_columns, left, cut = nodes[:, [p.AT, p.LEFT, p.CUT]].astype(np.int64).T
    if (cut_columns >= columns).any() or (cuts[:, 0] >= columns).any() or (cuts[:, p.SET] > 1.0).any() or (cut > blocks).any():
        return False
    split, watched, n = left > 0, cut[cut > 0], len(nodes)
    if len(set(watched.tolist())) != len(watched) or cut[split].any():
        return False
    if not np.array_equal(np.sort(left[split]), np.arange(p.TREES, n, 2)) or (left[split] <= np.flatnonzero(split)).any():
        return False
    depth = np.ones(n, dtype=np.int64)
    for parent in np.flatnonzero(split):
        depth[left[parent] : left[parent] + 2] = depth[parent] + 1
    return bool(depth.max() <= p.DEEPEST)


Ensemble(h.ENSEMBLE)
