"""Waiting for an event, never for a time: no test depends on how fast the machine is."""

import time
from collections.abc import Callable
from typing import TypeVar

LIMIT = 120.0  # seconds after which an event counts as failed: far more than a busy machine needs
PAUSE = 0.01  # seconds between two looks

Found = TypeVar("Found")


def wait_until(happens: Callable[[], Found], what: str = "it did not happen", limit: float = LIMIT) -> Found:
    """Call `happens` until it returns a true value, and return that; fail after `limit` seconds."""
    end = time.monotonic() + limit
    while not (result := happens()):
        assert time.monotonic() < end, what
        time.sleep(PAUSE)
    return result
