"""What can be taken away: the stream as NDJSON, updates as dsjson or Parquet, snapshots as files."""

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from ..core.rows import RowKind
from ..exporting import export as exported
from ..store import views
from ..store.sqlite import SqliteReader
from .administering import P, served
from .answers import SnapshotsAnswer
from .endpoint import Call, Endpoint, Reply, encode
from .ids import when
from .problem import HttpProblem
from .reading import READ, busy, query_number, shown
from .wire import ProblemAnswer

ROWS = 500  # of the stream, read at once
PART = 1 << 16
KINDS = {int(kind): kind.name.lower() for kind in RowKind}
TYPES = {"dsjson": b"application/x-ndjson", "parquet": b"application/vnd.apache.parquet"}


async def journal(call: Call) -> Reply:
    """The policy's stream after a row, an object a line: updates with their decisions, and what admins changed."""
    policy, after = served(call), query_number(call, "after", 0, 0, 1 << 62)
    limit = query_number(call, "limit", 1 << 62, 1, 1 << 62)

    async def lines() -> AsyncGenerator[bytes, None]:
        at, left = after, limit
        while left > 0:
            rows = await call.service.readers.scan(_rows, policy.id, at, min(ROWS, left))
            if not rows:
                return
            yield b"".join(encode(_line(policy, *row)) + b"\n" for row in rows)
            at, left = rows[-1][0].seq, left - len(rows)

    return Reply(200, type=b"application/x-ndjson", stream=lines())


def _rows(reader: Any, policy: int, after: int, limit: int) -> Any:
    return reader.stream(policy, after, limit)


def _line(policy: Any, row: Any, decision: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"seq": row.seq, "kind": KINDS.get(row.kind, str(row.kind)), "at": when(row.at)}
    if decision is not None:
        found |= {"reward": row.reward, "defaulted": row.defaulted, "decision": shown(policy, decision)}
    if row.data is not None:
        found["data"] = json.loads(row.data)
    return found


async def export(call: Call) -> Reply:
    """Every update as a log: dsjson (for hsb.logs, Vowpal Wabbit) or parquet."""
    policy, format = served(call), call.query.get("format", "dsjson")
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
            422, "refused", f"Parquet needs pyarrow, which is not installed here ({error}). Use dsjson."
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
        exported(reader, policy, path, format)
    finally:
        reader.close()


async def snapshots(call: Call) -> Reply:
    """Snapshots that there are, the newest first."""
    policy = served(call)
    rows = await call.service.readers.quick(views.snapshot_list, policy.id)
    url = f"/v1/policies/{policy.name}/snapshots"
    found = [
        {"seq": seq, "at": when(at), "bytes": size, "learners": n, "file": f"{url}/{seq}.hsb"} for seq, at, size, n in rows
    ]
    return Reply(200, {"snapshots": found})


async def snapshot(call: Call) -> Reply:
    """A snapshot of the policy that played, as a file that hsb.load reads."""
    policy, text = served(call), call.params["file"]
    seq = text.removesuffix(".hsb")
    found = None
    if text.endswith(".hsb") and seq.isascii() and seq.isdigit() and len(seq) < 19:
        found = await call.service.readers.scan(views.snapshot_file, policy.id, int(seq))
    if found is None:
        raise HttpProblem(
            404,
            "not-found",
            f"There is no snapshot {text[:100]!r}. /v1/policies/{policy.name}/snapshots has those that there are.",
        )
    named = f'attachment; filename="{policy.name}-{seq}.hsb"'.encode()
    headers = [(b"content-disposition", named), (b"x-hsb-digest", found[1].encode())]
    return Reply(200, found[0], type=b"application/octet-stream", headers=headers)


ENDPOINTS = (
    Endpoint(
        "GET",
        P + "/journal",
        "read",
        journal,
        answers={200: "application/x-ndjson", **READ},
        tag="journal",
        query={"after": "a row of the stream", "limit": "how many rows"},
    ),
    Endpoint(
        "GET",
        P + "/export",
        "read",
        export,
        answers={200: "application/x-ndjson", **READ},
        query={"format": "dsjson or parquet"},
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
