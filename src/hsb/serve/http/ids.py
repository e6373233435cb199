"""Ids and times, in the form of answers."""

import os
import time
from datetime import UTC, datetime
from functools import lru_cache


def new_id() -> str:
    """Make a UUID of version 7: the time, then 74 random bits."""
    word = (time.time_ns() // 1_000_000 << 80) | int.from_bytes(os.urandom(10), "big")
    word = (word & ~(0xF << 76 | 0x3 << 62)) | 0x7 << 76 | 0x2 << 62
    text = f"{word:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@lru_cache(16)
def when(micros: int | float | None) -> str | None:
    """Format a time, in microseconds since 1970, as RFC 3339; None if that is out of range, or None.

    >>> when(1_763_308_800_000_000), when(1_763_308_800_250_000), when(None)
    ('2025-11-16T16:00:00Z', '2025-11-16T16:00:00.250000Z', None)
    """
    if micros is None:
        return None
    seconds, rest = divmod(int(micros), 1_000_000)
    text = _second(seconds)
    if text is None:
        return None
    return f"{text}.{rest:06d}Z" if rest else f"{text}Z"


@lru_cache(64)
def _second(seconds: int) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
    except (OverflowError, ValueError, OSError):
        return None
