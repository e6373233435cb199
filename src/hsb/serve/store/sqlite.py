"""A journal in one SQLite file, for one process.

One connection, which belongs to one thread, writes and checkpoints; all others only read. WAL, `synchronous=FULL`: a commit is on disk when
it returns. If a commit fails for any reason but lack of room, it is the last one: it is unknown what is on disk, and the kernel may have
dropped what it could not write, so there is no retry.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ...checks import path_of
from ...errors import FileError
from ..core.apply import judge, needs
from ..core.orders import JournalChanges, OrderBatch, Outcome
from ..core.receipts import Processes
from ..core.rows import ClosedRow, DecisionRow, PendingRow, RewardRow, StreamRow
from . import Full, Lost, Store
from .erasing import forget
from .locking import Lock, refuse_remote
from .queries import AMONG, Queries
from .room import no_room
from .schema import check, prepare

MIB = 1 << 20
PASSIVE = 4 * MIB  # of the WAL: from here on it is copied to the file
LARGEST = 64 * MIB  # of the WAL: from here on it is truncated
DAYS = 30  # days of which one snapshot each is kept
NEWEST = 3  # snapshots that are always kept
DAY = 86_400_000_000
ROWS = 512  # rows inserted with one statement, which may have 32,766 values
FEW = 64  # rows: up to here, each number of rows has its own statement
STATEMENTS = 512  # statements that stay prepared
STARTS = 1000  # processes that are remembered
BUSY = 10.0  # seconds to wait for a lock
DAMAGED = (sqlite3.DatabaseError, UnicodeDecodeError, json.JSONDecodeError)  # errors from reading a damaged page
Connect = Callable[[str], Any]


def connect(path: str) -> Any:
    """Open a connection for writing."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY, cached_statements=STATEMENTS)


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors from a damaged page of a journal into FileError."""
    try:
        yield
    except DAMAGED as error:
        raise FileError(f"{path} cannot be read: {error}. Use another copy of it.") from None


class SqliteReader(Queries):
    """A connection that cannot write."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path_of("path", path)
        if not self.path.is_file():
            raise FileError(f"There is no journal {self.path}. Check the path.")
        with readable(self.path):
            super().__init__(connect(str(self.path)))
            try:
                self.connection.execute("PRAGMA query_only = 1")
                if not check(self.connection, str(self.path)):
                    raise FileError(f"{self.path} is empty. Start hsb serve with it first.")
            except BaseException:
                self.connection.close()
                raise

    def backup(self, to: str | os.PathLike[str]) -> int:
        """Write a copy of the journal, which may be in use, to another file, whole or not at all. Returns its bytes."""
        target = path_of("to", to)
        if target.exists():
            raise FileError(f"{target} exists. Use a path that does not exist.")
        part = target.with_name(target.name + ".part")
        part.unlink(missing_ok=True)
        try:
            os.close(
                os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            )  # contexts and secrets: only the owner may read it
            copy = sqlite3.connect(part)
            try:
                self.connection.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
            finally:
                copy.close()
            with open(part, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(part, target)
            sync_folder(target)
        finally:
            part.unlink(missing_ok=True)
        return target.stat().st_size

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Read one consistent state of the journal, even if it is written to meanwhile."""
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        self.connection.close()


class SqliteStore(Queries, Store):
    """The journal that a process writes to. Creates it if it does not exist; raises FileError if another process writes to it."""

    def __init__(self, path: str | os.PathLike[str], *, connect: Connect = connect, wal: int = PASSIVE) -> None:
        self.path = path_of("path", path)
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise FileError(
                f"{self.path} cannot be a journal: it must be a file in a folder that exists. Use another path, or create the folder."
            )
        self.path = Path(os.path.realpath(self.path))
        refuse_remote(self.path)
        if unfinished_restore(self.path).exists():
            raise FileError(f"{self.path} is being restored, or a restore was interrupted. Run hsb journal restore again.")
        self.wal, self.written, self.broken = wal, 0, False
        self.lock = Lock(self.path)
        connection = None
        try:
            connection = connect(str(self.path))
            super().__init__(connection)
            # temporary tables in memory: no commit may fail because of another file
            for pragma in (
                "journal_mode = WAL",
                "synchronous = FULL",
                "wal_autocheckpoint = 0",
                "trusted_schema = 0",
                "temp_store = 2",
            ):
                self.connection.execute(f"PRAGMA {pragma}").fetchall()
            prepare(self.connection, str(self.path))
            sync_folder(self.path)
        except BaseException as error:
            try:
                if connection is not None:
                    connection.close()
            except DAMAGED:
                pass  # closing writes too; the first error counts
            finally:
                self.lock.release()
            if isinstance(error, DAMAGED):
                raise FileError(f"{self.path} cannot be opened as a journal: {error}. Use another copy of it.") from None
            raise

    def reader(self) -> SqliteReader:
        """Open another connection, for a thread that reads."""
        return SqliteReader(self.path)

    def begin(self, process: str, timestamp: int) -> Processes:
        heads = {row.id: row.head for row in self.policies()}

        def work(store: SqliteStore) -> None:
            sql = "INSERT INTO start (process, at, heads) VALUES (?, ?, ?)"
            store.connection.execute(sql, (process, timestamp, json.dumps(heads)))
            store.connection.execute("DELETE FROM start WHERE number <= (SELECT MAX(number) FROM start) - ?", (STARTS,))

        before = [(name, json.loads(text)) for name, text in self.rows("SELECT process, heads FROM start ORDER BY number")]
        left = [*({int(policy): head for policy, head in each.items()} for _, each in before[1:]), heads]
        try:
            self.transact(work)
        except Full:
            process = ""
        except Lost as error:
            raise FileError(f"{self.path} cannot be written: {error}.") from None
        return Processes(process, {name: reached for (name, _), reached in zip(before, left, strict=False)})

    def commit(self, batch: OrderBatch) -> list[Outcome]:
        self.checkpoint()
        if self.broken:
            raise Lost("a commit failed before")
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            outcomes, changes = judge(batch, self.facts(needs(batch)))
            self._write(changes)
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._failed(error) from error
        except BaseException:
            self.broken = True
            raise
        rows = len(changes.decisions) * 2 + len(changes.rewards) + len(changes.stream) + 4
        self.written += 1024 * rows + sum(len(row.body) for row in changes.snapshots)  # about
        return outcomes

    def transact(self, work: Callable[["SqliteStore"], Any]) -> Any:
        """Call work(self) in a separate transaction, for tables other than the journal's, e.g. keys. Raises `Full` or `Lost`."""
        if self.broken:
            raise Lost("a commit failed before")
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            result = work(self)
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._failed(error) from error
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        return result

    def _failed(self, error: sqlite3.Error) -> Exception:
        """Return `Full` if the disk is full and nothing was written; otherwise `Lost`."""
        if self._is_full(error):
            try:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                return Full(str(error))
            except sqlite3.Error:
                pass
        self.broken = True
        return Lost(f"{getattr(error, 'sqlite_errorname', type(error).__name__)}: {error}")

    def _is_full(self, error: sqlite3.Error) -> bool:
        """Whether there is no room. SQLite reports a quota or a limit on a file's size as a failed write, so a trial is needed."""
        code = getattr(error, "sqlite_errorcode", None)
        return code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR_WRITE and no_room(self.path))

    def _write(self, changes: JournalChanges) -> None:
        self._insert("policy", ("id", "name", "secret", "head", "at"), changes.policies)
        self._insert("decision", DecisionRow._fields, changes.decisions)
        self._insert("reward", RewardRow._fields, changes.rewards)
        self._insert("pending", PendingRow._fields, list(changes.pending.values()), "INSERT OR REPLACE")
        if changes.undone:
            self.connection.execute(f"DELETE FROM pending WHERE decision {AMONG}", (json.dumps(list(changes.undone)),))
        self._insert("closed", ClosedRow._fields, changes.closed)
        self._insert("stream", StreamRow._fields, changes.stream)
        for name, head in changes.heads.items():
            self.connection.execute("UPDATE policy SET head = ? WHERE id = ?", (head, name))
        for row in changes.snapshots:
            self._insert("snapshot", row._fields, [row], "INSERT OR REPLACE")
        for policy in {row.policy for row in changes.snapshots}:
            self._prune(policy)
        if changes.blanked or changes.erased or changes.cleared:
            forget(self, changes.blanked, changes.erased, changes.cleared)

    def _insert(self, table: str, fields: tuple[str, ...], rows: Sequence[Any], how: str = "INSERT") -> None:
        """Insert many rows per statement: between statements another thread may run, and this one waits."""
        offset = 0
        while offset < len(rows):
            left = len(rows) - offset
            count = (
                left if left < FEW else min(1 << left.bit_length() - 1, ROWS)
            )  # few enough distinct statements that they stay prepared
            values = [value for row in rows[offset : offset + count] for value in row]
            self.connection.execute(_insertion(how, table, fields, count), values)
            offset += count

    def _prune(self, policy: int) -> None:
        """Keep the newest snapshots, and the first of each day for thirty days."""
        snapshots = self.rows("SELECT seq, MAX(at) FROM snapshot WHERE policy = ? GROUP BY seq ORDER BY seq DESC", policy)
        kept = {seq for seq, _ in snapshots[:NEWEST]}
        days: dict[int, int] = {
            timestamp // DAY: seq for seq, timestamp in snapshots
        }  # newest first, so the last one for a day is its first
        kept |= {days[day] for day in sorted(days)[-DAYS:]}
        gone = [(policy, seq) for seq, _ in snapshots if seq not in kept]
        self.connection.executemany("DELETE FROM snapshot WHERE policy = ? AND seq = ?", gone)

    # -- the WAL --------------------------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Copy the WAL to the file when it has grown by 4 MiB, and truncate it beyond 64. Runs after each commit and before the next."""
        if self.written < self.wal or self.broken:
            return
        self.written = 0
        try:
            size = os.stat(f"{self.path}-wal").st_size
        except OSError:
            size = 0
        self._copy_wal("TRUNCATE" if size > LARGEST else "PASSIVE")

    def empty_wal(self) -> None:
        """Empty the WAL while the store is idle."""
        if not self.broken:
            self.written = 0
            self._copy_wal("TRUNCATE")

    def _copy_wal(self, how: str) -> None:
        """Copy as much of the WAL as possible now. Waiting for readers of an older state, e.g. a copy, would delay all commits."""
        try:
            self.connection.execute("PRAGMA busy_timeout = 0").fetchall()
            self.connection.execute(f"PRAGMA wal_checkpoint({how})").fetchall()
        except sqlite3.Error as error:
            busy = getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if busy or self._is_full(error):
                return  # everything is still in the WAL
            self.broken = True  # commits so far are safe; the next one raises Lost
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {1000 * BUSY:.0f}").fetchall()

    def close(self) -> None:
        """Close the file. After a failed commit nothing may be written, so the connection stays open until the process ends."""
        if not self.broken:
            self.connection.close()
        self.lock.release()


@cache
def _insertion(how: str, table: str, fields: tuple[str, ...], rows: int) -> str:
    marks = f"({', '.join('?' * len(fields))})"
    return f"{how} INTO {table} ({', '.join(fields)}) VALUES {', '.join([marks] * rows)}"


def unfinished_restore(path: Path) -> Path:
    """Return the path of the file that exists while a copy replaces a journal (`hsb.serve.restoring`)."""
    return path.with_name(f"{path.name}.restoring")


def sync_folder(path: Path) -> None:
    """Sync a folder, so that the name of a new file is on disk too."""
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
