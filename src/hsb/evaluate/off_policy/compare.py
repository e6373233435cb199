"""Comparing several candidates on one log: their values and differences, with intervals."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ...checks import format_arms, function, is_number, loss_bounds, one_of, whole
from ...errors import InputError, quoted
from ...logs import Batch, Log
from ...logs.log import check_log
from ...play import replay_all
from ...play.named import arm_kinds_of, columns_of, read_by
from ...play.result import Replay
from ...policy import Policy
from ...structures import Structure
from ...types import Floats
from ..engines import check_engine
from .candidates import Always, Contexts, FixedCandidate, FixedPolicy, Learning, player
from .comparison import OffPolicyCandidate, OffPolicyComparison
from .differences import Difference, apart, best_shares, paired
from .estimate import RowProgress
from .estimators import WITH_CLIP, WITH_MODEL
from .parallel_passes import Parts, Whole
from .passes import CandidateContexts, Fitting, LogPass
from .result import OffPolicy
from .reward_models import CellMeans, Given, RewardModel, reward_model

COMPARED = ("dr", "switch", "snips", "ips", "clipped")
MOST = 200  # candidates

Candidates = Mapping[str, Policy | Learning | Hashable | None]


def compare_off_policy(
    candidates: Candidates,
    log: Log | Iterable[Batch],
    *,
    baseline: str | None = None,
    estimator: str = "dr",
    clip: float | None = None,
    model: Structure | Given | None = None,
    context: Callable[[Floats], Any] | Mapping[str, Callable[[Floats], Any] | None] | None = None,
    reward_range: tuple[float, float] | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    engine: str = "local",
    jobs: int = 1,
    progress: RowProgress | None = None,
) -> OffPolicyComparison:
    """Estimate what each of several candidates would earn on the events of a log, and its difference to the baseline.

    Returns an `OffPolicyComparison`. Fixed candidates share one reading of the log, and one more before it if a model is fitted or `clip` is
    chosen. Each gets the value that `off_policy` gives it alone.

    - `candidates`, by name: a policy, which does not learn; an arm, to play always; None for uniform play of the available arms; or
      `Learning(policy)`, a policy of which a copy is replayed and learns from the log (`hsb.replay`).
    - `baseline`: the name of the candidate that the others are compared with; None is the first.
    - `estimator`: "dr", "switch", "snips", "ips" or "clipped". `log`, `clip` and `model`: as in `off_policy`. One model serves all candidates.
    - `context`: a function that turns the log's features into a policy's contexts, or a dict of such functions by candidate. None uses the
      features.
    - `reward_range`: (low, high) of rewards, for candidates that are not policies; None is the range of the policies, or else (0, 1).
    - `seed`: seed of the bootstrap and of replays.
    - `confidence`: confidence of every interval, between 0.5 and 0.99.
    - `engine`, `jobs`: "local", "dask" or "ray", and the number of processes. Several processes read Parquet files, or several CSV files, in
      parts. Learning candidates are replayed in this process, one after the other.
    - `progress`: as in `off_policy`.

    Differences are paired: two candidates are compared event by event, on the events that both can play. What they have in common cancels, so
    the interval of the difference is far shorter than the two intervals suggest. A candidate that learns is not paired: its difference is
    computed from the two intervals.

    >>> import hsb, hsb.logs
    >>> clicked = [1, 0, 0, 0, 1, 0, 1, 0] * 250
    >>> table = {"x": [0.1, 0.9] * 1000, "arm": ["a", "a", "b", "b"] * 500, "p": [0.5] * 2000, "click": clicked}
    >>> log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    >>> result = compare_off_policy({"uniform": None, "always a": "a", "learns": Learning(hsb.Exp3(arms=["a", "b"], seed=0))}, log)
    >>> result["always a"].difference
    +0.1250 (+0.1126 to +0.1375, bootstrap; better)
    >>> result["learns"].how, result["learns"].difference.kind
    ('replayed', 'apart')
    """
    plan = _Plan(candidates, log, baseline, context, reward_range)
    options = _check_options(log, estimator, clip, seed, confidence, engine, jobs)
    models = plan.models(model, estimator)
    progress = function("progress", progress)
    read = plan.reads(log)
    source = Whole(read, progress) if engine == "local" and jobs == 1 else Parts(read, engine, jobs, progress)
    log_pass = None
    if plan.players:
        with source:
            log_pass = _read_log(plan, source, models, estimator, clip)
    replays = plan.replay(log, seed)
    return _ComparisonResult(plan, log_pass, replays, read, **options).result()


def _read_log(
    plan: "_Plan", source: Whole | Parts, models: list[RewardModel | None], estimator: str, clip: float | None
) -> LogPass:
    fitting, needs_clip = Fitting(plan.views, models), estimator in WITH_CLIP
    if fitting.needed or (needs_clip and clip is None):
        source.fit(fitting)
        clip = math.sqrt(max(fitting.rows, 1)) if clip is None else clip
    settings: dict[str, Any] = {"estimator": estimator, "clip": clip if needs_clip else None, "baseline": plan.baseline_index}
    return source.read({"players": plan.players, "uses": plan.uses, "views": plan.views, "models": models, **settings})


def _check_options(log: Any, estimator: Any, clip: Any, seed: Any, confidence: Any, engine: Any, jobs: Any) -> dict[str, Any]:
    check_log("compare_off_policy", log)
    if hasattr(log, "__next__"):
        raise InputError("An iterator can be read only once. Give a log or a list of batches.")
    one_of("estimator", estimator, COMPARED)
    if clip is not None and not (is_number(clip) and clip > 0.0):
        raise InputError(
            f"clip must be a weight above 0, or None for the square root of the number of events; given {quoted(clip)}."
        )
    if not is_number(confidence) or not 0.5 <= confidence <= 0.99:
        raise InputError(f"confidence must lie between 0.5 and 0.99; given {quoted(confidence)}.")
    check_engine(engine)
    whole("jobs", jobs, 1, 4096)
    return {"estimator": estimator, "seed": whole("seed", seed, 0), "confidence": float(confidence)}


class _Plan:
    """The candidates of a comparison: the fixed ones with their contexts, and those that learn."""

    def __init__(self, candidates: Any, log: Any, baseline: Any, context: Any, reward_range: Any) -> None:
        self.candidates = _check_candidates(candidates)
        if baseline is not None and not (isinstance(baseline, str) and baseline in self.candidates):
            raise InputError(
                f"baseline must be the name of a candidate: {', '.join(map(quoted, self.candidates))}; given {quoted(baseline)}."
            )
        self.baseline: str = next(iter(self.candidates)) if baseline is None else baseline
        self.contexts = _contexts(context, self.candidates)
        between = self._range(reward_range)
        fixed = {name: each for name, each in self.candidates.items() if not isinstance(each, Learning)}
        self.fixed = list(fixed)
        self.players: list[FixedCandidate] = [player(name, each, between) for name, each in fixed.items()]
        self.views: list[CandidateContexts] = []
        looking = sorted(
            range(len(fixed)), key=lambda i: self.players[i].view is None
        )  # candidates that use contexts come first
        used = {i: self._use(self.contexts[self.fixed[i]], self.players[i]) for i in looking}
        self.uses = [used[i] for i in range(len(fixed))]
        self.baseline_index = self.fixed.index(self.baseline) if self.baseline in fixed else None
        self._check_arms(log)

    def _range(self, reward_range: Any) -> tuple[float, float]:
        if reward_range is not None:
            return loss_bounds(reward_range, "reward_range")
        policies = [each for each in self.candidates.values() if isinstance(each, Policy)]
        policies += [each.policy for each in self.candidates.values() if isinstance(each, Learning)]
        known = [each.reward_range for each in policies if each.reward_range[0] < each.reward_range[1]]
        return known[0] if known else (0.0, 1.0)

    def _use(self, context: Contexts, each: FixedCandidate) -> int:
        """Return the index of the candidate's view; a candidate that uses no context takes any view."""
        for k, known in enumerate(self.views):
            if each.view is None or (known.context is context and known.player.view == each.view):
                return k
        self.views.append(CandidateContexts(each, context))
        return len(self.views) - 1

    def _check_arms(self, log: Any) -> None:
        """Reject an arm that the log is known not to have: probably a typo."""
        if not (isinstance(log, Log) and log.knows_arms):
            return
        for name, each in zip(self.fixed, self.players, strict=True):
            if isinstance(each, Always) and each.arm not in log.arms:
                self.refuse(name, each, log.arms)

    def refuse(self, name: str, played: Always, arms: Sequence[Hashable]) -> NoReturn:
        """Raise `InputError` for a candidate whose arm the log does not have."""
        unknown = f"The candidate {quoted(name)} is the arm {quoted(played.arm)}, which is never available in the log"
        raise InputError(f"{unknown}. Its arms are {format_arms(arms)}.")

    def reads(self, log: Any) -> Any:
        """Return the log in the form that the fixed candidates need: by name, unless one of them takes numbers."""
        looking = [
            (name, each.policy) for name, each in zip(self.fixed, self.players, strict=True) if isinstance(each, FixedPolicy)
        ]
        columns = [columns_of(policy, self.contexts[name]) for name, policy in looking] or [{}]
        return read_by(log, columns, arm_kinds_of(policy for _, policy in looking))

    def models(self, model: Any, estimator: str) -> list[RewardModel | None]:
        """Return a reward model for each view; one for all, unless the model uses the policies' contexts."""
        if estimator not in WITH_MODEL:
            return [None] * len(self.views)
        first = reward_model(model)
        if not isinstance(first, CellMeans):
            return [first] * len(self.views)
        return [first, *(reward_model(model) for _ in self.views[1:])]

    def replay(self, log: Any, seed: int) -> dict[str, Replay]:
        """Replay copies of the candidates that learn."""
        replays: dict[str, Replay] = {}
        learning = {name: each.policy for name, each in self.candidates.items() if isinstance(each, Learning)}
        for name, policy in learning.items():
            replays |= replay_all({name: policy.copy()}, log, context=self.contexts[name], seed=seed)
        return replays


