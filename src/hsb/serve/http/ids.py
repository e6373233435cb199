"""Ids and times as answers have them."""

import os
import time
from datetime import UTC, datetime


def new_id() -> str:
    """A UUID of version 7: the time, then 74 random bits."""
    word = (time.time_ns() // 1_000_000 << 80) | int.from_bytes(os.urandom(10), "big")
    word = (word & ~(0xF << 76 | 0x3 << 62)) | 0x7 << 76 | 0x2 << 62
    text = f"{word:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def when(micros: int | float | None) -> str | None:
    """A time as RFC 3339 has it."""
    if micros is None:
        return None
    try:
        return datetime.fromtimestamp(micros / 1e6, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None
