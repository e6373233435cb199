"""Let one process write to a journal: lock it until the process ends, and reject network file systems, whose locks are unreliable."""

import errno
import os
import sys
from pathlib import Path
from typing import IO, Any

from ...errors import FileError

REMOTE = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ncpfs",
    "afs",
    "fuse.sshfs",
    "fuse.s3fs",
    "fuse.gcsfuse",
    "ceph",
    "fuse.rclone",
}
TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # errors of a lock that another process holds


def refuse_remote(path: Path) -> None:
    """Raise FileError if a file lies on a network file system, if this machine reports it."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    kind = kind_of(mounts, str(path.resolve().parent))
    if kind in REMOTE:
        raise FileError(f"{path} lies on {kind}, a network file system, where SQLite is not safe. Use a disk of this machine.")


def kind_of(mounts: str, folder: str) -> str:
    """Return the file system of a folder: that of the longest mount point above it. `mounts` is the text of /proc/self/mountinfo.

    >>> kind_of("1 0 0:1 / / rw - ext4 /dev/sda rw\\n2 1 0:2 / /home rw shared:1 - nfs4 host:/home rw\\n", "/home/me")
    'nfs4'
    """
    best, kind = "", ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = fields[4].replace("\\040", " ")
        if (folder + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, kind = point, after.split()[0]
    return kind


class Lock:
    """A lock that a process holds while it writes to a journal. The operating system releases it when the process ends for any reason.

    It locks the file itself, so that other names of it (a link, a mount) are locked too, and a second file, which holds the process's number.
    `path` has no symbolic links. Creates the journal's file if it does not exist, unless `new` is False. Only its owner may read it; the WAL
    inherits these permissions.
    """

    def __init__(self, path: Path, *, new: bool = True) -> None:
        _refuse_names(path)
        self.path = path.with_name(path.name + ".lock")
        self.file: IO[Any] = open(self.path, "a+", encoding="utf-8", opener=_private)  # noqa: SIM115
        self.journal: int | None = None
        try:
            _take(self.file)
            if sys.platform != "win32" and (new or path.exists()):
                # closing it releases SQLite's own locks, so it stays open until all connections are closed
                self.journal = _private(str(path), os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0))
                _take(self.journal)
        except OSError as error:
            if error.errno not in TAKEN:
                self.release()
                raise FileError(f"{path} cannot be opened: {error.strerror}.") from None
            self.file.seek(0)
            who = self.file.read(20).strip() if self.journal is None else ""
            self.release()
            raise FileError(
                f"{path} is in use by another process{f', number {who}' if who.isdigit() else ''}. Stop it first, or use another file."
            ) from None
        self.file.truncate(0)
        self.file.write(f"{os.getpid()}\n")
        self.file.flush()

    def release(self) -> None:
        """Release the lock."""
        if self.journal is not None:
            os.close(self.journal)
            self.journal = None
        self.file.close()


def _private(path: str, flags: int) -> int:
    """Open a file. If it is created, only its owner may read it."""
    return os.open(path, flags, 0o600)


def _refuse_names(path: Path) -> None:
    """Raise FileError if a file has several names: SQLite finds its WAL by name, and would miss the WAL of another name."""
    try:
        names = path.stat().st_nlink
    except OSError:
        return
    if names > 1:
        raise FileError(
            f"{path} has {names} names (hard links), and its WAL belongs to only one of them. Remove the other names, "
            "or make a copy: hsb journal backup."
        )


def _take(file: IO[Any] | int) -> None:
    if sys.platform == "win32":
        import msvcrt

        assert not isinstance(file, int)
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