def _check_candidates(candidates: Any) -> dict[str, Any]:
    if not isinstance(candidates, Mapping) or not candidates or not all(isinstance(name, str) and name for name in candidates):
        raise InputError(
            f"candidates must be given by name, e.g. {{'now': policy, 'uniform': None}}; given {quoted(candidates)}."
        )
    if len(candidates) > MOST:
        raise InputError(
            f"At most {MOST} candidates can be compared at a time; given {len(candidates)}. Compare them in groups."
        )
    return dict(candidates)


def _contexts(context: Any, candidates: Mapping[str, Any]) -> dict[str, Contexts]:
    if not isinstance(context, Mapping):
        return dict.fromkeys(candidates, function("context", context))
    if unknown := [name for name in context if name not in candidates]:
        raise InputError(
            f"context has names that are not candidates: {quoted(unknown)}. The candidates are {', '.join(map(quoted, candidates))}."
        )
    return {name: function(f"context[{name!r}]", context.get(name)) for name in candidates}


class _ComparisonResult:
    """Computes the comparison from sums and replays."""

    def __init__(
        self,
        plan: _Plan,
        log_pass: LogPass | None,
        replays: Mapping[str, Replay],
        log: Any,
        *,
        estimator: str,
        seed: int,
        confidence: float,
    ) -> None:
        self.plan, self.log_pass, self.replays, self.log, self.estimator = plan, log_pass, replays, log, estimator
        self.seed, self.confidence = seed, confidence
        self.judged = {} if log_pass is None else {name: self._judge(i, confidence) for i, name in enumerate(plan.fixed)}

    def _judge(self, i: int, confidence: float) -> OffPolicy:
        assert self.log_pass is not None
        played, known = self.plan.players[i], self.log_pass.readings[i].arms
        if isinstance(played, Always) and played.arm not in known:
            self.plan.refuse(self.plan.fixed[i], played, known)
        try:
            return self.log_pass.readings[i].result((self.estimator,), self.seed, confidence, self.log)
        except InputError as error:
            raise InputError(f"Of the candidate {quoted(self.plan.fixed[i])}: {error}") from None

    def result(self) -> OffPolicyComparison:
        differences = self._differences()
        best = self._best()
        rows = {}
        for name in self.plan.candidates:
            if name in self.replays:
                replay = self.replays[name]
                low, high = replay.between(self.confidence)
                numbers = (replay.average_reward, low, high, replay.method)
                rows[name] = OffPolicyCandidate(name, "replayed", *numbers, differences.get(name), None, replay)
            else:
                judged = self.judged[name]
                value = judged[self.estimator]
                numbers = (value.value, value.low, value.high, value.kind)
                rows[name] = OffPolicyCandidate(name, "evaluated", *numbers, differences.get(name), best.get(name), judged)
        return OffPolicyComparison(rows, self.plan.baseline, self.estimator, self.confidence, self._logged(), self._warnings())

    def _logged(self) -> float:
        """Return the average reward of the log's own policy."""
        if self.log_pass is not None:
            reading = self.log_pass.readings[0]
            return reading.logged / max(reading.seen, 1)
        replay = next(iter(self.replays.values()))
        return replay.logged / max(replay.rounds, 1)

    def _differences(self) -> dict[str, Difference]:
        plan, others = self.plan, [name for name in self.plan.candidates if name != self.plan.baseline]
        pairs = {}
        if self.log_pass is not None and plan.baseline_index is not None:
            pairs = {plan.fixed[i]: pair for i, pair in self.log_pass.pairs.items() if pair.same_range and pair.rows}
        comparisons = max(1, sum(1 for name in others if name not in pairs or not pairs[name].same))
        common: dict[str, Any] = {"seed": self.seed, "confidence": self.confidence, "comparisons": comparisons}
        differences: dict[str, Difference] = {}
        if pairs and self.log_pass is not None:
            estimates = {name: each[self.estimator] for name, each in self.judged.items()}
            base = estimates[plan.baseline]
            sound = {name: base.kind == estimates[name].kind == "bootstrap" for name in pairs}
            values = {name: (estimates[name].value, base.value) for name in pairs}
            usable = self.log_pass.seen - min(reading.unknown for reading in self.log_pass.readings)
            differences = paired(pairs, sound, values, rows=usable, **common)
        return differences | {name: self._apart(name, comparisons) for name in others if name not in differences}

    def _apart(self, name: str, comparisons: int) -> Difference:
        error = (1.0 - self.confidence) / 2
        alone, joint = (
            (self._ends(name, c), self._ends(self.plan.baseline, c)) for c in (1.0 - error, 1.0 - error / comparisons)
        )
        values = self._value(name), self._value(self.plan.baseline)
        return apart(values, alone, joint, max(self._rows(name), self._rows(self.plan.baseline)))

    def _ends(self, name: str, confidence: float) -> tuple[float, float]:
        if name in self.replays:
            return self.replays[name].between(confidence)
        return self._judge(self.plan.fixed.index(name), confidence)[self.estimator].interval

    def _value(self, name: str) -> float:
        return self.replays[name].average_reward if name in self.replays else self.judged[name][self.estimator].value

    def _rows(self, name: str) -> int:
        return self.replays[name].rounds if name in self.replays else self.judged[name].rows

    def _best(self) -> dict[str, float | None]:
        if self.log_pass is None or self.replays:  # a replay has no resamples
            return {}
        sound = [each[self.estimator].kind == "bootstrap" for each in self.judged.values()]
        shares = best_shares(self.log_pass.together.used, sound, self.seed)
        return dict(zip(self.judged, shares, strict=True))

    def _warnings(self) -> tuple[str, ...]:
        warnings = [f"{name}: {warning}" for name, each in self.judged.items() for warning in each.warnings]
        if self.log_pass is not None and len(self.judged) > 1:
            most, together = max(each.rows for each in self.judged.values()), self.log_pass.together.rows
            if together < most:
                warnings.append(
                    "Not every candidate can play every event: each is evaluated on the events that it can play, differences on the events "
                    f"that both can play, shares of resamples on the {together} events that all can play."
                )
        return tuple(warnings)
