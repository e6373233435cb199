"""Opening a log from a path or a table: `hsb.logs.open`."""

import os
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from ..checks import arm_list, listed, loss_bounds, one_of, path_of, whole
from ..errors import FileError, InputError, quoted
from .columns import ArmFeatures, Available, ColumnRoles, columns_of_features
from .formats.dsjson import DsjsonFiles
from .formats.json_lines import JsonFiles, is_event
from .formats.native import StoredLog, is_native
from .formats.obd import COLUMNS, obd_files
from .formats.table import CsvFiles, Frame, ParquetFiles, frame_names, header, kind_of, parquet_names
from .formats.text import BOM, DAMAGE, open_bytes
from .formats.vw import VWFiles
from .formats.vw_adf import AdfFiles, is_adf
from .limits import LIMITS, Limits
from .log import Log, OnError
from .row_log import RowLog
from .rows import Meaning

Format = Literal["yahoo-r6b", "yahoo-r6a", "obd", "jsonl", "dsjson", "vw", "csv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
VW = re.compile(rb"(?:[1-9][0-9]* )*[1-9][0-9]*:[-+.0-9eE]+:[.0-9eE-]+ [^|]*\|")
ADF = re.compile(rb"shared ?(?:'[^ |]*)? ?\|")
DIGITS = re.compile(r"([0-9]+)")  # part-2.parquet comes before part-10.parquet
MOST_ROWS, MOST_NAMES = 1 << 24, 1 << 20
NAMES: dict[str, str] = {"yahoo-r6b": "ydata-fp-td-clicks-v2_0.*", "yahoo-r6a": "ydata-fp-td-clicks-v1_0.*"}

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def open(
    path: Paths | Any,
    format: Format | None = None,
    *,
    context: Sequence[str] | str | None = None,
    arm: str | None = None,
    propensity: str | float | None = None,
    reward: str | None = None,
    loss: str | None = None,
    loss_range: tuple[float, float] | None = None,
    available: Available | None = None,
    arm_features: ArmFeatures | None = None,
    timestamp: str | None = None,
    id: str | None = None,
    categories: Collection[str] | str = (),
    times: Collection[str] | str = (),
    arms: Sequence[Hashable] | None = None,
    on_error: OnError = "skip",
    rows: int = 1 << 13,
    limits: Limits = LIMITS,
) -> Log:
    """Open a `Log` of past decisions: an iterable of batches of at most `rows` rows. Rows are read when the log is iterated.

    - `path`: a file, plain or gzip; several files, read one after the other; a directory; or a table: Arrow, pandas, polars, a mapping from
      names to columns. In a directory, files with the names of Yahoo! or the Open Bandit Dataset are read, else those that end in .parquet.
    - `format`: "yahoo-r6b", "yahoo-r6a", "obd", "jsonl", "dsjson", "vw", "csv" or "parquet"; None detects it from the name and the first line.
    - `on_error`: what to do with a malformed line or a row that cannot be used (a propensity of 0 or NaN, a missing feature, an arm that was
      not available, ...). "skip" counts it in the log's `problems`; "raise" raises `FileError`.
    - `limits`: limits on the time and memory that reading may take; see `hsb.logs.Limits`.

    For a table ("csv", "parquet", data frames) name the columns:

    - `context`: the features, one name or a list; default: every column without another role. A policy without a structure takes them by name
      (`Log.by_name`), of mixed kinds and with missing values. Other policies take them as numbers.
    - `categories`: the features that are text, even if they look like numbers. For a policy that needs numbers each text becomes its
      `hsb.encode.code`.
    - `times`: the features that are dates or times, such as "2026-11-19" or "2026-11-19T09:30"; in a CSV file dates are detected. A policy
      without a structure uses days, hours and weekdays, others the days since 1970.
    - `arm`: the arm that was shown. In a CSV file arms are text.
    - `propensity`: the probability with which the arm was shown. Without such a column: "uniform", if all available arms were equally
      probable; a number, if all rows share it; or "estimate", for a model of the logging policy (`log.logger` reports its fit;
      `docs/off_policy.md`). If a column is called "uniform" or "estimate", that column is used.
    - `reward`: the reward. Or `loss`, in `loss_range` (low, high), default (0, 1); it becomes the reward low + high - loss.
    - `available`: the arms that were available: a column with lists of arms (in a CSV file a|b|c, or JSON), or a column of booleans for each
      arm, as {arm: column} or in the order of `arms`. Default: all arms.
    - `arm_features`: the features of the available arms, for policies with `arms=hsb.Open()`: a column with an object {arm: {feature: value}}
      in each row (in a CSV file JSON), whose arms are the available ones unless `available` names others; or with a list of {feature: value}
      in the order of `available`. Or a column for each feature, with lists in that order: {feature: column}, or "arm_*" for all columns whose
      names begin with "arm_".
    - `timestamp`: seconds since 1970, or dates; dates without a time zone are UTC.
    - `id`: the id of an event; a row with a repeated id is a problem. The log remembers all ids, so memory grows.
    - `arms`: all arms, a list; rows with other arms are problems. Default: the arms that appear.

    In "jsonl", with {"context": {...}, "arm": ..., "propensity": ..., "reward": ...} on each line, these names are the default; nested features
    are named by their path, "user.age". Lines of decisions on `hsb.features.Request`, as `Decision.to_dict` gives them, have features of arms.
    Parquet files that `hsb.logs.write` made need no column names.

    In "obd" the default context is the position and four categories of the user; `context` and `categories` choose other columns. In "dsjson"
    `context` lists paths of shared features, and `arm` is the path of an action's name, or "index". In "vw" `context` lists feature names. In
    VW's text with a line for each action an action is named by its tag or its features, or with `arm="index"` by its number from 1. Costs in
    both become rewards: -cost, or, with a `loss_range`, low + high - cost.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log.csv"
    ...     _ = path.write_text("age,shown,p,click\\n0.3,a,0.5,1\\n0.7,b,0.5,0\\n,a,0.5,1\\n")
    ...     log = open(path, context=["age"], arm="shown", propensity="p", reward="click")
    ...     batches = list(log)
    >>> batches, str(log.problems.first[0])[-55:]
    ([Batch(rows=2, features=1, arms=2, pools=1)], "line 4: feature 'age' is missing or not a finite number")
    """
    if format is not None and not (isinstance(format, str) and format in FORMATS):
        raise InputError(
            f"format must be one of {', '.join(map(repr, FORMATS))}, or None to detect it; given {quoted(format)}."
        )
    one_of("on_error", on_error, ("skip", "raise"))
    if not isinstance(limits, Limits) or not all(isinstance(each, int) and each > 0 for each in limits):
        raise InputError(f"limits must be hsb.logs.Limits of whole numbers above 0; given {quoted(limits)}.")
    rows = whole("rows", rows, 1, MOST_ROWS)
    for name, value in {"arm": arm, "reward": reward, "loss": loss, "timestamp": timestamp, "id": id}.items():
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be the name of a column, text; given {quoted(value)}.")
    features = () if context is None else _names("context", context)
    if context is not None and not features:
        raise InputError(f"context needs the names of features, at least one; given {quoted(context)}.")
    kinds, dates = frozenset(_names("categories", categories)), frozenset(_names("times", times))
    if available is not None and not isinstance(available, str | Mapping):
        available = _names("available", available)
    all_arms = None if arms is None else tuple(arm_list(arms))
    bounds = None if loss_range is None else loss_bounds(loss_range)
    meaning = Meaning(features, kinds, dates, all_arms, loss_range=bounds, on_error=on_error, limits=limits)
    named: dict[str, Any] = {"arm": arm, "propensity": propensity, "reward": reward, "loss": loss, "available": available}
    named |= {"timestamp": timestamp, "id": id, "arm_features": _arm_features(arm_features)}

    def columns(there: Sequence[str]) -> ColumnRoles:
        """Return the roles of a table's columns; without `context`, all other columns that have a name are features."""
        roles = named | {"arm_features": columns_of_features(named["arm_features"], there)}
        taken = [name for role in roles.values() for name in _columns_in(role)]
        rest = tuple(name for name in dict.fromkeys(there) if isinstance(name, str) and name and name not in taken)
        return ColumnRoles.of(meaning if features or arm is None else meaning._replace(context=rest), **roles)

    if kind_of(path) is not None:
        if format is not None:
            raise InputError(f"A table in memory has no format; given {quoted(format)}. Leave it out.")
        return RowLog(Frame(path, columns(frame_names(path))), rows=rows)
    is_mapped = any(one is not None for one in named.values())
    paths = _paths(path, format)
    format = format or _detect_format(paths[0], is_mapped)
    if format == "csv":
        return RowLog(CsvFiles(paths, columns(header(paths[0]))), rows=rows)
    if format == "parquet" and (is_mapped or not is_native(paths[0])):
        return RowLog(ParquetFiles(paths, columns(parquet_names(paths[0]))), rows=rows)
    if format == "jsonl":
        return RowLog(JsonFiles(paths, meaning, named), rows=rows)
    of_actions = format == "vw" and is_adf(paths[0], limits)
    if format == "dsjson" or of_actions:
        named.pop("arm")  # these formats take arm=
    _refuse(format, named)
    if format == "dsjson":
        return RowLog(DsjsonFiles(paths, meaning, arm), rows=rows)
    _refuse(format, {"times": times or None})
    if format == "obd":
        return RowLog(obd_files(paths, meaning), rows=rows)
    _refuse(format, {"categories": categories or None})
    if format == "vw":
        return RowLog(AdfFiles(paths, meaning, arm) if of_actions else VWFiles(paths, meaning), rows=rows)
    _refuse(format, {"context": context, "arms": arms})
    if format == "parquet":
        return StoredLog(paths, rows=rows)
    from ..experiments.paper.yahoo import YahooLog

    return YahooLog(paths, format=format, on_error=on_error, rows=rows, limits=limits)


def _columns_in(role: Any) -> Iterable[Any]:
    """Return the columns that have a role: one, several, or those that a mapping names."""
    return role.values() if isinstance(role, Mapping) else role if isinstance(role, tuple) else (role,)


def _arm_features(value: Any) -> Any:
    if value is None or (isinstance(value, str) and value):
        return value
    if isinstance(value, Mapping) and value and all(isinstance(name, str) for pair in value.items() for name in pair):
        return dict(value)
    raise InputError(
        "arm_features must be the name of a column, 'arm_*' for all columns that begin with 'arm_', or a dict from features to "
        f"columns; given {quoted(value):.200}."
    )


def _names(what: str, value: Any) -> tuple[str, ...]:
    names = (
        (value,)
        if isinstance(value, str)
        else tuple(listed(what, sorted(value) if isinstance(value, set | frozenset) else value, MOST_NAMES))
    )
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} needs names of columns, text; given {quoted(value)}.")
    return names


