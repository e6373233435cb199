"""The vocabulary of an encoder: the features and values admitted so far, as a journal, and the layout that follows from it.

Everything but the statistics follows from the declaration and the journal. A file holds these two, so it cannot contradict itself.
"""

import re
import warnings
from copy import copy
from typing import Any, Self

from ..engine.kernels import inputs as at
from ..errors import InputError, quoted
from ..files.memory_limit import afford
from .contexts import ALONE, FORMS, NAMED, ROW, open_context
from .declared import Features, nearest
from .feature import FeatureColumn, coerce
from .kinds import FeatureKind
from .layout import RawInputLayout
from .values import CATEGORY, CYCLE, FLAG, MISSING, NUMBER, PARTS, TAGS, TIME

Event = list[Any]
EVENT = 64  # words of an event, with its name and number
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")
RAW_INPUT_KINDS = {NUMBER: at.NUMBER, CATEGORY: at.CATEGORY, CYCLE: at.CYCLE, FLAG: at.FLAG}


class Knowledge:
    """Columns by name, the layout, and the journal that they follow from. An event is a list of plain data:

    ["form", form, length], ["name", text], ["kind", j, kind], ["value", j, text], ["missing", j]; j is the column's number.
    """

    def __init__(self, features: Features, width: int) -> None:
        self.features, self.layout = features, RawInputLayout(width)
        self.columns: dict[str, FeatureColumn] = {}
        self.listed: list[FeatureColumn] = []  # by number
        self.raw_input_columns: list[FeatureColumn] = []
        self.form: str | None = None  # of contexts, if nothing is declared
        self.length = 0  # of rows
        self.journal: list[Event] = []
        self._owned: set[str] = set()  # the columns not shared with a copy
        for name, kind in features.kinds.items():
            self._add(FeatureColumn(name, kind))

    def named_values(self, context: Any) -> tuple[str, dict[str, Any]]:
        """Return the form of a context, and its values by name. Raises `InputError` if its form, its names or their number do not fit."""
        form, values = open_context(context)
        if not self.features.open:
            values = self._declared(form, values)
        else:
            if form != (self.form or form):
                raise InputError(
                    f"So far contexts were {FORMS[self.form or form]}; given {FORMS[form]}: {quoted(context):.200}. "
                    "Give all in one form, or declare the features: a policy then takes both forms."
                )
            if form == ROW and self.form == ROW and len(values) != self.length:
                raise InputError(
                    f"Contexts had {self.length} values so far; given {len(values)}. Put None where a value is missing."
                )
            if form != NAMED:
                values = {f"x{j}": value for j, value in enumerate(values)} if form == ROW else {"x": values}
        self.check_names(values)
        plain = {str.__str__(name): value for name, value in values.items()}
        if len(plain) != len(values):
            raise InputError(f"Two names of the context have the same text; given {quoted(list(values)):.200}.")
        return form, plain

    def events(self, context: Any) -> list[Event]:
        """Return the events that would admit a context. Changes nothing. Raises `InputError` if anything in the context does not fit."""
        form, values = self.named_values(context)
        events: list[Event] = []
        if self.features.open and self.form is None:
            events.append(["form", form, len(values) if form == ROW else 0])
        text = self.features.limits["text"]
        for j, column in enumerate(self.listed):
            value = values.get(column.name)
            if type(value) is str:
                known = column.kind == CATEGORY and value in column.codes
            else:
                known = column.kind == NUMBER and type(value) is float and value == value
            if not known:
                events += _unseen_values(j, column, *coerce(column, value, text))
        j = len(self.listed)
        for name, value in values.items():
            if name not in self.columns:
                column = FeatureColumn(name)
                events.append(["name", name])
                events += _unseen_values(j, column, *coerce(column, value, text))
                j += 1
        return events

    def copy(self) -> Self:
        """Return an independent copy. The two share columns until one of them changes a column."""
        other = copy(self)
        other.columns, other.listed, other.raw_input_columns = dict(self.columns), self.listed[:], self.raw_input_columns[:]
        other.layout, other.journal = self.layout.copy(), self.journal[:]
        self._owned, other._owned = set(), set()
        return other

    def _own(self, j: int) -> FeatureColumn:
        """Return column `j` for a change: a copy of it if it may be shared."""
        column = self.listed[j]
        if column.name not in self._owned:
            column = column.copy()
            self._owned.add(column.name)
            self.listed[j] = self.columns[column.name] = column
            for s in column.inputs:
                self.raw_input_columns[s] = column
        return column

    def apply(self, event: Event) -> None:
        """Append an event to the journal and carry it out."""
        afford(EVENT)
        self.journal.append(event)
        if event[0] == "form":
            self.form, self.length = event[1], event[2]
        elif event[0] == "name":
            self._add(FeatureColumn(event[1]))
        elif event[0] == "kind":
            column = self._own(event[1])
            column.kind = event[2]
            self._make_raw_input(column)
        elif event[0] == "missing":
            column = self._own(event[1])
            column.missing = True
            if column.inputs:
                self.layout.miss(column.inputs[0], column.name)
        else:
            self._value(self._own(event[1]), event[2])

    def inferred_features(self) -> Features:
        """Return the declaration that matches the inferred features, without features that were always missing.

        An inferred category becomes `Category()`, and so on.
        """
        if not self.features.open:
            return self.features
        by_name = {cls.name: cls for cls in FeatureKind.kinds.values()}
        kinds = {column.name: by_name[column.kind]() for column in self.listed if column.kind is not None}
        return Features(kinds).limit(**self.features.limits)

    def _add(self, column: FeatureColumn) -> None:
        self._owned.add(column.name)
        self.columns[column.name] = column
        self.listed.append(column)
        if column.kind is not None:
            self._make_raw_input(column)

    def _make_raw_input(self, column: FeatureColumn) -> None:
        """Add the input of a column; times and tags get inputs as parts and tags appear."""
        if column.kind in RAW_INPUT_KINDS:
            limit = column.limit if column.kind == CATEGORY else 0
            self._raw_input(column, column.name, RAW_INPUT_KINDS[column.kind], limit=limit, period=column.period)

    def _raw_input(self, column: FeatureColumn, name: str, kind: int, *, limit: int = 0, period: float = 0.0) -> int:
        s = self.layout.raw_input(name, kind, limit=limit, period=period)
        column.inputs.append(s)
        self.raw_input_columns.append(column)
        if column.missing and len(column.inputs) == 1:
            self.layout.miss(s, column.name)
        return s

    def _value(self, column: FeatureColumn, text: str) -> None:
        """Add a new category, tag, or part of a time."""
        if column.kind == CATEGORY:
            k = len(column.codes)
            column.codes[text] = float(k)
            self.layout.category(column.inputs[0], k, text)
        elif column.kind == TAGS:
            column.codes[text] = self._raw_input(column, f"{column.name}: {text}", at.TAG)
        else:
            kind = at.CYCLE if PARTS[text] else at.NUMBER
            column.codes[text] = self._raw_input(column, f"{column.name} {text}", kind, period=PARTS[text])

    def _declared(self, form: str, values: Any) -> dict[str, Any]:
        features = self.features
        if form == NAMED:
            return features.split(values) if features.composites else values
        row = [values] if form == ALONE else values
        names = features.names
        if len(row) != len(names):
            raise InputError(
                f"{len(names)} features are declared ({', '.join(map(repr, names[:8]))}{', ...' if len(names) > 8 else ''}); "
                f"given {len(row)} values. Put None where a value is missing, or give a dict."
            )
        named = dict(zip(names, row, strict=True))
        return features.split(named) if features.composites else named

    def check_names(self, values: dict[str, Any]) -> None:
        """Raise `InputError` for names that are not text, too long, not declared though others are, or too many."""
        limits, known = self.features.limits, self.columns
        strange = [name for name in values if name not in known]
        for name in strange:
            if not isinstance(name, str):
                raise InputError(
                    f"Names of features are text; given {quoted(name):.100}. For values without names give a list."
                )
            if not self.features.open:
                raise InputError(
                    f"Feature {quoted(name):.100} is not declared; declared are {', '.join(map(repr, self.features.names[:20]))}."
                    f"{nearest(name, self.features.names) or ' Declare all features, or none: then they are inferred.'}"
                )
            if len(name) > limits["text"]:
                raise InputError(
                    f"The name {quoted(name[:40])}... has {len(name)} characters, more than {limits['text']}. Shorten it."
                )
        if len(known) + len(strange) > limits["columns"]:
            raise InputError(
                f"With {quoted(strange[0]):.100} there are {len(known) + len(strange)} features, more than {limits['columns']}. "
                "Names should not hold values: give {'user': 'u17'}, not {'user_u17': 1}. "
                f"Or allow more: features.limit(columns={len(known) + len(strange)})."
            )


