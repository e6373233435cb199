"""A log from one file format to another."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from .log import Problems
from .opening import open as open_log
from .writing import Format, write

ENDINGS: dict[str, Format] = {".parquet": "parquet", ".dsjson": "dsjson", ".json": "dsjson", ".vw": "vw"}


class Converted(NamedTuple):
    """What was written, and what was skipped."""

    rows: int
    problems: Problems


def convert(
    source: Any,
    out: str | os.PathLike[str],
    format: Any = None,
    *,
    to: Format | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Converted:
    """Read a log as `hsb.logs.open(source, format, **options)` and write it, a batch at a time; memory does not grow with the log.

    `to` is the format written; None goes by the ending of `out`: .parquet, .dsjson or .vw. `progress(rows)` is called after each batch.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log"
    ...     _ = path.write_text("1317513291 id-4 0 |user 1 9 |id-4 |id-7\\nnonsense\\n")
    ...     converted = convert(path, path.with_suffix(".parquet"), "yahoo-r6b")
    >>> converted.rows, converted.problems.count
    (1, 1)
    """
    if to is None:
        name = Path(out).name.removesuffix(".gz")
        to = ENDINGS.get(Path(name).suffix)
        if to is None:
            raise InputError(f"{out} does not say its format; name it {', '.join(ENDINGS)}, or give to=.")
    log = open_log(source, format, **options)
    rows = write(out, log, to, progress=progress)
    return Converted(rows, log.problems)
