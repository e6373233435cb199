"""Files that are replaced in one step: whole, with the mode and the owner that they had, and nothing left beside them."""

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

DAY = 86_400.0  # after which what another machine left is nobody's any more
LONGEST = 100  # characters of a name that its temporary file repeats


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's contents in one step."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` in one step when the block ends; where it raises, nothing changes.

    It is written beside its place, flushed to disk and then moved, so that a crash leaves either the old file or the new one, whole. The new
    one has the mode of the old one and, where that is allowed, its owner and group; a new file has `mode`, less the process's umask. Where
    `path` is a link, what it points to is replaced. What earlier processes that were killed left beside it is removed.
    """
    path = Path(os.path.realpath(path))
    old = _replaced(path)
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


def _replaced(path: Path) -> os.stat_result | None:
    """What is known of the file that is replaced, if there is one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
        raise InputError(f"{str(path)!r} is {what}, and cannot be replaced. Name a file.")
    return found


def _keep_owner(handle: int, temporary: Path, old: os.stat_result) -> None:
    """Give the new file the owner, the group and the mode of the old one; where the group cannot be kept, it may do what others may."""
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
    """Remove temporary files for the same place whose process is gone, and those of other machines that are a day old."""
    pattern = re.compile(rf"\.{re.escape(_short(path))}\.([0-9a-f]{{8}})-([0-9]+)-[0-9a-f]{{8}}\.part")
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            named = pattern.fullmatch(entry.name)
            if named is None:
                continue
            with suppress(OSError):  # another process may have been quicker
                gone = named[1] == _host() and not _is_alive(int(named[2]))
                if gone or time.time() - entry.stat(follow_symlinks=False).st_mtime > DAY:
                    os.unlink(entry.path)


def _is_alive(process: int) -> bool:
    """Is there a process of that number here? Where that cannot be asked, there is."""
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
    """The machine, and within it the processes that can see each other, in eight digits."""
    try:
        seen = os.readlink("/proc/self/ns/pid")
    except OSError:
        seen = ""
    return f"{zlib.crc32(f'{platform.node()} {seen}'.encode()):08x}"


def _short(path: Path) -> str:
    """The name of a file, or what stands for one that is too long to have anything added."""
    name = path.name
    return name if len(name.encode(errors="surrogateescape")) <= LONGEST else f"{zlib.crc32(os.fsencode(name)):08x}"
