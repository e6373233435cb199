"""One feature as an encoder knows it: its kind, once that is known, and its inputs; and how a value is taken for it."""

import math
from copy import copy
from hashlib import blake2b
from typing import Any

from ..errors import InputError, quoted
from .declared import declaration
from .kinds import LIMIT, Category, FeatureKind
from .values import CATEGORY, CYCLE, FLAG, MISSING, NUMBER, TAGS, TIME, TRUTHS, WORDS, Unfit, category_text, found, time_text

TRUE_OR_FALSE = {word: bool(truth) for word, truth in TRUTHS.items()}
FLAGS = {True: 1.0, False: 0.0}
Entry = tuple[type, int, dict[Any, float] | None]
"""Of a column with one input: the commonest type of its values, the input, and what stands for each value."""


class FeatureColumn:
    """A feature. `codes` has its categories by number, its tags and the parts of a time by input."""

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
        """An independent one."""
        other = copy(self)
        other.codes, other.inputs = dict(self.codes), self.inputs[:]
        return other

    def share(self, text: str) -> int:
        """Which of the limit's categories or tags one beyond them goes with."""
        return stable(text) % self.limit

    @property
    def full(self) -> bool:
        """Do further categories or tags share places?"""
        return len(self.codes) >= self.limit


def stable(text: str) -> int:
    """64 bits of a hash that is the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def taken(column: FeatureColumn, value: Any, text: int) -> tuple[str, Any]:
    """The kind of a value and its plain form, as the column has it; (MISSING, None) where it is missing.

    `text` is the most characters. Where the column's kind is not known yet, any kind does.
    """
    if column.kind == CATEGORY and type(value) is str and len(value) <= text:  # the commonest of what is not read more quickly
        return CATEGORY, value
    kind: str
    plain: Any
    try:
        if isinstance(value, str) and column.kind in (TIME, FLAG):
            value = _said(value, column)
        written = category_text(value, text) if column.kind == CATEGORY and column.declared else None
        kind, plain = (CATEGORY, written) if written is not None else found(value)
        if kind == MISSING:
            return kind, None
    except Unfit as error:
        raise InputError(f"Feature {quoted(column.name)} was given {error}.") from None
    if column.kind == CYCLE and kind == NUMBER:
        return CYCLE, turned(plain, column)
    if column.kind is not None and kind != column.kind:
        raise InputError(_mismatch(column, kind, value))
    for word in [plain] if kind == CATEGORY else plain if kind == TAGS else ():
        if len(word) > text:
            raise InputError(
                f"Feature {quoted(column.name)} was given a text of {len(word)} characters, more than {text}: {quoted(word[:40])}... "
                f"Shorten it, leave it out, or allow more: features.limit(text={len(word)})."
            )
    return kind, plain


def _said(text: str, column: FeatureColumn) -> Any:
    """What text says of a time, or of True or False, as CSV files have them; the text itself where it says nothing of the kind."""
    if column.kind == FLAG:
        return TRUE_OR_FALSE.get(text.strip().lower(), text)
    try:
        return time_text(text)
    except Unfit:
        if column.declared:
            raise
        return text


def turned(x: float, column: FeatureColumn) -> float:
    """A number within the period of its column; NaN stays."""
    if x == math.inf or x == -math.inf:
        raise InputError(f"Feature {quoted(column.name)} is a Cycle({column.period:g}) and needs finite numbers; given {x}.")
    x %= column.period
    return x if x != column.period else 0.0  # -1e-20 % 24.0 is 24.0


def _mismatch(column: FeatureColumn, kind: str, value: Any) -> str:
    """A value of another kind than the feature's."""
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
