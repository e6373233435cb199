"""Restore a journal from a copy, checked first, without mixing it with files of the old journal."""

import os
from pathlib import Path
from typing import NamedTuple

from ..checks import path_of
from ..errors import FileError
from .checking import Report, check
from .store.locking import Lock, refuse_remote
from .store.sqlite import SqliteReader, readable, sync_folder, unfinished_restore

ASIDE = ".before"  # ending of the old journal and its WAL, which are put aside


class Restored(NamedTuple):
    """The report on the copy, and the path of the old journal; None if there was no journal."""

    report: Report
    before: Path | None


def restore(copy: str | os.PathLike[str], db: str | os.PathLike[str]) -> Restored:
    """Replace the journal `db` by `copy`, a backup. Raises FileError, without any change, if a service runs on it or the copy is not sound.

    The old journal is put aside together with its WAL, which would damage any other file. After a crash in between, no service starts on the
    file; restore again to complete it.
    """
    source, path = path_of("copy", copy), Path(os.path.realpath(path_of("db", db)))
    if path.is_dir() or not path.parent.is_dir():
        raise FileError(
            f"{path} cannot be a journal: it must be a file in a folder that exists. Make the folder first, or give another path."
        )
    refuse_remote(path)
    if source.exists() and path.exists() and source.samefile(path):
        raise FileError(f"{source} is the journal itself. Name the copy first, and then the journal.")
    if _beside(source, "-wal").exists():
        raise FileError(
            f"{source} has a WAL beside it, so it is in use or not a copy by hsb journal backup, and may be incomplete. "
            "Make a copy of it with hsb journal backup."
        )
    lock = Lock(path, new=False)
    try:
        return _restore(source, path)
    finally:
        lock.release()


def _restore(source: Path, path: Path) -> Restored:
    new, aside, again = unfinished_restore(path), _beside(path, ASIDE), unfinished_restore(path).exists()
    if not again:
        if aside.exists() or _beside(aside, "-wal").exists():
            raise FileError(f"{aside} exists, from another restore. Move it away together with its WAL, or remove it.")
        if _beside(path, "-wal").exists() and not path.exists():
            raise FileError(f"{path}-wal belongs to a file that is missing. Put that file back, or move the WAL away.")
    reader = SqliteReader(source)
    try:
        with readable(source), reader.one_moment():
            report = check(reader)
        if not report.sound:
            raise FileError(f"{source} is not sound, so nothing was changed. Restore another copy. The check: {report}")
        _copy(reader, new)
    finally:
        reader.close()
    for ending in ("-wal", ""):  # from here on only another restore can complete it
        old = _beside(path, ending)
        if old.exists():
            os.replace(old, _beside(aside, ending))
    _beside(path, "-shm").unlink(missing_ok=True)
    sync_folder(path)
    os.replace(new, path)
    sync_folder(path)
    return Restored(report, aside if aside.exists() else None)


def _copy(reader: SqliteReader, new: Path) -> None:
    """Make a complete copy under the new name, and sync it to disk."""
    whole = _beside(new, ".copy")
    whole.unlink(missing_ok=True)
    reader.backup(whole)
    os.replace(whole, new)
    sync_folder(new)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
