"""Endpoints for download: the stream as NDJSON, updates as dsjson or Parquet, snapshots as files."""

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from ..core.rows import RowKind
from ..exporting import export as write_export
from ..store import views
from ..store.sqlite import SqliteReader
from .administering import P, find_policy
from .answers import SnapshotsAnswer
from .endpoint import Call, Endpoint, Reply, encode
from .ids import when
from .problem import HttpProblem
from .reading import READ, busy, describe_decision, query_number
from .wire import ProblemAnswer

ROWS = 500  # of the stream, read at once
PART = 1 << 16
KINDS = {int(kind): kind.name.lower() for kind in RowKind}
TYPES = {"dsjson": b"application/x-ndjson", "parquet": b"application/vnd.apache.parquet"}


async def journal(call: Call) -> Reply:
    """Read the policy's stream after a row, one JSON object a line: updates with their decisions, and changes by admins."""
    policy, after = find_policy(call), query_number(call, "after", 0, 0, 1 << 62)
    limit = query_number(call, "limit", 1 << 62, 1, 1 << 62)

    async def lines() -> AsyncGenerator[bytes, None]:
        seq, left = after, limit
        while left > 0:
            rows = await call.service.readers.scan(_rows, policy.id, seq, min(ROWS, left))
            if not rows:
                return
            yield b"".join(encode(_line(policy, *row)) + b"\n" for row in rows)
            seq, left = rows[-1][0].seq, left - len(rows)

    return Reply(200, type=b"application/x-ndjson", stream=lines())


def _rows(reader: Any, policy: int, after: int, limit: int) -> Any:
    return reader.stream(policy, after, limit)


def _line(policy: Any, row: Any, decision: Any) -> dict[str, Any]:
    line: dict[str, Any] = {"seq": row.seq, "kind": KINDS.get(row.kind, str(row.kind)), "at": when(row.at)}
    if decision is not None:
        line |= {"reward": row.reward, "defaulted": row.defaulted, "decision": describe_decision(policy, decision)}
    if row.data is not None:
        line["data"] = json.loads(row.data)
    return line


async def export(call: Call) -> Reply:
    """Export all updates as a log: dsjson (for hsb.logs and Vowpal Wabbit) or Parquet."""
    policy, format = find_policy(call), call.query.get("format", "dsjson")
    if format not in TYPES:
        raise HttpProblem(422, "query", f"format must be dsjson or parquet; given {format[:100]!r}.", pointer="/format")
    folder = tempfile.TemporaryDirectory(prefix="hsb-export-")
    path = Path(folder.name) / f"{policy.name}.{format}"
    try:
        async with busy(call.service):
            await asyncio.to_thread(_export, str(call.service.path), policy.name, path, format)
    except ImportError as error:
        folder.cleanup()
        raise HttpProblem(
            422, "refused", f"Parquet needs pyarrow, which is not installed with this service ({error}). Use dsjson."
        ) from None
    except BaseException:
        folder.cleanup()
        raise

    async def parts() -> AsyncGenerator[bytes, None]:
        try:
            with open(path, "rb") as file:
                while part := await asyncio.to_thread(file.read, PART):
                    yield part
        finally:
            folder.cleanup()

    named = f'attachment; filename="{policy.name}.{format}"'.encode()
    return Reply(200, type=TYPES[format], stream=parts(), headers=[(b"content-disposition", named)])


def _export(db: str, policy: str, path: Path, format: str) -> None:
    reader = SqliteReader(db)
    try:
        write_export(reader, policy, path, format)
    finally:
        reader.close()


async def snapshots(call: Call) -> Reply:
    """List snapshots, newest first."""
    policy = find_policy(call)
    rows = await call.service.readers.quick(views.snapshot_list, policy.id)
    url = f"/v1/policies/{policy.name}/snapshots"
    listed = [
        {"seq": seq, "at": when(timestamp), "bytes": size, "learners": n, "file": f"{url}/{seq}.hsb"}
        for seq, timestamp, size, n in rows
    ]
    return Reply(200, {"snapshots": listed})


async def snapshot(call: Call) -> Reply:
    """Download a snapshot of the policy that played, a file for hsb.load."""
    policy, text = find_policy(call), call.params["file"]
    seq = text.removesuffix(".hsb")
    file = None
    if text.endswith(".hsb") and seq.isascii() and seq.isdigit() and len(seq) < 19:
        file = await call.service.readers.scan(views.snapshot_file, policy.id, int(seq))
    if file is None:
        raise HttpProblem(
            404, "not-found", f"There is no snapshot {text[:100]!r}. /v1/policies/{policy.name}/snapshots lists all."
        )
    named = f'attachment; filename="{policy.name}-{seq}.hsb"'.encode()
    headers = [(b"content-disposition", named), (b"x-hsb-digest", file[1].encode())]
    return Reply(200, file[0], type=b"application/octet-stream", headers=headers)


ENDPOINTS = (
    Endpoint(
        "GET",
        P + "/journal",
        "read",
        journal,
        answers={200: "application/x-ndjson", **READ},
        tag="journal",
        query={"after": "row of the stream after which to begin", "limit": "number of rows"},
    ),
    Endpoint(
        "GET",
        P + "/export",
        "read",
        export,
        answers={200: "application/x-ndjson", **READ},
        query={"format": "dsjson (default) or parquet"},
        tag="journal",
    ),
    Endpoint("GET", P + "/snapshots", "read", snapshots, answers={200: SnapshotsAnswer, **READ}, tag="snapshots"),
    Endpoint(
        "GET",
        P + "/snapshots/{file}",
        "read",
        snapshot,
        answers={200: "application/octet-stream", 404: ProblemAnswer, **READ},
        tag="snapshots",
    ),
)
