"""Differences to a baseline: paired, event by event, or else from two intervals; corrected for multiple comparisons."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from ...types import Floats
from .bootstrap import DRAWS, draws, ends, resampled, t_values
from .paired import Pair

DifferenceKind = Literal["bootstrap", "safe", "equal", "apart"]
Ends = tuple[float, float]


@dataclass(frozen=True)
class Difference:
    """The difference of a candidate's average reward to the baseline's, with its intervals.

    >>> Difference(0.02, 0.01, 0.03, "bootstrap", (0.005, 0.035), 0.004, 5000).verdict
    'better'
    """

    value: float
    """The candidate's average reward minus the baseline's."""
    low: float
    """The lower end of the interval of this difference alone."""
    high: float
    """The upper end."""
    kind: DifferenceKind
    """The kind of (low, high). "bootstrap": studentised, of the difference event by event. "safe": of the same differences, valid for any log
    with correct propensities (`paired.py`), if the log does not support a bootstrap. "equal": the two play alike in every event. "apart": not
    paired, from the two intervals, each at half the error, if one of the two learns or their ranges of rewards differ."""
    joint: Ends
    """The interval (low, high) corrected for the number of candidates: all of these hold together with the given confidence. Bootstraps are
    corrected by the largest |t| of a resample, others by Bonferroni."""
    p: float | None
    """The p value of "there is no difference", corrected in the same way; None if there are only intervals."""
    rows: int
    """The number of events that both could play. For replayed candidates, all events read."""

    @property
    def interval(self) -> Ends:
        """(low, high): the interval of this difference alone."""
        return self.low, self.high

    @property
    def verdict(self) -> str:
        """ "better", "worse", "equal" or "undecided", by the corrected interval `joint`."""
        low, high = self.joint
        if self.kind == "equal":
            return "equal"
        return "better" if low > 0.0 else "worse" if high < 0.0 else "undecided"

    def __repr__(self) -> str:
        return f"{self.value:+.4f} ({self.low:+.4f} to {self.high:+.4f}, {self.kind}; {self.verdict})"


class PairResamples(NamedTuple):
    """A pair's difference and its resamples."""

    value: float
    spread: float
    t: Floats
    down: float
    up: float


def resample_pair(pair: Pair, values: tuple[float, float], seed: int, stream: int) -> PairResamples:
    """Return the difference, its standard error, its t in every resample, and the allowances for missing weight.

    `values` are those of the candidate and of the baseline. Pairs of the same rows take the same stream.
    """
    groups = pair.tally.used
    drawn = draws(len(groups), seed, stream)
    if pair.estimator == "snips":
        value, spread, t = _ratios(groups, drawn)
    else:
        [value], [spread], t = resampled(groups[:, :1], groups[:, 1:], drawn)
        t = t[:, 0]
    return PairResamples(float(value), float(spread), t, *_allowance(pair, values))


def _ratios(groups: Floats, drawn: Floats) -> tuple[Floats, Floats, Floats]:
    """Resample sum(S) / sum(N) - sum(R) / sum(M), with columns N, S, M, R, linearised as `bootstrap` does for one ratio."""
    i, j = np.triu_indices(4)
    products = groups[:, i] * groups[:, j] * np.where(i == j, 1.0, 2.0)

    def centre(sums: Floats, squares: Floats) -> tuple[Floats, Floats]:
        N, S, M, R = sums.T
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.array([-S / N**2, 1 / N, R / M**2, -1 / M]).T
            variance = (squares * slopes[..., i] * slopes[..., j]).sum(axis=-1)
            return S / N - R / M, np.sqrt(np.maximum(variance, 0.0))

    value, spread = centre(groups.sum(axis=0), products.sum(axis=0))
    again, spreads = centre(drawn @ groups, drawn @ products)
    return value, spread, t_values(again, spreads, value, spread)


def _allowance(pair: Pair, values: tuple[float, float]) -> tuple[float, float]:
    """Return how far the ends move if the average weights differ: events that one candidate plays more are then missing or too many."""
    mine, other, unseen = *values, abs(pair.unseen)
    low, high = pair.low, pair.high
    if pair.estimator in ("ips", "clipped"):
        least, most = min(low, 0.0), max(high, 0.0)
        return (-unseen * least, unseen * most) if pair.unseen < 0.0 else (unseen * most, -unseen * least)
    if pair.unseen < 0.0:  # the candidate's are missing
        return unseen * max(mine - low, 0.0), unseen * max(high - mine, 0.0)
    return unseen * max(high - other, 0.0), unseen * max(other - low, 0.0)


def simultaneous(samples: Sequence[PairResamples], confidence: float) -> float:
    """Return the number of standard errors within which all differences lie jointly, by the largest |t| of each resample.

    >>> rng = np.random.default_rng(0)
    >>> t = rng.normal(size=(DRAWS, 3))
    >>> several = [PairResamples(0.0, 1.0, column, 0.0, 0.0) for column in t.T]
    >>> 1.8 < simultaneous(several[:1], 0.95) < 2.1 < simultaneous(several, 0.95) < 2.6
    True
    """
    last = min(math.ceil((DRAWS + 1) * confidence), DRAWS) - 1
    return float(np.sort(_largest(samples))[last])


