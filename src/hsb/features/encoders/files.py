"""An encoder inside the file of the policy that it makes contexts for: one file, so that the two are never those of different days."""

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
    """The bytes of a policy's file, and the encoder in it; `hsb.load` reads the policy as before."""
    buffer = io.BytesIO(policy)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ENTRY, json.dumps(encoder.to_dict()))
    return buffer.getvalue()


def load(path: str | os.PathLike[str]) -> Encoder | None:
    """The encoder that `hsb train` put into a policy's file; None where there is none in it. `hsb.load` reads the policy itself.

    `FileError` where the file is damaged, `InputError` where there is no file.

    >>> import hsb, hsb.features.encoders, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hsb.Exp3(arms=2).save(pathlib.Path(folder) / "plain.hsb")
    ...     print(hsb.encode.load(pathlib.Path(folder) / "plain.hsb"))
    None
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"An encoder is loaded from a path; given {type(path).__name__}.")
    if not Path(path).is_file():
        raise InputError(f"There is no file {path}.")
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
        given = f"{path} does not hold an encoding of contexts ({str(error)[:200]})"
        raise FileError(f"{given}. Train again, or use another copy.") from None
