"""What a reader is willing to read: bounds on time and memory, whatever a file holds."""

from typing import NamedTuple


class Limits(NamedTuple):
    """How far a reader goes, so that no file takes time or memory without end.

    Beyond these a file raises `FileError`, which says at which line; only a line that is too long is passed over. A plain file has no ratio:
    whoever trusts a compressed file that is refused can decompress it first.

    >>> Limits(ratio=100).line
    16777216
    """

    ratio: int = 250
    """Bytes that a compressed file may give for each byte of its own, on average; gzip itself cannot give more than 1032."""
    free: int = 1 << 20
    """Bytes that it may give whatever the ratio."""
    line: int = 1 << 24
    """Bytes of a line; a longer one is a problem like any other line that cannot be used. Of Yahoo's logs it is 4 MB at most."""
    empty: int = 100_000
    """How many empty lines may come one after the other."""


LIMITS = Limits()
