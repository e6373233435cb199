"""From what the journal holds to served policies: the last snapshot that is whole, and the rest of the stream."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ...errors import FileError
from .arithmetic import arithmetic
from .policy_state import Served
from .rows import Entry, PolicyRow, SnapshotRow

Stream = Callable[[int], Iterable[Entry]]
"""The rows of a policy's stream after one, in their order."""


class Revival(NamedTuple):
    """A policy as the journal has it, from which row on it was folded, and what had to be passed over."""

    served: Served
    since: int
    notes: list[str]


def revive(policy: PolicyRow, snapshots: Iterable[list[SnapshotRow]], stream: Stream) -> Revival:
    """Fold a policy's stream from the first of these snapshots that is whole, newest first, or from nothing."""
    notes: list[str] = []
    served: Served | None = None
    for rows in snapshots:
        if rows[0].seq > policy.head:
            notes.append(f"the snapshot at row {rows[0].seq} is ahead of the stream, which ends at {policy.head}")
            continue
        try:
            served = Served.revived(policy, rows)
            notes += foreign(rows)
            break
        except FileError as error:
            notes.append(str(error))
    served = Served(policy) if served is None else served
    since = served.version
    catch_up(served, stream)
    for _ in fold(served, stream):
        pass
    if served.version != policy.head:
        raise FileError(f"the stream of {policy.name} ends at row {served.version}, and should at {policy.head}.")
    served.notes = notes
    return Revival(served, since, notes)


def foreign(rows: list[SnapshotRow]) -> list[str]:
    """What there is to say of a snapshot that was made where numbers come out otherwise than here."""
    made = {json.loads(row.about).get("arithmetic") for row in rows} - {None, arithmetic()}
    return [
        f"the snapshot at row {rows[0].seq} was made by arithmetic {each}, and here it is {arithmetic()}: what is folded from here on "
        "may differ in its last bits from what a replay makes elsewhere. Run hsb journal check on this machine."
        for each in sorted(made)
    ]


def fold(served: Served, stream: Stream) -> Iterator[Served]:
    """Take in the rest of the stream; the state after each row. Candidates read at once what they have not read."""
    catch_up(served, stream)  # the next row may promote one that a snapshot has on its way
    for entry in stream(served.version):
        served.apply(entry)
        if served.candidates:
            catch_up(served, stream)
        yield served


def catch_up(served: Served, stream: Stream) -> None:
    """Let candidates read the stream up to the version that is served."""
    if behind := served.behind():
        for entry in stream(min(each.at for each in behind.values())):
            if entry[0].seq > served.version:
                break
            served.catch_up([entry])
