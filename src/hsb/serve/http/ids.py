"""Ids and times as answers have them."""

import os
import time
from datetime import UTC, datetime
from functools import lru_cache


def new_id() -> str:
    """A UUID of version 7: the time, then 74 random bits."""
    word = (time.time_ns() // 1_000_000 << 80) | int.from_bytes(os.urandom(10), "big")
    word = (word & ~(0xF << 76 | 0x3 << 62)) | 0x7 << 76 | 0x2 << 62
    text = f"{word:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@lru_cache(16)
def when(micros: int | float | None) -> str | None:
    """A time as RFC 3339 has it.

    >>> when(1_763_308_800_000_000), when(1_763_308_800_250_000), when(None)
    ('2025-11-16T16:00:00Z', '2025-11-16T16:00:00.250000Z', None)
    """
    if micros is None:
        return None
    seconds, rest = divmod(int(micros), 1_000_000)
    found = _second(seconds)
    if found is None:
        return None
    return f"{found}.{rest:06d}Z" if rest else f"{found}Z"


@lru_cache(64)
def _second(seconds: int) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
    except (OverflowError, ValueError, OSError):
        return None
