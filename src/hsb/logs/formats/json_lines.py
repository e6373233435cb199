"""JSON lines, one decision on each line: {"context": {...}, "arm": ..., "propensity": ..., "reward": ...}. Reading only."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import FileError, InputError, quoted
from ..arm_features import read_arms
from ..columns import ColumnRoles
from ..named import LOOKED
from ..rows import Meaning, Report, Rows
from .dsjson import flatten
from .text import LineFiles, lines

NAMES = {name: name for name in ("arm", "propensity", "available", "timestamp", "id", "arm_features")}
REQUEST = "$request"  # a context with its arms, as `Decision.to_dict` writes it


class JsonFiles(LineFiles):
    """Files with one decision on each line, a JSON object, as services log them; other names are ignored.

    - Nested features are named by their path, "user.age"; a context that is a list has x0, x1, ..., a number is x. A feature that a line lacks
      is missing. Without `meaning.context`, the features are those of the first lines.
    - `named`: names other than arm, propensity, reward (or loss), available, arm_features, timestamp and id; or the propensity of all rows.
    - A context {"$request": [context, [[arm, features], ...]]} has the features of the available arms in it.
    """

    def __init__(self, paths: Sequence[Path], meaning: Meaning, named: Mapping[str, Any]) -> None:
        first = _first(paths, meaning)
        features = dict.fromkeys(name for event in first for name in _features(event["context"]))
        meaning = meaning if meaning.context else meaning._replace(context=tuple(features))
        names = {part: name for part, name in NAMES.items() if any(name in event for event in first)}
        names |= {part: name for part, name in named.items() if name is not None}
        if not isinstance(of_arms := names.get("arm_features", ""), str) or of_arms.endswith("*"):
            raise InputError(
                f"In JSON lines arm_features is one name, as in {{'arm_features': {{'a17': {{}}}}}}; given {quoted(of_arms)}."
            )
        if not {"reward", "loss"} & names.keys():
            names |= {"loss": "loss"} if all("reward" not in event for event in first) else {"reward": "reward"}
        roles = ColumnRoles.of(meaning, **{part: names.get(part) for part in (*NAMES, "reward", "loss")})
        there = dict.fromkeys([*features, *meaning.context, *(name for event in first for name in event)])
        self.roles = roles.within([(str(paths[0]), list(there))])
        super().__init__(paths, self.roles.meaning._replace(needs_id=False))

    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        for rows in super().file(path, size, report):
            yield rows if self.roles.propensity else rows._replace(propensity=None)

    def read(self, text: str) -> str | tuple[Any, ...]:
        event = _event(text)
        if event is None:
            return 'the line is not a JSON object with a "context"' if text.strip() else "the line is empty"
        features, roles = _features(event["context"]), self.roles
        available: Any = roles.arm_features if self.meaning.in_features else roles.available
        if available is not None and available not in event:
            listed = read_arms(event.get(str(roles.arm_features)))
            if isinstance(listed, str) or listed[0] is None:
                return f"the line lacks {available}, which other lines have"
            event[available] = listed[0]
        parts: Any = (roles.arm, roles.propensity, roles.value, available, roles.timestamp, roles.id, roles.arm_features)
        return [features.get(name) for name in self.meaning.context], *(event.get(part) if part else None for part in parts)


def is_event(text: str) -> bool:
    """Is this a line of such a file?

    >>> is_event('{"context": {"age": 31}, "arm": "a", "propensity": 0.5, "reward": 1}'), is_event('{"c": {}}')
    (True, False)
    """
    return _event(text) is not None


def _event(text: str) -> dict[str, Any] | None:
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or "context" not in event:
        return None
    context = event["context"]
    if isinstance(context, dict) and list(context) == [REQUEST]:
        request = context[REQUEST]
        if not isinstance(request, list) or len(request) != 2:
            return None
        event["context"], event["arm_features"] = request
    return event


def _first(paths: Sequence[Path], meaning: Meaning) -> list[dict[str, Any]]:
    """Return the first lines that are decisions."""
    for path in paths:
        some = (_event(line.text) for line in lines(path, lambda _: None, meaning.limits))
        if events := [event for event in islice(some, LOOKED) if event is not None]:
            return events
    raise FileError(f"""{paths[0]} has no line like {{"context": {{...}}, "arm": "a", "propensity": 0.5, "reward": 1}}.""")


def _features(context: Any) -> dict[str, Any]:
    if isinstance(context, Mapping):
        return flatten(context)
    if isinstance(context, list):
        return {f"x{j}": value for j, value in enumerate(context)}
    return {} if context is None else {"x": context}
