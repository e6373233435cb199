"""What was read of a policy's journal, and how far: sums take in a part at a time, so a look that is cut off loses and doubles nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...e_values import FeedbackEvidence
from ..core.rows import DecisionEnd, RowKind
from ..core.sampling import places_of
from ..store import JournalReader
from .numbers import Floors, UpdateTally, updates_of

if TYPE_CHECKING:
    from .sheets import Sheet

PART = 5000  # rows that are read at once
MOST_AUDIT_ENTRIES = 200
NO_SAY = ("void", "forgotten")  # closed, but not for want of feedback


class Torn(Exception):
    """Taking in a part failed midway: what holds it is of no more use."""


class UpdateLedger:
    """A policy's tally, up to the row `at` of its stream; and the last rows that are no updates."""

    def __init__(self, scale: tuple[float, float] | None) -> None:
        self.tally, self.floors, self.at = UpdateTally(scale), Floors(), 0
        self.audit_entries: list[int] = []

    def read(self, reader: JournalReader, page: Sheet) -> int:
        """Take in the next part; how many rows that were."""
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
    """Decisions and feedback by arm, up to the first decision of the journal whose feedback may still come; `at` is the place before it.

    So young decisions, before their deadline or not closed yet, count neither way, and what counts does not depend on how long an arm's
    feedback takes. Decisions that were never shown, or forgotten, are left out.
    """

    def __init__(self, first_arms: int) -> None:
        self.evidence, self.at = FeedbackEvidence(first_arms), 0

    def read(self, reader: JournalReader, page: Sheet) -> int:
        """Take in the next part; how many places of the journal that were."""
        rows, until = reader.ends(page.id, self.at, PART)
        young = next((k for k, row in enumerate(rows) if row.how == "pending" or row.deadline > page.now), len(rows))
        at, before = (rows[young].place - 1 if young < len(rows) else until), self.at
        try:
            self.evidence.widen(len(page.arms))
            _count(self.evidence, [row for row in rows[:young] if row.how not in NO_SAY])
        except BaseException as error:
            raise Torn from error
        self.at = at
        return 0 if young < len(rows) else max(at - before, 0)


def _count(evidence: FeedbackEvidence, rows: list[DecisionEnd]) -> None:
    if not rows:
        return
    available = np.zeros((len(rows), len(evidence.decisions)), dtype=bool)
    for k, row in enumerate(rows):
        available[k, places_of(row.available)] = True
    arm, p = np.array([row.arm for row in rows]), np.array([row.propensity for row in rows])
    evidence.add(arm, p, np.array([row.how == "learned" for row in rows]), available)
