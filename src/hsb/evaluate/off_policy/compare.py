"""Several candidates on one log: which earns most, by how much, and how sure that is."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ...checks import function, is_number, loss_bounds, one_of, shown, whole
from ...errors import InputError, quoted
from ...logs import Batch, Log
from ...logs.log import check_log
from ...play import replay_all
from ...play.named import columns_of, read_by
from ...play.result import Replay
from ...policy import Policy
from ...structures import Structure
from ...types import Floats
from ..engines import check_engine
from .candidates import Always, Contexts, FixedCandidate, FixedPolicy, Learning, player
from .comparison import OffPolicyCandidate, OffPolicyComparison
from .differences import Difference, apart, best_shares, paired
from .estimate import Told
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
    progress: Told | None = None,
) -> OffPolicyComparison:
    """What each of several candidates would earn on the events of a log, and how much more than the baseline: an `OffPolicyComparison`.

    The fixed ones are judged together: the log is read once, and once before that where a model is fitted or `clip` is chosen. Each gets what
    `off_policy` would give it alone.

    - `candidates`, by name: a policy, as it is; an arm, always that one; None, uniform play of what is available; or `Learning(policy)`, which
      is
      replayed and learns on the way (`hsb.replay`), from a copy.
    - `baseline`: the name of the candidate that others are compared with; None is the first.
    - `estimator`: "dr", "switch", "snips", "ips" or "clipped". `log`, `clip` and `model`: as in `off_policy`. A model is fitted once, for all.
    - `context`: a function that turns the log's features into a policy's contexts; where candidates see them differently, a dict of such
      functions by candidate. None uses the features as they are.
    - `reward_range`: (low, high) of rewards, for candidates that are no policies; None is that of the policies, or else (0, 1).
    - `seed`: of the random numbers of the bootstrap and of replays.
    - `confidence`: of every interval, between 0.5 and 0.99.
    - `engine`, `jobs`: "local", "dask" or "ray", and how many processes. Files are read by several, their sums put together: Parquet files, or
      several CSV files. Learning candidates are replayed here, one after the other.
    - `progress`: as in `off_policy`.

    Differences are paired: the two are compared event by event, on those that both can play, so what they have in common cancels, and their
    interval is far shorter than those of the two side by side. A candidate that learns is not paired: its difference is from the two intervals.

    >>> import hsb, hsb.logs
    >>> clicked = [1, 0, 0, 0, 1, 0, 1, 0] * 250
    >>> table = {"x": [0.1, 0.9] * 1000, "arm": ["a", "a", "b", "b"] * 500, "p": [0.5] * 2000, "click": clicked}
    >>> log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    >>> found = compare_off_policy({"uniform": None, "always a": "a", "learns": Learning(hsb.Exp3(arms=["a", "b"], seed=0))}, log)
    >>> found["always a"].difference
    +0.1250 (+0.1126 to +0.1375, bootstrap; better)
    >>> found["learns"].how, found["learns"].difference.kind
    ('replayed', 'apart')
    """
    plan = _Plan(candidates, log, baseline, context, reward_range)
    options = _checked(log, estimator, clip, seed, confidence, engine, jobs)
    models = plan.models(model, estimator)
    progress = function("progress", progress)
    read = plan.reads(log)
    source = Whole(read, progress) if engine == "local" and jobs == 1 else Parts(read, engine, jobs, progress)
    found = None
    if plan.players:
        with source:
            found = _surveyed(plan, source, models, estimator, clip)
    replays = plan.replayed(log, seed)
    return _ComparisonResult(plan, found, replays, read, **options).result()


def _surveyed(
    plan: "_Plan", source: Whole | Parts, models: list[RewardModel | None], estimator: str, clip: float | None
) -> LogPass:
    fitting, needs_clip = Fitting(plan.views, models), estimator in WITH_CLIP
    if fitting.needed or (needs_clip and clip is None):
        source.fit(fitting)
        clip = math.sqrt(max(fitting.rows, 1)) if clip is None else clip
    settings: dict[str, Any] = {"estimator": estimator, "clip": clip if needs_clip else None, "baseline": plan.place}
    return source.read({"players": plan.players, "uses": plan.uses, "views": plan.views, "models": models, **settings})


def _checked(log: Any, estimator: Any, clip: Any, seed: Any, confidence: Any, engine: Any, jobs: Any) -> dict[str, Any]:
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
    """The candidates, taken apart: those that are fixed, with what makes their contexts, and those that learn."""

    def __init__(self, candidates: Any, log: Any, baseline: Any, context: Any, reward_range: Any) -> None:
        self.candidates = _named(candidates)
        if baseline is not None and not (isinstance(baseline, str) and baseline in self.candidates):
            raise InputError(
                f"baseline must be the name of a candidate: {', '.join(map(quoted, self.candidates))}; given {quoted(baseline)}."
            )
        self.baseline: str = next(iter(self.candidates)) if baseline is None else baseline
        self.contexts = _contexts(context, self.candidates)
        between = self._range(reward_range)
        fixed = {name: given for name, given in self.candidates.items() if not isinstance(given, Learning)}
        self.fixed = list(fixed)
        self.players: list[FixedCandidate] = [player(name, given, between) for name, given in fixed.items()]
        self.views: list[CandidateContexts] = []
        looking = sorted(
            range(len(fixed)), key=lambda i: self.players[i].view is None
        )  # those that look at something come first
        used = {i: self._use(self.contexts[self.fixed[i]], self.players[i]) for i in looking}
        self.uses = [used[i] for i in range(len(fixed))]
        self.place = self.fixed.index(self.baseline) if self.baseline in fixed else None
        self._check_arms(log)

    def _range(self, given: Any) -> tuple[float, float]:
        if given is not None:
            return loss_bounds(given, "reward_range")
        policies = [each for each in self.candidates.values() if isinstance(each, Policy)]
        policies += [each.policy for each in self.candidates.values() if isinstance(each, Learning)]
        known = [each.reward_range for each in policies if each.reward_range[0] < each.reward_range[1]]
        return known[0] if known else (0.0, 1.0)

    def _use(self, context: Contexts, each: FixedCandidate) -> int:
        """Which of the views is this candidate's: one that looks at nothing takes any."""
        for k, known in enumerate(self.views):
            if each.view is None or (known.context is context and known.player.view == each.view):
                return k
        self.views.append(CandidateContexts(each, context))
        return len(self.views) - 1

    def _check_arms(self, log: Any) -> None:
        """An arm that a policy or the log is known not to have is a slip of the pen."""
        if not (isinstance(log, Log) and log.knows_arms):
            return
        for name, each in zip(self.fixed, self.players, strict=True):
            if isinstance(each, Always) and each.arm not in log.arms:
                self.refuse(name, each, log.arms)

    def refuse(self, name: str, played: Always, arms: Sequence[Hashable]) -> NoReturn:
        """Say that there is no such arm."""
        given = f"The candidate {quoted(name)} is the arm {quoted(played.arm)}, which the log never offers"
        raise InputError(f"{given}. Its arms are {shown(arms)}.")

    def reads(self, log: Any) -> Any:
        """The log as the fixed candidates need it: by name, unless one of them takes numbers."""
        looking = [
            (name, each.policy) for name, each in zip(self.fixed, self.players, strict=True) if isinstance(each, FixedPolicy)
        ]
        return read_by(log, [columns_of(policy, self.contexts[name]) for name, policy in looking] or [{}])

    def models(self, model: Any, estimator: str) -> list[RewardModel | None]:
        """One for each of the views; all the same, unless it looks at the policies' contexts."""
        if estimator not in WITH_MODEL:
            return [None] * len(self.views)
        first = reward_model(model)
        if not isinstance(first, CellMeans):
            return [first] * len(self.views)
        return [first, *(reward_model(model) for _ in self.views[1:])]

    def replayed(self, log: Any, seed: int) -> dict[str, Replay]:
        """What came of those that learn."""
        found: dict[str, Replay] = {}
        learning = {name: each.policy for name, each in self.candidates.items() if isinstance(each, Learning)}
        for name, policy in learning.items():
            found |= replay_all({name: policy.copy()}, log, context=self.contexts[name], seed=seed)
        return found


