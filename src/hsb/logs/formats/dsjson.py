"""VW's decision service format: one JSON object a line. Read and written."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from ...errors import FileError, InputError
from ..batch import Batch
from ..limits import Limits
from ..rows import Meaning
from .text import LineFiles, feature_names, lines

INDEX = "index"


class DsjsonFiles(LineFiles):
    """Events: shared features, actions, which one was chosen and with which probability, and its cost.

    - `context`: paths of shared features, e.g. ["GUser.age"]; left out, those of the first event. Text becomes its `hsb.encode.code` where a
      feature is named in `categories`, or, without `context`, where the first event has text.
    - An EventId that was there before is a problem; an event without one is used.
    - `arm`: the path of the action's feature that names it; "index" its place, from 0; None its features, or the value if there is only one.
    """

    def __init__(self, paths: Sequence[Path], given: Meaning, arm: str | None) -> None:
        self.arm = arm
        if not given.context:
            first = _first(paths, given.limits)
            texts = {name for name, value in first.items() if isinstance(value, str)}
            given = given._replace(context=tuple(first), categories=given.categories | texts)
        given.check()
        super().__init__(paths, given._replace(is_text=True, offers="lists", negative=True, needs_id=False))

    def read(self, text: str) -> str | tuple[Any, ...]:
        event = _event(text)
        if not isinstance(event, dict):
            return "the line is not a JSON object" if text.strip() else "the line is empty"
        if lacking := [name for name in ("_label_cost", "_label_probability", "c") if name not in event]:
            return f"the event has no {lacking[0]}"
        if event.get("_skipLearn") is True:
            return "the event is marked _skipLearn"
        shared = event["c"]
        actions = shared.get("_multi") if isinstance(shared, dict) else None
        if not isinstance(actions, list) or not actions:
            return "the event has no actions, c._multi"
        index = self._index(event, len(actions))
        if isinstance(index, str):
            return index
        names = [self._name(action, k) for k, action in enumerate(actions)]
        if any(name is None for name in names):
            return "an action has no name"
        features = _shared(shared)
        points = [_scalar(features.get(name)) for name in self.meaning.context]
        probability, cost = _scalar(event["_label_probability"]), _scalar(event["_label_cost"])
        if isinstance(probability, str) or isinstance(cost, str):
            return "_label_probability or _label_cost is text"
        return points, names[index], probability, cost, names, event.get("Timestamp"), event.get("EventId")

    def _index(self, event: dict[str, Any], actions: int) -> int | str:
        """The place of the action chosen, from 0."""
        zero, one = event.get("_labelIndex"), event.get("_label_Action")
        for value in (zero, one):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                return "_labelIndex or _label_Action is not a whole number"
        if zero is None and one is None:
            return "the event has neither _labelIndex nor _label_Action"
        if zero is not None and one is not None and zero + 1 != one:
            return "_labelIndex and _label_Action name different actions"
        index = zero if zero is not None else int(one or 0) - 1
        return int(index) if 0 <= index < actions else "the action chosen is not one of the actions"

    def _name(self, action: Any, k: int) -> str | None:
        if self.arm == INDEX:
            return str(k)
        if not isinstance(action, dict):
            return None
        features = flat(action)
        if self.arm is not None:
            value = features.get(self.arm)
            return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
        if len(features) == 1:
            [value] = features.values()
            return str(value) if isinstance(value, str | int | float) else None
        return json.dumps(action, sort_keys=True) if features else None


def _first(paths: Sequence[Path], limits: Limits) -> dict[str, Any]:
    """The shared features of the first event that has a context."""
    for path in paths:
        for line in lines(path, lambda _: None, limits):
            event = _event(line.text)
            if isinstance(event, dict) and isinstance(event.get("c"), dict):
                return _shared(event["c"])
    raise FileError(f"{paths[0]} has no event with a context, c: is it dsjson? Say what it is with format=.")


def _shared(context: Mapping[str, Any]) -> dict[str, Any]:
    """The features of an event that are not an action's."""
    return flat({name: value for name, value in context.items() if name != "_multi"})


def _event(text: str) -> Any:
    """The JSON value on a line; None for what is none."""
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(word: str) -> Any:
    raise ValueError(word)


def _scalar(value: Any) -> Any:
    """A number or text; None for what is neither."""
    if isinstance(value, bool):
        return float(value)
    return value if isinstance(value, str | int | float) else None


def flat(features: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested features by their path, names joined by points.

    >>> flat({"GUser": {"age": 0.3, "likes": {"red": 1}}})
    {'GUser.age': 0.3, 'GUser.likes.red': 1}
    """
    by_path: dict[str, Any] = {}
    for name, value in features.items():
        by_path |= flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {before + name: value}
    return by_path


def write_dsjson(to: TextIO, batches: Iterable[Batch], names: Sequence[str] | None) -> None:
    """Write batches, an event a line. The cost is -reward; a row's id is its number from 0 on.

    A batch knows the probability of the arm shown alone; the rest is written as if spread evenly over the others. VW learns from the former.
    """
    number = 0
    for batch in batches:
        features = feature_names(names, batch.contexts.shape[1])
        actions = [{"TAction": {"a": str(arm)}} for arm in batch.arms]
        if len({str(arm) for arm in batch.arms}) < len(batch.arms):
            raise InputError("Two arms are written alike. Give them other labels.")
        for i in range(len(batch)):
            pool = batch.pools[batch.pool[i]].tolist()
            place, p, n = pool.index(int(batch.arm[i])), float(batch.propensity[i]), len(pool)
            event: dict[str, Any] = {"_label_cost": 0.0 - float(batch.reward[i]), "_label_probability": p}
            event |= {"_label_Action": place + 1, "_labelIndex": place}
            if math.isfinite(batch.timestamp[i]):
                time = datetime.fromtimestamp(float(batch.timestamp[i]), UTC)
                event["Timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.%f0Z")
            user = dict(zip(features, batch.contexts[i].tolist(), strict=True))
            event |= {
                "Version": "1",
                "EventId": str(number),
                "a": [place + 1, *(k + 1 for k in range(n) if k != place)],
                "c": {"GUser": user, "_multi": [actions[arm] for arm in pool]},
                "p": [p] + [(1.0 - p) / (n - 1)] * (n - 1) if n > 1 else [p],
                "VWState": {"m": "hsb"},
            }
            to.write(json.dumps(event) + "\n")
            number += 1
