"""The report of `hsb train`: rows and columns read, the policy's agreement with the log, and its first rules."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..evaluate.off_policy.distributions import distributions
from ..explain import ArmsExplanation
from ..features.arm_kinds import ArmKinds
from ..logs import Batch
from ..logs.log import NOTHING, Log, View
from ..play.named import own_contexts, read_for
from ..policy import Policy

MATCHED = 10_000  # rows on which the policy is compared with the log
RULES = 5  # that are shown
COLUMNS = 30  # that are printed


class Watched(View):
    """A log that counts the rows, rewards and missing values read from it."""

    def __init__(self, log: Log, tally: "TrainingCounts | None" = None) -> None:
        super().__init__(log)
        self.tally = TrainingCounts() if tally is None else tally

    def by_name(
        self, known: Mapping[str, str | None] = NOTHING, *, complete: bool = False, arms: ArmKinds | None = None
    ) -> Log:
        return Watched(self.log.by_name(known, complete=complete, arms=arms), self.tally)

    def __iter__(self) -> Iterator[Batch]:
        self.tally.__init__()  # type: ignore[misc]
        for batch in self.log:
            self.tally.add(batch)
            yield batch


class TrainingCounts:
    """Rows, the sum of their rewards, and how often each column was missing."""

    def __init__(self) -> None:
        self.rows, self.total = 0, 0.0
        self.missing: dict[str, int] = {}

    def add(self, batch: Batch) -> None:
        """Count a batch."""
        self.rows += len(batch)
        self.total += float(batch.reward.sum())
        if batch.named is not None:
            for name, values in batch.named.columns.items():
                self.missing[name] = self.missing.get(name, 0) + int(values.missing().sum())

    def columns(self, known: Mapping[str, str | None] | None) -> list[dict[str, Any]]:
        """Return the columns that a policy learned from, their kinds, and the share of rows in which each was missing."""
        return [
            {"name": name, "kind": kind, "missing": self.missing.get(name, 0) / max(self.rows, 1)}
            for name, kind in (known or {}).items()
        ]


def agreement_with_log(policy: Policy, log: Log, context: Any) -> tuple[float | None, int]:
    """Return the share of the first rows in which the policy's most played arm was shown, and the number of those rows."""
    rows = hits = 0
    for batch in read_for(log, [policy], context).head(MATCHED):
        table, playable = distributions(policy, batch, own_contexts(policy, batch, context))
        hits += int((playable & (np.argmax(table, axis=1) == batch.arm)).sum())
        rows += len(batch)
    return (hits / rows if rows else None), rows


def first_rules(policy: Policy) -> tuple[list[str], float | None]:
    """Return the first rules of a policy as text, and the agreement of all rules; empty if it has no rules."""
    explain = getattr(policy, "explain", None)
    if explain is None:
        return [], None
    try:
        explanation = explain(top=RULES)
    except InputError:
        return [], None
    if isinstance(explanation, ArmsExplanation):
        return str(explanation).splitlines()[:RULES], None
    return [line for line in str(explanation).splitlines() if ": play " in line][:RULES], explanation.agreement


def training_lines(values: dict[str, Any]) -> list[str]:
    """Return the report as lines of text."""
    rate = values["learned"] / values["seconds"] if values["seconds"] > 0.0 else 0.0
    lines = [
        f"{values['learned']:,} decisions learned, {values['skipped']:,} rows skipped, {values['arms']} arms; "
        f"{values['seconds']:.1f} s, {rate:,.0f} rows/s"
    ]
    columns = values["columns"]
    for column in columns[:COLUMNS]:
        share = f", missing in {column['missing']:.1%} of rows" if column["missing"] else ""
        lines.append(f"  {column['name']}: {column['kind'] or 'only missing values'}{share}")
    if len(columns) > COLUMNS:
        lines.append(f"  ... and {len(columns) - COLUMNS} more columns")
    of_arms = values["arm_columns"]
    lines += [f"  of arms, {column['name']}: {column['kind'] or 'only missing values'}" for column in of_arms[:COLUMNS]]
    if len(of_arms) > COLUMNS:
        lines.append(f"  ... and {len(of_arms) - COLUMNS} more features of arms")
    if values["average_reward"] is not None:
        lines.append(f"average reward of the log {values['average_reward']:.4f}")
    if values["match"] is not None:
        lines.append(
            f"the policy's most played arm is the one shown in {values['match']:.1%} of the first {values['matched_rows']:,} rows"
        )
    if values["rules"]:
        share = (
            ""
            if values["agreement"] is None
            else f" (all rules together name the most played arm in {values['agreement']:.0%} of contexts)"
        )
        lines += [f"first rules{share}:", *(f"  {rule}" for rule in values["rules"])]
    return lines


def report(policy: Policy, encoder: Any, log: Watched, learned: int, seconds: float) -> dict[str, Any]:
    """Return the report of a training as plain data."""
    tally, known = log.tally, getattr(policy.learner if encoder is None else encoder, "named_columns", None)
    columns, rows, total = tally.columns(known), tally.rows, tally.total
    skipped = len(log.problems)
    of_arms = policy.learner.arm_kinds
    share, rows_compared = agreement_with_log(policy, log.log, encoder)
    ruled = encoder is None and not policy.learner.takes_requests  # rules say which arm of a fixed list is played
    rules, agreement = first_rules(policy) if ruled else ([], None)
    return {
        "learned": learned,
        "skipped": skipped,
        "arms": len(log.arms if policy.learner.takes_requests else policy.arms),
        "kind": type(policy).__name__,
        "columns": columns,
        "arm_columns": []
        if of_arms is None
        else [{"name": name, "kind": kind} for name, kind in of_arms.kinds_by_name.items()],
        "average_reward": total / rows if rows else None,
        "match": share,
        "matched_rows": rows_compared,
        "rules": rules,
        "agreement": agreement,
        "seconds": seconds,
        "rows_per_second": learned / seconds if seconds > 0.0 else None,
    }
