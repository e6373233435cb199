"""A model of who wrote a log, for propensities that nobody wrote down: the probability of each arm that was available, given the context.

Multinomial logistic regression, P(arm | x) ~ exp(w_arm . x) among the arms available, with a penalty on w. x has a constant; numbers,
scaled, and their squares; categories, and numbers with few values, one by one; whether a value is missing; and which part of the log the row is
in, of twenty, since whoever wrote it may have changed or learned on the way. Cross-fitted: the rows are
dealt into five folds, and the propensity of a row comes from a model of the others; the penalty is the one that predicts the first
fold best. Fitted in memory on a sample of the log's rows, all of
them up to 2^16.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BudgetError, InputError
from ...types import Floats, Ints
from ..batch import Batch
from .fit import SURE, LoggerFit, calibrated
from .softmax import fitted, softmax

FOLDS = 5
PENALTIES = (1.0, 8.0, 64.0, 512.0)
MOST_ROWS, MOST_NUMBERS = 1 << 16, 1 << 24  # of the sample: rows, and rows times arms and features
MOST_ARMS = 2000
PARTS = 20  # of the log, one after the other
LEAST = 0.01  # times uniform: no propensity is below
FEW_VALUES = 32  # of a number whose values are taken one by one, and the most of a category that are
RARE = 5  # a value that appears less often is not taken by itself
FARTHEST = 4.0  # standard deviations


class RowSample:
    """Rows of a log, some of them where they are many: which ones is a matter of their numbers, and of nothing else."""

    def __init__(self) -> None:
        self.rows = 0
        self.parts: list[tuple[Ints, Batch]] = []  # numbers of rows, and the rows
        self.share = 1 << 64  # rows whose hash is below are kept

    def add(self, batch: Batch) -> None:
        """Take in the next rows."""
        number = np.arange(self.rows, self.rows + len(batch))
        self.rows += len(batch)
        self.parts.append((number, batch))
        width = batch.contexts.shape[1] + len(batch.arms)
        most = min(MOST_ROWS, max(MOST_NUMBERS // width, 1000))
        if self.share < 1 << 64:
            self._thin(-1)
        while sum(len(number) for number, _ in self.parts) > most:
            self.share >>= 1
            self._thin(0)

    def _thin(self, first: int) -> None:
        for k in range(first % len(self.parts), len(self.parts)):
            number, batch = self.parts[k]
            kept = scattered(number) < np.uint64(self.share)
            self.parts[k] = number[kept], batch.take(kept)

    def columns(self, arms: int, *, all_available: bool) -> tuple[Ints, Floats, Ints, NDArray[np.bool_]]:
        """Numbers of the rows, contexts, the arms shown, and which arms were available."""
        batches = [batch for _, batch in self.parts]
        available = np.ones((sum(map(len, batches)), arms), dtype=np.bool_)
        at = 0
        for batch in batches if not all_available else []:
            available[at : at + len(batch)] = batch.pools.table(arms)[batch.pool]
            at += len(batch)
        number = np.concatenate([number for number, _ in self.parts])
        contexts, arm = (np.concatenate([getattr(batch, name) for batch in batches]) for name in ("contexts", "arm"))
        return number, contexts, arm, available


def scattered(number: Ints) -> NDArray[np.uint64]:
    """64 bits that look random, for each whole number (Steele, Lea and Flood 2014: splitmix64).

    >>> len(set((scattered(np.arange(1000)) >> np.uint64(48)).tolist())) > 900
    True
    """
    z = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class ColumnTerms(NamedTuple):
    """How one column becomes several: scaled, squared, its commoner values one by one, and whether it is missing."""

    about: float
    spread: float
    is_scaled: bool
    is_squared: bool
    values: Floats
    is_missing: bool

    @classmethod
    def of(cls, column: Floats, *, is_category: bool) -> "ColumnTerms":
        """What the rows of a sample say of a column."""
        there = column[np.isfinite(column)]
        values, counts = np.unique(there, return_counts=True)
        by_value = is_category or 2 < len(values) <= FEW_VALUES
        common = np.argsort(-counts, kind="stable")[:FEW_VALUES]
        kept = np.sort(values[common][counts[common] >= RARE]) if by_value else np.zeros(0)
        spread = float(there.std()) if len(there) and not is_category else 0.0
        is_scaled = spread > 0.0 and np.isfinite(spread)
        about = float(there.mean()) if is_scaled else 0.0
        return cls(about, spread, is_scaled, is_scaled and not by_value and len(values) > 2, kept, len(there) < len(column))

    def places(self, column: Floats) -> list[Floats]:
        """The columns that the model sees."""
        is_there = np.isfinite(column)
        made: list[Floats] = []
        if self.is_scaled:
            scaled = np.where(is_there, (np.where(is_there, column, 0.0) - self.about) / self.spread, 0.0)
            scaled = np.clip(scaled, -FARTHEST, FARTHEST)
            made += [scaled, scaled * scaled - 1.0] if self.is_squared else [scaled]
        made += [(column == value).astype(np.float64) for value in self.values]
        return [*made, (~is_there).astype(np.float64)] if self.is_missing else made


class LoggerModel:
    """The fitted model: a matrix of weights for each fold, of the rows of the other folds. `fit` says how good it is."""

    def __init__(self, sample: RowSample, arms: int, categories: Sequence[bool], *, all_available: bool) -> None:
        if arms > MOST_ARMS:
            raise BudgetError(f"Propensities are estimated for {MOST_ARMS:,} arms at most; this log has {arms:,}.")
        if not sample.rows:
            raise InputError("The log has no row that can be used, so its propensities cannot be estimated. See log.problems.")
        number, contexts, arm, available = sample.columns(arms, all_available=all_available)
        self.rows = sample.rows
        self.features = [ColumnTerms.of(contexts[:, j], is_category=is_one) for j, is_one in enumerate(categories)]
        self.features.append(ColumnTerms.of(self._part(number), is_category=True))
        X, fold = self._design(contexts, number), number % FOLDS
        self.weights = _cross_fitted(X, arm, available, fold)
        self.fit = self._judged(self._probabilities(X, fold, available), _frequencies(arm, fold, available), arm, available)

    def propensities(self, batch: Batch, first: int) -> Floats:
        """Those of the arms shown; `first` is the number of the first row."""
        available = batch.pools.table(self.weights[0].shape[1])[batch.pool]
        number = np.arange(first, first + len(batch))
        probabilities = self._probabilities(self._design(batch.contexts, number), number % FOLDS, available)
        return _bounded(probabilities[np.arange(len(batch)), batch.arm], available)

    def _part(self, number: Ints) -> Floats:
        return (number * PARTS // self.rows).astype(np.float64)

    def _design(self, contexts: Floats, number: Ints) -> Floats:
        columns = [*contexts.T, self._part(number)]
        places = [place for feature, column in zip(self.features, columns, strict=True) for place in feature.places(column)]
        return np.column_stack([np.ones(len(contexts)), *places])

    def _probabilities(self, X: Floats, fold: Ints, available: NDArray[np.bool_]) -> Floats:
        table = np.zeros(available.shape)
        for k in range(FOLDS):
            rows = fold == k
            table[rows] = softmax(X[rows] @ self.weights[k], available[rows])
        return table

    def _judged(self, probabilities: Floats, frequencies: Floats, arm: Ints, available: NDArray[np.bool_]) -> LoggerFit:
        rows = np.arange(len(arm))
        shown = np.zeros(available.shape)
        shown[rows, arm] = 1.0
        bins, error = calibrated(probabilities[available], shown[available])
        own, sizes = probabilities[rows, arm], available.sum(axis=1)
        propensity = _bounded(own, available)
        return LoggerFit(
            rows=len(arm),
            arms=available.shape[1],
            log_likelihood=float(np.log(np.maximum(own, 1e-300)).mean()),
            frequencies=float(np.log(frequencies[rows, arm]).mean()),
            uniform=float(-np.log(sizes).mean()),
            calibration=bins,
            calibration_error=error,
            smallest=float(propensity.min()),
            low=float(np.quantile(propensity, 0.01)),
            bounded=int((propensity > own).sum()),
            sure=float((own >= SURE).mean()),
        )


def _cross_fitted(X: Floats, arm: Ints, available: NDArray[np.bool_], fold: Ints) -> list[Floats]:
    """For each fold the weights of a model of the others, with the penalty whose model predicts the first fold best."""
    others = [(X[fold != k], arm[fold != k], available[fold != k]) for k in range(FOLDS)]
    kept, rows = np.flatnonzero(fold == 0), np.arange(int((fold == 0).sum()))
    tried: list[tuple[float, float, Floats]] = []
    weights = nothing = np.zeros((X.shape[1], available.shape[1]))  # where each begins: a fold must not hear of its own rows
    for penalty in reversed(PENALTIES):
        weights = fitted(*others[0], weights, penalty)
        probabilities = softmax(X[kept] @ weights, available[kept])[rows, arm[kept]]
        tried.append((float(np.log(np.maximum(probabilities, 1e-300)).sum()), penalty, weights))
    _, penalty, weights = max(tried, key=lambda each: each[0])
    return [weights, *(fitted(*others[k], nothing, penalty) for k in range(1, FOLDS))]


def _bounded(probabilities: Floats, available: NDArray[np.bool_]) -> Floats:
    return np.asarray(np.clip(probabilities, LEAST / available.sum(axis=1), 1.0))


def _frequencies(arm: Ints, fold: Ints, available: NDArray[np.bool_]) -> Floats:
    """How often each arm was shown in the other folds, and once more, among the arms available."""
    counts = np.bincount(fold * available.shape[1] + arm, minlength=FOLDS * available.shape[1]).reshape(FOLDS, -1)
    shares = np.where(available, (counts.sum(axis=0) - counts)[fold] + 1.0, 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
