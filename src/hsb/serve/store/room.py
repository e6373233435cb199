"""Is there room to write? SQLite says so of a full disk alone."""

import errno
import os
from contextlib import suppress
from pathlib import Path

MUCH = 1 << 16  # bytes that are tried to be written
WANT = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def no_room(path: Path) -> bool:
    """Can what lies beside a journal not grow as far as the journal and its WAL have: is the disk full, a quota used up, a file too large?"""
    probe = path.with_name(f"{path.name}.room")
    try:
        file = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        return error.errno in WANT
    try:
        return any(_is_refused(file, size) for size in {_size(path), _size(path.with_name(f"{path.name}-wal"))})
    finally:
        os.close(file)
        with suppress(OSError):
            probe.unlink()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_refused(file: int, place: int) -> bool:
    end = place + MUCH
    try:
        while place < end:
            place += os.pwrite(file, bytes(end - place), place)
    except OSError as error:
        return error.errno in WANT
    return False
