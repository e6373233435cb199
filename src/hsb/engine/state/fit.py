"""An ensemble fitted to rows that are known whole: how much each feature is believed, the models, and how they are weighed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...types import Floats, Ints
from ..kernels.words import ensemble as p
from .ensemble import compiled, cosine_models, linear_models, piece
from .member import Member
from .views import EnsembleView

FOLDS = 3  # a forest predicts rows that it was grown without
STEPS = 6  # towards the precisions that the rows speak for
MOST_JUDGES = 8  # arms, those with the most rows, by which precisions are chosen
LEAST_PRECISION, MOST_PRECISION = 0.1, 10000.0  # so that what comes later can still change a weight
LEAST_NOISE = 1e-4  # of a loss: its variance about what is predicted


class FitRows(NamedTuple):
    """Rows of a log: `z` has a row for each place and a column for each row of the log; its arm and its loss."""

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
    """Fit every model of an ensemble to rows, in place of what it has learned. `inputs` says of each place which feature it belongs to, -1
    none.

    Features, and cosines, get the precision under which the rows are most probable (MacKay 1992), so that columns that say nothing weigh
    nothing. Models are weighed by what they predict of rows that they were fitted without. O(rows * (places^2 + cosines^2 + cuts)).
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
    """How many rounds an ensemble has learned since it, or the world, began."""
    return int(piece(member, p.STACK, p.MEMORIES)[p.ROUNDS])


def begin_own_rounds(member: Member) -> None:
    """All that an ensemble learned so far came from a log: it is as curious as it has played itself."""
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
    """How much each place's feature moves what is predicted: the root mean square over arms, relative to that over features."""
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
        at = np.flatnonzero(inputs == feature)
        parts = weights[:, at]
        squares = ((parts[:, :, None] * parts[:, None, :]) * spread[np.ix_(at, at)]).sum(axis=(1, 2))
        moves[at] = np.sqrt(max(float(squares.mean()), 0.0))
    each = np.array([moves[inputs == feature][0] for feature in features])
    size = np.sqrt((each * each).mean()) if len(each) else 0.0
    return moves / size if size > 0.0 else np.ones(len(inputs))


def _fit_curves(member: Member, rows: FitRows, moves: Floats, forecasts: Floats) -> None:
    """Cosines of directions as they were made, or along the features that move linear forecasts: whichever predict better."""
    frequencies = cosine_models(member)[0][: len(rows.z)]
    as_made = frequencies.copy()
    along = as_made * np.sqrt(moves)[:, None]
    wrong = [_fit_cosines(member, rows, each, forecasts) for each in (as_made, along)]
    if wrong[0] <= wrong[1]:
        _fit_cosines(member, rows, as_made, forecasts)


def _fit_cosines(member: Member, rows: FitRows, frequencies: Floats, forecasts: Floats) -> float:
    """Ridge regressions on cosines of these frequencies; what they predict of rows left out, and the sum of its squared errors."""
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
    """What an arm is expected to lose beyond 1/2 before anything is known of it."""
    return (float(rows.loss.sum()) + 1.0) / (len(rows.loss) + 2.0) - 0.5


def _solved(sums: _Sums, m: int, precision: Floats, expected: float) -> tuple[Floats, Floats]:
    """The weights of an arm, that of the constant being `expected` beforehand, and their covariance for noise of variance 1."""
    P = sums.A[m].copy()
    P[np.diag_indices(len(P))] += precision
    compiled()[1].invert(P, np.zeros_like(P), len(P))
    b = sums.b[m].copy()
    b[0] += precision[0] * expected
    return (P * b).sum(axis=1), P


def _precisions(sums: _Sums, precision: Floats, groups: Ints, expected: float) -> Floats:
    """A precision for each group of weights, the same for all arms: that under which what was seen is most probable.

    Each step sets it to noise * (how many weights of the group the rows determine) / (the sum of their squares). That of the constant,
    whose group is -1, stays.
    """
    found, some = precision.copy(), groups >= 0
    if not some.any():
        return found
    judges = np.argsort(-sums.rows, kind="stable")[:MOST_JUDGES]
    count, own, most = int(groups.max()) + 1, groups[some], min(max(float(sums.rows.sum()), 1.0), MOST_PRECISION)
    for _ in range(STEPS):
        known, sizes = np.zeros(count), np.zeros(count)
        for m in judges[sums.rows[judges] > 0.0]:
            w, P = _solved(sums, m, found, expected)
            wrong = sums.squares[m] - 2.0 * (w * sums.b[m]).sum() + (w * (sums.A[m] * w).sum(axis=1)).sum()
            noise = max(wrong / sums.rows[m], LEAST_NOISE)
            known += np.bincount(own, 1.0 - (found * np.diag(P))[some], count)
            sizes += np.bincount(own, w[some] ** 2, count) / noise
        each = np.clip(np.maximum(known, 0.0) / np.maximum(sizes, 1e-12), LEAST_PRECISION, most)
        found[some] = each[own]
    return found


def _fit_forest(member: Member, rows: FitRows, forecasts: Floats) -> None:
    """Trees, and what trees that were grown without it predict of each row."""
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
