"""What a policy plays where: a map of its probabilities, and a point to try. On a copy, so that nothing waits for it."""

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
LATELY = 400  # updates whose contexts say what is usual
ACROSS, DOWN = 48, 20  # places of a map
MOST_LABELS = 16
LARGEST = 16 << 20  # bytes of a policy that is copied at once; else its last snapshot is shown
LONGEST = 16_384  # letters of a context to try
MOST = 1e150  # numbers beyond it are labels here, like text: JSON has some that no float can hold


def body(reader: JournalReader, page: Sheet, extra: View) -> tuple[bytes, int] | None:
    """The policy's file as it is, or, where that is large, as its last snapshot has it; and of which version."""
    if extra["body"] is not None:
        return extra["body"], page.version
    for rows in reader.snapshots(page.id):
        for row in rows:
            if row.learner == extra["learner"]:
                return row.body, row.seq
    return None


class ContextField:
    """A part of contexts, and the values that it has had of late."""

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
        """For the form that chooses one."""
        return {"name": self.name, "number": self.number, "values": len(self.steps)}


def _grid(low: float, high: float, count: int, whole: bool) -> list[float]:
    if whole and high - low < count:
        return [float(v) for v in range(int(low), int(high) + 1)]
    steps = [round(v, 0 if whole else 6) for v in np.linspace(low, high, count).tolist()]
    return list(dict.fromkeys(steps))


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST


def features_of(contexts: Sequence[Any]) -> list[ContextField]:
    """What contexts consist of."""
    found: dict[str, list[Any]] = {}
    for context in contexts:
        for name, value in _fields(context).items():
            found.setdefault(name, []).append(value)
    return [each for name, values in found.items() if (each := ContextField(name, values)).steps]


def _fields(context: Any) -> dict[str, Any]:
    if isinstance(context, dict):
        return {name: value for name, value in context.items() if isinstance(value, str | int | float | bool)}
    if isinstance(context, list):
        return {str(k): value for k, value in enumerate(context)}
    return {} if context is None else {"x": context}


def _with(context: Any, name: str, value: Any) -> Any:
    """A context with another value at one place."""
    if isinstance(context, dict):
        return {**context, name: value}
    if isinstance(context, list):
        return [value if str(k) == name else v for k, v in enumerate(context)]
    return value


