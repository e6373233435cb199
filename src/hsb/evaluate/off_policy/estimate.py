"""Estimating what a fixed policy would have earned, from a log that another policy wrote."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any

from ...checks import function, is_number, listed, whole
from ...errors import InputError, quoted
from ...logs import Batch, Log
from ...logs.log import check_log, each_batch
from ...play.named import read_for
from ...policy import Policy
from ...structures import Structure
from ...types import Floats
from .accumulators import Reading
from .candidates import FixedPolicy
from .estimators import ESTIMATORS, WITH_CLIP, WITH_MODEL
from .passes import CandidateContexts, Fitting, in_parts
from .result import OffPolicy
from .reward_models import Given, reward_model

RowProgress = Callable[[int, int | None], None]


def off_policy(
    policy: Policy,
    log: Log | Iterable[Batch],
    *,
    estimators: Sequence[str] = ESTIMATORS,
    model: Structure | Given | None = None,
    clip: float | None = None,
    context: Callable[[Floats], Any] | None = None,
    seed: int = 0,
    progress: RowProgress | None = None,
) -> OffPolicy:
    """Estimate the average reward that a policy, in its present state, would earn on the events of a log. Returns an `OffPolicy`.

    The policy does not learn. Constant memory. The log is read once, and once more before that if a model is fitted or `clip` is chosen.

    - `log`: what `hsb.logs.open` returns, or a list of `hsb.logs.Batch`.
    - `estimators`: some of "ips" (inverse propensity), "snips" (self-normalised), "direct" (the model alone), "dr" (doubly robust), "switch"
      (doubly robust, but the model alone for events of large weight) and "clipped" (inverse propensity, weights clipped); all by default.
    - `model`: the model of each arm's reward, for direct, dr and switch. None: ridge regression on the log's features. A structure: averages
      in its cells of the policy's contexts. Both are cross-fitted: a row is predicted from the four fifths of the log that do not contain it.
      Or a function of features (n, d) and a list of arms that returns rewards (n, arms), fitted on other data.
    - `clip`: the largest weight that clipped and switch allow; None takes the square root of the number of events.
    - `context`: a function that turns the log's features (n, d) into the policy's contexts, e.g. a fitted encoder. None uses the features.
    - `seed`: seed of the bootstrap.
    - `progress`: a function, called as `progress(done, total)` after each batch of the last reading; `total` is None if it is unknown.

    The policy must not have learned from this log: that would evaluate it on its training data. Set a part of the log aside for evaluation.

    The logging policy determines what the log can answer. HSB's default soon plays one arm with probability 0.99 or more: such a log holds
    almost no information on the other arms, and a few events of large weight dominate. Log uniformly, or with `floor=`, which gives every arm
    at least the probability that you choose. If a bootstrap is not reliable, `warnings` explain why, and the intervals are of another kind,
    which is (`Estimate.kind`, docs/off_policy.md).

    >>> import hsb, hsb.logs
    >>> log = hsb.logs.SyntheticToday(20_000, seed=1)
    >>> result = off_policy(hsb.Uniform(arms=log.arms), log, estimators=("ips", "snips"), context=lambda rows: rows[:, :1])
    >>> result.rows, round(result["ips"].value, 3), result["ips"].low < 0.04 < result["ips"].high
    (20000, 0.039, True)
    """
    chosen = _check_options(policy, log, estimators, clip, seed)
    context, progress = function("context", context), function("progress", progress)
    wanted = set(chosen) | ({"dr"} if "direct" in chosen else set())
    fitted = reward_model(model) if wanted & set(WITH_MODEL) else None
    needs_clip = bool(wanted & set(WITH_CLIP))
    to_fit = fitted if fitted is not None and fitted.fits else None
    total = len(log) if isinstance(log, Log) and isinstance(log, Sized) else None
    log, view = read_for(log, [policy], context), CandidateContexts(FixedPolicy(policy), context)
    if to_fit is not None or (needs_clip and clip is None):
        first = Fitting([view], [to_fit])
        first.add(_batches(log))
        first.finish()
        clip = math.sqrt(max(first.rows, 1)) if clip is None else clip
    reading = Reading(policy, fitted, clip if needs_clip else None)
    for batch in _batches(log):
        reading.add(batch, view(batch))
        if progress is not None:
            progress(reading.seen, total)
    return reading.result(chosen, seed, log=log)


def _check_options(policy: Any, log: Any, estimators: Any, clip: Any, seed: Any) -> tuple[str, ...]:
    if not isinstance(policy, Policy):
        raise InputError(
            f"off_policy needs a policy, e.g. hsb.load('policy.hsb'); given {quoted(policy)}. For an arm, or uniform play, use "
            "compare_off_policy: {'always film': 'film', 'uniform': None}."
        )
    check_log("off_policy", log)
    chosen = (estimators,) if isinstance(estimators, str) else tuple(listed("estimators", estimators, 100))
    if not chosen or not all(isinstance(each, str) and each in ESTIMATORS for each in chosen):
        raise InputError(f"estimators must be some of {', '.join(ESTIMATORS)}; given {quoted(estimators)}.")
    if clip is not None and not (is_number(clip) and clip > 0.0):
        raise InputError(
            f"clip must be a weight above 0, or None for the square root of the number of events; given {quoted(clip)}."
        )
    whole("seed", seed, 0)
    if hasattr(log, "__next__"):
        raise InputError("An iterator can be read only once. Give a log or a list of batches.")
    return chosen


def _batches(log: Iterable[Batch]) -> Iterator[Batch]:
    return in_parts(each_batch("off_policy", log))
