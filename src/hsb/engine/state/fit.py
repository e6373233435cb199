"""The fit of an ensemble to a whole log: the precision of each feature, the models, and their weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...types import Floats, Ints
from ..kernels.words import ensemble as p
from .ensemble import compiled, cosine_models, linear_models, piece
from .member import Member
from .views import EnsembleView

FOLDS = 3  # a forest predicts rows that it was not grown on
STEPS = 6  # towards the most probable precisions
MOST_JUDGES = 8  # arms, those with the most rows, by which precisions are chosen
LEAST_PRECISION, MOST_PRECISION = 0.1, 10000.0  # so that later updates can still change a weight
LEAST_NOISE = 1e-4  # of a loss: its variance about the prediction


class FitRows(NamedTuple):
    """Rows of a log: `z` has a row for each column and a column for each row of the log; its arm and its loss."""

    z: Floats
    arm: Ints
    loss: Floats


class _Sums(NamedTuple):
    """For each arm the sums of x x', of x (loss - 1/2) and of (loss - 1/2)^2, and its rows."""

    A: Floats
    b: Floats
    squares: Floats
    rows: Floats


def fit_ensemble(member: Member, rows: FitRows, inputs: Ints) -> None:
    """Fit every model of an ensemble to rows, replacing what it learned. `inputs`: the feature of each column, -1 for the constant.

    Features, and cosines, get the precision under which the rows are most probable (MacKay 1992), so that uninformative columns get no
    weight. Models are weighted by their predictions of rows that they were not fitted to. O(rows * (columns^2 + cosines^2 + cuts)).
    """
    kernels, ensemble = _compiled(), EnsembleView(member)
    stack = piece(member, p.STACK, p.MEMORIES + 4 * ensemble.arms)
    compiled()[0].begin(*member)
    stack[[p.ROUNDS, p.LOST, p.LOGGED]] = len(rows.loss), rows.loss.sum(), len(rows.loss)
    forecasts = np.empty((p.INPUTS - 1, len(rows.loss)))
    moves = _fit_linear(member, rows, inputs)
    kernels.left_out(*member, *rows, np.empty(ensemble.room), forecasts[0], False)
    _fit_curves(member, rows, moves, forecasts[2])
    _fit_forest(member, rows, forecasts[1])
    kernels.weigh(*member, forecasts, rows.loss, np.empty(p.INPUTS), np.empty(p.INPUTS))


def rounds_known(member: Member) -> int:
    """Return the number of rounds that an ensemble has learned since it, or the environment, began."""
    return int(piece(member, p.STACK, p.MEMORIES)[p.ROUNDS])


def begin_own_rounds(member: Member) -> None:
    """Mark all updates so far as rounds of a log: exploration depends on the ensemble's own rounds only."""
    stack = piece(member, p.STACK, p.MEMORIES)
    stack[p.LOGGED] = stack[p.ROUNDS]


def _compiled() -> Any:
    from ..kernels import fit

    return fit


def _sums(member: Member, rows: FitRows, *, curved: bool) -> _Sums:
    arms = member.arms
    n = EnsembleView(member).cosines + 1 if curved else len(rows.z)
    A, b = np.zeros((arms, n, n)), np.zeros((arms, n))
    _compiled().add_rows(*member, *rows, np.empty(EnsembleView(member).room), A, b, curved)
    squares = np.bincount(rows.arm, (rows.loss - 0.5) ** 2, arms).astype(np.float64)
    return _Sums(A, b, squares, np.bincount(rows.arm, minlength=arms).astype(np.float64))


def _fit_linear(member: Member, rows: FitRows, inputs: Ints) -> Floats:
    """Fit the linear models, and return how much each column's feature moves predictions: the RMS over arms, relative to that over features."""
    n, sums = len(rows.z), _sums(member, rows, curved=False)
    precision = piece(member, p.RIDGE, n)
    precision[:] = _precisions(sums, precision, inputs, _expected(rows))
    weights, covariances = linear_models(member)
    for m in range(member.arms):
        weights[m, :n], covariances[m, :n, :n] = _solved(sums, m, precision, 0.0)
    own = np.array([_solved(sums, m, precision, _expected(rows))[0] for m in range(member.arms)])
    return _moves(sums, own, inputs)


def _moves(sums: _Sums, weights: Floats, inputs: Ints) -> Floats:
    rows = max(float(sums.rows.sum()), 1.0)
    A = sums.A.sum(axis=0) / rows
    spread = A - A[0][:, None] * A[0]
    features = np.unique(inputs[inputs >= 0])
    moves = np.zeros(len(inputs))
    for feature in features:
        columns = np.flatnonzero(inputs == feature)
        parts = weights[:, columns]
        squares = ((parts[:, :, None] * parts[:, None, :]) * spread[np.ix_(columns, columns)]).sum(axis=(1, 2))
        moves[columns] = np.sqrt(max(float(squares.mean()), 0.0))
    each = np.array([moves[inputs == feature][0] for feature in features])
    size = np.sqrt((each * each).mean()) if len(each) else 0.0
    return moves / size if size > 0.0 else np.ones(len(inputs))


