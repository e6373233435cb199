"""Which contexts of a log a policy is given: by name where it takes features by name, else numbers. The one place that decides it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import InputError
from ..features.tables import Table
from ..logs import Batch, Log
from ..policy import Policy
from ..types import Floats

SHOWN = 20  # columns named in a message

Context = Callable[[Floats], Any] | None


def read_for(log: Log | Iterable[Batch], policies: Iterable[Policy], context: Context = None) -> Any:
    """The log as these policies need it: by name, rows with missing values among them, where all of them take features by name.

    Where only some do, rows with a missing value are left out for all; where none does, nothing is read by name.

    >>> import hsb
    >>> table = {"age": [31, None], "shown": ["a", "b"], "p": [0.5, 0.5], "click": [1, 0]}
    >>> log = hsb.logs.open(table, context=["age"], arm="shown", propensity="p", reward="click")
    >>> [read_for(log, [policy]).count() for policy in (hsb.HSB(arms=["a", "b"]), hsb.HSB(hsb.BinaryTree(depth=2), arms=["a", "b"]))]
    [2, 1]
    """
    return read_by(log, [columns_of(policy, context) for policy in policies])


def read_by(log: Log | Iterable[Batch], columns: Sequence[Mapping[str, str | None] | None]) -> Any:
    """The same for readers that know these columns; None for one that takes numbers."""
    named = [each for each in columns if each is not None]
    if not isinstance(log, Log) or not named:
        return log
    known: dict[str, str | None] = {}
    for each in reversed(named):  # of two that know a column, the first
        known |= {name: kind for name, kind in each.items() if kind is not None}
    return log.by_name(known, complete=len(named) < len(columns))


def own_contexts(policy: Policy, batch: Batch, context: Context = None) -> Any:
    """What a policy is given for a batch: what `context` makes of it, if there is one.

    A policy or an encoder that knows its columns is given these and no others, in whatever order the log has them; without one of them the
    log is refused. One that knows none yet is given all, in the order of their names.
    """
    columns = columns_of(policy, context)
    given: Any = batch.contexts
    if columns is not None and batch.named is not None:
        given = _chosen(batch.named, columns, policy if context is None else context)
    elif columns:
        raise InputError(
            f"{_whose(policy if context is None else context)} {_listed(columns)}; the log has numbers without names. "
            "Give the table itself, as it was before it was converted."
        )
    return given if context is None or not len(batch) else context(given)


def columns_of(policy: Policy, context: Context) -> dict[str, str | None] | None:
    """The columns that a policy, or what makes its contexts, takes by name; None: numbers."""
    columns: dict[str, str | None] | None = getattr(policy.learner if context is None else context, "named_columns", None)
    return columns


def _chosen(table: Table, columns: Mapping[str, Any], who: Any) -> Table:
    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        has = f"the log has no {', '.join(lacking)}"
        raise InputError(f"{_whose(who)} {_listed(columns)}; {has}. Name all of them in context=[...], in any order.")
    return table.select(columns or sorted(table.columns))


def _whose(who: Any) -> str:
    if isinstance(who, Policy) and not who.rounds:
        return "The policy takes the columns"
    return "The policy was trained on the columns" if isinstance(who, Policy) else "The encoding was fitted on the columns"


def _listed(columns: Mapping[str, Any]) -> str:
    return ", ".join(list(columns)[:SHOWN]) + ", ..." * (len(columns) > SHOWN)
