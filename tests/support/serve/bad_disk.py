"""A disk in memory for SQLite, as an APSW VFS: it keeps unsynced writes apart, and a power cut drops or tears them."""

import itertools
import sqlite3

import pytest

apsw = pytest.importorskip("apsw")

SECTOR = 512
numbers = itertools.count()


class File:
    """A file: its safe content, the writes since then in order, and the content that a reader sees."""

    def __init__(self):
        self.safe, self.since, self.now = bytearray(), [], bytearray()

    def write(self, data, offset):
        self.since.append((offset, bytes(data)))
        put(self.now, offset, data)

    def truncate(self, size):
        self.since.append((size, None))
        cut(self.now, size)

    def sync(self):
        self.safe, self.since = bytearray(self.now), []

    def survive(self, rng):
        """Apply a power cut: of every write since the last sync all, some or no sectors survive."""
        for offset, data in self.since:
            fate = rng.random()
            if data is None:
                if fate < 0.5:
                    cut(self.safe, offset)
            elif fate < 0.4:
                put(self.safe, offset, data)
            elif fate < 0.7:
                for start in range(0, len(data), SECTOR):
                    if rng.random() < 0.5:
                        put(self.safe, offset + start, data[start : start + SECTOR])
        self.now, self.since = bytearray(self.safe), []


def put(content, offset, data):
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def cut(content, size):
    del content[size:]


class Disk(apsw.VFS):
    """Files by name; after `left` further writes and syncs it returns an error, once ("full", "error") or always ("cut")."""

    def __init__(self):
        self.name = f"bad-disk-{next(numbers)}"
        super().__init__(self.name, "")
        self.files, self.left, self.fault, self.dead = {}, None, "cut", False

    def fail_after(self, operations, fault="cut"):
        self.left, self.fault = operations, fault

    def operate(self, writes):
        if self.dead or self.left is None:
            return
        self.left -= 1
        if self.left > 0 or (self.fault == "full" and not writes):
            return
        if self.fault == "cut":
            raise apsw.IOError("the power is off")
        self.left = None
        raise apsw.FullError("no room") if self.fault == "full" else apsw.IOError("input/output error")

    def cut(self, rng):
        """Return the disk as the next machine finds it. Those who still hold this one can no longer change anything."""
        after = Disk()
        for name, file in self.files.items():
            after.files[name] = File()
            after.files[name].safe, after.files[name].since = bytearray(file.safe), list(file.since)
            after.files[name].survive(rng)
        self.dead = True
        return after

    def xFullPathname(self, name):  # noqa: N802
        return name

    def xOpen(self, name, flags):  # noqa: N802
        key = name if isinstance(name, str) else name.filename() if name is not None else f"temporary-{next(numbers)}"
        return Handle(self, self.files.setdefault(key, File()))

    def xDelete(self, name, sync):  # noqa: N802
        self.operate(writes=False)
        self.files.pop(name, None)

    def xAccess(self, name, flags):  # noqa: N802
        return name in self.files


class Handle:
    def __init__(self, disk, file):
        self.disk, self.file, self.level = disk, file, 0

    def xRead(self, amount, offset):  # noqa: N802
        return bytes(self.file.now[offset : offset + amount])

    def xWrite(self, data, offset):  # noqa: N802
        self.disk.operate(writes=True)
        self.file.write(data, offset)

    def xSync(self, flags):  # noqa: N802
        self.disk.operate(writes=False)
        self.file.sync()

    def xTruncate(self, size):  # noqa: N802
        self.disk.operate(writes=True)
        self.file.truncate(size)

    def xFileSize(self):  # noqa: N802
        return len(self.file.now)

    def xLock(self, level):  # noqa: N802
        self.level = level

    def xUnlock(self, level):  # noqa: N802
        self.level = level

    def xCheckReservedLock(self):  # noqa: N802
        return False

    def xFileControl(self, op, pointer):  # noqa: N802
        return False

    def xSectorSize(self):  # noqa: N802
        return SECTOR

    def xDeviceCharacteristics(self):  # noqa: N802
        return 0

    def xClose(self):  # noqa: N802
        pass


class Rows(list):
    def fetchall(self):
        return self

    def fetchone(self):
        return self[0] if self else None


class Connection:
    """The part of sqlite3's connection that a store uses."""

    def __init__(self, disk, path, sync=True):
        self.real = apsw.Connection(path, vfs=disk.name)
        self.real.execute("PRAGMA locking_mode = EXCLUSIVE")  # a WAL without shared memory
        self.sync = sync

    def execute(self, sql, given=()):
        if not self.sync and "synchronous" in sql:
            sql = "PRAGMA synchronous = OFF"
        with told():
            return Rows(self.real.execute(sql, tuple(given)).fetchall())

    def executemany(self, sql, rows):
        with told():
            self.real.executemany(sql, [tuple(row) for row in rows])

    @property
    def in_transaction(self):
        return self.real.in_transaction

    def close(self):
        with told():
            self.real.close()


class told:  # noqa: N801
    """Translate errors into sqlite3's."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, apsw.Error):
            again = sqlite3.OperationalError(str(error))
            again.sqlite_errorcode = sqlite3.SQLITE_FULL if isinstance(error, apsw.FullError) else sqlite3.SQLITE_IOERR
            again.sqlite_errorname = type(error).__name__
            raise again from error
