"""What a policy is at a moment, as plain data: taken on the loop's thread, so that the reading thread touches nothing that changes."""

from typing import Any, NamedTuple

from ..core import Core, Served
from ..core.learner import TALLIES
from ..core.rows import Entry, RowKind, StreamRow
from ..store import JournalReader
from .numbers import Floors, LessonTally, lessons_of

PART = 5000  # lessons that are added at once
MOST_DEEDS = 200
MOST = 400_000  # rows that are read for one page; the next look goes on


class Sheet(NamedTuple):
    """A policy, as it is."""

    id: int
    name: str
    version: int
    lessons: int
    arms: list[str]
    offered: list[str]
    removed: list[str]
    settings: dict[str, Any]
    kind: dict[str, Any]
    scale: tuple[float, float] | None
    exact: bool
    archived: bool
    passed_over: int
    candidates: list[dict[str, Any]]
    held: bool
    notes: list[str]
    """What there was to say when it was recovered."""
    counts: dict[str, int]
    now: int

    @property
    def baseline(self) -> str | None:
        """The arm that traffic gets which the policy does not."""
        found: str | None = self.settings["baseline"]
        return found

    def place(self, arm: str) -> int:
        """An arm's place among all that there ever were."""
        return self.arms.index(arm)


def sheet(core: Core, served: Served, now: int) -> Sheet:
    """A policy's sheet."""
    scale = served.live.policy.loss_scale
    return Sheet(
        served.id,
        served.name,
        served.version,
        served.lessons,
        list(served.arms),
        list(served.offered),
        sorted(served.removed),
        served.settings.plain(),
        dict(served.live.kind),
        None if scale.auto else scale.rewards,
        served.live.exact,
        served.archived,
        served.passed_over + served.live.passed_over,
        [_candidate(name, each, served.version) for name, each in served.candidates.items()],
        core.clock.held,
        list(served.notes),
        dict(core.counts),
        now,
    )


def _candidate(name: str, learner: Any, version: int) -> dict[str, Any]:
    return {
        "name": name,
        "kind": learner.kind,
        "at": learner.at,
        "behind": version - learner.at,
        "exact": learner.exact,
        "passed_over": learner.passed_over,
        "tallies": dict(zip(TALLIES, learner.tallies, strict=True)),
    }


class TallyCache:
    """The tally of each policy, brought up to date when somebody looks. On the reading thread only."""

    def __init__(self) -> None:
        self.tallies: dict[int, tuple[LessonTally, Floors, int]] = {}
        self.deeds: dict[int, list[StreamRow]] = {}  # rows that are no lessons

    def tally(self, reader: JournalReader, page: Sheet) -> tuple[LessonTally, int]:
        """A policy's tally, and how many rows of its stream are not in it yet."""
        tally, floors, at = self.tallies.get(page.id, (LessonTally(page.scale), Floors(), 0))
        if tally.scale != page.scale:
            tally, floors, at = LessonTally(page.scale), Floors(), 0
        if at == 0:
            self.deeds[page.id] = []
        part: list[Entry] = []
        until = min(at + MOST, page.version)
        while at < until:
            part = reader.stream(page.id, at, min(PART, until - at))
            if not part:
                break
            self._note(page.id, part)
            tally.add(lessons_of(part, len(page.arms), floors))
            at = part[-1][0].seq
        self.tallies[page.id] = (tally, floors, at)
        return tally, page.version - at

    def _note(self, policy: int, entries: list[Entry]) -> None:
        self.deeds[policy] += [row._replace(body=None) for row, _ in entries if row.kind != RowKind.LESSON]
        del self.deeds[policy][:-MOST_DEEDS]
