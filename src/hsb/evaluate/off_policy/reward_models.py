"""Models of the reward of every arm, fitted on one part of a log and used on the other (cross-fitting)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ...errors import InputError, quoted
from ...features.design import design_matrix
from ...features.tables import ContextTable
from ...logs import Batch
from ...structures import Structure
from ...types import Floats, Ints

Given = Callable[[Floats, Sequence[Hashable]], Floats]

FOLDS = 5
PENALTY = 1.0  # as if each arm had been shown once more, with the average reward
MOST_BYTES = 1 << 28


class RewardModel(ABC):
    """A model that reads a whole log, batch by batch, each row with a fold; then predicts a row from the rows of all other folds.

    `features` are the log's, `contexts` the policy's.
    """

    fits = True  # is it fitted on the log? If not, `add` and `finish` are not called

    def add(self, features: Floats, contexts: Floats, arm: Ints, reward: Floats, fold: Ints) -> None:
        """Add rows: the arm shown, the reward, and the row's fold, one entry each."""
        raise NotImplementedError

    def finish(self) -> None:
        """Fit the model, after the last row."""
        raise NotImplementedError

    def prepare(self, features: Floats) -> None:  # noqa: B027 - most models need no preparation
        """Look at the log's first batch, before parts of the log are added in several processes."""

    def merge(self, later: Any, rows: int) -> None:
        """Add the sums of rows that follow the first `rows`; their folds were counted from 0."""
        raise NotImplementedError

    @abstractmethod
    def predict(self, features: Floats, contexts: Floats, fold: Ints, arms: Sequence[Hashable]) -> Floats:
        """Return the expected reward of every arm, (n, arms)."""


class Ridge(RewardModel):
    """For each arm, least squares on the log's features with a penalty, towards the average reward of all.

    Features are scaled by the mean and spread of the first batch. Memory: a matrix of (features + 1)^2 for each arm and fold.
    """

    def __init__(self) -> None:
        self.products: list[Floats] = []  # by arm: (folds, d + 1, d + 1)
        self.targets: list[Floats] = []  # by arm: (folds, d + 1)
        self.rewards, self.rows = np.zeros(FOLDS), np.zeros(FOLDS)
        self.about: Floats | None = None

    def prepare(self, features: Floats) -> None:
        self._scale(features[:1] if self.about is not None else features)

    def _scale(self, features: Floats) -> Floats:
        if self.about is None:
            spread = features.std(axis=0)
            self.about, self.spread = features.mean(axis=0), np.where(spread > 0.0, spread, 1.0)
        return np.hstack([np.ones((len(features), 1)), (features - self.about) / self.spread])

    def add(self, features: Floats, contexts: Floats, arm: Ints, reward: Floats, fold: Ints) -> None:
        X = self._scale(features)
        width = X.shape[1]
        most = int(arm.max(initial=-1)) + 1
        if most * FOLDS * width * width * 8 > MOST_BYTES:
            reason = f"A ridge model of {most} arms on {width - 1} features takes too much memory"
            raise InputError(
                f"{reason}. Give model= a structure, e.g. hsb.BinaryTree(depth=6), to use the averages of its cells; or choose estimators "
                "without a model: ips, snips or clipped."
            )
        while len(self.products) < most:
            self.products.append(np.zeros((FOLDS, width, width)))
            self.targets.append(np.zeros((FOLDS, width)))
        group = arm * FOLDS + fold
        order = np.argsort(group, kind="stable")
        X, y, sorted_group = X[order], reward[order], group[order]
        cuts = np.flatnonzero(np.diff(sorted_group, prepend=-1))
        for begin, end in zip(cuts, [*cuts[1:], len(y)], strict=True):
            a, k = divmod(int(sorted_group[begin]), FOLDS)
            part = X[begin:end]
            self.products[a][k] += part.T @ part
            self.targets[a][k] += part.T @ y[begin:end]
        self.rewards += np.bincount(fold, weights=reward, minlength=FOLDS)
        self.rows += np.bincount(fold, minlength=FOLDS)

    def merge(self, later: "Ridge", rows: int) -> None:
        for mine, theirs in ((self.products, later.products), (self.targets, later.targets)):
            for a, sums in enumerate(theirs):
                if a == len(mine):
                    mine.append(np.zeros_like(sums))
                mine[a] += np.roll(sums, rows % FOLDS, axis=0)
        self.rewards += np.roll(later.rewards, rows % FOLDS)
        self.rows += np.roll(later.rows, rows % FOLDS)

    def finish(self) -> None:
        self.means = _without(self.rewards) / np.maximum(_without(self.rows), 1.0)
        self.weights = []  # by arm: (folds, d + 1)
        for products, targets in zip(self.products, self.targets, strict=True):
            others = _without(products)
            wanted = _without(targets) - self.means[:, None] * others[:, :, 0]
            others = others + PENALTY * np.eye(others.shape[1])
            self.weights.append(np.linalg.solve(others, wanted[:, :, None])[:, :, 0])

    def predict(self, features: Floats, contexts: Floats, fold: Ints, arms: Sequence[Hashable]) -> Floats:
        X, m = self._scale(features), min(len(arms), len(self.weights))
        rewards = np.tile(self.means[fold][:, None], (1, len(arms)))
        weights = np.array(self.weights[:m])
        for k in range(FOLDS):
            rows = fold == k
            rewards[rows, :m] += X[rows] @ weights[:, k].T
        return rewards


