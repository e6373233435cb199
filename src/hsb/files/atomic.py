"""Atomic writes: a file is replaced in one step, keeps its mode and owner, and no temporary file stays."""

import os
import platform
import re
import secrets
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError

DAY = 86_400.0  # age in seconds after which a temporary file of another machine is removed
LONGEST = 100  # longest name that its temporary file repeats


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's contents in one step."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file to write to; it replaces `path` in one step when the block ends. If the block raises, nothing changes.

    The file is written next to `path`, flushed to disk and then moved, so that a crash leaves either the old file or the new one, whole. The
    new file has the mode of the old one and, if permitted, its owner and group; without an old file it has `mode`, less the umask. If `path`
    is a link, its target is replaced. Temporary files that killed processes left here are removed.
    """
    path = Path(os.path.realpath(path))
    old = _old_status(path)
    _clear(path)
    temporary = path.parent / f".{_short(path)}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(temporary, flags, mode if old is None else 0o600)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, f"There is no folder for {path.name}. Make it first", str(path.parent)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            if old is not None:
                _keep_owner(handle, temporary, old)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _old_status(path: Path) -> os.stat_result | None:
    """Return the status of the file to replace; None if it does not exist, InputError if it is not a file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no ordinary file"
        raise InputError(f"{str(path)!r} is {kind}, and cannot be replaced. Name a file.")
    return status


def _keep_owner(handle: int, temporary: Path, old: os.stat_result) -> None:
    """Give the new file the owner, group and mode of the old one; if the group cannot be kept, its rights become those of others."""
    mode = stat.S_IMODE(old.st_mode)
    if hasattr(os, "fchown"):
        now = os.fstat(handle)
        if now.st_gid != old.st_gid:
            try:
                os.fchown(handle, -1, old.st_gid)
            except OSError:
                mode &= ~0o070 | (mode & 0o007) << 3
        if now.st_uid != old.st_uid:
            with suppress(OSError):
                os.fchown(handle, old.st_uid, -1)
    os.chmod(temporary, mode & 0o777)


def _clear(path: Path) -> None:
    """Remove temporary files of this path whose process has ended, and day-old ones of other machines."""
    pattern = re.compile(rf"\.{re.escape(_short(path))}\.([0-9a-f]{{8}})-([0-9]+)-[0-9a-f]{{8}}\.part")
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            match = pattern.fullmatch(entry.name)
            if match is None:
                continue
            with suppress(OSError):  # another process may have been quicker
                has_ended = match[1] == _host() and not _is_alive(int(match[2]))
                if has_ended or time.time() - entry.stat(follow_symlinks=False).st_mtime > DAY:
                    os.unlink(entry.path)


def _is_alive(process: int) -> bool:
    """Return whether a process with this id runs here; True if the system cannot tell."""
    if os.name != "posix" or process == os.getpid() or not 0 < process < 1 << 31:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _host() -> str:
    """Return a hash of the machine and of the namespace of process ids, in eight digits."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{zlib.crc32(f'{platform.node()} {namespace}'.encode()):08x}"


def _short(path: Path) -> str:
    """Return the name of a file, or a hash of it if it is too long to add to."""
    name = path.name
    return name if len(name.encode(errors="surrogateescape")) <= LONGEST else f"{zlib.crc32(os.fsencode(name)):08x}"
