"""Helpers of `tests/engine/state/test_sound.py`, shared with other tests."""

from pathlib import Path

import hsb


def read(data: bytes, folder: Path) -> hsb.HSB | None:
    """Return the policy, or None if loading the file raises the expected error."""
    path = folder / "damaged.hsb"
    path.write_bytes(data)
    try:
        return hsb.load(path)
    except hsb.FileError:
        return None
