"""Which column of a table is what: the names of a log's columns, checked."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from ..errors import InputError, quoted
from .rows import Meaning, Rows
from .values import Column

Available = str | Sequence[str] | Mapping[Hashable, str]


class Columns(NamedTuple):
    """The columns of a table by their part: the features, in `meaning`, the `arm` shown, its `propensity`, what came of it (`value`).

    `available` is a column with lists of arms, or columns of booleans in the order of the arms.
    """

    meaning: Meaning
    arm: str
    propensity: str
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
        arm, propensity, value = table[self.arm], table[self.propensity], table[self.value]
        return Rows(file, line, context, arm, propensity, value, some, table.get(self.timestamp), table.get(self.id))

    @classmethod
    def of(
        cls,
        meaning: Meaning,
        *,
        arm: str | None,
        propensity: str | None,
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
        if not features or arm is None or propensity is None or (reward is None) == (loss is None):
            given = {"context": features or None, "arm": arm, "propensity": propensity, "reward": reward, "loss": loss}
            named = ", ".join(f"{part}={quoted(name)}" for part, name in given.items() if name is not None) or "nothing"
            needed = "context=[...], arm=, propensity= and one of reward= and loss="
            raise InputError(f"A table needs the names of its columns: {needed}; given {named}.")
        names = (*features, arm, propensity, reward or loss, timestamp or "", id or "")
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
        called = (("propensity", propensity), ("reward" if loss is None else "loss", str(reward or loss)))
        meaning = meaning._replace(arms=all_arms, offers=offers, loss_range=losses, called=called)
        return cls(meaning, arm, propensity, str(reward or loss), some, timestamp, id)


def require(wanted: Sequence[str], there: Sequence[str], file: str) -> None:
    """Refuse a table that lacks a wanted column, or has two of its name."""
    if absent := [name for name in wanted if name not in there]:
        some = ", ".join(map(repr, there[:40])) + (f" and {len(there) - 40} more" if len(there) > 40 else "")
        raise InputError(f"{file} has no column {', '.join(map(repr, absent))}. It has: {some or 'none'}.")
    if twice := [name for name in wanted if list(there).count(name) > 1]:
        raise InputError(f"{file} has two columns named {quoted(twice[0])}. Rename one.")
