"""What a service is told when it starts: all of it can be read at /v1/limits."""

import re
from typing import Any, NamedTuple

from ...errors import InputError, quoted

KIB, MIB = 1 << 10, 1 << 20


DEMO = "demo-shop"  # the policy whose visitors are made up


ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")
SWITCHES = ("auth", "demo", "access_log", "open_metrics", "cors")  # what is no limit


class ServerSettings(NamedTuple):
    """Limits and switches. Sizes are bytes, times seconds."""

    body: int = 64 * KIB
    """Of a request."""
    batch_body: int = MIB
    """Of a batch."""
    file_body: int = 64 * MIB
    """Of a policy's file."""
    rows: int = 1000
    """Of a batch."""
    numbers: int = 256
    """Of a context: numbers, texts and truths, however nested."""
    connections: int = 12_000
    waiting: int = 4096
    """Requests that wait to be written; more are answered 503."""
    rate: float = 1000.0
    """Requests a second of a key that was made without a rate of its own."""
    header_seconds: float = 10.0
    """Until a request's header is there."""
    body_seconds: float = 30.0
    """Until its body is."""
    idle_seconds: float = 75.0
    """Until a connection on which nothing is asked is closed."""
    send_seconds: float = 60.0
    """Until a client that reads nothing of an answer is given up."""
    version_seconds: float = 0.2
    """Until a version that was asked for is there."""
    read_seconds: float = 20.0
    """For what is read from the journal, and for rules."""
    evaluation_seconds: float = 600.0
    evaluations: int = 8
    """Of a service, waiting or under way."""
    stop_seconds: float = 6.0
    """For requests under way when the service stops."""
    auth: bool = True
    demo: bool = False
    access_log: bool = False
    open_metrics: bool = False
    """Are /metrics for everyone? They name all policies."""
    cors: tuple[str, ...] = ()
    """Origins whose pages may ask for decisions, each as in https://shop.example, with keys that may decide and nothing else."""

    def shown(self) -> dict[str, Any]:
        """As /v1/limits has them."""
        from ..core.admin import MOST_CANDIDATES, MOST_POLICIES
        from ..core.kinds import MOST_MEMORY
        from ..core.settings import MOST_ARMS

        more = {"arms": MOST_ARMS, "policies": MOST_POLICIES, "candidates": MOST_CANDIDATES, "policy_memory": MOST_MEMORY}
        return {name: value for name, value in self._asdict().items() if name not in SWITCHES} | more


def origins(given: list[str]) -> tuple[str, ...]:
    """Origins as browsers say them; InputError where one is none.

    >>> origins(["https://shop.example", "http://localhost:3000"])
    ('https://shop.example', 'http://localhost:3000')
    """
    for each in given:
        if not ORIGIN.fullmatch(each):
            raise InputError(f"--cors must be like https://shop.example, without a path and not *; given {quoted(each)}.")
    return tuple(given)
