"""Writing batches to files, and converting a log from one format to another."""

import gzip
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TextIO, get_args

import numpy as np

from ..checks import function, listed, path_of
from ..errors import InputError, quoted
from ..files.atomic import replacing
from .batch import Batch
from .formats.dsjson import write_dsjson
from .formats.native import write_native
from .formats.vw import write_vw
from .log import Problems, check_log, each_batch
from .opening import open as open_log
from .propensity_model.fit import LoggerFit

Format = Literal["yahoo-r6b", "yahoo-r6a", "parquet", "dsjson", "vw"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: dict[str, Format] = {".parquet": "parquet", ".dsjson": "dsjson", ".json": "dsjson", ".vw": "vw"}
FEATURES = {"yahoo-r6a": 6, "yahoo-r6b": 136}
NAME = {"yahoo-r6b": re.compile(r"id-(0|[1-9][0-9]{0,17})"), "yahoo-r6a": re.compile(r"0|[1-9][0-9]{0,17}")}
LARGEST = 1e9  # of a feature in R6A, which has six decimals
LATEST = 1e15  # of a time


def write(
    path: str | os.PathLike[str],
    batches: Iterable[Batch],
    format: Format = "yahoo-r6b",
    *,
    names: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write batches, or a log, to a file, and return the number of rows written. The file appears only when it is complete.

    A file whose name ends in .gz is compressed; Parquet files always are. Raises `InputError` for values that `format` cannot hold:

    - "parquet" keeps everything in a compact form, and is the fastest to read.
    - "dsjson" and "vw" keep costs, -reward; `names` are the names of features, default f0, f1, ... dsjson writes arms as text. A batch has only
      the probability of the arm shown: dsjson spreads the rest evenly over the other arms. VW learns from the arm shown.
    - "yahoo-r6b" keeps features that are 0 or 1; "yahoo-r6a" keeps six features to six decimals and only the names of articles. Both imply a
      uniform draw: any other batch raises `InputError`.

    `progress`, a function, is called as `progress(rows)` after each batch, with the number of rows written.

    >>> import tempfile, pathlib, hsb.logs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = write(pathlib.Path(folder) / "log.gz", hsb.logs.SyntheticToday(1000, seed=1))
    ...     log = hsb.logs.open(pathlib.Path(folder) / "log.gz")
    ...     rows, sum(len(batch) for batch in log), len(log.problems)
    (1000, 1000, 0)
    """
    if not isinstance(format, str) or format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(map(repr, FORMATS))}; given {quoted(format)}.")
    path = path_of("path", path)
    check_log("write", batches)
    progress = function("progress", progress)
    if names is not None:
        names = listed("names", names, 1 << 20)
        if not all(isinstance(name, str) for name in names):
            raise InputError(f"names must be text; given {quoted(names)}.")
    if not path.parent.is_dir():
        raise InputError(f"There is no directory {path.parent} to write {path.name} into. Make it first.")
    rows = 0

    def count_rows() -> Iterator[Batch]:
        nonlocal rows
        for batch in each_batch("write", batches):
            yield batch
            rows += len(batch)
            if progress is not None:
                progress(rows)

    with replacing(path) as file, _compress(file, path.suffix == ".gz" and format != "parquet") as to:
        if format == "parquet":
            write_native(to, count_rows(), getattr(batches, "uniform", None))
        else:
            text = io.TextIOWrapper(to, encoding="utf-8", newline="\n", write_through=True)
            if format in FEATURES:
                _write_yahoo(text, count_rows(), format)
            else:
                (write_dsjson if format == "dsjson" else write_vw)(text, count_rows(), names)
            text.detach()
    return rows


def _compress(file: BinaryIO, is_compressed: bool) -> Any:
    return gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, filename="", mtime=0) if is_compressed else nullcontext(file)


def _write_yahoo(to: TextIO, batches: Iterable[Batch], format: Format) -> None:
    is_r6a = format == "yahoo-r6a"
    end = " 1:1.000000" if is_r6a else ""
    words = np.array([f" {f + 1}" for f in range(FEATURES[format])], dtype=object)
    rows = 0
    for batch in batches:
        _check(batch, format, rows)
        rows += len(batch)
        sets = [batch.pools[k] for k in range(len(batch.pools.sizes))]
        pools = ["".join(f" |{batch.arms[arm]}{end}" for arm in one) + "\n" for one in sets]
        if is_r6a:  # the constant comes last, and there is no -0
            points = (np.rint(batch.contexts * 1e6) / 1e6 + 0.0).tolist()
            users = ["".join(f"{words[f]}:{point[f]:.6f}" for f in (1, 2, 3, 4, 5, 0)) for point in points]
        else:
            users = ["".join(words[is_on]) for is_on in batch.contexts != 0.0]
        time, click = batch.timestamp.astype(np.int64).tolist(), batch.reward.astype(np.int64).tolist()
        columns = zip(time, batch.labels(), click, users, batch.pool.tolist(), strict=True)
        to.write(
            "".join([f"{timestamp} {arm} {clicked} |user{user}{pools[k]}" for timestamp, arm, clicked, user, k in columns])
        )


def _check(batch: Batch, format: Format, before: int) -> None:
    """Raise `InputError` if the format cannot hold a row of the batch; `before` rows were written before it."""
    d = FEATURES[format]
    if batch.contexts.shape[1] != d:
        raise InputError(f"{format} has {d} features; given {batch.contexts.shape[1]}.")
    for arm in batch.arms:
        if not NAME[format].fullmatch(str(arm)):
            raise InputError(f"{format} names articles {'id-<number>' if 'b' in format else '<number>'}; given {quoted(arm)}.")
    clicks = (batch.reward == 0.0) | (batch.reward == 1.0)
    times = (batch.timestamp >= 0) & (batch.timestamp <= LATEST) & (batch.timestamp == np.floor(batch.timestamp))
    for fits, what, name in ((clicks, "clicks, 0 or 1", "reward"), (times, "whole seconds since 1970", "timestamp")):
        if not fits.all():
            row = int(np.argmin(fits))
            raise InputError(f"{format} holds {what}; the {name} of row {before + row} is {getattr(batch, name)[row]}.")
    if not batch.is_uniform:
        raise InputError(
            f"{format} holds only arms drawn uniformly from their pools; the propensities of this log are not. Write parquet."
        )
    if format == "yahoo-r6b":
        on = batch.contexts == 1.0
        fits, what = (on | (batch.contexts == 0.0)).all(axis=1) & on.any(axis=1), "features that are 0 or 1, not all 0"
    else:
        fits, what = (np.abs(batch.contexts) <= LARGEST).all(axis=1), f"features up to {LARGEST:g}"
    if not fits.all():
        raise InputError(f"{format} holds {what}; row {before + int(np.argmin(fits))} has others.")


class Converted(NamedTuple):
    """The result of `hsb.logs.convert`: rows written and lines skipped.

    >>> import hsb.logs, pathlib, tempfile
    >>> table = {"x": [0.1, 0.2], "shown": ["a", "b"], "click": [1, 0]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = pathlib.Path(folder) / "log.parquet"
    ...     hsb.logs.convert(table, out, arm="shown", propensity="uniform", reward="click").rows
    2
    """

    rows: int
    """The number of rows written."""
    problems: Problems
    """The lines that were skipped."""
    logger: LoggerFit | None = None
    """The fit of the model that estimated the propensities; None if they were logged."""


def convert(
    source: Any,
    out: str | os.PathLike[str],
    format: Any = None,
    *,
    to: Format | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Converted:
    """Read a log with `hsb.logs.open(source, format, **options)` and write it, a batch at a time; memory does not grow with the log.

    `to` is the format to write, as in `hsb.logs.write`; None takes it from the ending of `out`: .parquet, .dsjson, .json or .vw, optionally
    followed by .gz. `progress` as in `hsb.logs.write`. Returns a `Converted`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log"
    ...     _ = path.write_text("1317513291 id-4 0 |user 1 9 |id-4 |id-7\\nnonsense\\n")
    ...     converted = convert(path, path.with_suffix(".parquet"), "yahoo-r6b")
    >>> converted.rows, converted.problems.count
    (1, 1)
    """
    if to is None:
        to = ENDINGS.get(Path(path_of("out", out).name.removesuffix(".gz")).suffix)
    if to is None:
        raise InputError(f"The name {out} does not show its format. End it in {', '.join(ENDINGS)}, or give to=.")
    log = open_log(source, format, **options)
    return Converted(write(out, log, to, progress=progress), log.problems, log.logger)
