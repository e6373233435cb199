"""What the tests of `tests/engine/state/test_sound.py` share with others."""

from pathlib import Path

import hsb


def read(data: bytes, folder: Path) -> hsb.HSB | None:
    """The policy, or None where the file is refused as it should be."""
    path = folder / "damaged.hsb"
    path.write_bytes(data)
    try:
        return hsb.load(path)
    except hsb.FileError:
        return None