def _refuse(format: str, named: Mapping[str, Any]) -> None:
    """Raise `InputError` for options that a format with fixed columns does not take."""
    if options := [f"{name}=" for name, value in named.items() if value is not None]:
        raise InputError(f"The columns of the format {format} are fixed; given {', '.join(options)}. Leave it out.")


def _paths(source: Any, format: Format | None) -> list[Path]:
    if isinstance(source, str | os.PathLike):
        path = path_of("A log", source)
        if path.is_dir():
            return _inside(path, format)
        paths = [path]
    elif isinstance(source, Iterable):
        paths = [path_of("A log", one) for one in listed("files", source, MOST_NAMES)]
    else:
        raise InputError(f"path must be a path, several paths, or a table; given {quoted(source)}.")
    if not paths:
        raise InputError("A log needs at least one file; given none.")
    for path in paths:
        if not path.is_file():
            raise InputError(f"There is no file {path}. Check the path.")
    return paths


def _inside(folder: Path, format: Format | None) -> list[Path]:
    """Return the files of a directory whose names fit the format."""
    if format in ("obd", None):
        own = [folder / f"{folder.name}.csv{end}" for end in ("", ".gz")]  # e.g. all/all.csv.gz
        if there := [path for path in own if path.is_file()][:1]:
            return there
    kinds = [kind for kind in NAMES if format in (None, kind)]
    for kind in kinds:
        if there := sorted(path for path in folder.glob(NAMES[kind]) if path.is_file()):
            return there
    if format in (None, "parquet") and (there := [path for path in folder.glob("*.parquet") if path.is_file()]):
        return sorted(
            there, key=lambda path: [(int(word), "") if word.isdigit() else (-1, word) for word in DIGITS.split(path.name)]
        )
    if format not in (None, "parquet", *NAMES):
        raise InputError(f"{folder} is a directory; for the format {quoted(format)} give the files themselves.")
    wanted = " or ".join([*(NAMES[kind] for kind in kinds), *["*.parquet"] * (format in (None, "parquet"))])
    raise InputError(f"There is no log in {folder}: no file is named {wanted}. Give the files themselves.")


