"""Limits on what a reader accepts, which bound its time and memory for any file."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Limits on the time and memory that reading a file may take.

    A file beyond a limit raises `FileError` with the number of the line; a line that is too long is only skipped. `ratio` does not concern
    plain files: if you trust a compressed file that is rejected, decompress it first.

    >>> Limits(ratio=100).line
    16777216
    """

    ratio: int = 250
    """The largest average ratio of decompressed to compressed bytes; gzip cannot exceed 1032."""
    free: int = 1 << 20
    """Decompressed bytes that are allowed at any ratio."""
    line: int = 1 << 24
    """The most bytes in a line; a longer one is reported in `problems`. Yahoo's logs have lines of at most 4 MB."""
    empty: int = 100_000
    """The most empty lines in a row."""


LIMITS = Limits()
