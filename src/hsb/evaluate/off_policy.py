"""What a fixed policy would have earned, from a log that another policy wrote."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from ..arguments import is_number, shown, whole
from ..errors import InputError
from ..logs import Batch, Log
from ..policies import Policy
from ..structures import Structure
from ..types import Floats
from .distributions import distributions
from .estimators import COLUMNS, ESTIMATORS, WITH_CLIP, WITH_MODEL, terms, widths
from .off_policy_result import Estimate, OffPolicy
from .reward_models import FOLDS, Given, RewardModel, reward_model
from .tallies import Tally, bernstein, draws, ratio_ends, studentised

Told = Callable[[int, int | None], None]

FEW = 100  # an effective sample size below this is no answer
RARE = 5.0  # with fewer rewards than this the bootstrap sees no spread
UNSEEN = 0.001  # a share of decisions on arms that were never shown which is worth a word
FAR = 4.5  # standard errors that the average weight may be off 1: by chance once in 150,000 logs


def off_policy(
    policy: Policy,
    log: Log | Iterable[Batch],
    *,
    estimators: Sequence[str] = ESTIMATORS,
    model: Structure | Given | None = None,
    clip: float | None = None,
    context: Callable[[Floats], Any] | None = None,
    seed: int = 0,
    progress: Told | None = None,
) -> OffPolicy:
    """The average reward that a policy, as it is now, would earn on the events of a log. The policy does not learn.

    Constant memory. The log is read once, and once before that where a model is fitted or `clip` is chosen.

    - `estimators`: some of "ips", "snips", "direct", "dr", "switch", "clipped" (`evaluate/estimators.py` has the formulas).
    - `model`: of the reward of each arm, for direct, dr and switch. None: ridge regression on the log's features. A structure: averages
      in its cells of the policy's contexts. Both are cross-fitted: a row is predicted from four fifths of the log, without its own. Or a
      function (features, arms) to rewards (n, arms), fitted on other data.
    - `clip`: the largest weight that clipped and switch allow; None takes the square root of the number of events.
    - `context`: what turns the log's features into the policy's contexts, e.g. a fitted encoder.
    - `seed`: of the bootstrap. `progress(done, total)` is called after each batch of the last reading.

    The policy must not have learned from this log: it would be judged by what it was fitted to. Keep a part of the log for it.

    >>> import hsb, hsb.logs
    >>> log = hsb.logs.SyntheticToday(20_000, seed=1)
    >>> _ = log.head(1).count()
    >>> found = off_policy(hsb.Uniform(arms=log.arms), log, estimators=("ips", "snips"), context=lambda rows: rows[:, :1])
    >>> found.rows, round(found["ips"].value, 3), found["ips"].low < 0.04 < found["ips"].high
    (20000, 0.039, True)
    """
    chosen = _checked(policy, log, estimators, clip, seed)
    wanted = set(chosen) | ({"dr"} if "direct" in chosen else set())
    fitted = reward_model(model) if wanted & set(WITH_MODEL) else None
    needs_clip = bool(wanted & set(WITH_CLIP))
    to_fit = fitted if fitted is not None and fitted.fits else None
    if to_fit is not None or (needs_clip and clip is None):
        rows = _first_reading(log, context, to_fit)
        clip = math.sqrt(max(rows, 1)) if clip is None else clip
    reading = _Reading(policy, fitted, clip if needs_clip else None)
    total = len(log) if isinstance(log, Log) and isinstance(log, Sized) else None
    for batch, contexts in _read(log, context):
        reading.add(batch, contexts)
        if progress is not None:
            progress(reading.seen, total)
    return reading.result(chosen, seed)


def _checked(policy: Any, log: Any, estimators: Any, clip: Any, seed: Any) -> tuple[str, ...]:
    if not isinstance(policy, Policy):
        raise InputError(f"off_policy needs a policy, e.g. hsb.load('policy.hsb'); given {policy!r}.")
    if not isinstance(log, Iterable) or isinstance(log, str | bytes):
        raise InputError(f"off_policy needs a log, e.g. hsb.logs.open(path), or batches; given {log!r}.")
    chosen = (estimators,) if isinstance(estimators, str) else tuple(estimators)
    if not chosen or not set(chosen) <= set(ESTIMATORS):
        raise InputError(f"estimators must be some of {', '.join(ESTIMATORS)}; given {estimators!r}.")
    if clip is not None and not (is_number(clip) and clip > 0.0):
        raise InputError(f"clip must be a weight above 0, or None for the square root of the number of events; given {clip!r}.")
    whole("seed", seed, 0)
    if hasattr(log, "__next__"):
        raise InputError("An iterator can be read only once. Give a log or a list of batches.")
    return chosen


def _read(log: Iterable[Batch], context: Callable[[Floats], Any] | None) -> Iterator[tuple[Batch, Any]]:
    for batch in log:
        if len(batch):
            yield batch, batch.contexts if context is None else context(batch.contexts)


def _first_reading(log: Iterable[Batch], context: Callable[[Floats], Any] | None, fitted: RewardModel | None) -> int:
    rows = 0
    for batch, contexts in _read(log, context if fitted is not None else None):
        if fitted is not None:
            fitted.add(batch.contexts, contexts, batch.arm, batch.reward, np.arange(rows, rows + len(batch)) % FOLDS)
        rows += len(batch)
    if fitted is not None and rows:
        fitted.finish()
    return rows


class _Reading:
    """What is summed up on the way through a log."""

    def __init__(self, policy: Policy, fitted: RewardModel | None, clip: float | None) -> None:
        self.policy, self.fitted, self.clip = policy, fitted, clip
        self.low, self.high = policy.loss_range
        self.seen = self.unplayable = self.unknown = 0
        self.logged = self.largest = self.most = 0.0  # sum of rewards; largest weight seen; largest possible
        self.columns: list[str] = []
        self.arms: tuple[Hashable, ...] = ()
        self.mass, self.counts = np.zeros(0), np.zeros(0)  # by arm: how much the policy plays it, how often it was shown

    def add(self, batch: Batch, contexts: Any) -> None:
        """Add a batch to the sums; `contexts` are the policy's."""
        low, high = self.low, self.high
        if not (batch.reward.min() >= low and batch.reward.max() <= high):
            row = int(np.argmin((batch.reward >= low) & (batch.reward <= high)))
            given = f"A reward is {batch.reward[row]}, outside [{low}, {high}]"
            raise InputError(f"{given}. Give the policy loss_range=(low, high).")
        table, playable = distributions(self.policy, batch, contexts)
        n, m = len(batch), len(batch.arms)
        fold = np.arange(self.seen, self.seen + n) % FOLDS
        self.seen += n
        self.logged += float(batch.reward.sum())
        more = m - len(self.mass)
        self.mass, self.counts, self.arms = np.pad(self.mass, (0, more)), np.pad(self.counts, (0, more)), batch.arms
        self.mass += table.sum(axis=0)
        self.counts += np.bincount(batch.arm, minlength=m)
        known = batch.propensity > 0.0  # NaN is not
        self.unknown += int((playable & ~known).sum())
        self.unplayable += int((~playable).sum())
        used = playable & known
        d = q = None
        if self.fitted is not None:
            rewards = np.clip(self.fitted.predict(batch.contexts, contexts, fold, batch.arms), low, high)
            d, q = (table * rewards).sum(axis=1)[used], rewards[np.arange(n), batch.arm][used]
        w = table[np.arange(n), batch.arm][used] / batch.propensity[used]
        self.largest = max(self.largest, float(w.max(initial=0.0)))
        self.most = max(self.most, float((1.0 / batch.propensity[used]).max(initial=0.0)))
        columns = terms(w, batch.reward[used], d, q, clip=self.clip, low=low, high=high)
        if not self.columns:
            self.columns = list(columns)
            self.tally = Tally(len(columns))
        self.tally.add(np.column_stack(list(columns.values())))

    def result(self, chosen: Sequence[str], seed: int) -> OffPolicy:
        """Values, intervals, and what speaks against them."""
        if not self.columns or not self.tally.rows:
            why = f"{self.unplayable} offered no arm that the policy knows and {self.unknown} have no propensity"
            fix = "Check the arms' names and the propensity column."
            raise InputError(f"Nothing to go by: of {self.seen} events, {why}. {fix}")
        products, n = self.tally.products, self.tally.rows
        sum_w, sum_ww = products[0, 1], products[1, 1]
        ess = float(sum_w * sum_w / sum_ww) if sum_ww > 0.0 else 0.0
        share = (products[0, 2] / sum_w - self.low) / (self.high - self.low) if sum_w > 0.0 else 0.0
        paid = ess * float(min(share, 1.0 - share))  # how many rewards (or their absence) the events are worth
        names = dict.fromkeys((*chosen, *["dr"] * ("direct" in chosen)))
        made = {name: self._estimate(name, ends, few=paid < RARE) for name, ends in self._bootstrap(names, seed).items()}
        if "direct" in chosen:
            made["direct"] = made["direct"].reaching(made["dr"])
        return OffPolicy(
            rows=n,
            estimates={name: made[name] for name in chosen},
            effective_rows=ess,
            largest_weight=self.largest,
            average_weight=float(sum_w / n),
            clip=self.clip,
            logged=self.logged / self.seen,
            warnings=tuple(self._warnings(ess, paid)),
        )

    def _bootstrap(self, names: Iterable[str], seed: int) -> dict[str, tuple[float, float]]:
        """Each estimator's interval; averages are resampled together."""
        groups = self.tally.used
        drawn = draws(len(groups), int(seed))
        low, high = studentised(groups[:, :1], groups, drawn)
        intervals = {}
        for name in names:
            _, lower, upper = (self.columns.index(column) for column in COLUMNS[name])
            intervals[name] = (low[lower], high[upper])
        if "snips" in intervals:
            [begin], [end] = studentised(groups[:, 1:2], groups[:, 2:3], drawn)
            intervals["snips"] = (begin, end)
        return intervals

    def _estimate(self, name: str, ends: tuple[float, float], *, few: bool) -> Estimate:
        low, high, n = self.low, self.high, self.tally.rows
        products, groups = self.tally.products, self.tally.used
        point, lower, upper = (self.columns.index(column) for column in COLUMNS[name])
        over = 1 if name == "snips" else 0
        weight = products[0, over]
        value = float(products[0, point] / weight) if weight > 0.0 else math.nan
        if name == "snips":
            safe = ratio_ends(products[:3, :3], n, self.most, low, high)
        else:
            below, above = widths(name, self.most, math.inf if self.clip is None else self.clip, low, high)
            means, squares = products[0] / n, np.diagonal(products) / n
            least = means[lower] - bernstein(means[lower], squares[lower], n, below)
            safe = (least, means[upper] + bernstein(means[upper], squares[upper], n, above))
        varies = len(np.unique(groups[:, point] if over == 0 else groups[groups[:, 1] > 0.0, point])) > 1
        (begin, end), (first, last) = np.clip([ends if varies and not few else safe, safe], low, high).tolist()
        return Estimate(value, begin, end, (first, last))

    def _warnings(self, ess: float, paid: float) -> Iterator[str]:
        n, products = self.tally.rows, self.tally.products
        if self.unknown:
            yield f"{self.unknown} of {self.seen} events have no propensity and were left out; if that is not by chance, all is biased."
        if self.unplayable:
            yield f"{self.unplayable} of {self.seen} events offered no arm that the policy knows and were left out."
        unseen = np.flatnonzero((self.counts == 0) & (self.mass > 0.0))
        share = float(self.mass[unseen].sum() / max(self.mass.sum(), 1e-300))
        if share > UNSEEN:
            names = shown([self.arms[arm] for arm in unseen[np.argsort(-self.mass[unseen])]])
            yield f"In {100 * share:.2g}% of decisions the policy plays arms that the log never shows: {names}. Nothing is known of them."
        if ess < FEW:
            yield f"The log says little about this policy: {n} events are worth {ess:.0f} (effective sample size). Intervals may be too short."
        if paid < RARE:
            yield f"Its rewards are worth {paid:.1f} events: too few for the bootstrap. Intervals are the cautious ones (Bernstein)."
        mean = products[0, 1] / n
        error = math.sqrt(max(products[1, 1] / n - mean * mean, 0.0) / n)
        if abs(mean - 1.0) > FAR * error + 1e-9:
            yield (
                f"Weights average {mean:.4f}, not 1: the propensities are not those of the log, the log never shows some arms "
                "where the policy plays them, or the policy learned from these very events. Do not trust the values."
            )
