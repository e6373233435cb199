"""One reading of a log: what is summed up on the way, and what is made of it."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...checks import shown
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

UNSEEN = 0.001  # a share of decisions on arms that were never shown which is worth a word


class Taken(NamedTuple):
    """What a batch of events says of one policy: the probability of every arm, which events can be used, and of those the weight, the reward
    and every column of terms."""

    table: Floats
    used: Flags
    w: Floats
    reward: Floats
    columns: dict[str, Floats]


class Reading:
    """What is summed up on the way through a log, or through a part of it that begins at row `start`."""

    def __init__(self, policy: Policy | FixedCandidate, fitted: RewardModel | None, clip: float | None, start: int = 0) -> None:
        self.policy: FixedCandidate = policy if isinstance(policy, FixedCandidate) else FixedPolicy(policy)
        self.fitted, self.clip, self.start = fitted, clip, start
        self.low, self.high = self.policy.reward_range
        if not self.low < self.high:
            raise InputError(
                "The range of the policy's rewards is not known: it finds it on the way, and has not learned two different ones. "
                "Use a policy made with reward_range=(low, high)."
            )
        self.clipped = 0
        self.estimated = False
        self.seen = self.unplayable = self.unknown = 0
        self.logged = 0.0  # sum of rewards
        self.weighing, self.bets = Weighing(), Bets()
        self.columns: list[str] = []
        self.arms: tuple[Hashable, ...] = ()
        self.mass, self.counts = np.zeros(0), np.zeros(0)  # by arm: how much the policy plays it, how often it was shown
        self.agreed = np.zeros(0)  # by arm: how much the policy plays it where it was shown

    def __getstate__(self) -> dict[str, Any]:
        """The sums alone: between processes neither the policy nor the model goes back."""
        return {name: value for name, value in vars(self).items() if name not in ("policy", "fitted")}

    def add(self, batch: Batch, contexts: Any, predicted: Floats | None = None) -> Taken:
        """Add a batch to the sums; `contexts` are the policy's, `predicted` what the model says, where that is known already."""
        low, high = self.low, self.high
        if not (batch.reward.min() >= low and batch.reward.max() <= high):
            beyond = ~((batch.reward >= low) & (batch.reward <= high))
            if self.policy.outside == "error" or np.isnan(batch.reward).any():
                given = f"A reward is {batch.reward[int(np.argmax(beyond))]}, outside [{low}, {high}], what the policy takes"
                ends = f"{np.nanmin(batch.reward, initial=low):.15g}, {np.nanmax(batch.reward, initial=high):.15g}"
                raise InputError(f"{given}. Use a policy made with reward_range=({ends}).")
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
        return Taken(table, used, w, reward, columns)

    def merge(self, later: "Reading") -> None:
        """Take in the sums of the events that follow."""
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
        """Values, intervals, and what speaks against them; `log`, which was read, says why nothing was."""
        if not self.columns or not self.tally.rows:
            if not self.seen:
                raise InputError(f"Nothing to go by. {nothing_used(log)}")
            why = f"{self.unplayable} offered no arm that the policy knows and {self.unknown} have no propensity"
            fix = "Check the arms' names and the propensity column."
            raise InputError(f"Nothing to go by: of {self.seen} events, {why}. {fix}")
        weights, totals = self.weighing.result(), self.tally.totals
        share = (totals[2] / totals[1] - self.low) / (self.high - self.low) if totals[1] > 0.0 else 0.0
        paid = weights.effective * float(min(share, 1.0 - share))  # how many rewards (or their absence) the events are worth
        faults, doubts = [*weights.faults()], [*weights.doubts(paid)]
        made = _Intervals(self, weights, sound=not (faults or doubts), paid=paid, seed=seed, confidence=confidence)
        names = dict.fromkeys((*chosen, *["dr"] * ("direct" in chosen)))
        estimates = {name: made.estimate(name) for name in names}
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
        """Of which arm the log shows too little: the one that adds most to the variance of a weighted average."""
        if weights.says_little:
            arm = int(np.argmax(self.mass**2 / np.maximum(self.agreed, 1e-300)))
            yield (
                f"Too few rows show {quoted(self.arms[arm])} where this policy would play it: {self.agreed[arm]:,.0f} of "
                f"{self.mass[arm]:,.0f} rows. Evaluate on a longer log, or on one that shows every arm often enough."
            )

    def _left_out(self) -> Iterator[str]:
        if self.estimated:
            yield ESTIMATED
        if self.unknown:
            yield f"{self.unknown} of {self.seen} events have no propensity and were left out; if that is not by chance, all is biased."
        if self.clipped:
            yield f"{self.clipped} of {self.seen} rewards lay outside [{self.low:g}, {self.high:g}] and count as its ends, as the policy clips."
        if self.unplayable:
            yield f"{self.unplayable} of {self.seen} events offered no arm that the policy knows and were left out."
        unseen = np.flatnonzero((self.counts == 0) & (self.mass > 0.0))
        share = float(self.mass[unseen].sum() / max(self.mass.sum(), 1e-300))
        if share > UNSEEN:
            names = shown([self.arms[arm] for arm in unseen[np.argsort(-self.mass[unseen])]])
            plays = f"in {100 * share:.3g}% of decisions the policy plays arms that this one never shows: {names}"
            yield f"Evaluate on a log that shows every arm: {plays}. Nothing is known of them."


def folds(first: int, rows: int) -> Ints:
    """The folds of so many rows from number `first` on.

    >>> folds(3, 4)
    array([3, 4, 0, 1])
    """
    return np.arange(first, first + rows) % FOLDS


class _Intervals:
    """The interval of each estimator, by what the log can carry; averages are resampled together."""

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
        """Value and intervals. An interval always holds its value, as far as that is possible at all."""
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
