"""A model of the logging policy, for propensities that were not logged: the probability of each available arm, given the context.

Multinomial logistic regression, P(arm | x) ~ exp(w_arm . x) among the arms available, with a penalty on w. x has a constant; numbers, scaled,
and their squares; an indicator for each category, and for each value of a number with few values; indicators of missing values; and the part
of the log that the row is in, of twenty, since the logging policy may have changed or learned meanwhile. Cross-fitted: the rows are dealt into
five folds, and the propensity of a row comes from a model of the other folds; the penalty is the one that predicts the first fold best. Fitted
in memory on a sample of the log's rows; up to 2^16, on all of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BudgetError, InputError
from ...types import Floats, Ints
from ..batch import Batch
from .fit import SURE, LoggerFit, calibration_bins
from .softmax import fit_weights, softmax

FOLDS = 5
PENALTIES = (1.0, 8.0, 64.0, 512.0)
MOST_ROWS, MOST_NUMBERS = 1 << 16, 1 << 24  # of the sample: rows, and rows times arms and features
MOST_ARMS = 2000
PARTS = 20  # of the log, one after the other
LEAST = 0.01  # times uniform: the smallest propensity
FEW_VALUES = 32  # a number with at most this many values has an indicator for each, a category for this many at most
RARE = 5  # a value that appears less often has no indicator
FARTHEST = 4.0  # standard deviations


class RowSample:
    """A sample of a log's rows, which depends on their row numbers alone; all rows of a short log."""

    def __init__(self) -> None:
        self.rows = 0
        self.parts: list[tuple[Ints, Batch]] = []  # numbers of rows, and the rows
        self.share = 1 << 64  # rows whose hash is below are kept

    def add(self, batch: Batch) -> None:
        """Add the next rows of the log."""
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
            is_kept = hash_numbers(number) < np.uint64(self.share)
            self.parts[k] = number[is_kept], batch.take(is_kept)

    def columns(self, arms: int, *, all_available: bool) -> tuple[Ints, Floats, Ints, NDArray[np.bool_]]:
        """Return row numbers, contexts, the arms shown, and which arms were available."""
        batches = [batch for _, batch in self.parts]
        available = np.ones((sum(map(len, batches)), arms), dtype=np.bool_)
        begin = 0
        for batch in batches if not all_available else []:
            available[begin : begin + len(batch)] = batch.pools.table(arms)[batch.pool]
            begin += len(batch)
        number = np.concatenate([number for number, _ in self.parts])
        contexts, arm = (np.concatenate([getattr(batch, name) for batch in batches]) for name in ("contexts", "arm"))
        return number, contexts, arm, available


def hash_numbers(number: Ints) -> NDArray[np.uint64]:
    """Hash whole numbers to 64 bits (Steele, Lea and Flood 2014: splitmix64).

    >>> len(set((hash_numbers(np.arange(1000)) >> np.uint64(48)).tolist())) > 900
    True
    """
    z = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class ColumnTerms(NamedTuple):
    """The terms of one column in the model: scaled, squared, indicators of common values, and an indicator of missing values."""

    about: float
    spread: float
    is_scaled: bool
    is_squared: bool
    values: Floats
    is_missing: bool

    @classmethod
    def of(cls, column: Floats, *, is_category: bool) -> "ColumnTerms":
        """Choose the terms of a column from the rows of a sample."""
        there = column[np.isfinite(column)]
        values, counts = np.unique(there, return_counts=True)
        by_value = is_category or 2 < len(values) <= FEW_VALUES
        common = np.argsort(-counts, kind="stable")[:FEW_VALUES]
        indicators = np.sort(values[common][counts[common] >= RARE]) if by_value else np.zeros(0)
        spread = float(there.std()) if len(there) and not is_category else 0.0
        is_scaled = spread > 0.0 and np.isfinite(spread)
        about = float(there.mean()) if is_scaled else 0.0
        is_squared = is_scaled and not by_value and len(values) > 2
        return cls(about, spread, is_scaled, is_squared, indicators, len(there) < len(column))

    def design(self, column: Floats) -> list[Floats]:
        """Return the columns of the design matrix for a column of contexts."""
        is_there = np.isfinite(column)
        terms: list[Floats] = []
        if self.is_scaled:
            scaled = np.where(is_there, (np.where(is_there, column, 0.0) - self.about) / self.spread, 0.0)
            scaled = np.clip(scaled, -FARTHEST, FARTHEST)
            terms += [scaled, scaled * scaled - 1.0] if self.is_squared else [scaled]
        terms += [(column == value).astype(np.float64) for value in self.values]
        return [*terms, (~is_there).astype(np.float64)] if self.is_missing else terms


