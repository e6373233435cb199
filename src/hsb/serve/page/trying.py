"""A map of a policy's probabilities over contexts, and a context to try. Computed on a copy, so that nothing waits for it."""

import json
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from ...errors import InputError
from ..core.learner import read_policy
from ..core.rows import DecisionRow, StreamRow
from ..core.sampling import mixture
from ..store import JournalReader
from .feedback import brief, context_of
from .sheets import Sheet, TallyCache

View = dict[str, Any]
LATELY = 400  # updates whose contexts give the features' usual values
ACROSS, DOWN = 48, 20  # points of a map
MOST_LABELS = 16
LARGEST = 16 << 20  # bytes of a policy that is copied at once; of a larger one the last snapshot is shown
LONGEST = 16_384  # letters of a context to try
MOST = 1e150  # larger numbers are treated as labels, like text: JSON has numbers that no float can hold


def body(reader: JournalReader, page: Sheet, extra: View) -> tuple[bytes, int] | None:
    """Return the policy's file, of a large policy the one in its last snapshot, and its version; None if there is no snapshot."""
    if extra["body"] is not None:
        return extra["body"], page.version
    for rows in reader.snapshots(page.id):
        for row in rows:
            if row.learner == extra["learner"]:
                return row.body, row.seq
    return None


class ContextField:
    """A field of contexts, and its recent values."""

    def __init__(self, name: str, values: list[Any]) -> None:
        self.name = name
        numbers = [float(v) for v in values if _is_number(v)]
        self.number = len(numbers) > len(values) / 2 and len(set(numbers)) > 2
        if self.number:
            low, high = np.quantile(numbers, (0.01, 0.99))
            whole = all(v == int(v) for v in numbers)
            self.steps: list[Any] = _grid(float(low), float(high), ACROSS, whole)
        else:
            counted: dict[str, tuple[int, Any]] = {}
            for v in values:
                key = json.dumps(v)
                counted[key] = (counted.get(key, (0, v))[0] + 1, v)
            ranked = sorted(counted.values(), key=lambda each: -each[0])[:MOST_LABELS]
            self.steps = [v for _, v in ranked if isinstance(v, str | int | float | bool)]

    def about(self) -> View:
        """Return the field's name, kind and number of values, for the form that chooses one."""
        return {"name": self.name, "number": self.number, "values": len(self.steps)}


def _grid(low: float, high: float, count: int, whole: bool) -> list[float]:
    if whole and high - low < count:
        return [float(v) for v in range(int(low), int(high) + 1)]
    steps = [round(v, 0 if whole else 6) for v in np.linspace(low, high, count).tolist()]
    return list(dict.fromkeys(steps))


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST


def features_of(contexts: Sequence[Any]) -> list[ContextField]:
    """Return the fields of some contexts."""
    by_name: dict[str, list[Any]] = {}
    for context in contexts:
        for name, value in _fields(context).items():
            by_name.setdefault(name, []).append(value)
    return [field for name, values in by_name.items() if (field := ContextField(name, values)).steps]


def _fields(context: Any) -> dict[str, Any]:
    if isinstance(context, dict):
        return {name: value for name, value in context.items() if isinstance(value, str | int | float | bool)}
    if isinstance(context, list):
        return {str(k): value for k, value in enumerate(context)}
    return {} if context is None else {"x": context}


def _with(context: Any, name: str, value: Any) -> Any:
    """Return a copy of a context with another value in field `name`."""
    if isinstance(context, dict):
        return {**context, name: value}
    if isinstance(context, list):
        return [value if str(k) == name else v for k, v in enumerate(context)]
    return value


