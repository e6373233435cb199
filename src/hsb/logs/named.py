"""The features of a log by name: the kind of each column, which the first rows determine, and its values."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted
from ..features.column_values import Flags, Numbers, Objects, Times, Values, Words, values_of
from ..features.contexts import NAMED
from ..features.declared import LIMITS, Features
from ..features.kinds import FeatureKind
from ..features.tables import ContextTable
from ..features.values import (
    CATEGORY,
    CYCLE,
    FLAG,
    MISSING,
    NUMBER,
    TAGS,
    TIME,
    TRUTHS,
    Unfit,
    category_text,
    infer_kind,
    time_text,
)
from ..types import Floats
from .values import Coded, Column, codes, encode_labels, numbers, truths
from .why import Why

LOOKED = 1 << 13  # rows at the beginning that determine a column's kind
MOST = 0.9  # share of a text column's values that must be numbers for the column to be numeric
ABSENT = frozenset({"", "nan", "na", "n/a", "null", "none"})  # words for a missing number
WORDS = {
    NUMBER: "is not a number, as others are",
    CYCLE: "is not a finite number",
    FLAG: "is neither true nor false, as others are",
    CATEGORY: f"is not text of at most {LIMITS['text']} characters",
    TIME: "is not a date or time, as others are",
    TAGS: "is not a list of text, as others are",
}
Bools = NDArray[np.bool_]


class Kinds:
    """The kinds of a log's features, by name: those in `known`, and for other columns what the first rows show. They hold for the whole log.

    Text without types, as in CSV files, is a number or a date if nine in ten values are (nan, NA, n/a, null, none and empty text then are
    missing); true and false are a flag; anything else is a category. Columns in `categories` and `times` always have that kind.

    >>> kinds = Kinds({}, untyped=True)
    >>> kinds.look({"age": ["31", "", "33"], "member": ["True", "False", ""], "country": ["FR", "", "DE"], "at": ["2026-11-19", "", "NA"]})
    >>> kinds.known
    {'age': 'number', 'member': 'flag', 'country': 'category', 'at': 'time'}
    """

    def __init__(
        self,
        known: Mapping[str, str | None],
        categories: Collection[str] = (),
        times: Collection[str] = (),
        *,
        untyped: bool = False,
    ) -> None:
        if not isinstance(known, Mapping) or not all(
            kind is None or (isinstance(kind, str) and kind in READ) for kind in known.values()
        ):
            raise InputError(f"known must map columns to kinds, each one of {', '.join(READ)}; given {quoted(known):.200}.")
        self.known: dict[str, str] = {name: kind for name, kind in known.items() if kind is not None}
        self.untyped = untyped
        self.declared = {**dict.fromkeys(times, TIME), **dict.fromkeys(categories, CATEGORY)}

    def look(self, columns: Mapping[str, Column]) -> None:
        """Infer the kinds of columns that are not known yet."""
        for name, column in columns.items():
            if name in self.known:
                continue
            kind = self.declared.get(name) or self._kind(column)
            if kind is not None:
                self.known[name] = kind

    def table(self, columns: Mapping[str, Column], why: Why) -> ContextTable:
        """Convert columns to features; add rows with a value of another kind to `why`."""
        features: dict[str, Values] = {}
        for name, column in columns.items():
            kind = self.known.get(name)
            if kind is None:
                features[name] = Numbers(blank := np.full(len(why.number), np.nan), blank)  # only missing values
                continue
            features[name], bad = READ[kind](column)
            if bad is not None and bad.any():
                hint = "; if it holds categories, add it to categories=[...]" if kind in (NUMBER, FLAG) else ""
                why.note(bad, f"feature {quoted(name)} {WORDS[kind]}{hint}")
        return ContextTable(NAMED, features, len(why.number))

    def _kind(self, column: Column) -> str | None:
        """Infer the kind of a column; None if all its values are missing."""
        if isinstance(column, np.ndarray) and column.dtype.kind in "biufM":
            if column.dtype.kind == "f" and np.isnan(column).all():
                return None
            return {"b": FLAG, "M": TIME}.get(column.dtype.kind, NUMBER)
        values = column.values if isinstance(column, Coded) else column
        if self.untyped:
            return _text_kind(values)
        for value in values:
            try:
                kind, _ = infer_kind(value)
            except Unfit:
                continue
            if kind != MISSING:
                return kind
        return None


def with_others(features: Features, batches: Sequence[Any]) -> Features:
    """Return the declared features plus all other columns of these batches, with the kinds they have there; all-missing columns are left out.

    Returns `features` unchanged if the batches lack one of them: reading the log then raises the error.
    """
    if not all(set(features.kinds) <= set(batch.named.columns) for batch in batches):
        return features
    kinds = {kind.name: kind for kind in FeatureKind.kinds.values()}
    all_features: dict[str, FeatureKind] = dict(features.declared_kinds)
    for batch in batches:
        for name, values in batch.named.columns.items():
            kind = None if name in all_features or name in features.kinds else kind_of(values)
            if kind is not None:
                all_features[name] = kinds[kind]()
    return Features(all_features).limit(**features.limits)


def kind_of(values: Values) -> str | None:
    """Return the kind of a column's first value that is not missing; None if all are missing."""
    present = np.flatnonzero(~values.missing())
    return infer_kind(values.at(int(present[0])))[0] if len(present) else None


