"""Sums over a policy's journal, read a part at a time. An interrupted read neither loses nor repeats a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...e_values import FeedbackEvidence
from ..core.requests import count_arms
from ..core.rows import DecisionEnd, RowKind
from ..store import JournalReader
from .numbers import Floors, UpdateTally, updates_of

if TYPE_CHECKING:
    from .sheets import Sheet

PART = 5000  # rows read at once
MOST_AUDIT_ENTRIES = 200
NO_SAY = ("void", "forgotten")  # closed for another reason than missing feedback


class Torn(Exception):
    """Adding a part failed midway: discard the ledger."""


class UpdateLedger:
    """A policy's tally up to row `at` of its stream, and the last rows that are not updates."""

    def __init__(self, scale: tuple[float, float] | None) -> None:
        self.tally, self.floors, self.at = UpdateTally(scale), Floors(), 0
        self.audit_entries: list[int] = []

    def read(self, reader: JournalReader, page: Sheet) -> int:
        """Add the next part. Returns the number of its rows."""
        part = reader.stream(page.id, self.at, min(PART, page.version - self.at))
        if not part:
            return 0
        try:
            self.tally.add(updates_of(part, len(page.arms), self.floors))
        except BaseException as error:
            raise Torn from error
        self.audit_entries = [*self.audit_entries, *(row.seq for row, _ in part if row.kind != RowKind.UPDATE)][
            -MOST_AUDIT_ENTRIES:
        ]
        self.at = part[-1][0].seq
        return len(part)


class FeedbackLedger:
    """Decisions and feedback by arm, up to `at`: the position before the first decision in the journal whose feedback may still come.

    Decisions that are not closed, or before their deadline, are not counted, so the counts do not depend on how long an arm's feedback takes.
    Decisions that were never shown, or were forgotten, are left out.
    """

    def __init__(self, first_arms: int) -> None:
        self.evidence, self.at = FeedbackEvidence(first_arms), 0

    def read(self, reader: JournalReader, page: Sheet) -> int:
        """Add the next part. Returns the number of the journal's positions that it covers."""
        rows, until = reader.ends(page.id, self.at, PART)
        young = next((k for k, row in enumerate(rows) if row.how == "pending" or row.deadline > page.now), len(rows))
        end, before = (rows[young].position - 1 if young < len(rows) else until), self.at
        try:
            self.evidence.widen(len(page.arms))
            _count(self.evidence, [row for row in rows[:young] if row.how not in NO_SAY], came=page.open)
        except BaseException as error:
            raise Torn from error
        self.at = end
        return 0 if young < len(rows) else max(end - before, 0)


def _count(evidence: FeedbackEvidence, rows: list[DecisionEnd], *, came: bool) -> None:
    if not rows:
        return
    counts = np.stack([count_arms(row.available, len(evidence.decisions), came=came) for row in rows])
    arm, p = np.array([row.arm for row in rows]), np.array([row.propensity for row in rows])
    alike = np.maximum(
        counts[np.arange(len(rows)), arm], 1
    )  # in the group of the arm, of which each arm has this propensity or another
    evidence.add(arm, alike * p, np.array([row.how == "learned" for row in rows]), counts > 0)
