"""A policy's state as plain data: taken on the event loop's thread, for the process that makes views."""

import math
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ...e_values import FeedbackEvidence
from ..core import Core, Served
from ..core.candidate_bets import CandidateBets
from ..core.known import KnownArms, known_arms
from ..core.learner import TALLIES
from ..core.rows import StreamRow
from ..store import JournalReader
from . import ledger_file
from .ledger import FeedbackLedger, Torn, UpdateLedger
from .numbers import UpdateTally


class Sheet(NamedTuple):
    """The state of a policy."""

    id: int
    name: str
    version: int
    updates: int
    arms: list[str]
    first_arms: int
    """The number of arms when the policy was created."""
    active_arms: list[str]
    removed: list[str]
    settings: dict[str, Any]
    kind: dict[str, Any]
    scale: tuple[float, float] | None
    exact: bool
    archived: bool
    not_learned: int
    candidates: list[dict[str, Any]]
    held: bool
    notes: list[str]
    """Messages from the last recovery."""
    warnings: list[str]
    counts: dict[str, int]
    now: int
    known: KnownArms | None = None
    """The arms with a model, if arms come with each request; `arms` are then their groups."""

    @property
    def open(self) -> bool:
        """Whether arms come with each request."""
        return self.known is not None

    @property
    def baseline(self) -> str | None:
        """The arm for the traffic that the policy does not get."""
        arm: str | None = self.settings["baseline"]
        return arm

    def arm_index(self, arm: str) -> int:
        """Return an arm's index among all arms, removed ones included."""
        return self.arms.index(arm)


def sheet(core: Core, served: Served, now: int) -> Sheet:
    """Return a policy's sheet."""
    scale = served.live.scale
    return Sheet(
        served.id,
        served.name,
        served.version,
        served.updates,
        list(served.arms),
        len(served.first_arms if served.open is None else served.arms),
        list(served.active_arms),
        sorted(served.removed),
        served.settings.plain(),
        dict(served.live.kind),
        None if scale.auto else scale.rewards,
        served.live.exact,
        served.archived,
        served.not_learned + served.live.not_learned,
        [_candidate(name, each, served.version) for name, each in served.candidates.items()],
        core.clock.held,
        list(served.notes),
        served.warnings(),
        dict(core.counts),
        now,
        known_arms(served),
    )


def _candidate(name: str, learner: Any, version: int) -> dict[str, Any]:
    return {
        "name": name,
        "kind": learner.kind,
        "at": learner.at,
        "behind": version - learner.at,
        "exact": learner.exact,
        "not_learned": learner.not_learned,
        "tallies": dict(zip(TALLIES, learner.tallies, strict=True)),
        "bets": CandidateBets.of(learner.bets.plain()),  # a copy
    }


class TallyCache:
    """The ledgers of policies, updated by each request for a view.

    A request reads for about `seconds`, and at least one part; `advance` reads more. `folder` has the ledgers' files.
    """

    def __init__(self, seconds: float = math.inf, folder: Path | None = None) -> None:
        self.seconds, self.folder = seconds, folder
        self.updates: dict[int, UpdateLedger] = {}
        self.feedback: dict[int, FeedbackLedger] = {}
        self.pages: dict[int, Sheet] = {}  # at the last request
        self.unsaved: dict[int, int] = {}  # rows that are in no file
        self.until, self.begun = math.inf, False

    def begin_look(self, pages: Iterable[Sheet]) -> None:
        """Begin a request for these policies."""
        self.pages |= {page.id: page for page in pages}
        self.until, self.begun = time.monotonic() + self.seconds, False

    def tally(self, reader: JournalReader, page: Sheet) -> tuple[UpdateTally, int]:
        """Return a policy's tally, and the number of rows of its stream that are not in it yet."""
        while self._updates(reader, page).at < page.version and self._may_read():
            if not self._read(self.updates, reader, page):
                break
        updates = self._updates(reader, page)
        return updates.tally, max(0, page.version - updates.at)

    def evidence(self, reader: JournalReader, page: Sheet) -> FeedbackEvidence:
        """Return a policy's decisions and feedback by arm, up to the first decision whose feedback may still come."""
        self._feedback(reader, page)
        while self._may_read() and self._read(self.feedback, reader, page):
            pass
        evidence = self._feedback(reader, page).evidence
        evidence.widen(len(page.arms))
        return evidence

    def audit_entries(self, reader: JournalReader, page: Sheet) -> list[StreamRow]:
        """Return the last rows of the policy's stream that are not updates, among the rows read so far."""
        parts = (reader.stream(page.id, seq - 1, 1) for seq in self._updates(reader, page).audit_entries)
        return [rows[0][0]._replace(body=None) for rows in parts if rows]

    def advance(self, reader: JournalReader) -> bool:
        """Read one more part of a policy. Returns False if nothing is left to read."""
        for page in self.pages.values():
            if self._updates(reader, page).at < page.version and self._read(self.updates, reader, page):
                return True
            self._feedback(reader, page)
            if self._read(self.feedback, reader, page):
                return True
        return False

    def save(self, reader: Any, least: int) -> None:
        """Write the ledgers with at least `least` unsaved rows to their files."""
        self.forget(reader)
        for id, rows in list(self.unsaved.items()):
            if self.folder is not None and rows >= least and id in self.updates and id in self.feedback:
                with suppress(OSError):  # they can be computed again
                    ledger_file.write(self.folder / f"{id}.tally", reader, id, (self.updates[id], self.feedback[id]))
                self.unsaved[id] = 0

    def forget(self, reader: JournalReader) -> None:
        """Drop the ledgers of erased policies."""
        there = {row.id for row in reader.policies()}
        for held in (self.updates, self.feedback, self.pages, self.unsaved):
            for id in held.keys() - there:
                del held[id]
        for path in () if self.folder is None else self.folder.glob("*.tally"):
            if path.stem.isdecimal() and int(path.stem) not in there:
                path.unlink(missing_ok=True)

    def _may_read(self) -> bool:
        first, self.begun = not self.begun, True
        return first or time.monotonic() < self.until

    def _updates(self, reader: Any, page: Sheet) -> UpdateLedger:
        self._open(reader, page)
        ledger = self.updates.get(page.id)
        if ledger is None or ledger.tally.scale != page.scale:
            ledger = self.updates[page.id] = UpdateLedger(page.scale)
        return ledger

    def _feedback(self, reader: Any, page: Sheet) -> FeedbackLedger:
        self._open(reader, page)
        return self.feedback.setdefault(page.id, FeedbackLedger(page.first_arms))

    def _open(self, reader: Any, page: Sheet) -> None:
        """Load the policy's file before its first rows are read."""
        if self.folder is None or page.id in self.unsaved:
            return
        self.unsaved[page.id] = 0
        ledgers = ledger_file.read(self.folder / f"{page.id}.tally", reader, page.id)
        if ledgers is not None and ledgers[0].at <= page.version:
            self.updates[page.id], self.feedback[page.id] = ledgers

    def _read(self, held: Any, reader: JournalReader, page: Sheet) -> int:
        try:
            rows: int = held[page.id].read(reader, page)
        except Torn as error:
            del held[page.id]
            raise error.__cause__ or error from None
        self.unsaved[page.id] = self.unsaved.get(page.id, 0) + rows
        return rows
