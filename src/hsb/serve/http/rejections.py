"""Requests that were refused, by policy and reason: how many, and the first and the last few in full. In memory, since the start."""

import time
from collections import deque
from typing import Any

FEW = 10
MOST = 2000  # of (policy, kind) that are told apart


class Rejections:
    """What clients do wrong, and what went wrong for them.

    >>> rejections = Rejections()
    >>> rejections.note("home", "unknown-arm", 422, "Unknown arm 'd' in available.", "/available/0", "r1")
    >>> [(each["kind"], each["count"]) for each in rejections.of("home")]
    [('unknown-arm', 1)]
    """

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], dict[str, Any]] = {}

    def note(self, policy: str | None, kind: str, status: int, detail: str, pointer: str | None, request_id: str) -> None:
        """One more."""
        name = (policy or "", kind)
        if name not in self.found and len(self.found) >= MOST:
            name = ("", kind)
        entry = self.found.get(name)
        if entry is None:
            if len(self.found) > 2 * MOST:
                return
            entry = self.found[name] = {"kind": kind, "status": status, "count": 0, "first": [], "last": deque(maxlen=FEW)}
        entry["count"] += 1
        one = {"at": int(time.time() * 1e6), "detail": detail[:1000], "pointer": pointer, "request_id": request_id}
        (entry["first"] if len(entry["first"]) < FEW else entry["last"]).append(one)

    def of(self, policy: str | None) -> list[dict[str, Any]]:
        """Those of a policy, or those that belong to none, the most frequent first."""
        found = [each | {"last": list(each["last"])} for (name, _), each in self.found.items() if name == (policy or "")]
        return sorted(found, key=lambda each: -each["count"])

    def forget(self, policy: str) -> None:
        """Forget those of a policy."""
        self.found = {name: each for name, each in self.found.items() if name[0] != policy}

    def counts(self) -> dict[tuple[str, str], int]:
        """How many, by policy and kind."""
        return {name: each["count"] for name, each in self.found.items()}
