"""Rejected requests by policy and reason: how many, and the first and last ten in full. In memory, since the start."""

import time
from collections import deque
from typing import Any

FEW = 10
MOST = 2000  # pairs of (policy, kind) that are counted separately


class Rejections:
    """Counts of rejected requests, with examples.

    >>> rejections = Rejections()
    >>> rejections.note("home", "unknown-arm", 422, "Unknown arm 'd' in available.", "/available/0", "r1")
    >>> [(each["kind"], each["count"]) for each in rejections.of("home")]
    [('unknown-arm', 1)]
    """

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], dict[str, Any]] = {}

    def note(self, policy: str | None, kind: str, status: int, detail: str, pointer: str | None, request_id: str) -> None:
        """Count a rejected request; `policy` is None if it has no policy."""
        name = (policy or "", kind)
        if name not in self.entries and len(self.entries) >= MOST:
            name = ("", kind)
        entry = self.entries.get(name)
        if entry is None:
            if len(self.entries) > 2 * MOST:
                return
            entry = self.entries[name] = {"kind": kind, "status": status, "count": 0, "first": [], "last": deque(maxlen=FEW)}
        entry["count"] += 1
        one = {"at": int(time.time() * 1e6), "detail": detail[:1000], "pointer": pointer, "request_id": request_id}
        (entry["first"] if len(entry["first"]) < FEW else entry["last"]).append(one)

    def of(self, policy: str | None) -> list[dict[str, Any]]:
        """Return the rejections of a policy, most frequent first; of None, those without a policy."""
        entries = [entry | {"last": list(entry["last"])} for (name, _), entry in self.entries.items() if name == (policy or "")]
        return sorted(entries, key=lambda entry: -entry["count"])

    def forget(self, policy: str) -> None:
        """Remove the rejections of a policy."""
        self.entries = {name: entry for name, entry in self.entries.items() if name[0] != policy}

    def counts(self) -> dict[tuple[str, str], int]:
        """Return the counts by policy and kind."""
        return {name: entry["count"] for name, entry in self.entries.items()}
