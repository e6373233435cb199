"""A new arm of an ensemble begins with what similar arms taught, worth a few plays, so that its own soon outweigh it."""

from __future__ import annotations

import numpy as np

from ...types import Floats, Ints
from ..kernels.words import ensemble as p
from .ensemble import compiled, cosine_models, forest_cuts, forest_nodes, linear_models, piece
from .member import Member
from .views import EnsembleView

PLAYS = 30.0  # that what others taught is worth at most, and after which an arm has its full say
TEACHERS = 16  # arms that are listened to at most
DOUBT = 10.0  # plays that the prior is worth beside them, where weights are averaged


def warm_start(member: Member, arm: int, similarity: Floats) -> float:
    """Of an arm never played, the models begin at an average of the other arms'; how many plays that is worth. A view is changed in place.

    Arm b has the say u_b = s_b min(n_b, PLAYS), n_b being its own plays as its long memory counts them. The average is worth
    N = min(sum u, PLAYS) plays, N u_b / sum u of them b's; what b counted is scaled to that. In the forest these are the new counts. In
    a regression they are its information; its weights are the average of theirs, N parts to DOUBT parts of the prior.
    O(TEACHERS * (places^3 + cosines^3) + nodes).
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
    n, room = ensemble.places, ensemble.room
    _regress(*linear_models(member), piece(member, p.RIDGE, n), arm, teachers, worth, offset)
    _, phases, *models = cosine_models(member)
    _regress(models[0], models[1], piece(member, p.RIDGE, len(phases) + 1, skip=room), arm, teachers, worth, offset)
    _count(member, arm, teachers, worth)
    return float(worth.sum())


def _regress(
    weights: Floats, covariances: Floats, precision: Floats, arm: int, teachers: Ints, worth: Floats, offset: float
) -> None:
    """The weights and the covariance of an arm.

    What is averaged is what weights predict once the average loss is expected of the unknown (`_from_average` of the kernel), so that
    is taken off at the end.
    """
    n, plays = len(precision), float(worth.sum())
    information, mean = np.diag(precision), np.zeros(n)
    for b, own in zip(teachers.tolist(), worth.tolist(), strict=True):
        P = covariances[b, :n, :n]
        mean += own * (weights[b, :n] + offset * precision[0] * P[0])
        seen = _inverse(P) - np.diag(precision)
        information += own / max(float(seen[0, 0]), own) * seen  # the constant's place counts plays
    mean[0] += DOUBT * offset
    P = _inverse(information)
    weights[arm, :n] = mean / (plays + DOUBT) - offset * precision[0] * P[0]
    covariances[arm, :n, :n] = P


def _inverse(matrix: Floats) -> Floats:
    found = np.array(matrix, order="C")
    compiled()[1].invert(found, np.zeros_like(found), len(found))
    return found


def _count(member: Member, arm: int, teachers: Ints, worth: Floats) -> None:
    """The counts of an arm in all nodes and cuts of the forest. The first tree's root counts plays."""
    nodes, cuts, arms = forest_nodes(member), forest_cuts(member), member.arms
    for table, start in ((nodes, p.COUNTS), (cuts, p.WATCH), (cuts, p.WATCH + 2 * arms)):
        new = table[..., start + 2 * arm : start + 2 * arm + 2]
        for b, own in zip(teachers.tolist(), worth.tolist(), strict=True):
            seen = float(nodes[0, p.COUNTS + 2 * b : p.COUNTS + 2 * b + 2].sum())
            new += own / max(seen, own) * table[..., start + 2 * b : start + 2 * b + 2]
