"""Stores of the journal. A store looks up facts, writes and commits; `hsb.serve.core.apply` decides what to write.

`SqliteStore` is one file for one process; a PostgreSQL store for several processes is planned. Facts (decisions, rewards) have no order. Each
policy has one ordered stream, numbered without gaps.
"""

import uuid
from collections.abc import Callable, Iterator
from typing import Protocol

from ..core.messages import Now
from ..core.orders import OrderBatch, Outcome
from ..core.receipts import Processes
from ..core.recovery import Revival, revive
from ..core.rows import (
    ClosedRow,
    DecisionEnd,
    DecisionRow,
    DecisionStatus,
    Entry,
    PendingRow,
    PolicyRow,
    RewardRow,
    SnapshotRow,
)

__all__ = ["Full", "JournalReader", "Lost", "Recovered", "Store", "recover"]


OFTEN = 200  # rows between reports of a recovery's progress


class Full(Exception):
    """The disk is full. The batch was rolled back, nothing was written, and the store remains usable."""


class Lost(Exception):
    """A commit failed, and it is unknown what is on disk: the process must end and start again."""


class JournalReader(Protocol):
    """Queries of a journal."""

    def policies(self) -> list[PolicyRow]:
        """Return all policies."""

    def stream(self, policy: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return at most `limit` rows of a policy's stream after the row `after`, updates with their decisions."""

    def entries(self, policy: int, after: int = 0) -> Iterator[Entry]:
        """Yield the rows of a policy's stream after the row `after`. They are read in parts."""

    def snapshots(self, policy: int) -> Iterator[list[SnapshotRow]]:
        """Yield a policy's snapshots, newest first, each with a row for each learner."""

    def decisions(self, policy: int) -> Iterator[DecisionRow]:
        """Yield a policy's decisions, ordered by version."""

    def rewards(self, policy: int) -> Iterator[RewardRow]:
        """Yield the rewards of a policy's decisions, grouped by decision."""

    def pending(self, policy: int) -> Iterator[PendingRow]:
        """Yield a policy's decisions that wait for feedback."""

    def closed(self, policy: int) -> Iterator[ClosedRow]:
        """Yield a policy's decisions that were closed without an update."""

    def statuses(self, policy: int) -> Iterator[DecisionStatus]:
        """Yield the present status of each decision of a policy."""

    def ends(self, policy: int, after: int, limit: int) -> tuple[list[DecisionEnd], int]:
        """Read the `limit` decisions of the journal after the position `after`. Returns those of a policy, and the last position read."""

    def rewards_of(self, decisions: list[str]) -> dict[str, list[RewardRow]]:
        """Return the rewards of these decisions."""

    def deadlines(self) -> dict[int, int]:
        """Return the first deadline of each policy with decisions that wait."""

    def damage(self) -> list[str]:
        """Check the store's own files. Returns the first few errors as text."""

    def last(self) -> int:
        """Return the time of the last row; 0 without any."""

    def close(self) -> None:
        """Close the journal."""


class Store(JournalReader, Protocol):
    """A journal that one thread writes to."""

    def begin(self, process: str, timestamp: int) -> Processes:
        """Record that a process begins, and which versions the earlier ones reached. If the disk is full, nothing is recorded."""

    def commit(self, batch: OrderBatch) -> list[Outcome]:
        """Carry out a batch in one transaction. It is on disk when this returns. Raises `Full` or `Lost` otherwise."""


class Recovered(dict[str, Revival]):
    """Policies recovered from a journal, by name."""


Watch = Callable[[int, int, int, int], object]
"""A callback for the progress of a recovery: policies recovered, their total, rows of the present one read, and their total."""


def ignore_progress(done: int, of: int, rows: int, of_rows: int) -> None:
    """Ignore the progress of a recovery."""


def recover(store: JournalReader, watch: Watch = ignore_progress) -> Recovered:
    """Recover every policy: replay its stream from its newest whole snapshot. `watch` is called with the progress."""
    recovered, policies = Recovered(), store.policies()
    for done, policy in enumerate(policies):

        def entries(after: int, policy: PolicyRow = policy, done: int = done) -> Iterator[Entry]:
            for rows, entry in enumerate(store.entries(policy.id, after)):
                if rows % OFTEN == 0:
                    watch(done, len(policies), rows, policy.head - after)
                yield entry

        watch(done, len(policies), 0, 0)
        recovered[policy.name] = revive(policy, store.snapshots(policy.id), entries)
    return recovered


def start(
    store: Store, now: Now, note: Callable[[str], object] = bool, *, process: str | None = None, watch: Watch = ignore_progress
) -> dict[str, object]:
    """Return the arguments with which `Core` continues where a journal ends: `Core(**start(store, now))`.

    `note` is called with each remark, e.g. on a snapshot that was skipped, and `watch` with the progress. `process` is the name of this
    process; default: a random one.
    """
    recovered = recover(store, watch)
    for name, revival in recovered.items():
        for text in revival.notes:
            note(f"{name}: {text}")
    policies = [revival.served for revival in recovered.values()]
    last, processes = store.last(), store.begin(uuid.uuid4().hex if process is None else process, now.wall)
    return {"policies": policies, "now": now, "deadlines": store.deadlines(), "last": last, "processes": processes}