def _unseen_values(j: int, column: FeatureColumn, kind: str, plain: Any) -> list[Event]:
    """Return the events for whatever is new in a coerced value of a column."""
    if kind == MISSING:
        return [] if column.missing else [["missing", j]]
    events: list[Event] = [] if column.kind is not None else [["kind", j, kind]]
    if kind not in (CATEGORY, TAGS, TIME):
        return events
    room = len(PARTS) if kind == TIME else column.limit - len(column.codes)
    for word in [plain] if kind == CATEGORY else plain:
        if room > 0 and word not in column.codes:
            events.append(["value", j, word])
            room -= 1
    return events


def warn_of_dates(knowledge: Knowledge, events: list[Event]) -> None:
    """Warn if the first text of a feature is a date: each date is then a separate category, and no date informs the next."""
    for event in events:
        if event[0] == "value" and DATE.fullmatch(event[2]):
            column = knowledge.listed[event[1]]
            if column.kind == CATEGORY and not column.declared and len(column.codes) == 1:
                warnings.warn(
                    f"Feature {quoted(column.name):.100} has dates as text: each is a separate category, and one day has no effect on the "
                    "next. Give date or datetime objects, or declare all features, this one as hsb.Time(), over HTTP as 'time'.",
                    stacklevel=2,
                )


def fits(knowledge: Knowledge, event: Any) -> bool:
    """Return whether an event from a file can be applied now."""
    columns, open_ = knowledge.listed, knowledge.features.open
    text = knowledge.features.limits["text"]
    match event:
        case ["form", str() as form, int() as length]:
            return open_ and knowledge.form is None and form in FORMS and (length >= 0 if form == ROW else length == 0)
        case ["name", str() as name]:
            return (
                open_
                and name not in knowledge.columns
                and len(name) <= text
                and len(columns) < knowledge.features.limits["columns"]
            )
        case ["kind", int() as j, str() as kind]:
            return open_ and 0 <= j < len(columns) and columns[j].kind is None and kind in (NUMBER, CATEGORY, FLAG, TIME, TAGS)
        case ["missing", int() as j]:
            return 0 <= j < len(columns) and not columns[j].missing
        case ["value", int() as j, str() as word] if 0 <= j < len(columns):
            column = columns[j]
            if word in column.codes:
                return False
            if column.kind == TIME:
                return word in PARTS
            return column.kind in (CATEGORY, TAGS) and len(word) <= text and not column.full
    return False