class CellMeans(RewardModel):
    """For each arm, the average reward in each cell of a structure over the policy's contexts, shrunk towards the arm's average."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.sums, self.rows = (np.zeros((FOLDS, 0, structure.leaves)) for _ in range(2))

    def _cells(self, contexts: Floats) -> Ints:
        if isinstance(contexts, ContextTable | list):  # a list of requests
            takes = "features by name" if isinstance(contexts, ContextTable) else "arms with the request"
            raise InputError(f"A structure as model= needs numeric contexts; this policy takes {takes}. Leave out model=.")
        points, _ = self.structure.space.check(contexts)
        return self.structure.leaf(self.structure.space.to_unit(points))

    def add(self, features: Floats, contexts: Floats, arm: Ints, reward: Floats, fold: Ints) -> None:
        leaves, most = self.structure.leaves, int(arm.max(initial=-1)) + 1
        if most * FOLDS * leaves * 16 > MOST_BYTES:
            raise InputError(f"{leaves} cells for each of {most} arms take too much memory. Give model= a smaller structure.")
        if most > self.sums.shape[1]:
            more = ((0, 0), (0, most - self.sums.shape[1]), (0, 0))
            self.sums, self.rows = np.pad(self.sums, more), np.pad(self.rows, more)
        index = (fold * self.sums.shape[1] + arm) * leaves + self._cells(contexts)
        self.sums += np.bincount(index, weights=reward, minlength=self.sums.size).reshape(self.sums.shape)
        self.rows += np.bincount(index, minlength=self.rows.size).reshape(self.rows.shape)

    def merge(self, later: "CellMeans", rows: int) -> None:
        most = max(self.sums.shape[1], later.sums.shape[1])
        room = [((0, 0), (0, most - each.sums.shape[1]), (0, 0)) for each in (self, later)]
        self.sums, self.rows = (
            np.pad(mine, room[0]) + np.roll(np.pad(theirs, room[1]), rows % FOLDS, axis=0)
            for mine, theirs in ((self.sums, later.sums), (self.rows, later.rows))
        )

    def finish(self) -> None:
        sums, rows = _without(self.sums), _without(self.rows)
        self.means = sums.sum(axis=(1, 2)) / np.maximum(rows.sum(axis=(1, 2)), 1.0)
        of_arm = (sums.sum(axis=2) + PENALTY * self.means[:, None]) / (rows.sum(axis=2) + PENALTY)
        self.table = (sums + PENALTY * of_arm[:, :, None]) / (rows + PENALTY)

    def predict(self, features: Floats, contexts: Floats, fold: Ints, arms: Sequence[Hashable]) -> Floats:
        """Return the averages of each row's cell; for an arm that was never shown, the average of all rewards."""
        m = min(len(arms), self.table.shape[1])
        rewards = np.tile(self.means[fold][:, None], (1, len(arms)))
        rewards[:, :m] = self.table[fold, :m, self._cells(contexts)]
        return rewards


class GivenModel(RewardModel):
    """A function of the user, from (features, arms) to rewards (n, arms). It must not be fitted on this log; nothing checks that."""

    fits = False

    def __init__(self, function: Given) -> None:
        self.function = function

    def predict(self, features: Floats, contexts: Floats, fold: Ints, arms: Sequence[Hashable]) -> Floats:
        rewards = np.asarray(self.function(features, arms), dtype=np.float64)
        if rewards.shape != (len(features), len(arms)) or not np.isfinite(rewards).all():
            needed = f"finite rewards of shape ({len(features)}, {len(arms)})"
            raise InputError(f"model(features, arms) must return {needed}; it returned shape {rewards.shape}.")
        return rewards


def reward_model(model: Structure | Given | None) -> RewardModel:
    """Return the reward model that an argument stands for.

    >>> from hsb import BinaryTree
    >>> type(reward_model(None)).__name__, type(reward_model(BinaryTree(depth=2))).__name__
    ('Ridge', 'CellMeans')
    """
    if model is None:
        return Ridge()
    if isinstance(model, Structure):
        return CellMeans(model)
    if callable(model):
        return GivenModel(model)
    needed = "None (ridge), a structure (averages of its cells) or a function (features, arms) -> rewards"
    raise InputError(f"model must be {needed}; given {quoted(model)}.")


def log_features(model: RewardModel, batch: Batch) -> Floats:
    """Return a batch's features for a reward model: for ridge, features by name become columns of numbers (`features/design.py`)."""
    return design_matrix(batch.named) if batch.named is not None and isinstance(model, Ridge) else batch.contexts


def _without(by_fold: Floats) -> Floats:
    """Return, for each fold, the sum over the other folds."""
    return np.asarray(by_fold.sum(axis=0) - by_fold)
