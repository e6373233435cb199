"""The roles of a table's columns: which is the arm, the propensity, the reward, a feature."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from ..checks import is_number
from ..errors import InputError, quoted
from .arm_features import ByFeature
from .rows import Meaning, Rows
from .values import Column

ArmFeatures = str | Mapping[str, str]
Available = str | Sequence[str] | Mapping[Hashable, str]
PROPENSITIES = (
    "a column; 'uniform', if all available arms were equally probable; a number in (0, 1], if all rows share it; "
    "or 'estimate', for a model of the logging policy"
)


class ColumnRoles(NamedTuple):
    """The columns of a table by role: the features (in `meaning`), the `arm` shown, its `propensity`, the reward or loss (`value`).

    `available` is a column with lists of arms, or one column of booleans for each arm, in the order of the arms. `arm_features` is a column
    with the features of the available arms, or several, one for each feature; `feature_names` then has their names.
    """

    meaning: Meaning
    arm: str
    propensity: str | None  # None: see `meaning.probabilities`
    value: str
    available: str | tuple[str, ...] | None = None
    timestamp: str | None = None
    id: str | None = None
    arm_features: str | tuple[str, ...] | None = None
    feature_names: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns to read, each once."""
        several = self.available if isinstance(self.available, tuple) else (self.available,)
        of_arms = self.arm_features if isinstance(self.arm_features, tuple) else (self.arm_features,)
        wanted = [*self.meaning.context, self.arm, self.propensity, self.value, *several, *of_arms, self.timestamp, self.id]
        return list(dict.fromkeys(name for name in wanted if name is not None))

    def rows(self, file: str, line: Any, table: Mapping[Any, Column]) -> Rows:
        """Return rows from `table`, a mapping from names to columns; `file` and `line` locate them for messages."""
        context = [table[name] for name in self.meaning.context]
        some = [table[name] for name in self.available] if isinstance(self.available, tuple) else table.get(self.available)
        arm, value = table[self.arm], table[self.value]
        propensity = None if self.propensity is None else table[self.propensity]
        some = table[self.arm_features] if self.meaning.in_features else some
        last = table.get(self.timestamp), table.get(self.id), self._arm_features(table)
        return Rows(file, line, context, arm, propensity, value, some, *last)

    def _arm_features(self, table: Mapping[Any, Column]) -> Column | None:
        """Return the column of features of arms; made of several, if each has one feature."""
        if not isinstance(self.arm_features, tuple):
            return table.get(self.arm_features)
        several = [table[name] for name in self.arm_features]
        return [ByFeature(zip(self.feature_names, values, strict=True)) for values in zip(*several, strict=True)]

    def within(self, tables: Iterable[tuple[str, Sequence[str]]]) -> Self:
        """Return these roles for `tables` (name, column names). Raises `InputError` if a table lacks a column.

        A propensity that names no column may be "uniform", "estimate" or a number as text. A column of that name takes precedence.
        """
        columns, name, headers = self, self.propensity, list(tables)
        if name is not None and not any(name in there for _, there in headers) and (word := parse_propensity(name)) is not None:
            columns = self._replace(propensity=None, meaning=self.meaning._replace(probabilities=word))
        for file, there in headers:
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
        arm_features: ArmFeatures | None = None,
    ) -> Self:
        """Check the roles of columns and return them. Losses lie in [0, 1] unless the meaning has a `loss_range`.

        `available` may also map arms to columns. If `meaning` has no arms, the names of several `available` columns are the arms.
        Without it, the arms of a column of `arm_features` are available. `arm_features` may also map features to columns.
        """
        features, all_arms = meaning.context, meaning.arms
        if features and arm is not None and propensity is None and (reward is None) != (loss is None):
            raise InputError(
                f"The propensity is missing: with which probability was each arm shown? Give propensity=: {PROPENSITIES}."
            )
        if (not features and arm_features is None) or arm is None or propensity is None or (reward is None) == (loss is None):
            roles = {"arm": arm, "propensity": propensity, "reward": reward, "loss": loss}
            listing = ", ".join(f"{role}={quoted(name)}" for role, name in roles.items() if name is not None) or "nothing"
            needed = "arm=, propensity= and either reward= or loss="
            rest = "Name the features with context=[...], at least one; without it, all other columns are features."
            raise InputError(f"A table needs the names of its columns: {needed}; given {listing}. {rest}")
        column = propensity if isinstance(propensity, str) else None
        if is_number(propensity):
            meaning = meaning._replace(probabilities=share(propensity))
        elif column is None:
            raise InputError(f"propensity must be {PROPENSITIES}; given {quoted(propensity)}.")
        names = (*features, arm, column or "", reward or loss, timestamp or "", id or "")
        if not all(isinstance(name, str) for name in names):
            raise InputError(f"Columns must be named by text; given {quoted(names)}.")
        meaning.check()
        if len(set(features)) < len(features):
            raise InputError(f"A column is listed twice in context: {list(features)}.")
        some: str | tuple[str, ...] | None
        if isinstance(available, Mapping):
            if all_arms is not None and set(all_arms) != set(available):
                raise InputError("available, a mapping from arm to column, must have exactly the arms of arms=.")
            all_arms = tuple(available) if all_arms is None else all_arms
            some = tuple(available[one] for one in all_arms)
        elif available is None or isinstance(available, str):
            some = available
        else:
            some = tuple(available)
            all_arms = some if all_arms is None else all_arms
            if len(some) != len(all_arms):
                raise InputError(f"available needs a column for each of the {len(all_arms)} arms; given {len(some)}.")
        of_arms = tuple(arm_features.values()) if isinstance(arm_features, Mapping) else arm_features
        if of_arms is not None and not isinstance(some, str) and (some is not None or isinstance(of_arms, tuple)):
            raise InputError(
                "Features of arms need available=, one column with the lists of available arms; given "
                f"{'none' if some is None else 'a column for each arm'}. Without available= give one column with "
                """objects, {"a17": {"price": 9}}."""
            )
        if some is not None and not some:
            raise InputError("available needs a column with lists, or a column of booleans for each arm; given no column.")
        in_features = some is None and of_arms is not None
        offers: Any = "lists" if in_features else "all" if some is None else "lists" if isinstance(some, str) else "truths"
        losses = None if loss is None else meaning.loss_range or (0.0, 1.0)
        parts = {"propensity": column, "reward" if loss is None else "loss": str(reward or loss)}
        called = tuple((part, name) for part, name in parts.items() if name is not None)
        meaning = meaning._replace(arms=all_arms, offers=offers, in_features=in_features, loss_range=losses, called=called)
        of_features = tuple(arm_features) if isinstance(arm_features, Mapping) else ()
        return cls(meaning, arm, column, str(reward or loss), some, timestamp, id, of_arms, of_features)


