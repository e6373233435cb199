"""A decision made again: from the snapshot before it and the rows of the stream since."""

import json
import time
from typing import Any

from ...errors import FileError
from ..core import Served
from ..core.recovery import fold
from ..core.rows import DecisionRow, PolicyRow
from ..core.sampling import places_of
from ..store.sqlite import SqliteReader
from .problem import HttpProblem


def made_again(path: str, name: str, row: DecisionRow, seconds: float) -> dict[str, Any]:
    """Arm and propensity as they follow from the journal, and whether they are those that were logged."""
    if not row.context:
        raise HttpProblem(410, "forgotten", "What this decision was asked is forgotten, so it cannot be made again.")
    until = time.monotonic() + seconds
    reader = SqliteReader(path)
    try:
        policy = next(each for each in reader.policies() if each.name == name)
        state = _before(reader, policy, row.version)
        since = state.version
        if state.version < row.version:
            for _ in fold(state, lambda after: reader.entries(policy.id, after)):
                if state.version == row.version:
                    break
                if time.monotonic() > until:
                    raise HttpProblem(
                        503, "too-much", "It is too far from the last snapshot before it. Use hsb journal check.", retry=60.0
                    )
    finally:
        reader.close()
    available = [state.arms[place] for place in places_of(row.available)]
    baseline = None if row.baseline is None else state.arms[row.baseline]
    again = state.decide(row.id, json.loads(row.context), available, baseline, True, row.at)
    same = all(getattr(row, each) == getattr(again, each) for each in ("arm", "propensity", "u", "version", "learner"))
    return {"arm": state.arms[again.arm], "propensity": again.propensity, "u": again.u, "same": same, "folded_from": since}


def _before(reader: SqliteReader, policy: PolicyRow, version: int) -> Served:
    for rows in reader.snapshots(policy.id):
        if rows[0].seq <= version:
            try:
                return Served.revived(policy, rows)
            except FileError:
                continue
    return Served(policy)
