"""Find out whether there is room to write. SQLite reports a full disk, but not a quota or a limit on a file's size."""

import errno
import os
from contextlib import suppress
from pathlib import Path

MUCH = 1 << 16  # bytes of a trial
WANT = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def no_room(path: Path) -> bool:
    """Whether a file beside a journal cannot grow beyond the sizes of the journal and its WAL: full disk, used-up quota or file too large."""
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


def _is_refused(file: int, offset: int) -> bool:
    end = offset + MUCH
    try:
        while offset < end:
            offset += os.pwrite(file, bytes(end - offset), offset)
    except OSError as error:
        return error.errno in WANT
    return False