def _named(candidates: Any) -> dict[str, Any]:
    if not isinstance(candidates, Mapping) or not candidates or not all(isinstance(name, str) and name for name in candidates):
        raise InputError(
            f"candidates must be given by name, e.g. {{'now': policy, 'uniform': None}}; given {quoted(candidates)}."
        )
    if len(candidates) > MOST:
        raise InputError(f"There are {len(candidates)} candidates; at most {MOST} can be compared at a time.")
    return dict(candidates)


def _contexts(context: Any, candidates: Mapping[str, Any]) -> dict[str, Contexts]:
    if not isinstance(context, Mapping):
        return dict.fromkeys(candidates, function("context", context))
    if unknown := [name for name in context if name not in candidates]:
        raise InputError(
            f"context has names that are no candidates: {quoted(unknown)}. The candidates are {', '.join(map(quoted, candidates))}."
        )
    return {name: function(f"context[{name!r}]", context.get(name)) for name in candidates}


class _ComparisonResult:
    """From sums and replays to the result."""

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
                found = self.judged[name]
                value = found[self.estimator]
                numbers = (value.value, value.low, value.high, value.kind)
                rows[name] = OffPolicyCandidate(name, "evaluated", *numbers, differences.get(name), best.get(name), found)
        return OffPolicyComparison(rows, self.plan.baseline, self.estimator, self.confidence, self._logged(), self._warnings())

    def _logged(self) -> float:
        """What the log's own policy earned an event."""
        if self.log_pass is not None:
            reading = self.log_pass.readings[0]
            return reading.logged / max(reading.seen, 1)
        replay = next(iter(self.replays.values()))
        return replay.logged / max(replay.rounds, 1)

    def _differences(self) -> dict[str, Difference]:
        plan, others = self.plan, [name for name in self.plan.candidates if name != self.plan.baseline]
        pairs = {}
        if self.log_pass is not None and plan.place is not None:
            pairs = {plan.fixed[i]: pair for i, pair in self.log_pass.pairs.items() if pair.same_range and pair.rows}
        comparisons = max(1, sum(1 for name in others if name not in pairs or not pairs[name].same))
        common: dict[str, Any] = {"seed": self.seed, "confidence": self.confidence, "comparisons": comparisons}
        found: dict[str, Difference] = {}
        if pairs and self.log_pass is not None:
            estimates = {name: each[self.estimator] for name, each in self.judged.items()}
            base = estimates[plan.baseline]
            sound = {name: base.kind == estimates[name].kind == "bootstrap" for name in pairs}
            values = {name: (estimates[name].value, base.value) for name in pairs}
            usable = self.log_pass.seen - min(reading.unknown for reading in self.log_pass.readings)
            found = paired(pairs, sound, values, rows=usable, **common)
        return found | {name: self._apart(name, comparisons) for name in others if name not in found}

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
        said = [f"{name}: {warning}" for name, each in self.judged.items() for warning in each.warnings]
        if self.log_pass is not None and len(self.judged) > 1:
            most, together = max(each.rows for each in self.judged.values()), self.log_pass.together.rows
            if together < most:
                said.append(
                    f"Not every candidate can play every event: each is judged on its own, differences are over the events that both "
                    f"can play, shares of resamples over the {together} that all can."
                )
        return tuple(said)
