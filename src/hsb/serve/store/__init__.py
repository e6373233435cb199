"""Where the journal lies. A store looks up, writes and commits; what is to be written it is told by `hsb.serve.core.apply`.

`Store` has two implementations in view: `SqliteStore`, one file for one process, and PostgreSQL for several. Facts (decisions, rewards) have no
order; each policy has one ordered stream, numbered without gaps.
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


OFTEN = 200  # rows between words on how far a recovery is


class Full(Exception):
    """The disk is full; the batch was rolled back, nothing of it was written, and the store can be used again."""


class Lost(Exception):
    """A commit failed and nobody knows what is on disk: the process must end and start again."""


class JournalReader(Protocol):
    """What can be asked of a journal."""

    def policies(self) -> list[PolicyRow]:
        """All of them."""

    def stream(self, policy: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Rows of a policy's stream after one, in their order, updates with their decisions."""

    def entries(self, policy: int, after: int = 0) -> Iterator[Entry]:
        """The same to its end, a part at a time."""

    def snapshots(self, policy: int) -> Iterator[list[SnapshotRow]]:
        """A policy's snapshots, the newest first, a row for each learner."""

    def decisions(self, policy: int) -> Iterator[DecisionRow]:
        """A policy's decisions by version."""

    def rewards(self, policy: int) -> Iterator[RewardRow]:
        """The rewards of a policy's decisions, those of one decision together."""

    def pending(self, policy: int) -> Iterator[PendingRow]:
        """A policy's decisions that wait."""

    def closed(self, policy: int) -> Iterator[ClosedRow]:
        """Those that were closed without a update."""

    def statuses(self, policy: int) -> Iterator[DecisionStatus]:
        """What became of each decision of a policy, so far."""

    def ends(self, policy: int, after: int, limit: int) -> tuple[list[DecisionEnd], int]:
        """Of the next `limit` decisions of the journal after a place, those of a policy; and the place of the last one looked at."""

    def rewards_of(self, decisions: list[str]) -> dict[str, list[RewardRow]]:
        """The rewards of these decisions."""

    def deadlines(self) -> dict[int, int]:
        """Of each policy that has decisions waiting, the first deadline."""

    def damage(self) -> list[str]:
        """What the store itself finds wrong with its files: the first few in words."""

    def last(self) -> int:
        """When the last row was written; 0 where there is none."""

    def close(self) -> None:
        """Let go of it."""


class Store(JournalReader, Protocol):
    """A journal that is written to, by one thread."""

    def begin(self, process: str, at: int) -> Processes:
        """Write down that a process begins, and how far those before it had come. Where the disk is full it is not written down."""

    def commit(self, batch: OrderBatch) -> list[Outcome]:
        """Carry out a batch in one transaction, on disk when this returns; `Full` or `Lost` where it is not."""


class Recovered(dict[str, Revival]):
    """Served policies by name, as a journal has them."""


Watch = Callable[[int, int, int, int], object]
"""Is told, while policies are recovered: how many are, of how many; how many rows of the next one's stream were read, of how many."""


def ignore_progress(done: int, of: int, rows: int, of_rows: int) -> None:
    """Nobody wants to know."""


def recover(store: JournalReader, watch: Watch = ignore_progress) -> Recovered:
    """Fold every policy's stream, from its last whole snapshot on."""
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
    """What `Core` needs to go on where a journal ends: `Core(**start(store, now))`.

    `note` is told what had to be passed over, `watch` how far it is. `process` is what the process that begins is known by; by default
    something random.
    """
    recovered = recover(store, watch)
    for name, revival in recovered.items():
        for text in revival.notes:
            note(f"{name}: {text}")
    policies = [revival.served for revival in recovered.values()]
    last, processes = store.last(), store.begin(uuid.uuid4().hex if process is None else process, now.wall)
    return {"policies": policies, "now": now, "deadlines": store.deadlines(), "last": last, "processes": processes}
