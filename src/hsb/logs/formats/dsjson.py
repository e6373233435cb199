"""VW's decision service format (dsjson), one JSON object on each line: reading and writing."""

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
    """Files of events: shared features, actions, the action chosen, its probability and its cost.

    - `meaning.context`: paths of shared features, e.g. ["GUser.age"]; default: those of the first event. Text becomes its `hsb.encode.code` if
      the feature is in `meaning.categories`, or, without `context`, if the first event has text there.
    - A repeated EventId is a problem; an event without one is used.
    - The features of actions are read for policies whose arms come with the request, nested ones by their path, as those of the context.
    - `arm`: the path of the action's feature that names it; "index": the action's index, from 0; None: its features, or the value of the only
      feature.
    """

    def __init__(self, paths: Sequence[Path], meaning: Meaning, arm: str | None) -> None:
        self.arm = arm
        if not meaning.context:
            first = _first(paths, meaning.limits)
            texts = {name for name, value in first.items() if isinstance(value, str)}
            meaning = meaning._replace(context=tuple(first), categories=meaning.categories | texts)
        meaning.check()
        super().__init__(paths, meaning._replace(is_text=True, offers="lists", negative=True, needs_id=False))

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
        return points, names[index], probability, cost, names, event.get("Timestamp"), event.get("EventId"), actions

    def _index(self, event: dict[str, Any], actions: int) -> int | str:
        """Return the index of the action chosen, from 0, or what is wrong with it."""
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
        features = flatten(action)
        if self.arm is not None:
            value = features.get(self.arm)
            return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
        if len(features) == 1:
            [value] = features.values()
            return str(value) if isinstance(value, str | int | float) else None
        return json.dumps(action, sort_keys=True) if features else None


def _first(paths: Sequence[Path], limits: Limits) -> dict[str, Any]:
    """Return the shared features of the first event that has a context."""
    for path in paths:
        for line in lines(path, lambda _: None, limits):
            event = _event(line.text)
            if isinstance(event, dict) and isinstance(event.get("c"), dict):
                return _shared(event["c"])
    raise FileError(f"{paths[0]} has no event with a context, c, so it is not dsjson. Give another format=.")


def _shared(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the features of an event that belong to no action."""
    return flatten({name: value for name, value in context.items() if name != "_multi"})


def _event(text: str) -> Any:
    """Parse the JSON value on a line; None if it is not JSON."""
    try:
        return json.loads(text, parse_constant=_reject)
    except (ValueError, RecursionError):
        return None


def _reject(word: str) -> Any:
    raise ValueError(word)


def _scalar(value: Any) -> Any:
    """Return a number or text as it is, a boolean as a float; None for anything else."""
    if isinstance(value, bool):
        return float(value)
    return value if isinstance(value, str | int | float) else None


def flatten(features: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested features by their path, with names joined by points; `before` is put before every path.

    >>> flatten({"GUser": {"age": 0.3, "likes": {"red": 1}}})
    {'GUser.age': 0.3, 'GUser.likes.red': 1}
    """
    by_path: dict[str, Any] = {}
    for name, value in features.items():
        by_path |= flatten(value, f"{before}{name}.") if isinstance(value, Mapping) else {before + name: value}
    return by_path


def write_dsjson(to: TextIO, batches: Iterable[Batch], names: Sequence[str] | None) -> None:
    """Write batches, one event on each line. The cost is -reward; a row's id is its number, from 0.

    A batch has only the probability of the arm shown; the rest is spread evenly over the other arms. VW learns from the arm shown.
    """
    number = 0
    for batch in batches:
        features = feature_names(names, batch.contexts.shape[1])
        actions = [{"TAction": {"a": str(arm)}} for arm in batch.arms]
        if len({str(arm) for arm in batch.arms}) < len(batch.arms):
            raise InputError("Two arms have the same text. Give them different labels.")
        for i in range(len(batch)):
            pool = batch.pools[batch.pool[i]].tolist()
            index, p, n = pool.index(int(batch.arm[i])), float(batch.propensity[i]), len(pool)
            event: dict[str, Any] = {"_label_cost": 0.0 - float(batch.reward[i]), "_label_probability": p}
            event |= {"_label_Action": index + 1, "_labelIndex": index}
            if math.isfinite(batch.timestamp[i]):
                time = datetime.fromtimestamp(float(batch.timestamp[i]), UTC)
                event["Timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.%f0Z")
            user = dict(zip(features, batch.contexts[i].tolist(), strict=True))
            event |= {
                "Version": "1",
                "EventId": str(number),
                "a": [index + 1, *(k + 1 for k in range(n) if k != index)],
                "c": {"GUser": user, "_multi": [actions[arm] for arm in pool]},
                "p": [p] + [(1.0 - p) / (n - 1)] * (n - 1) if n > 1 else [p],
                "VWState": {"m": "hsb"},
            }
            to.write(json.dumps(event) + "\n")
            number += 1