def _largest(samples: Sequence[PairResamples]) -> Floats:
    t = np.abs(np.column_stack([sample.t for sample in samples]))
    return np.asarray(np.where(np.isnan(t), np.inf, t).max(axis=1))


def paired(
    pairs: Mapping[str, Pair],
    sound: Mapping[str, bool],
    values: Mapping[str, tuple[float, float]],
    *,
    seed: int,
    confidence: float,
    comparisons: int,
    rows: int,
) -> dict[str, Difference]:
    """Compute the differences of pairs, corrected for the number of all `comparisons`. `rows` is the number of usable events.

    `sound[name]`: can both candidates of the pair be bootstrapped?
    """
    differences: dict[str, Difference] = {}
    samples: dict[str, PairResamples] = {}
    for stream, (name, pair) in enumerate(pairs.items(), start=1):
        if pair.same:
            differences[name] = Difference(0.0, 0.0, 0.0, "equal", (0.0, 0.0), 1.0, pair.rows)
            continue
        sample = resample_pair(pair, values[name], seed, 0 if pair.rows == rows else stream)
        wide = ends(np.array([sample.value]), np.array([sample.spread]), sample.t[:, None], confidence)
        low, high = float(wide[0][0]) - sample.down, float(wide[1][0]) + sample.up
        if sound[name] and pair.sound and sample.spread > 0.0 and low <= high and math.isfinite(low + high):
            samples[name] = sample
            differences[name] = _clip_intervals(
                pair, Difference(sample.value, low, high, "bootstrap", (low, high), None, pair.rows)
            )
        else:
            differences[name] = safe_difference(pair, sample.value, confidence, comparisons)
    return differences | _correct(differences, pairs, samples, confidence, comparisons)


def safe_difference(pair: Pair, value: float, confidence: float, comparisons: int) -> Difference:
    """Compute a difference with safe intervals, from the bets alone."""
    joint, alone = pair.safe(1.0 - (1.0 - confidence) / comparisons), pair.safe(confidence)
    p = min(1.0, comparisons * pair.p_safe())
    return _clip_intervals(pair, Difference(value, *alone, "safe", joint, p, pair.rows))


def _correct(
    alone: Mapping[str, Difference],
    pairs: Mapping[str, Pair],
    samples: Mapping[str, PairResamples],
    confidence: float,
    comparisons: int,
) -> dict[str, Difference]:
    """Correct bootstrap intervals jointly: together they get their share of the error, and within it use the largest |t|."""
    if not samples:
        return {}
    share = len(samples) / comparisons
    limit = simultaneous(list(samples.values()), 1.0 - (1.0 - confidence) * share)
    largest = _largest(list(samples.values()))
    corrected = {}
    for name, (value, spread, _, down, up) in samples.items():
        beyond = (1 + int((largest >= max(abs(value) - max(down, up), 0.0) / spread).sum())) / (1 + DRAWS)
        joint = (value - limit * spread - down, value + limit * spread + up)
        joint = (min(joint[0], alone[name].low), max(joint[1], alone[name].high))
        corrected[name] = _clip_intervals(pairs[name], replace(alone[name], joint=joint, p=min(1.0, beyond / share)))
    return corrected


def _clip_intervals(pair: Pair, difference: Difference) -> Difference:
    """Make intervals contain the value, and clip them to the differences that the range of rewards allows."""
    most = pair.high - pair.low

    def within(interval: Ends) -> Ends:
        return min(max(interval[0], -most), difference.value), max(min(interval[1], most), difference.value)

    low, high = within(difference.interval)
    return replace(difference, low=low, high=high, joint=within(difference.joint))


def apart(values: tuple[float, float], alone: tuple[Ends, Ends], joint: tuple[Ends, Ends], rows: int) -> Difference:
    """Compute a difference that is not paired, from two intervals each of the candidate and of the baseline.

    >>> apart((0.3, 0.2), ((0.25, 0.35), (0.15, 0.22)), ((0.2, 0.4), (0.1, 0.25)), 100)
    +0.1000 (+0.0300 to +0.2000, apart; undecided)
    """
    (low, high), wide = ((mine[0] - other[1], mine[1] - other[0]) for mine, other in (alone, joint))
    return Difference(values[0] - values[1], low, high, "apart", wide, None, rows)


def best_shares(groups: Floats, judged: Sequence[bool], seed: int) -> list[float | None]:
    """Return the share of resamples in which each candidate has the highest value; ties are shared.

    All shares are None unless every candidate is `judged`: the best of some need not be the best of all. They are None too for a single
    candidate or fewer than two groups of events. `groups` has the columns N and S of each candidate in turn.

    >>> groups = np.array([[1.0, 0.2, 1.0, 0.1], [1.0, 0.3, 1.0, 0.2]])
    >>> best_shares(groups, [True, True], 0), best_shares(groups, [True, False], 0)
    ([1.0, 0.0], [None, None])
    """
    if len(groups) < 2 or len(judged) < 2 or not all(judged):
        return [None] * len(judged)
    drawn = draws(len(groups), seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (drawn @ groups[:, 1::2]) / (drawn @ groups[:, ::2])
    values = np.where(np.isnan(values), -np.inf, values)
    best = values == values.max(axis=1, keepdims=True)
    shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return [float(share) for share in shares]
