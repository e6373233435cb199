"""A copy takes a journal's place: whole, checked, and nothing of the file that goes beside it."""

import os
from pathlib import Path
from typing import NamedTuple

from ..checks import path_of
from ..errors import FileError
from .checking import Report, check
from .store.locking import Lock, refuse_remote
from .store.sqlite import SqliteReader, readable, sync_folder, unfinished_restore

ASIDE = ".before"  # of what was there, the WAL too


class Restored(NamedTuple):
    """What the copy holds, and where the journal is that it took the place of; None where there was none."""

    report: Report
    before: Path | None


def restore(copy: str | os.PathLike[str], db: str | os.PathLike[str]) -> Restored:
    """Put a backup in a journal's place. FileError, and nothing changes, where a service runs on it or the copy is not sound.

    The journal that was there is put aside with its WAL, which would damage any other file. A crash on the way leaves a file from which a
    service does not start, and restoring again goes on.
    """
    source, path = path_of("copy", copy), Path(os.path.realpath(path_of("db", db)))
    if path.is_dir() or not path.parent.is_dir():
        raise FileError(f"{path} cannot be a journal: it must be a file in a folder that there is.")
    refuse_remote(path)
    if source.exists() and path.exists() and source.samefile(path):
        raise FileError(f"{source} is the journal itself. Name the copy first, and then the journal.")
    if _beside(source, "-wal").exists():
        raise FileError(
            f"{source} has a WAL beside it, so it is no copy that hsb journal backup made, or it is in use: it may not be whole. "
            "Make a copy of it by hsb journal backup."
        )
    lock = Lock(path, new=False)
    try:
        return _restored(source, path)
    finally:
        lock.release()


def _restored(source: Path, path: Path) -> Restored:
    new, aside, again = unfinished_restore(path), _beside(path, ASIDE), unfinished_restore(path).exists()
    if not again:
        if aside.exists() or _beside(aside, "-wal").exists():
            raise FileError(f"{aside} is there, from another restore. Move it away, with what lies beside it, or remove it.")
        if _beside(path, "-wal").exists() and not path.exists():
            raise FileError(f"{path}-wal is that of a file which is not there. Put that file back, or move the WAL away.")
    reader = SqliteReader(source)
    try:
        with readable(source), reader.one_moment():
            report = check(reader)
        if not report.sound:
            raise FileError(f"{source} is not sound, and nothing was changed: {report}")
        _copy(reader, new)
    finally:
        reader.close()
    for ending in ("-wal", ""):  # from here on only a restore goes on
        old = _beside(path, ending)
        if old.exists():
            os.replace(old, _beside(aside, ending))
    _beside(path, "-shm").unlink(missing_ok=True)
    sync_folder(path)
    os.replace(new, path)
    sync_folder(path)
    return Restored(report, aside if aside.exists() else None)


def _copy(reader: SqliteReader, new: Path) -> None:
    """A whole copy under the new name, on disk."""
    whole = _beside(new, ".copy")
    whole.unlink(missing_ok=True)
    reader.backup(whole)
    os.replace(whole, new)
    sync_folder(new)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
