"""The initial state of a new arm, written out arm by arm and number by number: the slow version of `engine/state/warm.py`."""

import math

import numpy as np

from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import ensemble as p

PLAYS, TEACHERS, DOUBT = 30.0, 16, 10.0


def similarity(encoded, index):
    """exp(-|g - g'|^2 / (2 h^2)), h^2 an eighth of the mean squared distance of two different rows."""
    n = len(encoded)
    apart = [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in encoded] for x in encoded]
    usual = sum(map(sum, apart)) / (n * (n - 1))
    return [0.0 if b == index else math.exp(-apart[index][b] / (2 * usual / 8)) for b in range(n)]


def shares(plays, similar):
    """Return the number of plays that each arm's part counts as, by arm."""
    says = {b: s * min(n, PLAYS) for b, (n, s) in enumerate(zip(plays, similar, strict=True)) if s * n > 0}
    says = dict(sorted(says.items(), key=lambda item: -item[1])[:TEACHERS])
    total = sum(says.values())
    return {b: say * min(1.0, PLAYS / total) for b, say in says.items()}


def regression(weights, covariances, precision, worth, average):
    """Return weights and covariance of the new arm, from those of all arms and their plays; `average` is the average loss."""
    prior = np.diag(precision)
    unknown = np.eye(len(precision))[0] * (average - 0.5)  # the prior mean
    whole = sum(worth.values()) + DOUBT
    told = DOUBT / whole * unknown
    information = prior.copy()
    for b, own in worth.items():
        seen = np.linalg.inv(covariances[b]) - prior
        information += own / max(seen[0, 0], own) * seen
        told = told + own / whole * (weights[b] + covariances[b] @ prior @ unknown)
    covariance = np.linalg.inv(information)
    return told - covariance @ prior @ unknown, covariance


def counts(rows, start, arm, worth, plays):
    """Return `lost` and `kept` of the new arm in each row."""
    return [
        [sum(own / max(plays[b], own) * row[start + 2 * b + k] for b, own in worth.items()) for k in range(2)] for row in rows
    ]


def parts(member):
    """Return these pieces of an ensemble as plain arrays: linear, cosines (weights, covariances, precision), nodes, cuts."""
    F, I = member
    M, room, d, k = (int(I[i]) for i in (h.ARMS, p.ROOM, p.COLUMNS, p.COSINES))
    at = int(I[p.LINEAR])
    linear = F[at : at + M * room].reshape(M, room)[:, :d]
    spread = F[at + M * room : at + M * room + M * room * room].reshape(M, room, room)[:, :d, :d]
    at, stride = int(I[p.COSINE]) + k * (room + 1), int(I[p.STRIDE])
    cosines = F[at : at + M * (k + 1)].reshape(M, k + 1)
    at += M * (k + 1)
    wide = F[at : at + M * (k + 1) * stride].reshape(M, k + 1, stride)[:, :, : k + 1]
    ridge = F[int(I[p.RIDGE]) :]
    nodes = F[int(I[p.NODE]) :][: int(I[p.NODES_USED]) * (2 * M + p.COUNTS)].reshape(-1, 2 * M + p.COUNTS)
    cuts = F[int(I[p.BLOCK]) :][: int(I[p.BLOCKS_USED]) * p.CUTS * (4 * M + p.WATCH)].reshape(-1, 4 * M + p.WATCH)
    return [(linear, spread, ridge[:d]), (cosines, wide, ridge[room : room + k + 1])], nodes, cuts