class LoggerModel:
    """The fitted model: for each fold, weights fitted on the other folds. `fit` is its `LoggerFit`."""

    def __init__(self, sample: RowSample, arms: int, categories: Sequence[bool], *, all_available: bool) -> None:
        if arms > MOST_ARMS:
            raise BudgetError(
                f"Propensities can be estimated for at most {MOST_ARMS:,} arms; this log has {arms:,}. Log the propensities."
            )
        if not sample.rows:
            raise InputError("The log has no row that can be used, so its propensities cannot be estimated. See log.problems.")
        number, contexts, arm, available = sample.columns(arms, all_available=all_available)
        self.rows = sample.rows
        self.features = [ColumnTerms.of(contexts[:, j], is_category=is_one) for j, is_one in enumerate(categories)]
        self.features.append(ColumnTerms.of(self._part(number), is_category=True))
        X, fold = self._design(contexts, number), number % FOLDS
        self.weights = _cross_fit(X, arm, available, fold)
        self.fit = self._measure(self._probabilities(X, fold, available), _frequencies(arm, fold, available), arm, available)

    def propensities(self, batch: Batch, first: int) -> Floats:
        """Estimate the propensities of the arms shown; `first` is the number of the batch's first row."""
        available = batch.pools.table(self.weights[0].shape[1])[batch.pool]
        number = np.arange(first, first + len(batch))
        probabilities = self._probabilities(self._design(batch.contexts, number), number % FOLDS, available)
        return _clip(probabilities[np.arange(len(batch)), batch.arm], available)

    def _part(self, number: Ints) -> Floats:
        return (number * PARTS // self.rows).astype(np.float64)

    def _design(self, contexts: Floats, number: Ints) -> Floats:
        columns = [*contexts.T, self._part(number)]
        terms = [term for feature, column in zip(self.features, columns, strict=True) for term in feature.design(column)]
        return np.column_stack([np.ones(len(contexts)), *terms])

    def _probabilities(self, X: Floats, fold: Ints, available: NDArray[np.bool_]) -> Floats:
        table = np.zeros(available.shape)
        for k in range(FOLDS):
            rows = fold == k
            table[rows] = softmax(X[rows] @ self.weights[k], available[rows])
        return table

    def _measure(self, probabilities: Floats, frequencies: Floats, arm: Ints, available: NDArray[np.bool_]) -> LoggerFit:
        rows = np.arange(len(arm))
        shown = np.zeros(available.shape)
        shown[rows, arm] = 1.0
        bins, error = calibration_bins(probabilities[available], shown[available])
        own, sizes = probabilities[rows, arm], available.sum(axis=1)
        propensity = _clip(own, available)
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


def _cross_fit(X: Floats, arm: Ints, available: NDArray[np.bool_], fold: Ints) -> list[Floats]:
    """Fit weights for each fold on the other folds, with the penalty whose model predicts the first fold best."""
    others = [(X[fold != k], arm[fold != k], available[fold != k]) for k in range(FOLDS)]
    first, rows = np.flatnonzero(fold == 0), np.arange(int((fold == 0).sum()))
    trials: list[tuple[float, float, Floats]] = []
    weights = zeros = np.zeros((X.shape[1], available.shape[1]))  # the start of each fit, so that no fold uses its own rows
    for penalty in reversed(PENALTIES):
        weights = fit_weights(*others[0], weights, penalty)
        probabilities = softmax(X[first] @ weights, available[first])[rows, arm[first]]
        trials.append((float(np.log(np.maximum(probabilities, 1e-300)).sum()), penalty, weights))
    _, penalty, weights = max(trials, key=lambda trial: trial[0])
    return [weights, *(fit_weights(*others[k], zeros, penalty) for k in range(1, FOLDS))]


def _clip(probabilities: Floats, available: NDArray[np.bool_]) -> Floats:
    return np.asarray(np.clip(probabilities, LEAST / available.sum(axis=1), 1.0))


def _frequencies(arm: Ints, fold: Ints, available: NDArray[np.bool_]) -> Floats:
    """Return the frequency of each available arm in the other folds, each count increased by 1."""
    counts = np.bincount(fold * available.shape[1] + arm, minlength=FOLDS * available.shape[1]).reshape(FOLDS, -1)
    shares = np.where(available, (counts.sum(axis=0) - counts)[fold] + 1.0, 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
