"""From a path and a format to a log."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from ..errors import FileError, InputError
from .log import Log
from .yahoo import YahooLog, opened

Format = Literal["yahoo-r6b", "yahoo-r6a"]
FORMATS: tuple[Format, ...] = ("yahoo-r6b", "yahoo-r6a")
NAMES: dict[Format, str] = {"yahoo-r6b": "ydata-fp-td-clicks-v2_0.*", "yahoo-r6a": "ydata-fp-td-clicks-v1_0.*"}


def open(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    format: Format | None = None,
    *,
    on_error: Literal["skip", "raise"] = "skip",
    rows: int = 1 << 13,
) -> Log:
    """A log: an iterable of batches of at most so many rows, read as they are asked for.

    - `path`: a file, plain or gzip; several, read one after the other; or a directory, of which the files named as Yahoo! names
      them are read in order.
    - `format`: None looks at the first line.
    - `on_error`: what happens at a malformed line. "skip": it is counted and listed in the log's `problems`. "raise": FileError.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log"
    ...     _ = path.write_text("1317513291 id-4 0 |user 1 9 |id-4 |id-7")
    ...     [batch] = open(path)
    >>> batch
    Batch(rows=1, features=136, arms=2, pools=1)
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(map(repr, FORMATS))}, or None to look; given {format!r}.")
    if on_error not in ("skip", "raise"):
        raise InputError(f"on_error must be 'skip' or 'raise'; given {on_error!r}.")
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise InputError(f"rows must be a whole number of at least 1; given {rows!r}.")
    paths = _paths(path, format)
    return YahooLog(paths, format=format or _looked(paths[0]), on_error=on_error, rows=rows)


def _paths(given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], format: Format | None) -> list[Path]:
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if path.is_dir():
            return _inside(path, format)
        paths = [path]
    elif isinstance(given, Iterable):
        paths = [Path(one) for one in given]
    else:
        raise InputError(f"A log is opened from a path or several; given {given!r}.")
    if not paths:
        raise InputError("No file given: a log needs at least one.")
    for path in paths:
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
    return paths


def _inside(folder: Path, format: Format | None) -> list[Path]:
    kinds = FORMATS if format is None else (format,)
    for kind in kinds:
        found = sorted(path for path in folder.glob(NAMES[kind]) if path.is_file())
        if found:
            return found
    wanted = " or ".join(NAMES[kind] for kind in kinds)
    raise InputError(
        f"There is no log in {folder}: files named {wanted} are looked for. Give the files themselves if they are named otherwise."
    )


def _looked(path: Path) -> Format:
    """The format that the first lines have."""
    try:
        with opened(path) as stream:
            start = stream.read(1 << 16)
    except (EOFError, OSError) as error:
        raise FileError(f"{path} cannot be read ({error}).") from None
    for line in start.splitlines():
        words = line.split()
        if len(words) > 3 and words[3] == b"|user":
            return "yahoo-r6b" if words[1].startswith(b"id-") else "yahoo-r6a"
    raise FileError(f"{path} does not look like any of the formats {', '.join(FORMATS)}. Say which with format=.")