def _fit_curves(member: Member, rows: FitRows, moves: Floats, forecasts: Floats) -> None:
    """Fit cosines with the original directions, or along features that move linear forecasts: whichever predict better."""
    frequencies = cosine_models(member)[0][: len(rows.z)]
    original = frequencies.copy()
    along = original * np.sqrt(moves)[:, None]
    wrong = [_fit_cosines(member, rows, each, forecasts) for each in (original, along)]
    if wrong[0] <= wrong[1]:
        _fit_cosines(member, rows, original, forecasts)


def _fit_cosines(member: Member, rows: FitRows, frequencies: Floats, forecasts: Floats) -> float:
    """Fit ridge regressions on cosines of these frequencies; fill `forecasts` of rows left out, and return their sum of squared errors."""
    cosine_models(member)[0][: len(rows.z)] = frequencies
    ensemble, sums = EnsembleView(member), _sums(member, rows, curved=True)
    precision = piece(member, p.RIDGE, ensemble.cosines + 1, skip=ensemble.room)
    groups = np.zeros(ensemble.cosines + 1, dtype=np.int64)
    groups[0] = -1
    precision[:] = _precisions(sums, precision, groups, _expected(rows))
    _, _, weights, covariances = cosine_models(member)
    for m in range(member.arms):
        weights[m], covariances[m, :, : ensemble.cosines + 1] = _solved(sums, m, precision, 0.0)
    _compiled().left_out(*member, *rows, np.empty(ensemble.room), forecasts, True)
    return float(((rows.loss - 0.5 - forecasts) ** 2).sum())


def _expected(rows: FitRows) -> float:
    """Return the prior mean of an arm's loss, less 1/2."""
    return (float(rows.loss.sum()) + 1.0) / (len(rows.loss) + 2.0) - 0.5


def _solved(sums: _Sums, m: int, precision: Floats, expected: float) -> tuple[Floats, Floats]:
    """Return the weights of an arm, with prior mean `expected` of the constant's, and their covariance for noise of variance 1."""
    P = sums.A[m].copy()
    P[np.diag_indices(len(P))] += precision
    compiled()[1].invert(P, np.zeros_like(P), len(P))
    b = sums.b[m].copy()
    b[0] += precision[0] * expected
    return (P * b).sum(axis=1), P


def _precisions(sums: _Sums, precision: Floats, groups: Ints, expected: float) -> Floats:
    """Return the most probable precision of each group of weights, the same for all arms.

    Each step sets it to noise * (number of weights of the group that the rows determine) / (sum of their squares). The constant's, with
    group -1, stays.
    """
    result, some = precision.copy(), groups >= 0
    if not some.any():
        return result
    judges = np.argsort(-sums.rows, kind="stable")[:MOST_JUDGES]
    count, own, most = int(groups.max()) + 1, groups[some], min(max(float(sums.rows.sum()), 1.0), MOST_PRECISION)
    for _ in range(STEPS):
        known, sizes = np.zeros(count), np.zeros(count)
        for m in judges[sums.rows[judges] > 0.0]:
            w, P = _solved(sums, m, result, expected)
            wrong = sums.squares[m] - 2.0 * (w * sums.b[m]).sum() + (w * (sums.A[m] * w).sum(axis=1)).sum()
            noise = max(wrong / sums.rows[m], LEAST_NOISE)
            known += np.bincount(own, 1.0 - (result * np.diag(P))[some], count)
            sizes += np.bincount(own, w[some] ** 2, count) / noise
        each = np.clip(np.maximum(known, 0.0) / np.maximum(sizes, 1e-12), LEAST_PRECISION, most)
        result[some] = each[own]
    return result


def _fit_forest(member: Member, rows: FitRows, forecasts: Floats) -> None:
    """Grow the trees, and fill `forecasts` with the predictions of trees grown without the row."""
    kernels, ensemble, n = _compiled(), EnsembleView(member), len(rows.loss)
    order, other = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    spans = np.empty((ensemble.nodes, 3), dtype=np.int64)
    sides, z = np.empty(p.WATCH + 4 * ensemble.arms), np.empty(ensemble.room)
    fold = np.empty(n, dtype=np.int64)
    kernels.deal(fold, FOLDS)
    for k in [*range(FOLDS), FOLDS]:
        some = np.flatnonzero(fold != k)
        kernels.grow(*member, *rows, some, order[: len(some)], other, spans, sides)
        kernels.count(*member, *rows, some, z)
        if k < FOLDS:
            kernels.predict(*member, rows.z, rows.arm, np.flatnonzero(fold == k), z, forecasts)
    kernels.watch(*member)
