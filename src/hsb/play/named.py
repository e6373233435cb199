"""The contexts of a log in the form that a policy takes: by name if it takes features by name, else numbers. Only this module decides it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..features.arm_kinds import ArmKinds
from ..features.request import Request
from ..features.tables import ContextTable
from ..logs import Batch, Log
from ..policy import Policy
from ..types import Floats

SHOWN = 20  # columns named in a message

Context = Callable[[Floats], Any] | None


def read_for(log: Log | Iterable[Batch], policies: Iterable[Policy], context: Context = None) -> Any:
    """Return the log in the form that these policies need.

    If all take features by name, rows with missing values are included. If only some do, such rows are left out for all. If no policy does,
    the log is read as numbers.

    >>> import hsb
    >>> table = {"age": [31, None], "shown": ["a", "b"], "p": [0.5, 0.5], "click": [1, 0]}
    >>> log = hsb.logs.open(table, context=["age"], arm="shown", propensity="p", reward="click")
    >>> [read_for(log, [policy]).count() for policy in (hsb.HSB(arms=["a", "b"]), hsb.HSB(hsb.BinaryTree(depth=2), arms=["a", "b"]))]
    [2, 1]
    """
    several = list(policies)
    return read_by(log, [columns_of(policy, context) for policy in several], arm_kinds_of(several))


def arm_kinds_of(policies: Iterable[Policy]) -> ArmKinds | None:
    """Return the kinds of features of arms that the first policy whose arms come with the request knows; else None."""
    return next((policy.learner.arm_kinds for policy in policies if policy.learner.takes_requests), None)


def read_by(
    log: Log | Iterable[Batch], columns: Sequence[Mapping[str, str | None] | None], arms: ArmKinds | None = None
) -> Any:
    """Return the log as `read_for` does, for policies that take these `columns` (name to kind); None for a policy that takes numbers.

    With `arms` it has the features of arms.
    """
    named = [kinds for kinds in columns if kinds is not None]
    if not isinstance(log, Log) or (not named and arms is None):
        return log
    known: dict[str, str | None] = {}
    for kinds in reversed(named):  # if two know a column, the first decides
        known |= {name: kind for name, kind in kinds.items() if kind is not None}
    return log.by_name(known, complete=len(named) < len(columns), arms=arms)


def own_contexts(policy: Policy, batch: Batch, context: Context = None) -> Any:
    """Return a policy's contexts for a batch, encoded by `context` if given.

    A policy or an encoder that knows its columns gets exactly these, whatever their order in the log; a log that lacks one raises `InputError`.
    One that knows no columns yet gets all, in the order of their names.
    """
    columns = columns_of(policy, context)
    features: Any = batch.contexts
    if columns is not None and batch.named is not None:
        features = _select(batch.named, columns, policy if context is None else context)
    elif columns:
        raise InputError(
            f"{_whose(policy if context is None else context)} {_listed(columns)}; the log has numbers without names. "
            "Give the original table, from before it was converted."
        )
    features = features if context is None or not len(batch) else context(features)
    return _requests(batch, features) if policy.learner.takes_requests else features


def _requests(batch: Batch, contexts: Any) -> list[Request]:
    """Return each context of a batch with its available arms, in the order of the log; without features if the log has none."""
    if batch.arm_features is None:
        sets = [tuple(batch.arms[arm] for arm in batch.pools[k]) for k in range(len(batch.pools.sizes))]
        arms: Any = [dict.fromkeys(sets[k]) for k in batch.pool.tolist()]
    else:
        arms = batch.arm_features
    if isinstance(contexts, ContextTable):
        contexts = map(contexts.context, range(len(contexts)))
    elif isinstance(contexts, np.ndarray):
        contexts = contexts.tolist()
    return [Request.from_checked(context, of_row) for context, of_row in zip(contexts, arms, strict=True)]


def columns_of(policy: Policy, context: Context) -> dict[str, str | None] | None:
    """Return the columns, and their kinds, that a policy or its encoder `context` takes by name; None if it takes numbers."""
    columns: dict[str, str | None] | None = getattr(policy.learner if context is None else context, "named_columns", None)
    return columns


def _select(table: ContextTable, columns: Mapping[str, Any], who: Any) -> ContextTable:
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
