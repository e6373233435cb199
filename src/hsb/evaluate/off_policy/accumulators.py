"""The sums over one reading of a log, and the result computed from them."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...checks import format_arms
from ...errors import InputError, quoted
from ...logs import Batch
from ...logs.log import nothing_used
from ...policy import Policy
from ...types import Flags, Floats, Ints
from .betting import Bets
from .bootstrap import GroupSums, draws, studentised, too_fine
from .candidates import FixedCandidate, FixedPolicy
from .diagnostics import ADVICE, ESTIMATED, RARE, Weighing, Weights
from .estimators import COLUMN, WITH_CLIP, allowance, terms
from .result import Estimate, Kind, OffPolicy
from .reward_models import FOLDS, RewardModel, log_features

UNSEEN = 0.001  # share of decisions on arms that were never shown above which a warning is given


class BatchTerms(NamedTuple):
    """The terms of a batch for one policy: the probability of every arm; the usable events; and their weights, rewards and columns."""

    table: Floats
    used: Flags
    w: Floats
    reward: Floats
    columns: dict[str, Floats]


class Reading:
    """The sums over a log, or over a part of it that begins at row `start`, for one policy."""

    def __init__(self, policy: Policy | FixedCandidate, fitted: RewardModel | None, clip: float | None, start: int = 0) -> None:
        self.policy: FixedCandidate = policy if isinstance(policy, FixedCandidate) else FixedPolicy(policy)
        self.fitted, self.clip, self.start = fitted, clip, start
        self.low, self.high = self.policy.reward_range
        if not self.low < self.high:
            raise InputError(
                "The range of the policy's rewards is not known yet: it is inferred from two different rewards. "
                "Use a policy made with reward_range=(low, high)."
            )
        self.clipped = 0
        self.estimated = False
        self.seen = self.unplayable = self.unknown = 0
        self.logged = 0.0  # sum of rewards
        self.weighing, self.bets = Weighing(), Bets()
        self.columns: list[str] = []
        self.arms: tuple[Hashable, ...] = ()
        self.mass, self.counts = (
            np.zeros(0),
            np.zeros(0),
        )  # by arm: the sum of its probabilities, the number of rows that show it
        self.agreed = np.zeros(0)  # by arm: the sum of its probabilities in the rows that show it

    def __getstate__(self) -> dict[str, Any]:
        """Return the sums alone: a process does not send back the policy or the model."""
        return {name: value for name, value in vars(self).items() if name not in ("policy", "fitted")}

    def add(self, batch: Batch, contexts: Any, predicted: Floats | None = None) -> BatchTerms:
        """Add a batch to the sums and return its terms; `contexts` are the policy's, `predicted` the model's rewards if known already."""
        low, high = self.low, self.high
        if not (batch.reward.min() >= low and batch.reward.max() <= high):
            if np.isnan(batch.reward).any():
                raise InputError("A reward is nan; every event needs a number. Leave out events without a reward.")
            beyond = (batch.reward < low) | (batch.reward > high)
            if self.policy.outside == "error":
                outside = f"A reward is {batch.reward[int(np.argmax(beyond))]}, outside [{low}, {high}], the range that the policy takes"
                ends = f"{batch.reward.min(initial=low):.15g}, {batch.reward.max(initial=high):.15g}"
                raise InputError(f"{outside}. Use a policy made with reward_range=({ends}).")
            self.clipped += int(beyond.sum())
            batch = replace(batch, reward=np.clip(batch.reward, low, high))
        table, playable = self.policy.play(batch, contexts)
        n, m = len(batch), len(batch.arms)
        self.estimated |= batch.estimated
        first = self.start + self.seen
        self.seen += n
        self.logged += float(batch.reward.sum())
        more = m - len(self.mass)
        self.mass, self.counts, self.arms = np.pad(self.mass, (0, more)), np.pad(self.counts, (0, more)), batch.arms
        self.agreed = np.pad(self.agreed, (0, more)) + np.bincount(
            batch.arm, weights=table[np.arange(n), batch.arm], minlength=m
        )
        self.mass += table.sum(axis=0)
        self.counts += np.bincount(batch.arm, minlength=m)
        known = batch.propensity > 0.0  # NaN is not
        self.unknown += int((playable & ~known).sum())
        self.unplayable += int((~playable).sum())
        used = playable & known
        d = q = None
        if self.fitted is not None:
            if predicted is None:
                predicted = self.fitted.predict(log_features(self.fitted, batch), contexts, folds(first, n), batch.arms)
            rewards = np.clip(predicted, low, high)
            d, q = (table * rewards).sum(axis=1)[used], rewards[np.arange(n), batch.arm][used]
        probability, propensity, reward = table[np.arange(n), batch.arm][used], batch.propensity[used], batch.reward[used]
        w = probability / propensity
        self.weighing.add(w, probability, propensity)
        self.bets.add(w, (reward - low) / (high - low))
        columns = terms(w, reward, d, q, clip=self.clip, low=low, high=high)
        if not self.columns:
            self.columns = list(columns)
            self.tally = GroupSums(len(columns))
        self.tally.add(np.column_stack(list(columns.values())))
        return BatchTerms(table, used, w, reward, columns)

    def merge(self, later: "Reading") -> None:
        """Add the sums of the events that follow."""
        for name in ("seen", "unplayable", "unknown", "clipped", "logged"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.estimated |= later.estimated
        self.weighing.merge(later.weighing)
        self.bets.merge(later.bets)
        self.arms = max(self.arms, later.arms, key=len)
        m = len(self.arms)
        self.mass, self.counts, self.agreed = (
            np.pad(mine, (0, m - len(mine))) + np.pad(theirs, (0, m - len(theirs)))
            for mine, theirs in ((self.mass, later.mass), (self.counts, later.counts), (self.agreed, later.agreed))
        )
        if not self.columns and later.columns:
            self.columns, self.tally = later.columns, GroupSums(len(later.columns))
        if later.columns:
            self.tally.merge(later.tally)

    def result(self, chosen: Sequence[str], seed: int, confidence: float = 0.95, log: Any = None) -> OffPolicy:
        """Compute values, intervals and warnings. Raises `InputError` if no event can be used; `log` then supplies the reason."""
        if not self.columns or not self.tally.rows:
            if not self.seen:
                raise InputError(f"No event can be used. {nothing_used(log)}")
            why = f"in {self.unplayable} the policy knows no available arm, and {self.unknown} have no propensity"
            fix = "Check the names of the arms and the propensity column."
            raise InputError(f"None of the {self.seen} events can be used: {why}. {fix}")
        weights, totals = self.weighing.result(), self.tally.totals
        share = (totals[2] / totals[1] - self.low) / (self.high - self.low) if totals[1] > 0.0 else 0.0
        paid = weights.effective * float(min(share, 1.0 - share))  # the effective number of rewards (or of missing rewards)
        faults, doubts = [*weights.faults()], [*weights.doubts(paid)]
        intervals = _Intervals(self, weights, sound=not (faults or doubts), paid=paid, seed=seed, confidence=confidence)
        names = dict.fromkeys((*chosen, *["dr"] * ("direct" in chosen)))
        estimates = {name: intervals.estimate(name) for name in names}
        if "direct" in chosen:
            estimates["direct"] = estimates["direct"].reaching(estimates["dr"])
        return OffPolicy(
            rows=weights.rows,
            estimates={name: estimates[name] for name in chosen},
            effective_rows=weights.effective,
            largest_weight=weights.largest,
            average_weight=weights.average,
            clip=self.clip,
            logged=self.logged / self.seen,
            warnings=(
                *self._left_out(),
                *self._too_few(weights),
                *weights.remarks(),
                *doubts,
                *faults,
                *[ADVICE] * bool(doubts or faults),
            ),
            largest_share=weights.share,
            missing=weights.missing,
        )

    def _too_few(self, weights: Weights) -> Iterator[str]:
        """Warn of the arm that the log shows too rarely: the one that adds most to the variance of a weighted average."""
        if weights.says_little:
            arm = int(np.argmax(self.mass**2 / np.maximum(self.agreed, 1e-300)))
            yield (
                f"Too few rows show {quoted(self.arms[arm])} when this policy would play it: {self.agreed[arm]:,.0f} of "
                f"{self.mass[arm]:,.0f} rows. Evaluate on a longer log, or on one that shows every arm often enough."
            )

    def _left_out(self) -> Iterator[str]:
        if self.estimated:
            yield ESTIMATED
        if self.unknown:
            yield f"{self.unknown} of {self.seen} events have no propensity and were left out; the values are biased unless that is random."
        if self.clipped:
            yield f"{self.clipped} of {self.seen} rewards lay outside [{self.low:g}, {self.high:g}] and were clipped to it, as the policy does."
        if self.unplayable:
            yield f"In {self.unplayable} of {self.seen} events the policy knows no available arm; they were left out."
        unseen = np.flatnonzero((self.counts == 0) & (self.mass > 0.0))
        share = float(self.mass[unseen].sum() / max(self.mass.sum(), 1e-300))
        if share > UNSEEN:
            names = format_arms([self.arms[arm] for arm in unseen[np.argsort(-self.mass[unseen])]])
            plays = f"in {100 * share:.3g}% of decisions the policy plays arms that this log never shows: {names}"
            yield f"Evaluate on a log that shows every arm: {plays}. Their rewards are unknown."


def folds(first: int, rows: int) -> Ints:
    """Return the folds of `rows` rows from row number `first` on.

    >>> folds(3, 4)
    array([3, 4, 0, 1])
    """
    return np.arange(first, first + rows) % FOLDS


class _Intervals:
    """The interval of each estimator, of the best kind that the log supports; averages are resampled together."""

    def __init__(
        self, reading: Reading, weights: Weights, *, sound: bool, paid: float, seed: int, confidence: float = 0.95
    ) -> None:
        self.low, self.high, self.columns = reading.low, reading.high, reading.columns
        self.weights, self.sound, self.few = weights, sound, paid < RARE or too_fine(confidence)
        self.confidence = confidence
        self.clips = reading.clip is not None and weights.largest > reading.clip
        self.groups, self.totals = reading.tally.used, reading.tally.totals
        self.drawn = draws(len(self.groups), int(seed))
        self.ends = dict(
            zip(
                self.columns,
                zip(*studentised(self.groups[:, :1], self.groups, self.drawn, confidence), strict=True),
                strict=True,
            )
        )
        first, last = reading.bets.ends(confidence)
        self.safe = (self.low + (self.high - self.low) * first, self.low + (self.high - self.low) * last)

    def estimate(self, name: str) -> Estimate:
        """Return the value and intervals of an estimator. The interval contains the value, within the range of rewards."""
        column = self.columns.index(COLUMN[name])
        weight = self.totals[1 if name == "snips" else 0]
        value = float(self.totals[column] / weight) if weight > 0.0 else math.nan
        groups = self.groups[self.groups[:, 1] > 0.0] if name == "snips" else self.groups
        varies = len(np.unique(groups[:, column])) > 1
        kind: Kind
        if self.sound and not (self.clips and name in WITH_CLIP):
            kind, begin, end = "bootstrap", *self._bootstrap(name, value)
        elif name in WITH_CLIP and not self.weights.too_much:
            kind, begin, end = "bounds", self.ends["least"][0], self.ends["most"][1]
        else:
            kind, begin, end = "safe", *self.safe
        if self.few or not varies or begin > end:
            kind, begin, end = "safe", *self.safe
        begin, end = np.clip([np.fmin(begin, value), np.fmax(end, value)], self.low, self.high).tolist()
        return Estimate(value, begin, end, self.safe, kind)

    def _bootstrap(self, name: str, value: float) -> tuple[float, float]:
        if name == "snips":
            [begin], [end] = studentised(self.groups[:, 1:2], self.groups[:, 2:3], self.drawn, self.confidence)
        else:
            begin, end = self.ends[COLUMN[name]]
        down, up = allowance(name, value, self.weights.unseen, self.low, self.high)
        return float(begin) - down, float(end) + up
