"""One feature of an encoder: its kind, once that is known, its inputs, and the conversion of a value to its kind."""

import math
from copy import copy
from hashlib import blake2b
from typing import Any

from ..errors import InputError, quoted
from .declared import declaration
from .kinds import LIMIT, Category, FeatureKind
from .values import (
    CATEGORY,
    CYCLE,
    FLAG,
    MISSING,
    NUMBER,
    TAGS,
    TIME,
    TRUTHS,
    WORDS,
    Unfit,
    category_text,
    infer_kind,
    time_text,
)

TRUE_OR_FALSE = {word: bool(truth) for word, truth in TRUTHS.items()}
FLAGS = {True: 1.0, False: 0.0}
Entry = tuple[type, int, dict[Any, float] | None]
"""The fast path of a column with one input: the commonest type of its values, the input, and the code of each value."""


class FeatureColumn:
    """A feature. `codes` maps categories to numbers, tags and the parts of a time to inputs."""

    __slots__ = ("codes", "declared", "inputs", "kind", "limit", "missing", "name", "period")

    def __init__(self, name: str, declared: FeatureKind | None = None) -> None:
        self.name = name
        self.kind: str | None = None if declared is None else declared.name  # None: only missing values so far
        self.declared = declared is not None
        self.limit: int = getattr(declared, "limit", LIMIT)
        self.period: float = float(getattr(declared, "period", 0.0))
        self.codes: dict[str, float] = {}
        self.inputs: list[int] = []
        self.missing = False  # was a missing value admitted?

    def copy(self) -> "FeatureColumn":
        """Return an independent copy."""
        other = copy(self)
        other.codes, other.inputs = dict(self.codes), self.inputs[:]
        return other

    def share(self, text: str) -> int:
        """Return the category or tag within the limit with which one beyond it shares its column."""
        return stable(text) % self.limit

    @property
    def full(self) -> bool:
        """Whether further categories or tags share columns."""
        return len(self.codes) >= self.limit


def stable(text: str) -> int:
    """Return 64 bits of a hash that is the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def coerce(column: FeatureColumn, value: Any, text: int) -> tuple[str, Any]:
    """Return the kind of a value and its plain form for a column; (MISSING, None) for a missing value.

    `text`: the largest number of characters. A column without a kind so far takes any kind. Raises `InputError` for a value of another kind.
    """
    if column.kind == CATEGORY and type(value) is str and len(value) <= text:  # the commonest case without a fast path
        return CATEGORY, value
    kind: str
    plain: Any
    try:
        if isinstance(value, str) and column.kind in (TIME, FLAG):
            value = _parse_text(value, column)
        written = category_text(value, text) if column.kind == CATEGORY and column.declared else None
        kind, plain = (CATEGORY, written) if written is not None else infer_kind(value)
        if kind == MISSING:
            return kind, None
    except Unfit as error:
        raise InputError(f"Feature {quoted(column.name)} was given {error}.") from None
    if column.kind == CYCLE and kind == NUMBER:
        return CYCLE, wrap(plain, column)
    if column.kind is not None and kind != column.kind:
        raise InputError(_mismatch(column, kind, value))
    for word in [plain] if kind == CATEGORY else plain if kind == TAGS else ():
        if len(word) > text:
            raise InputError(
                f"Feature {quoted(column.name)} was given a text of {len(word)} characters, more than {text}: {quoted(word[:40])}... "
                f"Shorten it, leave it out, or allow more: features.limit(text={len(word)})."
            )
    return kind, plain


def _parse_text(text: str, column: FeatureColumn) -> Any:
    """Parse a time, True or False from text, as CSV files have them; return the text itself if it is something else."""
    if column.kind == FLAG:
        return TRUE_OR_FALSE.get(text.strip().lower(), text)
    try:
        return time_text(text)
    except Unfit:
        if column.declared:
            raise
        return text


def wrap(x: float, column: FeatureColumn) -> float:
    """Return a number modulo the period of its column; NaN stays."""
    if x == math.inf or x == -math.inf:
        raise InputError(f"Feature {quoted(column.name)} is a Cycle({column.period:g}) and needs finite numbers; given {x}.")
    x %= column.period
    return x if x != column.period else 0.0  # -1e-20 % 24.0 is 24.0


def _mismatch(column: FeatureColumn, kind: str, value: Any) -> str:
    """Write the message for a value of another kind than the feature's."""
    assert column.kind is not None
    verb = "is declared" if column.declared else "has had"
    start = f"Feature {column.name!r} {verb} {WORDS[column.kind]}; given {WORDS[kind]}, {quoted(value):.100}."
    if column.kind == TAGS and kind == CATEGORY:
        return f"{start} Give a list: [{quoted(value):.100}]."
    if (column.kind in (NUMBER, CYCLE) and kind == FLAG) or (column.kind == FLAG and kind == NUMBER):
        convert = "float(value)" if kind == FLAG else "bool(value)"
        return f"{start} Give {convert}."
    if TIME in (column.kind, kind) or TAGS in (column.kind, kind):
        return f"{start} Give all its values in one kind, or use another name for the other."
    declare = f"features=hsb.Features({declaration({column.name: Category()}, 'hsb.')})"
    return f"{start} Give all its values in one kind, or declare it: {declare}, with the other features."
