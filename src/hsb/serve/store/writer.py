"""The thread that owns the writing connection."""

import queue
import threading
from collections.abc import Callable
from typing import Any

from ..core.messages import Committed, Failed
from ..core.orders import OrderBatch
from . import Full, Lost
from .sqlite import SqliteStore

REST = 1.0  # seconds without a batch after which the WAL is emptied


class Writer(threading.Thread):
    """A thread that commits batches in order. It calls `report` on this thread with `Committed` or `Failed` for each.

    An event loop passes `lambda message: loop.call_soon_threadsafe(take, message)`.
    """

    def __init__(self, store: SqliteStore, report: Callable[[Committed | Failed], None]) -> None:
        super().__init__(name="hsb-writer", daemon=True)
        self.store, self.report = store, report
        self.batches: queue.SimpleQueue[Any] = queue.SimpleQueue()  # batches, other work, or None at the end

    def submit(self, batch: OrderBatch) -> None:
        """Queue a batch to be committed."""
        self.batches.put(batch)

    def also(self, work: Callable[[SqliteStore], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        """Queue work: call work(store) in a separate transaction, then done(result, error), both on this thread."""
        self.batches.put((work, done))

    def run(self) -> None:
        rested = False
        while True:
            try:
                batch = self.batches.get(timeout=None if rested else REST)
            except queue.Empty:
                self.store.empty_wal()
                rested = True
                continue
            if batch is None:
                return
            rested = False
            if isinstance(batch, OrderBatch):
                self.report(commit_batch(self.store, batch))
                self.store.checkpoint()  # while the answers leave
            else:
                self._do(*batch)

    def _do(self, work: Callable[[SqliteStore], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        try:
            done(self.store.transact(work), None)
        except Exception as error:  # passed to the caller
            done(None, error)

    def stop(self) -> None:
        """Finish the queue, and end the thread."""
        self.batches.put(None)
        self.join()


def commit_batch(store: SqliteStore, batch: OrderBatch) -> Committed | Failed:
    """Commit a batch, and return the report for the core."""
    try:
        return Committed(batch.number, store.commit(batch))
    except Full as error:
        return Failed(batch.number, "full", str(error))
    except Lost as error:
        return Failed(batch.number, "lost", str(error))
    except Exception as error:  # a bug within a transaction: as bad as a failed commit
        return Failed(batch.number, "lost", f"{type(error).__name__}: {error}")
