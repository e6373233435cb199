"""Recover served policies from a journal: restore the newest whole snapshot, then replay the rest of the stream."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ...errors import FileError
from .arithmetic import arithmetic
from .policy_state import Served
from .rows import Entry, PolicyRow, SnapshotRow

Stream = Callable[[int], Iterable[Entry]]
"""A function that returns the rows of a policy's stream after a row, in their order."""


class Revival(NamedTuple):
    """A recovered policy, the row after which its stream was replayed, and remarks, e.g. on damaged snapshots."""

    served: Served
    since: int
    notes: list[str]


def revive(policy: PolicyRow, snapshots: Iterable[list[SnapshotRow]], stream: Stream) -> Revival:
    """Replay a policy's stream from the newest whole snapshot, or from its beginning; `snapshots` are newest first."""
    notes: list[str] = []
    served: Served | None = None
    for rows in snapshots:
        if rows[0].seq > policy.head:
            notes.append(f"the snapshot at row {rows[0].seq} is ahead of the stream, which ends at {policy.head}")
            continue
        try:
            served = Served.restore(policy, rows)
            notes += arithmetic_notes(rows)
            break
        except FileError as error:
            notes.append(str(error))
    served = Served(policy) if served is None else served
    since = served.version
    catch_up(served, stream)
    for _ in replay(served, stream):
        pass
    if served.version != policy.head:
        raise FileError(f"the stream of {policy.name} ends at row {served.version}, but should end at row {policy.head}.")
    served.notes = notes
    return Revival(served, since, notes)


def arithmetic_notes(rows: list[SnapshotRow]) -> list[str]:
    """Return remarks on a snapshot that was made on a machine with other arithmetic."""
    others = {json.loads(row.about).get("arithmetic") for row in rows} - {None, arithmetic()}
    return [
        f"the snapshot at row {rows[0].seq} was made with arithmetic {other}, and this machine has {arithmetic()}: replayed states may differ "
        "in their last bits from those of other machines. Run hsb journal check on this machine."
        for other in sorted(others)
    ]


def replay(served: Served, stream: Stream) -> Iterator[Served]:
    """Apply the rest of the stream, and yield the state after each row. Candidates first catch up."""
    catch_up(served, stream)  # the next row may promote a candidate that was behind in the snapshot
    for entry in stream(served.version):
        served.apply(entry)
        if served.candidates:
            catch_up(served, stream)
        yield served


def catch_up(served: Served, stream: Stream) -> None:
    """Let candidates read the stream up to the served version."""
    if behind := served.behind():
        for entry in stream(min(each.at for each in behind.values())):
            if entry[0].seq > served.version:
                break
            served.catch_up([entry])
