"""One process on a journal: a lock that dies with it, and no file system on which locks are hearsay."""

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
    """Held while a process writes to a journal; the operating system lets go of it when the process ends, however it does."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".lock")
        self.file: IO[Any] = open(self.path, "a+", encoding="utf-8")  # noqa: SIM115
        try:
            _take(self.file)
        except OSError:
            self.file.seek(0)
            who = self.file.read(20).strip()
            self.file.close()
            raise FileError(
                f"{path} is in use by another process{f', number {who}' if who.isdigit() else ''}. Stop it first, or use another file."
            ) from None
        self.file.truncate(0)
        self.file.write(f"{os.getpid()}\n")
        self.file.flush()

    def release(self) -> None:
        """Let go."""
        self.file.close()


def _take(file: IO[Any]) -> None:
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
