"""Safe reading of the zip archive that a policy file is: nothing unpacks to far more than the file's size."""

import zipfile
from typing import BinaryIO, Self

from ..errors import FileError

SMALL = 1 << 26  # bytes that any file may unpack to
RATIO = 256  # additional bytes for each packed byte: the files of `save` shrink to 1/230 at most
HEADER, HEADER_RATIO = 1 << 23, 64  # the same limits for a header, which takes far more memory once parsed
ENTRIES = 100_000


class Archive:
    """The entries of a file by name, with sizes checked before unpacking; FileError if they are not as `save` writes them."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file)
        entries = self._zip.infolist()
        self._sizes = {entry.filename: entry.file_size for entry in entries}
        if len(self._sizes) != len(entries) or len(entries) > ENTRIES:
            raise FileError("it has duplicate entries, or far too many.")
        if any(
            entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or entry.flag_bits & 1 for entry in entries
        ):
            raise FileError("it is packed in a way that save does not use.")
        packed = sum(entry.compress_size for entry in entries)
        self.bytes = SMALL + RATIO * min(packed, _length(file))
        """The limit of bytes that it may unpack to, and of memory that its policy may take."""
        self.unpacked = sum(self._sizes.values())
        """Bytes of all entries."""
        if self.unpacked > self.bytes:
            raise FileError(f"it would unpack to {self.unpacked:,} bytes, far more than its size allows.")

    def size(self, name: str) -> int:
        """Return the number of bytes that an entry unpacks to."""
        return self._sizes[name]

    def read(self, name: str) -> bytes:
        """Return the bytes of an entry; never reads more than its declared size."""
        with self._zip.open(name) as entry:
            data = entry.read(self._sizes[name])
            if len(data) != self._sizes[name] or entry.read(1):
                raise FileError(f"its {name} is cut off.")
        return data

    def text(self, name: str) -> bytes:
        """Return the bytes of a header entry, with a tighter limit on its size."""
        if self._sizes[name] > HEADER + HEADER_RATIO * self._zip.getinfo(name).compress_size:
            raise FileError(f"its {name} would unpack to {self._sizes[name]:,} bytes, far more than its size allows.")
        return self.read(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()


def _length(file: BinaryIO) -> int:
    here = file.tell()
    length = file.seek(0, 2)
    file.seek(here)
    return length
