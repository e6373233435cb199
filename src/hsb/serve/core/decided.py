"""Names in the row of a decision, its available arms and its baseline; and the decision computed again."""

from typing import TYPE_CHECKING

from .requests import read_context
from .rows import DecisionRow
from .sampling import indices_of

if TYPE_CHECKING:
    from .policy_state import Served


def recompute(served: "Served", row: DecisionRow) -> DecisionRow:
    """Return a decision as it follows from its request and the policy at its version. Raises InputError, ValueError or IndexError."""
    baseline, context = baseline_name(served, row), read_context(row)
    if row.played is not None:
        return served.decide(row.id, context.context, None, baseline, True, row.at, arms=context.arms)
    return served.decide(row.id, context, available_names(served, row), baseline, True, row.at)


def available_names(served: "Served", row: DecisionRow) -> list[str]:
    """Return the arms that were available for a decision; none if they came with a request that was forgotten."""
    if row.played is None:
        return [served.arms[index] for index in indices_of(row.available)]
    return [str(arm) for arm in read_context(row).arms] if row.context else []


def baseline_name(served: "Served", row: DecisionRow) -> str | None:
    """Return the baseline of a decision; None if it has none, or if it came with a request that was forgotten."""
    if row.baseline is None or (row.played is not None and not row.context):
        return None
    return (served.arms if row.played is None else available_names(served, row))[row.baseline]
