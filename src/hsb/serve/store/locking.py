"""One process on a journal: a lock that dies with it, and no file system on which locks are hearsay."""

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
TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # what a lock that another one has is answered with


def refuse_remote(path: Path) -> None:
    """FileError where a file lies on a network file system, as far as this machine says."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    kind = kind_of(mounts, str(path.resolve().parent))
    if kind in REMOTE:
        raise FileError(
            f"{path} lies on {kind}, a network file system, where SQLite cannot keep what it promises. Use a disk of this machine."
        )


def kind_of(mounts: str, folder: str) -> str:
    """The file system of a folder by /proc/self/mountinfo: that of the longest mount point above it.

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
    """Held while a process writes to a journal; the operating system lets go of it when the process ends, however it does.

    It is on the file itself, so another name of the same file (a link, a mount) is refused too, and on a file beside it that says who has it.
    `path` has no symbolic links. The journal's file is made here where there is none, unless `new` is False. It is for its owner alone: the
    WAL gets its mode from it.
    """

    def __init__(self, path: Path, *, new: bool = True) -> None:
        _refuse_names(path)
        self.path = path.with_name(path.name + ".lock")
        self.file: IO[Any] = open(self.path, "a+", encoding="utf-8", opener=_private)  # noqa: SIM115
        self.journal: int | None = None
        try:
            _take(self.file)
            if sys.platform != "win32" and (new or path.exists()):
                # closing it lets go of SQLite's own locks, so it stays open until all connections are closed
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
        """Let go."""
        if self.journal is not None:
            os.close(self.journal)
            self.journal = None
        self.file.close()


def _private(path: str, flags: int) -> int:
    """Open a file; one that is made is for its owner alone."""
    return os.open(path, flags, 0o600)


def _refuse_names(path: Path) -> None:
    """FileError where a file has several names: SQLite finds what is not yet in it (the WAL) by name, and would miss that by another one."""
    try:
        names = path.stat().st_nlink
    except OSError:
        return
    if names > 1:
        raise FileError(
            f"{path} has {names} names (hard links), and what was written last lies beside one of them. Remove the others, "
            "or copy it: hsb journal backup."
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
