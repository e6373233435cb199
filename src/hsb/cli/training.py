"""What `hsb train` reports: the rows and columns that were read, how the policy agrees with the log, and its first rules."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..evaluate.off_policy.distributions import distributions
from ..logs import Batch
from ..logs.log import NOTHING, Log, View
from ..play.named import own_contexts, read_for
from ..policy import Policy

MATCHED = 10_000  # rows that the policy is asked about
RULES = 5  # that are shown
COLUMNS = 30  # that are listed in print


class Watched(View):
    """A log that counts what is read of it: rows, rewards, and the missing values of each column."""

    def __init__(self, log: Log, tally: "TrainingCounts | None" = None) -> None:
        super().__init__(log)
        self.tally = TrainingCounts() if tally is None else tally

    def by_name(self, known: Mapping[str, str | None] = NOTHING, *, complete: bool = False) -> Log:
        return Watched(self.log.by_name(known, complete=complete), self.tally)

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
        """The columns that a policy learned from, their kinds, and the share of rows in which each was missing."""
        return [
            {"name": name, "kind": kind, "missing": self.missing.get(name, 0) / max(self.rows, 1)}
            for name, kind in (known or {}).items()
        ]


def match(policy: Policy, log: Log, context: Any) -> tuple[float | None, int]:
    """The share of the first rows in which the arm that the policy plays most is the one that was shown; and of how many rows."""
    rows = hits = 0
    for batch in read_for(log, [policy], context).head(MATCHED):
        table, playable = distributions(policy, batch, own_contexts(policy, batch, context))
        hits += int((playable & (np.argmax(table, axis=1) == batch.arm)).sum())
        rows += len(batch)
    return (hits / rows if rows else None), rows


def first_rules(policy: Policy) -> tuple[list[str], float | None]:
    """The first of its rules in words, and how often all of them are right; none where it has none."""
    explain = getattr(policy, "explain", None)
    if explain is None:
        return [], None
    try:
        found = explain(top=RULES)
    except InputError:
        return [], None
    return [line for line in str(found).splitlines() if ": play " in line][:RULES], found.agreement


def told_training(values: dict[str, Any]) -> list[str]:
    """The report as lines."""
    rate = values["learned"] / values["seconds"] if values["seconds"] > 0.0 else 0.0
    lines = [
        f"{values['learned']:,} decisions learned, {values['skipped']:,} rows skipped, {values['arms']} arms; "
        f"{values['seconds']:.1f} s, {rate:,.0f} rows/s"
    ]
    columns = values["columns"]
    for column in columns[:COLUMNS]:
        share = f", missing in {column['missing']:.1%} of rows" if column["missing"] else ""
        lines.append(f"  {column['name']}: {column['kind'] or 'nothing but missing values'}{share}")
    if len(columns) > COLUMNS:
        lines.append(f"  ... and {len(columns) - COLUMNS} columns more")
    if values["average_reward"] is not None:
        lines.append(f"average reward of the log {values['average_reward']:.4f}")
    if values["match"] is not None:
        lines.append(
            f"the arm that the policy plays most is the one shown in {values['match']:.1%} of the first {values['matched_rows']:,} rows"
        )
    if values["rules"]:
        share = (
            ""
            if values["agreement"] is None
            else f" (all of them name the arm played most in {values['agreement']:.0%} of contexts)"
        )
        lines += [f"first rules{share}:", *(f"  {rule}" for rule in values["rules"])]
    return lines


def report(policy: Policy, encoder: Any, log: Watched, learned: int, seconds: float) -> dict[str, Any]:
    """All that is said of a training."""
    tally, known = log.tally, getattr(policy.learner if encoder is None else encoder, "named_columns", None)
    columns, rows, total = tally.columns(known), tally.rows, tally.total
    skipped = len(log.problems)
    share, of = match(policy, log.log, encoder)
    rules, agreement = first_rules(policy) if encoder is None else ([], None)
    return {
        "learned": learned,
        "skipped": skipped,
        "arms": len(policy.arms),
        "kind": type(policy).__name__,
        "columns": columns,
        "average_reward": total / rows if rows else None,
        "match": share,
        "matched_rows": of,
        "rules": rules,
        "agreement": agreement,
        "seconds": seconds,
        "rows_per_second": learned / seconds if seconds > 0.0 else None,
    }