def columns_of_features(arm_features: ArmFeatures | None, there: Sequence[str]) -> ArmFeatures | None:
    """Return the columns of features of arms among those of a table: "arm_*" stands for all that begin with "arm_".

    >>> columns_of_features("arm_*", ["age", "arm_price", "arm_topic"])
    {'price': 'arm_price', 'topic': 'arm_topic'}
    """
    if not isinstance(arm_features, str) or not arm_features.endswith("*") or arm_features in there:
        return arm_features
    before = arm_features[:-1]
    columns = {
        name[len(before) :]: name for name in there if isinstance(name, str) and name.startswith(before) and name != before
    }
    if not columns:
        raise InputError(
            f"No column begins with {quoted(before)}, as arm_features={quoted(arm_features)} needs. Check the name."
        )
    return columns


def share(propensity: float) -> float:
    """Check a propensity that all rows share."""
    if not 0.0 < propensity <= 1.0:
        raise InputError(f"propensity must be in (0, 1] if it is one number for all rows; given {quoted(propensity)}.")
    return float(propensity)


def parse_propensity(word: str) -> Any:
    """Return "uniform", "estimate" or a number for a word that names no column; None for any other word.

    >>> parse_propensity("uniform"), parse_propensity("0.2"), parse_propensity("p")
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
    """Raise `InputError` if a table lacks a wanted column, or has two of that name."""
    if absent := [name for name in wanted if name not in there]:
        some = ", ".join(map(repr, there[:40])) + (f" and {len(there) - 40} more" if len(there) > 40 else "")
        raise InputError(f"{file} has no column {', '.join(map(repr, absent))}. It has: {some or 'none'}.{hint}")
    if twice := [name for name in wanted if list(there).count(name) > 1]:
        raise InputError(f"{file} has two columns named {quoted(twice[0])}. Rename one.")
