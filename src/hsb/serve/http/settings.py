"""Settings of a service, given at its start. /v1/limits shows the limits."""

import re
from typing import Any, NamedTuple

from ...errors import InputError, quoted

KIB, MIB = 1 << 10, 1 << 20


DEMO = "demo-shop"  # the policy whose visitors are synthetic


ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")
SWITCHES = ("auth", "demo", "access_log", "open_metrics", "cors")  # settings that are not limits


class ServerSettings(NamedTuple):
    """Limits and switches. Sizes are bytes, times seconds."""

    body: int = 64 * KIB
    """Largest body of a request."""
    batch_body: int = MIB
    """Largest body of a batch."""
    file_body: int = 64 * MIB
    """Largest file of a policy."""
    rows: int = 1000
    """Most rows of a batch."""
    numbers: int = 256
    """Most values of a context: numbers, strings and booleans, nested ones included."""
    connections: int = 12_000
    waiting: int = 4096
    """Most requests that wait to be written; others are answered 503."""
    rate: float = 1000.0
    """Requests a second of a key that was created without a rate."""
    header_seconds: float = 10.0
    """Longest time until a request's header is complete."""
    body_seconds: float = 30.0
    """Longest time until its body is complete."""
    idle_seconds: float = 75.0
    """Time until an idle connection is closed."""
    send_seconds: float = 60.0
    """Time until a client that does not read its answer is disconnected."""
    version_seconds: float = 0.2
    """Longest wait for the version that `min_version` requires."""
    read_seconds: float = 20.0
    """Longest time to read from the journal, or to compute rules."""
    evaluation_seconds: float = 600.0
    """Longest time of an evaluation."""
    evaluations: int = 8
    """Most evaluations that wait or run."""
    stop_seconds: float = 6.0
    """Time for requests under way when the service stops."""
    auth: bool = True
    demo: bool = False
    access_log: bool = False
    open_metrics: bool = False
    """Whether /metrics needs no key. They name all policies."""
    cors: tuple[str, ...] = ()
    """Origins, as in https://shop.example, whose pages may call the service with keys that have only the scope decide."""

    def describe(self) -> dict[str, Any]:
        """Return all limits as /v1/limits shows them."""
        from ..core.admin import MOST_CANDIDATES, MOST_POLICIES
        from ..core.arms import MOST_ARMS
        from ..core.kinds import MOST_MEMORY

        more = {"arms": MOST_ARMS, "policies": MOST_POLICIES, "candidates": MOST_CANDIDATES, "policy_memory": MOST_MEMORY}
        return {name: value for name, value in self._asdict().items() if name not in SWITCHES} | more


def origins(texts: list[str]) -> tuple[str, ...]:
    """Return the origins as a tuple. Raises InputError if one is not in the form that browsers send.

    >>> origins(["https://shop.example", "http://localhost:3000"])
    ('https://shop.example', 'http://localhost:3000')
    """
    for text in texts:
        if not ORIGIN.fullmatch(text):
            raise InputError(
                f"--cors must be an origin like https://shop.example, without a path, and not *; given {quoted(text)}."
            )
    return tuple(texts)