def the_map(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return probabilities over one feature or two, and in one context."""
    entries = [
        each for each in reader.stream(page.id, max(0, page.version - LATELY)) if each[1] is not None and each[1].context
    ]
    figures: View = {
        "features": [],
        "x": None,
        "y": None,
        "error": None,
        "columns": None,
        "tiles": None,
        "point": None,
        "version": None,
    }
    figures |= {"arms": page.arms, "total": len(page.arms), "available": page.active_arms, "updates": page.updates}
    if page.open:
        return figures
    file = body(reader, page, extra) if entries else None
    if file is None:
        return figures
    trial = PolicyTrial(read_policy(file[0]), page)
    entries = [each for each in entries if each[1] is not None and trial.accepts(context_of(each[1].context))]
    contexts = [context_of(decision.context) for _, decision in entries if decision is not None]
    features = features_of(contexts)
    text, usual = extra["query"].get("point", ""), contexts[-1] if contexts else None
    context, figures["error"] = _entered_context(text, usual)
    figures |= {
        "features": [each.about() for each in features],
        "version": file[1],
        "context": context,
        "text": json.dumps(context, ensure_ascii=not _printable(context)),
    }
    if not contexts and (figures["error"] or not text.strip()):
        return figures | {"text": ""}  # nothing to try: the policy accepts no recent context
    try:
        figures["point"] = {"rows": trial.rows(context), "nearest": nearest(context, entries, page, features)}
    except InputError as error:
        return figures | {"error": str(error)}
    _add_map(figures, trial, features, context, extra["query"])
    return figures


def _entered_context(text: str, usual: Any) -> tuple[Any, str | None]:
    """Return the context entered, or `usual` if it is empty or invalid, and an error message or None."""
    if not text.strip():
        return usual, None
    if len(text) > LONGEST:
        return (
            usual,
            f"The context has {len(text):,} letters, and may have at most {LONGEST:,}. Shorten it. The page shows the last update's context.",
        )
    try:
        context = json.loads(text)
        json.dumps(
            context, ensure_ascii=False, allow_nan=False
        ).encode()  # fails for numbers and letters that no answer can hold
        return context, None
    except (ValueError, RecursionError):
        return usual, 'The context is not JSON. Enter e.g. {"age": 31}. The page shows the last update\'s context.'


def _printable(context: Any) -> bool:
    """Return True if a context has only visible letters."""
    return json.dumps(context, ensure_ascii=False).isprintable()


class PolicyTrial:
    """A copy of a policy, and the probabilities that are played after floor and ramp."""

    def __init__(self, policy: Any, page: Sheet) -> None:
        self.policy, self.page = policy, page
        index = {arm: k for k, arm in enumerate(policy.arms)}
        self.order = [index.get(arm, -1) for arm in page.arms]  # a file may lack an arm that was removed: its probability is 0
        settings = page.settings
        available = np.array([float(arm in page.active_arms) for arm in policy.arms])
        base = None if page.baseline is None or settings["ramp"] == 1.0 else index.get(page.baseline)
        self.mixed = mixture(available, floor=settings["floor"], ramp=settings["ramp"], baseline=base)

    def accepts(self, context: Any) -> bool:
        """Return True if the policy accepts a context. It rejects one whose form differs from the contexts that it learned."""
        try:
            self.policy.probabilities(context)
        except InputError:
            return False
        return True

    def steps(self, context: Any, feature: ContextField) -> list[Any]:
        """Return a feature's values that the policy accepts, other features as in `context`."""
        return [v for v in feature.steps if self.accepts(_with(context, feature.name, v))]

    def own(self, context: Any) -> Any:
        """Return the policy's own probabilities, in the order of the service's arms."""
        return np.append(self.policy.probabilities(context), 0.0)[self.order]

    def played(self, context: Any) -> Any:
        """Return the probabilities that are played."""
        p = np.array(self.policy.probabilities(context), dtype=np.float64)
        return np.append(p if self.mixed is None else self.mixed(p), 0.0)[self.order]

    def rows(self, context: Any) -> list[View]:
        """Return a row for each available arm, the most probable first."""
        own, played = self.own(context), self.played(context)
        rows = [
            {"arm": arm, "index": k, "own": float(own[k]), "played": float(played[k])}
            for k, arm in enumerate(self.page.arms)
            if arm in self.page.active_arms
        ]
        return sorted(rows, key=lambda row: -row["played"])


def _add_map(figures: View, trial: PolicyTrial, features: list[ContextField], context: Any, query: Any) -> None:
    by_name = {each.name: each for each in features}
    if not by_name:
        return
    first = next((each.name for each in features if each.number), features[0].name)
    x = by_name.get(query.get("x", ""), by_name[first])
    y = by_name.get(query.get("y", ""))
    across = trial.steps(context, x)
    figures["x"], figures["x_steps"] = x.name, across
    if y is None or y is x:
        figures["columns"] = [trial.own(_with(context, x.name, v)).tolist() for v in across]
        return
    down = trial.steps(context, y)
    across, down = across[:: -(-len(across) // 24) or 1], down[:: -(-len(down) // DOWN) or 1]
    figures |= {"y": y.name, "x_steps": across, "y_steps": down, "tiles": []}
    for v in reversed(down):
        p = [trial.own(_with(_with(context, x.name, u), y.name, v)) for u in across]
        figures["tiles"].append([[int(each.argmax()), float(each.max())] for each in p])


def nearest(
    context: Any, entries: Sequence[tuple[StreamRow, DecisionRow | None]], page: Sheet, features: list[ContextField]
) -> list[View]:
    """Return the five recent updates whose contexts are most similar: equal labels, close numbers."""
    here, spans = _fields(context), {each.name: _width(each) for each in features}
    ranked = []
    for row, decision in entries:
        assert decision is not None
        there = context_of(decision.context)
        ranked.append((_distance(here, _fields(there), spans), -row.seq, row, decision, there))
    ranked.sort(key=lambda each: each[:2])
    return [
        {
            "context": brief(there),
            "arm": page.arms[decision.arm],
            "index": decision.arm,
            "propensity": decision.propensity,
            "reward": row.reward,
            "at": decision.at,
        }
        for _, _, row, decision, there in ranked[:5]
    ]


def _width(feature: ContextField) -> float:
    return (feature.steps[-1] - feature.steps[0]) or 1.0 if feature.number else 0.0


def _distance(one: View, other: View, spans: dict[str, float]) -> float:
    total = 0.0
    for name, width in spans.items():
        a, b = one.get(name), other.get(name)
        if width and _is_number(a) and _is_number(b):
            total += min(1.0, abs(a - b) / width)
        else:
            total += float(a != b)
    return total
