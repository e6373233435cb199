"""The warm start of a new arm of an ensemble: from similar arms, worth a few plays, so that its own plays soon outweigh them."""

from __future__ import annotations

import numpy as np

from ...types import Floats, Ints
from ..kernels.words import ensemble as p
from .ensemble import compiled, cosine_models, forest_cuts, forest_nodes, linear_models, piece
from .member import Member
from .views import EnsembleView

PLAYS = 30.0  # the largest worth of the other arms, and the plays after which an arm has full weight
TEACHERS = 16  # arms that are averaged at most
DOUBT = 10.0  # plays that the prior is worth in averages of weights


def warm_start(member: Member, arm: int, similarity: Floats) -> float:
    """Set the models of an arm without plays to an average of the other arms'. Return its worth in plays. Changes a view in place.

    Arm b has the weight u_b = s_b min(n_b, PLAYS), with n_b its plays in its long memory. The average is worth N = min(sum u, PLAYS)
    plays, N u_b / sum u of them from b, whose counts are scaled to that. In the forest these are the new counts. In a regression they are
    the information; the weights are the average, N parts to DOUBT parts of the prior.
    O(TEACHERS * (columns^3 + cosines^3) + nodes).
    """
    ensemble = EnsembleView(member)
    memories = piece(member, p.STACK, member.arms, 4, skip=p.MEMORIES)
    say = similarity * np.minimum(memories[:, 3], PLAYS)
    say[arm] = 0.0
    teachers = np.argsort(-say, kind="stable")[:TEACHERS]
    teachers = teachers[say[teachers] > 0.0]
    total = float(say[teachers].sum())
    if not total > 0.0:
        return 0.0
    worth = say[teachers] * min(1.0, PLAYS / total)
    stack = piece(member, p.STACK, p.MEMORIES)
    offset = (stack[p.LOST] + 1.0) / (stack[p.ROUNDS] + 2.0) - 0.5
    n, room = ensemble.columns, ensemble.room
    _regress(*linear_models(member), piece(member, p.RIDGE, n), arm, teachers, worth, offset)
    _, phases, *models = cosine_models(member)
    _regress(models[0], models[1], piece(member, p.RIDGE, len(phases) + 1, skip=room), arm, teachers, worth, offset)
    _count(member, arm, teachers, worth)
    return float(worth.sum())


def _regress(
    weights: Floats, covariances: Floats, precision: Floats, arm: int, teachers: Ints, worth: Floats, offset: float
) -> None:
    """Set the weights and the covariance of an arm.

    The average is over weights that include the average loss as the prior mean (`_from_average` of the kernel); it is subtracted at the end.
    """
    n, plays = len(precision), float(worth.sum())
    information, mean = np.diag(precision), np.zeros(n)
    for b, own in zip(teachers.tolist(), worth.tolist(), strict=True):
        P = covariances[b, :n, :n]
        mean += own * (weights[b, :n] + offset * precision[0] * P[0])
        seen = _inverse(P) - np.diag(precision)
        information += own / max(float(seen[0, 0]), own) * seen  # the constant's column counts plays
    mean[0] += DOUBT * offset
    P = _inverse(information)
    weights[arm, :n] = mean / (plays + DOUBT) - offset * precision[0] * P[0]
    covariances[arm, :n, :n] = P


def _inverse(matrix: Floats) -> Floats:
    inverse = np.array(matrix, order="C")
    compiled()[1].invert(inverse, np.zeros_like(inverse), len(inverse))
    return inverse


def _count(member: Member, arm: int, teachers: Ints, worth: Floats) -> None:
    """Set the counts of an arm in all nodes and cuts of the forest. The first tree's root counts plays."""
    nodes, cuts, arms = forest_nodes(member), forest_cuts(member), member.arms
    for table, start in ((nodes, p.COUNTS), (cuts, p.WATCH), (cuts, p.WATCH + 2 * arms)):
        new = table[..., start + 2 * arm : start + 2 * arm + 2]
        for b, own in zip(teachers.tolist(), worth.tolist(), strict=True):
            seen = float(nodes[0, p.COUNTS + 2 * b : p.COUNTS + 2 * b + 2].sum())
            new += own / max(seen, own) * table[..., start + 2 * b : start + 2 * b + 2]