def _detect_format(path: Path, is_mapped: bool) -> Format:
    """Detect the format from the name and the first lines of a file."""
    try:
        with open_bytes(path) as stream:
            start = stream.read(1 << 16).removeprefix(BOM)
    except (OSError, *DAMAGE) as error:
        raise FileError(f"{path} cannot be read: it is damaged or cut off ({error}).") from None
    if start.startswith(b"PAR1"):
        return "parquet"
    words = [word.strip(b'\r"').decode(errors="replace") for word in start.partition(b"\n")[0].split(b",")]
    if not is_mapped and set(COLUMNS.names) <= set(words):
        return "obd"
    if ADF.match(start):
        return "vw"
    if (is_mapped and not start.lstrip().startswith(b"{")) or path.name.removesuffix(".gz").endswith(".csv"):
        return "csv"
    for line in start.splitlines():
        parts = line.split()
        if len(parts) > 3 and parts[3] == b"|user":
            return "yahoo-r6b" if parts[1].startswith(b"id-") else "yahoo-r6a"
    name = path.name.removesuffix(".gz")
    if is_event(start.partition(b"\n")[0].decode(errors="replace")):
        return "jsonl"
    if name.endswith((".dsjson", ".json", ".jsonl")) or start.lstrip().startswith(b'{"'):
        return "dsjson"
    if name.endswith(".vw") or VW.match(start):
        return "vw"
    raise FileError(
        f"{path} is not in any of the formats {', '.join(FORMATS)}, as far as its name and first lines show. Give format=."
    )