def as_numbers(table: ContextTable) -> Floats:
    """Convert values to floats: numbers as they are, True and False to 1 and 0, text to its `hsb.encode.code`, times to days; else NaN."""
    points = np.full((table.rows, len(table.columns)), np.nan)
    for j, values in enumerate(table.columns.values()):
        if isinstance(values, Numbers):
            points[:, j] = values.floats
        elif isinstance(values, Words):
            points[:, j] = Coded(values.codes, values.words).each(codes)
        elif isinstance(values, Times):
            points[:, j] = values.parts["day"]
    return points


def _text_kind(values: Any) -> str | None:
    words = [value.strip() for value in values if isinstance(value, str)]
    present = [word for word in words if word.lower() not in ABSENT]
    if not present:
        return CATEGORY if any(words) else None
    lower = [word.lower() for word in present]
    if all(word in TRUTHS or word in ("0", "1") for word in lower) and any(word in TRUTHS for word in lower):
        return FLAG
    if (~np.isnan(numbers(present))).mean() >= MOST:
        return NUMBER
    return TIME if sum(map(_is_date, present)) >= MOST * len(present) else CATEGORY


def _is_date(word: str) -> bool:
    """Is it an ISO 8601 date, with or without a time of day?"""
    try:
        return word[:4].isdigit() and isinstance(time_text(word), date)
    except Unfit:
        return False


def _numbers(column: Column) -> tuple[Values, Bools | None]:
    floats = numbers(column)
    return Numbers(floats, floats), _odd(column, np.isnan(floats))


def _finite(column: Column) -> tuple[Values, Bools | None]:
    floats = numbers(column)
    bad = _odd(column, np.isnan(floats))
    return Numbers(floats, floats), np.isinf(floats) if bad is None else bad | np.isinf(floats)


def _flags(column: Column) -> tuple[Values, Bools | None]:
    floats = truths(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return Flags(floats), np.isnan(floats) & ~np.isnan(column.astype(np.float64))
    return Flags(floats), _odd(column, np.isnan(floats))


def _words(column: Column) -> tuple[Values, Bools | None]:
    labels = encode_labels(column)
    words, indices = dict[str, int](), []
    for label in labels.values:
        text = _text(label)
        indices.append(-2 if text is None else words.setdefault(text, len(words)))
    word_codes = np.array([*indices, -1], dtype=np.int64)[labels.codes]
    return Words(word_codes, list(words)), word_codes == -2


def _text(label: Any) -> str | None:
    try:
        text = label if isinstance(label, str) else category_text(label, LIMITS["text"])
    except Unfit:
        return None
    return text if text is not None and len(text) <= LIMITS["text"] else None


def _times(column: Column) -> tuple[Values, Bools | None]:
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        return values_of(column), None
    return _objects([_date(value) if isinstance(value, str) else value for value in column], TIME)


def _date(text: str) -> Any:
    if text.strip().lower() in ABSENT:
        return None
    try:
        return time_text(text)
    except Unfit:
        return text


def _tags(column: Column) -> tuple[Values, Bools | None]:
    return _objects(list(column), TAGS)


def _objects(values: list[Any], kind: str) -> tuple[Values, Bools]:
    """Keep values as objects, and note those of another kind."""
    bad = np.zeros(len(values), dtype=np.bool_)
    for i, value in enumerate(values):
        try:
            bad[i] = infer_kind(value)[0] not in (kind, MISSING)
        except Unfit:
            bad[i] = True
    return Objects(values), bad


def _odd(column: Column, unread: Bools) -> Bools | None:
    """Mark the unreadable values that are not merely missing."""
    if (isinstance(column, np.ndarray) and column.dtype.kind in "biufM") or not unread.any():
        return None
    odd = np.zeros(len(column), dtype=np.bool_)
    if isinstance(column, Coded):
        return column.each(lambda values: np.array([not _is_missing(value) for value in values], dtype=np.float64)) * unread > 0
    for i in np.flatnonzero(unread).tolist():
        odd[i] = not _is_missing(column[i])
    return odd


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ABSENT
    try:
        return infer_kind(value)[0] == MISSING
    except Unfit:
        return False


READ: dict[str, Callable[[Column], tuple[Values, Bools | None]]] = {
    NUMBER: _numbers,
    CYCLE: _finite,
    FLAG: _flags,
    CATEGORY: _words,
    TIME: _times,
    TAGS: _tags,
}
