"""The features of the arms of each row of a log, as formats have them, read into dicts."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import FileError, InputError, quoted
from ..features.arm_kinds import ArmKinds
from ..features.request import MOST
from ..files.json_values import decode_context
from .named import WORDS
from .values import Column

Listed = tuple[list[Any] | None, list[Any]]
"""Arms, None if they are those available, in their order; and the features of each."""
PLAIN = frozenset({float, int, str, bool, type(None)})
DEEPEST = 30  # levels of the features of an arm
SHAPES = "an object from each arm to its features, or a list of features in the order of the available arms"


class ByFeature(dict[str, Any]):
    """A row of several columns, one for each feature: the feature's values, in the order of the available arms."""


def read_arms(value: Any) -> Listed | str:
    """Return the arms that a row lists and their features, or what is wrong with the row's value.

    The value is JSON text or what that stands for: an object {arm: features}, a list of [arm, features], or a list of features.

    >>> read_arms('{"a17": {"price": 9}, "b3": null}')
    (['a17', 'b3'], [{'price': 9}, None])
    >>> read_arms([{"price": 9}, None]), read_arms(ByFeature(price=[9, 12]))
    ((None, [{'price': 9}, None]), (None, [{'price': 9}, {'price': 12}]))
    """
    if is_blank(value):
        return "the features of arms are missing"
    if isinstance(value, str):
        value = parse_json(value)
        if value is None:
            return "the features of arms are not JSON"
    if isinstance(value, ByFeature):
        return _of_columns(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        names, features = list(value), list(value.values())
    elif isinstance(value, list | tuple):
        features = list(value)
        names = None
        if any(isinstance(entry, list | tuple) for entry in features):
            if not all(isinstance(entry, list | tuple) and len(entry) == 2 for entry in features):
                return f"the features of arms are not {SHAPES}"
            names, features = [entry[0] for entry in features], [entry[1] for entry in features]
    else:
        return f"the features of arms are not {SHAPES}"
    if len(features) > MOST:
        return f"more than {MOST:,} arms have features"
    if not all(each is None or isinstance(each, Mapping) for each in features):
        return "the features of an arm are not an object"
    return names, features


def is_blank(value: Any) -> bool:
    """Return whether a row has nothing in the column."""
    return value is None or (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and value != value)


def _of_columns(row: ByFeature) -> Listed | str:
    values = {name: parse_json(value) if isinstance(value, str) else value for name, value in row.items()}
    columns = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
    if not all(isinstance(value, list | tuple) for value in columns.values()):
        return "a column of features of arms has no list, with a value for each available arm"
    if len(set(map(len, columns.values()))) != 1:
        return "the lists of features of arms have different lengths"
    arms = (zip(columns, values, strict=True) for values in zip(*columns.values(), strict=True))
    return None, [{name: value for name, value in arm if value is not None} for arm in arms]


def parsed_once(column: Column) -> list[Any]:
    """Return a column of features of arms with the values of JSON text in its place; text that is no JSON stays.

    >>> parsed_once(['{"a": {"price": 9}}', "price", None])
    [{'a': {'price': 9}}, 'price', None]
    """
    parsed = [parse_json(value) if isinstance(value, str) else None for value in column]
    return [value if other is None else other for value, other in zip(column, parsed, strict=True)]


def parse_json(text: str) -> Any:
    """Return the value of JSON text, None for other text."""
    try:
        return json.loads(text, parse_constant=_reject)
    except (ValueError, RecursionError):
        return None


def _reject(word: str) -> Any:
    raise ValueError(word)


def flat_features(features: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an arm's features with nested ones by their path; None without any. Raises `ValueError` if they are nested too deep.

    Lists of numbers are numbered, lists of text are tags, objects in a list belong to the list's name, as in VW's JSON.

    >>> flat_features({"topic": "news", "text": {"words": 20}, "at": [0.5, 2], "j": [{"title": "x"}], "tags": ["new", "sale"]})
    {'topic': 'news', 'text.words': 20, 'at.0': 0.5, 'at.1': 2, 'j.title': 'x', 'tags': ['new', 'sale']}
    """
    if not features:
        return None
    if PLAIN.issuperset(map(type, features.values())):
        return dict(features)
    by_path: dict[str, Any] = {}
    _add(by_path, "", features, DEEPEST)
    return by_path or None


def _add(by_path: dict[str, Any], path: str, value: Any, levels: int) -> None:
    if levels == 0:
        raise ValueError("too deep")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping) and not _is_tagged(value):
        for name, part in value.items():
            _add(by_path, f"{path}.{name}" if path else name, part, levels - 1)
    elif isinstance(value, list | tuple) and not all(isinstance(part, str) for part in value):
        for k, part in enumerate(value):
            _add(by_path, path if isinstance(part, Mapping) else f"{path}.{k}", part, levels - 1)
    else:
        by_path[path] = decode_context(value) if isinstance(value, dict) else value


def _is_tagged(value: Mapping[str, Any]) -> bool:
    """Is it a date or time as `Decision.to_dict` writes it?"""
    return list(value) in (["$date"], ["$datetime"], ["$time"])


def arms_of_row(
    value: Any, available: Sequence[Hashable], labels: Callable[[list[Any]], Sequence[Hashable]], kinds: ArmKinds
) -> dict[Hashable, dict[str, Any] | None] | str:
    """Return the available arms of a row with their features, or what is wrong with them; `labels` turns names into arms."""
    if is_blank(value):
        return dict.fromkeys(available)
    listed = read_arms(value)
    if isinstance(listed, str):
        return listed
    names, features = listed
    if names is None and len(features) != len(available):
        return "the features of arms are a list of another length than the available arms"
    by_arm = dict(zip(available if names is None else labels(names), features, strict=True))
    arms: dict[Hashable, dict[str, Any] | None] = {}
    for arm in available:
        try:
            flat = flat_features(by_arm.get(arm))
        except (ValueError, TypeError, FileError):
            return f"the features of an arm have more than {DEEPEST} levels, or what is no time"
        try:
            arms[arm] = kinds.check_arm(arm, flat)
        except InputError:
            return _misfit(flat or {}, kinds)
    return arms


def _misfit(features: Mapping[str, Any], kinds: ArmKinds) -> str:
    misfit = kinds.misfit(features)
    if misfit is None:
        return "an arm has too many features"
    name, kind = misfit
    return f"feature {quoted(name):.100} of an arm {WORDS.get(kind or '', 'has a value that no feature can have')}"
