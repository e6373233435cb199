"""Export a policy's updates as a log that `hsb.logs.open` reads: dsjson with complete contexts, or Parquet."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ..checks import path_of
from ..errors import InputError, quoted
from ..files.atomic import replacing
from ..logs import convert
from ..logs.formats.dsjson import flatten
from .core.requests import played_of, read_context
from .core.rows import DecisionRow, PolicyRow, RowKind, StreamRow
from .core.sampling import indices_of
from .store import JournalReader

FORMATS = ("dsjson", "parquet")


class Exported(NamedTuple):
    """The number of rows written, and of rows that the format could not hold."""

    rows: int
    skipped: int


def export(journal: JournalReader, policy: str, to: str | os.PathLike[str], format: str = "dsjson") -> Exported:
    """Write all updates of a policy in the order in which they were learned: context, available arms, arm, propensity, reward, time, id.

    - `journal`: the journal to read; `policy`: the name of a policy in it.
    - `to`: the file to write. Only its owner may read it (mode 0600).
    - `format`: "dsjson" keeps contexts unchanged. "parquet" is written by `hsb.logs.convert`: text becomes codes, and rows that lack a feature
      which others have are left out and counted.

    Raises InputError if the policy or the folder does not exist, or if nothing can be exported.
    """
    path = path_of("to", to)
    if format not in FORMATS:
        raise InputError(f"The format must be one of {', '.join(FORMATS)}; given {quoted(format)}.")
    matches = [row for row in journal.policies() if row.name == policy]
    if not matches:
        known = ", ".join(row.name for row in journal.policies()) or "none"
        raise InputError(f"There is no policy {quoted(policy)} in this journal. It has: {known}.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} for {path.name}. Make it first.")
    if format == "dsjson":
        return Exported(_write(journal, matches[0], path)[0], 0)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        dsjson = Path(folder) / "log.dsjson"
        rows, names, texts = _write(journal, matches[0], dsjson)
        if not rows or not names:
            raise InputError(f"{policy} has no update whose context has features, which Parquet needs. Use dsjson.")
        converted = Path(folder) / "log.parquet"
        done = convert(dsjson, converted, "dsjson", to="parquet", context=names, categories=texts, arm="TAction.a")
        with open(converted, "rb") as whole, replacing(path, 0o600) as file:
            shutil.copyfileobj(whole, file)
    return Exported(done.rows, rows - done.rows)


def _write(journal: JournalReader, policy: PolicyRow, path: Path) -> tuple[int, list[str], list[str]]:
    """Write dsjson; return the number of rows, the names of features, and those of features with text."""
    rows, names = 0, dict[str, bool]()
    with replacing(path, 0o600) as file:
        for row, decision, arms in updates(journal, policy):
            asked = read_context(decision)
            context = named_context(asked if decision.played is None else asked.context)
            for name, value in flatten({"GUser": context}).items():
                names[name] = names.get(name, False) or isinstance(value, str)
            file.write(
                (
                    json.dumps(_event(row, decision, played_of(arms, decision), _actions(decision, arms, asked), context))
                    + "\n"
                ).encode()
            )
            rows += 1
    return rows, list(names), [name for name, is_text in names.items() if is_text]


def updates(journal: JournalReader, policy: PolicyRow) -> Iterator[tuple[StreamRow, DecisionRow, list[str]]]:
    """Yield each update of a policy, its decision, and the arms at that time."""
    arms: list[str] = []
    for row, decision in journal.entries(policy.id):
        data: dict[str, Any] = json.loads(row.data) if row.data else {}
        if row.kind == RowKind.CREATE:
            arms = [] if isinstance(data["arms"], dict) else list(data["arms"])
        elif row.kind == RowKind.ARM and "add" in data and data["add"] not in arms:
            arms = [*arms, data["add"]]
        elif row.kind == RowKind.UPDATE and decision is not None and decision.context:  # without a context it was forgotten
            yield row, decision, arms


def _actions(decision: DecisionRow, arms: list[str], asked: Any) -> dict[str, Any]:
    """Return the available arms of a decision as dsjson has them, by name: with the features that came with them."""
    if decision.played is None:
        return {arms[index]: {"TAction": {"a": arms[index]}} for index in indices_of(decision.available)}
    own = ((arm, {} if features is None else {"TFeatures": features}) for arm, features in asked.arms.items())
    return {arm: {"TAction": {"a": arm}} | features for arm, features in own}


def _event(
    row: StreamRow, decision: DecisionRow, played: str, actions: dict[str, Any], context: dict[str, Any]
) -> dict[str, Any]:
    index, p, n = list(actions).index(played), decision.propensity, len(actions)
    return {
        "_label_cost": 0.0 - (row.reward or 0.0),
        "_label_probability": p,
        "_label_Action": index + 1,
        "_labelIndex": index,
        "Timestamp": datetime.fromtimestamp(decision.at / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f0Z"),
        "Version": "1",
        "EventId": decision.id,
        "a": [index + 1, *(k + 1 for k in range(n) if k != index)],
        "c": {"GUser": context, "_multi": list(actions.values())},
        "p": [p] + [(1.0 - p) / (n - 1)] * (n - 1) if n > 1 else [p],
        "VWState": {"m": f"hsb-{decision.version}"},
    }


def named_context(context: Any) -> dict[str, Any]:
    """Return a context as a dict; values without names are called f0, f1, ..."""
    if isinstance(context, dict):
        return context
    values = context if isinstance(context, list) else [] if context is None else [context]
    return {f"f{k}": value for k, value in enumerate(values)}
