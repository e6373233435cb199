"""Recompute a decision from the snapshot before it and the rows of the stream since."""

import time
from typing import Any

from ...errors import FileError
from ..core import Served
from ..core.decided import recompute
from ..core.recovery import replay
from ..core.requests import played_of
from ..core.rows import DecisionRow, PolicyRow
from ..store.sqlite import SqliteReader
from .problem import HttpProblem


def recompute_decision(path: str, name: str, row: DecisionRow, seconds: float) -> dict[str, Any]:
    """Return arm and propensity as they follow from the journal, and whether they equal the logged ones.

    Raises HttpProblem if the context was forgotten (410), or if this takes more than `seconds` (503).
    """
    if not row.context:
        raise HttpProblem(410, "forgotten", "The context of this decision was forgotten, so it cannot be recomputed.")
    until = time.monotonic() + seconds
    reader = SqliteReader(path)
    try:
        policy = next(policy for policy in reader.policies() if policy.name == name)
        state = _before(reader, policy, row.version)
        since = state.version
        if state.version < row.version:
            for _ in replay(state, lambda after: reader.entries(policy.id, after)):
                if state.version == row.version:
                    break
                if time.monotonic() > until:
                    raise HttpProblem(
                        503,
                        "too-much",
                        "There are too many updates since the last snapshot before it. Run hsb journal check instead.",
                        retry=60.0,
                    )
    finally:
        reader.close()
    again = recompute(state, row)
    same = all(
        getattr(row, field) == getattr(again, field) for field in ("arm", "played", "propensity", "u", "version", "learner")
    )
    return {
        "arm": played_of(state.arms, again),
        "propensity": again.propensity,
        "u": again.u,
        "same": same,
        "replayed_from": since,
    }


def _before(reader: SqliteReader, policy: PolicyRow, version: int) -> Served:
    for rows in reader.snapshots(policy.id):
        if rows[0].seq <= version:
            try:
                return Served.restore(policy, rows)
            except FileError:
                continue
    return Served(policy)