def the_map(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Probabilities over one feature or two, and at a point."""
    entries = [
        each for each in reader.stream(page.id, max(0, page.version - LATELY)) if each[1] is not None and each[1].context
    ]
    found: View = {
        "features": [],
        "x": None,
        "y": None,
        "error": None,
        "columns": None,
        "tiles": None,
        "point": None,
        "version": None,
    }
    found |= {"arms": page.arms, "total": len(page.arms), "available": page.active_arms, "updates": page.updates}
    file = body(reader, page, extra) if entries else None
    if file is None:
        return found
    asked = PolicyTrial(read_policy(file[0]), page)
    entries = [each for each in entries if each[1] is not None and asked.takes(context_of(each[1].context))]
    contexts = [context_of(made.context) for _, made in entries if made is not None]
    features = features_of(contexts)
    text, usual = extra["query"].get("point", ""), contexts[-1] if contexts else None
    context, found["error"] = _given(text, usual)
    found |= {
        "features": [each.about() for each in features],
        "version": file[1],
        "context": context,
        "text": json.dumps(context, ensure_ascii=not _printable(context)),
    }
    if not contexts and (found["error"] or not text.strip()):
        return found | {"text": ""}  # there is nothing to try: the policy takes no context of late
    try:
        found["point"] = {"rows": asked.rows(context), "nearest": nearest(context, entries, page, features)}
    except InputError as error:
        return found | {"error": str(error)}
    _mapped(found, asked, features, context, extra["query"])
    return found


def _given(text: str, usual: Any) -> tuple[Any, str | None]:
    """What was entered, or else what is usual; and what is wrong with what was entered."""
    if not text.strip():
        return usual, None
    if len(text) > LONGEST:
        return usual, f"A context to try may have {LONGEST:,} letters; this one has {len(text):,}."
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # or it has numbers or letters that no answer can hold
        return found, None
    except (ValueError, RecursionError):
        return usual, 'This is no JSON, e.g. {"age": 31}; what follows is for the last update\'s context.'


def _printable(context: Any) -> bool:
    """Has it only letters that can be seen?"""
    return json.dumps(context, ensure_ascii=False).isprintable()


class PolicyTrial:
    """A copy of a policy, and what is played when the floor and the ramp have had their part."""

    def __init__(self, policy: Any, page: Sheet) -> None:
        self.policy, self.page = policy, page
        place = {arm: k for k, arm in enumerate(policy.arms)}
        self.order = [place.get(arm, -1) for arm in page.arms]  # a file may lack an arm that was removed: it is played never
        settings = page.settings
        available = np.array([float(arm in page.active_arms) for arm in policy.arms])
        base = None if page.baseline is None or settings["ramp"] == 1.0 else place.get(page.baseline)
        self.mixed = mixture(available, floor=settings["floor"], ramp=settings["ramp"], baseline=base)

    def takes(self, context: Any) -> bool:
        """Does it take such a context? Not, where an update could not be learned since others had another form."""
        try:
            self.policy.probabilities(context)
        except InputError:
            return False
        return True

    def steps(self, context: Any, feature: ContextField) -> list[Any]:
        """A feature's values that it takes, all else being as in a context."""
        return [v for v in feature.steps if self.takes(_with(context, feature.name, v))]

    def own(self, context: Any) -> Any:
        """Its own probabilities, by the service's places."""
        return np.append(self.policy.probabilities(context), 0.0)[self.order]

    def played(self, context: Any) -> Any:
        """The probabilities that are played."""
        p = np.array(self.policy.probabilities(context), dtype=np.float64)
        return np.append(p if self.mixed is None else self.mixed(p), 0.0)[self.order]

    def rows(self, context: Any) -> list[View]:
        """A row for each arm that is available, the most probable first."""
        own, played = self.own(context), self.played(context)
        rows = [
            {"arm": arm, "place": k, "own": float(own[k]), "played": float(played[k])}
            for k, arm in enumerate(self.page.arms)
            if arm in self.page.active_arms
        ]
        return sorted(rows, key=lambda row: -row["played"])


def _mapped(found: View, asked: PolicyTrial, features: list[ContextField], context: Any, query: Any) -> None:
    by_name = {each.name: each for each in features}
    if not by_name:
        return
    first = next((each.name for each in features if each.number), features[0].name)
    x = by_name.get(query.get("x", ""), by_name[first])
    y = by_name.get(query.get("y", ""))
    across = asked.steps(context, x)
    found["x"], found["x_steps"] = x.name, across
    if y is None or y is x:
        found["columns"] = [asked.own(_with(context, x.name, v)).tolist() for v in across]
        return
    down = asked.steps(context, y)
    across, down = across[:: -(-len(across) // 24) or 1], down[:: -(-len(down) // DOWN) or 1]
    found |= {"y": y.name, "x_steps": across, "y_steps": down, "tiles": []}
    for v in reversed(down):
        p = [asked.own(_with(_with(context, x.name, u), y.name, v)) for u in across]
        found["tiles"].append([[int(each.argmax()), float(each.max())] for each in p])


def nearest(
    context: Any, entries: Sequence[tuple[StreamRow, DecisionRow | None]], page: Sheet, features: list[ContextField]
) -> list[View]:
    """The last updates whose contexts are most like one: equal labels, near numbers."""
    here, spans = _fields(context), {each.name: _width(each) for each in features}
    ranked = []
    for row, made in entries:
        assert made is not None
        there = context_of(made.context)
        ranked.append((_distance(here, _fields(there), spans), -row.seq, row, made, there))
    ranked.sort(key=lambda each: each[:2])
    return [
        {
            "context": brief(there),
            "arm": page.arms[made.arm],
            "place": made.arm,
            "propensity": made.propensity,
            "reward": row.reward,
            "at": made.at,
        }
        for _, _, row, made, there in ranked[:5]
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
