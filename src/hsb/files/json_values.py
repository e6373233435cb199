"""Arms and contexts as plain data for JSON, and back."""

from collections.abc import Callable, Hashable
from datetime import date, datetime, time
from typing import Any, NamedTuple

import numpy as np

from ..errors import FileError, InputError, quoted

TIMES: dict[str, Any] = {"$datetime": datetime, "$date": date, "$time": time}  # a datetime is a date: it comes first


class Codec(NamedTuple):
    """The plain data of a class of contexts."""

    tag: str
    encode: Callable[[Any, int], Any]
    decode: Callable[[Any], Any]


CODECS: dict[type, Codec] = {}  # filled by the modules of these classes
DEEPEST = 100  # levels of a context: JSON readers take some hundreds, Python's own 1000
# A dict with one of these keys alone is written as {"dict": ...}.
TAGS = [["tuple"], ["dict"], ["$request"], *([tag] for tag in TIMES)]


def encode_arm(arm: Hashable) -> Any:
    """Return an arm as plain data, a tuple as {"tuple": [...]}; InputError if JSON has no such value."""
    if arm is None or isinstance(arm, bool | int | float | str):
        return arm
    if isinstance(arm, np.bool_ | np.integer | np.floating):
        return encode_arm(arm.item())
    if isinstance(arm, tuple):
        return {"tuple": [encode_arm(part) for part in arm]}
    needed = "arms must be None, booleans, numbers, strings or tuples of these"
    fix = "Use a name for the arm and look the object up by that name."
    raise InputError(f"Arm {quoted(arm)} cannot be written to a file: {needed}. {fix}")


def decode_arm(arm: Any) -> Hashable:
    """Return the arm that `encode_arm` wrote."""
    if isinstance(arm, dict):
        return tuple(decode_arm(part) for part in arm["tuple"])
    if arm is None or isinstance(arm, bool | int | float | str):
        return arm
    raise FileError(f"it holds an arm of an unknown kind: {quoted(arm)}.")


def encode_context(context: Any, levels: int = DEEPEST) -> Any:
    """Return a context as plain data: arrays and sets as lists; tuples, dates and times with a tag, so that they can be decoded.

    >>> encode_context(np.array([0.5, 1.0])), encode_context({"age": np.int64(40), "at": (1, 2)})
    ([0.5, 1.0], {'age': 40, 'at': {'tuple': [1, 2]}})
    >>> encode_context({"when": date(2026, 3, 1)})
    {'when': {'$date': '2026-03-01'}}
    """
    if context is None or isinstance(context, bool | int | float | str):
        return context
    if levels == 0:
        raise InputError(
            f"The context has more than {DEEPEST} levels, or contains itself. Flatten it, or use a key to it instead."
        )
    if isinstance(context, np.ndarray | np.generic) and context.dtype.kind in "biufUO":
        return encode_context(context.tolist(), levels)
    if isinstance(context, np.datetime64):
        context = context.astype("datetime64[us]").item()
    codec = CODECS.get(type(context))
    if codec is not None:
        return {codec.tag: codec.encode(context, levels - 1)}
    for tag, kind in TIMES.items():
        if isinstance(context, kind):
            return {tag: context.isoformat()}
    if isinstance(context, set | frozenset) and all(isinstance(part, str) for part in context):
        return sorted(context)
    if isinstance(context, list):
        return [encode_context(part, levels - 1) for part in context]
    if isinstance(context, tuple):
        return {"tuple": [encode_context(part, levels - 1) for part in context]}
    if isinstance(context, dict) and all(isinstance(name, str) for name in context):
        encoded = {name: encode_context(part, levels - 1) for name, part in context.items()}
        return {"dict": encoded} if list(encoded) in TAGS else encoded
    needed = "it must be None, booleans, numbers, strings, dates, NumPy arrays, or lists, tuples and dicts of these, keys being strings"
    raise InputError(f"The context {quoted(context)} cannot be written as plain data: {needed}. Use a key to it instead.")


def decode_context(context: Any) -> Any:
    """Return the context that `encode_context` wrote.

    >>> decode_context({"age": 40, "at": {"tuple": [1, 2]}})
    {'age': 40, 'at': (1, 2)}
    """
    if isinstance(context, list):
        return [decode_context(part) for part in context]
    if not isinstance(context, dict):
        return context
    if list(context) == ["tuple"] and isinstance(context["tuple"], list):
        return tuple(decode_context(part) for part in context["tuple"])
    for tag, kind in TIMES.items():
        if list(context) == [tag]:
            try:
                return kind.fromisoformat(context[tag])
            except (TypeError, ValueError):
                raise FileError(f"it holds {quoted(context[tag])} where a {tag[1:]} is needed.") from None
    for codec in CODECS.values():
        if list(context) == [codec.tag]:
            return codec.decode(context[codec.tag])
    inside = context["dict"] if list(context) == ["dict"] and isinstance(context["dict"], dict) else context
    return {name: decode_context(part) for name, part in inside.items()}
