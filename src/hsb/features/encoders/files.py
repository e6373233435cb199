"""An encoder inside its policy's file: a single file, so that the two cannot be of different versions."""

import io
import json
import os
import zipfile
from pathlib import Path

from ...errors import FileError, InputError
from .base import Encoder, from_dict

ENTRY = "encoder.json"
MOST = 1 << 26  # bytes of an encoder
DAMAGE = (
    zipfile.BadZipFile,
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    EOFError,
)


def with_encoder(policy: bytes, encoder: Encoder) -> bytes:
    """Return the bytes of a policy's file with an encoder added; `hsb.load` reads the policy as before."""
    buffer = io.BytesIO(policy)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ENTRY, json.dumps(encoder.to_dict()))
    return buffer.getvalue()


def load(path: str | os.PathLike[str]) -> Encoder | None:
    """Read the encoder that `hsb train` put into a policy's file; None for a file without one. `hsb.load` reads the policy itself.

    Raises `FileError` if the file is damaged, `InputError` if there is no file.

    >>> import hsb, hsb.features.encoders, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hsb.Exp3(arms=2).save(pathlib.Path(folder) / "plain.hsb")
    ...     print(hsb.encode.load(pathlib.Path(folder) / "plain.hsb"))
    None
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"An encoder is loaded from a path; given {type(path).__name__}.")
    if not Path(path).is_file():
        raise InputError(f"There is no file {path}. Give the path of a policy's file.")
    try:
        with zipfile.ZipFile(path) as archive:
            if ENTRY not in archive.namelist():
                return None
            entry = archive.getinfo(ENTRY)
            if entry.file_size > MOST or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("it is far too large, or packed in another way")
            with archive.open(entry) as file:
                text = file.read(MOST + 1)
        return from_dict(json.loads(text))
    except DAMAGE as error:
        problem = f"{path} has a damaged encoding of contexts ({str(error)[:200]})"
        raise FileError(f"{problem}. Train again, or use another copy.") from None
