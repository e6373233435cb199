"""The kind of a value, missing, a number, text, True or False, a time, or tags, and its plain form."""

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError, quoted

MISSING, NUMBER, CATEGORY, FLAG, TIME, TAGS, CYCLE = "missing", "number", "category", "flag", "time", "tags", "cycle"
WORDS = {
    NUMBER: "a number",
    CATEGORY: "text",
    FLAG: "True or False",
    TIME: "a date or time",
    TAGS: "a list of text",
    CYCLE: "a number",
}
PARTS = {"day": 0.0, "hour": 24.0, "weekday": 7.0}  # of a time, with their periods; 0: not cyclic
TRUTHS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}  # words for True and False, in any case
EPOCH = date(1970, 1, 1).toordinal()

KindAndValue = tuple[str, Any]


class Unfit(InputError):
    """A value that no feature can have. The message has the remedy; the caller adds the name of the feature."""


def infer_kind(value: Any) -> KindAndValue:
    """Return the kind of a value and its plain form: a float, text, a list of text, or the parts of a time by name.

    >>> infer_kind(3), infer_kind("FR"), infer_kind(None), infer_kind(True)
    (('number', 3.0), ('category', 'FR'), ('missing', None), ('flag', 1.0))
    """
    exact = _EXACT.get(type(value))
    return exact(value) if exact is not None else _general(value)


def is_missing(value: Any) -> bool:
    """Return whether a value is missing. A value that no feature can have is not."""
    try:
        return infer_kind(value)[0] == MISSING
    except Unfit:
        return False


def category_text(value: Any, text: int) -> str | None:
    """Return the text of a number or flag for a declared Category; None for other values. 7 and 7.0 are both "7"."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer) and not isinstance(value, np.timedelta64):
        if int(value).bit_length() > 4 * text:
            raise Unfit(f"a whole number of {int(value).bit_length()} bits is too long. Give its text, shortened")
        return str(int(value))
    if isinstance(value, float | np.floating) and math.isfinite(value):
        x = float(value)
        return str(int(x)) if x % 1 == 0 and abs(x) < 2**53 else repr(x)
    return None


def time_text(text: str) -> date | time:
    """Parse a date, a time of day or both in the format of ISO 8601. Raises `Unfit` for other text.

    >>> time_text("2026-11-16"), time_text("2026-11-16T09:30"), time_text("09:30")
    (datetime.date(2026, 11, 16), datetime.datetime(2026, 11, 16, 9, 30), datetime.time(9, 30))
    """
    for read, mark in ((date.fromisoformat, "-"), (datetime.fromisoformat, "-"), (time.fromisoformat, ":")):
        if mark in text:  # "2026" alone would be 20:26
            try:
                moment: date | time = read(text.strip())
                return moment
            except ValueError:
                pass
    raise Unfit(
        f"the text {quoted(text):.100}, which is no time. Write times as in '2026-11-16T09:30', '2026-11-16' or '09:30'"
    )


def _number(value: Any) -> KindAndValue:
    try:
        x = float(value)
    except (ArithmeticError, ValueError, TypeError):  # Decimal('sNaN') is a ValueError
        if isinstance(value, Decimal) and value.is_nan():
            return MISSING, None
        raise Unfit("a number too large for a float. Give its logarithm, or its text as a hsb.Category()") from None
    return (NUMBER, x) if x == x else (MISSING, None)


def _time(value: Any) -> KindAndValue:
    if value != value:  # pandas.NaT
        return MISSING, None
    parts = {}
    if isinstance(value, date):  # a datetime is a date
        parts["day"] = float(value.toordinal() - EPOCH)
        parts["weekday"] = float(value.weekday())
    if not isinstance(value, date) or isinstance(value, datetime):
        parts["hour"] = value.hour + value.minute / 60 + (value.second + value.microsecond * 1e-6) / 3600
        if "day" in parts:
            parts["day"] += parts["hour"] / 24
    return TIME, parts


def _datetime64(value: Any) -> KindAndValue:
    if np.isnat(value):
        return MISSING, None
    unit = np.datetime_data(value.dtype)[0]
    try:
        plain = value.astype("datetime64[D]" if unit in "YMWD" else "datetime64[us]").item()
    except (OverflowError, ValueError):
        plain = None
    if not isinstance(plain, date):
        raise Unfit("a time outside of the years 1 to 9999. Give a number instead")
    return _time(plain)


def _tags(value: Any) -> KindAndValue:
    if isinstance(value, np.ndarray):
        if value.ndim != 1:
            raise Unfit(f"an array of shape {value.shape}. Give each number a separate feature")
        value = value.tolist()
    tags = list(dict.fromkeys(str.__str__(tag) for tag in value if isinstance(tag, str)))
    if any(not isinstance(tag, str) for tag in value):
        raise Unfit("a list that has more than text in it. Give each number a separate feature; tags are text: ['new', 'sale']")
    return TAGS, sorted(tags) if isinstance(value, set | frozenset) else tags


_EXACT: dict[type, Callable[[Any], KindAndValue]] = {
    type(None): lambda value: (MISSING, None),
    float: lambda value: (NUMBER, value) if value == value else (MISSING, None),
    int: _number,
    str: lambda value: (CATEGORY, value),
    bool: lambda value: (FLAG, float(value)),
    np.float64: _number,
    np.int64: _number,
}

_KINDS: list[tuple[Any, Callable[[Any], KindAndValue]]] = [  # in this order: True is an int, a datetime64 is no number
    (bool | np.bool_, lambda value: (FLAG, float(value))),
    (str, lambda value: (CATEGORY, str.__str__(value))),
    (np.datetime64, _datetime64),
    (timedelta | np.timedelta64, lambda value: _refuse("a length of time. Give value.total_seconds()")),
    (int | float | np.integer | np.floating | Decimal | Fraction, _number),
    (date | time, _time),
    (np.ma.core.MaskedConstant, lambda value: (MISSING, None)),
    (list | tuple | set | frozenset, _tags),
    (np.ndarray, lambda value: infer_kind(value[()]) if value.ndim == 0 else _tags(value)),
    (dict, lambda value: _refuse("a dict inside a context. Flatten it: {'a.b': 1} instead of {'a': {'b': 1}}")),
    (bytes | bytearray | memoryview, lambda value: _refuse("bytes. Decode them to text: value.decode()")),
    (
        complex | np.complexfloating,
        lambda value: _refuse("a complex number. Give its real and imaginary parts as two features"),
    ),
]


def _general(value: Any) -> KindAndValue:
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas', which is not imported here
        return MISSING, None
    for types, read in _KINDS:
        if isinstance(value, types):
            return read(value)
    raise Unfit(
        f"a value of type {type(value).__name__}. Features are numbers, text, True or False, dates and times, lists of text"
    )


def _refuse(message: str) -> KindAndValue:
    raise Unfit(message)
