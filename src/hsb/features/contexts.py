"""The forms of a context: names with values, a row of values, or one number."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, quoted
from .values import MISSING, NUMBER, Unfit, infer_kind

NAMED, ROW, ALONE = "named", "row", "number"  # forms
FORMS = {NAMED: "names with values", ROW: "rows of values without names", ALONE: "single numbers"}
NEEDED = "A context is a dict of features, a row of values or one number"
MOST = 100_000  # features; a context with more is rejected unread


def open_context(context: Any) -> tuple[str, Any]:
    """Return the form of a context, and its values: a dict, a list, or a value.

    >>> open_context({"age": 3}), open_context((1, 2)), open_context(0.5)
    (('named', {'age': 3}), ('row', [1, 2]), ('number', 0.5))
    """
    if isinstance(context, np.ndarray):
        return _array(context)
    if isinstance(context, np.void) and context.dtype.names:
        return NAMED, {name: context[name] for name in context.dtype.names}
    if isinstance(context, Mapping):
        check_count(context)
        return NAMED, dict(context)
    if not isinstance(context, type):
        for method in ("_asdict", "to_dict"):
            if callable(getattr(context, method, None)):
                if getattr(context, "ndim", 1) != 1 or hasattr(context, "columns"):
                    raise InputError(f"{NEEDED}; given a table of type {type(context).__name__}. Give one of its rows.")
                return _as_dict(context, method)
    if isinstance(context, Sequence) and not isinstance(context, str | bytes | bytearray | memoryview):
        check_count(context)
        return ROW, list(context)
    return _alone(context)


def _array(context: Any) -> tuple[str, Any]:
    if context.ndim == 0:
        return open_context(context[()])
    if context.ndim > 1 or context.dtype.names:
        raise InputError(f"{NEEDED}; given an array of shape {context.shape}. Give one of its rows.")
    check_count(context)
    return ROW, list(context) if context.dtype.kind in "Mm" else context.tolist()


def _as_dict(context: Any, method: str) -> tuple[str, Any]:
    try:
        named = getattr(context, method)()
    except TypeError:
        named = None
    if not isinstance(named, Mapping):
        raise InputError(f"{NEEDED}; given {quoted(context):.200}, whose {method}() does not return a dict.")
    check_count(named)
    return NAMED, dict(named)


def check_count(context: Any, most: int = MOST) -> None:
    """Raise `InputError` for a context with more than `most` features."""
    if len(context) > most:
        raise InputError(
            f"A context may have at most {most:,} features; given {len(context):,}. Give numbers that sum up a picture, a text or a long list; "
            f"names should not hold values: give {{'user': 'u17'}}, not {{'user_u17': 1}}."
        )


def _alone(context: Any) -> tuple[str, Any]:
    try:
        kind, _ = infer_kind(context)
    except Unfit as error:
        raise InputError(f"{NEEDED}; given {error}.") from None
    if kind == NUMBER or (kind == MISSING and context is not None):
        return ALONE, context
    hint = "For an empty context give {}" if context is None else f"Name it: {{'x': {quoted(context):.200}}}"
    raise InputError(f"{NEEDED}; given {quoted(context):.200}. {hint}.")
