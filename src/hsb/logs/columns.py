"""Which column of a table is what: the names of a log's columns, checked."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from ..checks import is_number
from ..errors import InputError, quoted
from .rows import Meaning, Rows
from .values import Column

Available = str | Sequence[str] | Mapping[Hashable, str]
PROPENSITIES = (
    "a column; 'uniform', if each available arm was as probable as the others; a number in (0, 1], if all rows have the same; "
    "or 'estimate', for a model of who wrote the log"
)


class ColumnRoles(NamedTuple):
    """The columns of a table by their part: the features, in `meaning`, the `arm` shown, its `propensity`, what came of it (`value`).

    `available` is a column with lists of arms, or columns of booleans in the order of the arms.
    """

    meaning: Meaning
    arm: str
    propensity: str | None  # None: `meaning.probabilities` says
    value: str
    available: str | tuple[str, ...] | None = None
    timestamp: str | None = None
    id: str | None = None

    @property
    def names(self) -> list[str]:
        """All that are read, each once."""
        several = self.available if isinstance(self.available, tuple) else (self.available,)
        wanted = [*self.meaning.context, self.arm, self.propensity, self.value, *several, self.timestamp, self.id]
        return list(dict.fromkeys(name for name in wanted if name is not None))

    def rows(self, file: str, line: Any, table: Mapping[Any, Column]) -> Rows:
        """Some rows of the table, of which `table` holds the columns by name."""
        context = [table[name] for name in self.meaning.context]
        some = [table[name] for name in self.available] if isinstance(self.available, tuple) else table.get(self.available)
        arm, value = table[self.arm], table[self.value]
        propensity = None if self.propensity is None else table[self.propensity]
        return Rows(file, line, context, arm, propensity, value, some, table.get(self.timestamp), table.get(self.id))

    def within(self, tables: Iterable[tuple[str, Sequence[str]]]) -> Self:
        """The same for tables of which the columns' names are known; refuse those that lack one.

        A propensity that is no column of any of them may be a word: "uniform", "estimate", or a number as text. A column so called comes first.
        """
        named, found = self.propensity, list(tables)
        columns = self
        if named is not None and not any(named in there for _, there in found) and (probabilities := said(named)) is not None:
            columns = self._replace(propensity=None, meaning=self.meaning._replace(probabilities=probabilities))
        for file, there in found:
            is_absent = columns.propensity is not None and columns.propensity not in there
            require(columns.names, there, file, f" The propensity may be {PROPENSITIES}." if is_absent else "")
        return columns

    @classmethod
    def of(
        cls,
        meaning: Meaning,
        *,
        arm: str | None,
        propensity: str | float | None,
        reward: str | None = None,
        loss: str | None = None,
        available: Available | None = None,
        timestamp: str | None = None,
        id: str | None = None,
    ) -> Self:
        """Checked columns. Losses lie in [0, 1] where the meaning has no `loss_range`.

        `available` may be a mapping from arm to column, too; without arms, a sequence of columns names the arms.
        """
        features, all_arms = meaning.context, meaning.arms
        if features and arm is not None and propensity is None and (reward is None) != (loss is None):
            raise InputError(f"Nothing says with which probability the arms were shown. The propensity may be {PROPENSITIES}.")
        if not features or arm is None or propensity is None or (reward is None) == (loss is None):
            given = {"arm": arm, "propensity": propensity, "reward": reward, "loss": loss}
            named = ", ".join(f"{part}={quoted(name)}" for part, name in given.items() if name is not None) or "nothing"
            needed = "arm=, propensity= and one of reward= and loss="
            rest = "Features are those in context=[...], at least one; without it, all other columns."
            raise InputError(f"A table needs the names of its columns: {needed}; given {named}. {rest}")
        column = propensity if isinstance(propensity, str) else None
        if is_number(propensity):
            meaning = meaning._replace(probabilities=share(propensity))
        elif column is None:
            raise InputError(f"propensity must be {PROPENSITIES}; given {quoted(propensity)}.")
        names = (*features, arm, column or "", reward or loss, timestamp or "", id or "")
        if not all(isinstance(name, str) for name in names):
            raise InputError(f"Columns are given by name, text; given {quoted(names)}.")
        meaning.check()
        if len(set(features)) < len(features):
            raise InputError(f"A column is listed twice in context: {list(features)}.")
        some: str | tuple[str, ...] | None
        if isinstance(available, Mapping):
            if all_arms is not None and set(all_arms) != set(available):
                raise InputError("available, a mapping, must have exactly the arms given in arms=.")
            all_arms = tuple(available) if all_arms is None else all_arms
            some = tuple(available[one] for one in all_arms)
        elif available is None or isinstance(available, str):
            some = available
        else:
            some = tuple(available)
            all_arms = some if all_arms is None else all_arms
            if len(some) != len(all_arms):
                raise InputError(f"available needs a column for each of the {len(all_arms)} arms; given {len(some)}.")
        if some is not None and not some:
            raise InputError("available needs a column with lists, or a column of booleans for each arm; given none.")
        offers: Any = "all" if some is None else "lists" if isinstance(some, str) else "truths"
        losses = None if loss is None else meaning.loss_range or (0.0, 1.0)
        parts = {"propensity": column, "reward" if loss is None else "loss": str(reward or loss)}
        called = tuple((part, name) for part, name in parts.items() if name is not None)
        meaning = meaning._replace(arms=all_arms, offers=offers, loss_range=losses, called=called)
        return cls(meaning, arm, column, str(reward or loss), some, timestamp, id)


def share(propensity: float) -> float:
    """A propensity that all rows have."""
    if not 0.0 < propensity <= 1.0:
        raise InputError(f"propensity, a number for all rows, must be in (0, 1]; given {quoted(propensity)}.")
    return float(propensity)


def said(word: str) -> Any:
    """What a word that is no column says of all propensities; None for nothing.

    >>> said("uniform"), said("0.2"), said("p")
    ('uniform', 0.2, None)
    """
    if word in ("uniform", "estimate"):
        return word
    try:
        number = float(word)
    except ValueError:
        return None
    return None if "_" in word or not math.isfinite(number) else share(number)


def require(wanted: Sequence[str], there: Sequence[str], file: str, hint: str = "") -> None:
    """Refuse a table that lacks a wanted column, or has two of its name."""
    if absent := [name for name in wanted if name not in there]:
        some = ", ".join(map(repr, there[:40])) + (f" and {len(there) - 40} more" if len(there) > 40 else "")
        raise InputError(f"{file} has no column {', '.join(map(repr, absent))}. It has: {some or 'none'}.{hint}")
    if twice := [name for name in wanted if list(there).count(name) > 1]:
        raise InputError(f"{file} has two columns named {quoted(twice[0])}. Rename one.")
