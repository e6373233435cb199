"""Policies in files: a zip of one JSON header and plain arrays. No code is stored and none is run on reading.

The header names the format and its version; every entry carries a checksum. A file is written whole or not at all (`atomic`). Whatever
stands in it, a file is read in time and memory that are in proportion to its size, and what is read can be trusted: sizes are checked before
anything is unpacked (`zip_reader.py`), memory before it is taken (`memory_limit.py`), the arrays by those that use them
(`engine/state/sound.py`).
"""

import io
import json
import lzma
import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from ..checks import generator as drawn_from
from ..checks import path_of
from ..errors import FileError, InputError
from ..features.composite import UnknownKind
from ..learners.encoded import encode_contexts, encoder_from
from ..policy import Policy, copying
from ..policy.elsewhere import Elsewhere
from ..policy.ledger import Ledger
from ..policy.transaction import settle
from ..types import Seed
from .atomic import replacing, write_atomically
from .json_values import decode_arm
from .memory_limit import afford, limited
from .rng_state import STATES, from_plain, generator, plain
from .zip_reader import HEADER, Archive

__all__ = ["DAMAGE", "FORMAT", "VERSION", "described", "from_plain", "load", "pack", "plain", "replacing", "save", "unpack"]
__all__ += ["write_atomically"]

FORMAT, VERSION = "hsb-policy", 6
# What zipfile, bz2, json and numpy raise on flipped bytes and huge numbers.
DAMAGE: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError)
DAMAGE += (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError, MemoryError)
MOST = 2**53  # of rounds, decisions and whatever else is counted: more than there is time for; a file says no more
NAMED = ("header.json", "ledger", "elsewhere")
MADE = 2  # times that a policy is made: from its settings, and with the features that it knew


def save(policy: Policy, path: str | Path) -> None:
    """Write a policy to a file, whole or not at all."""
    write_atomically(path_of("path", path, folder=False), pack(policy))


def load(path: str | Path, *, seed: Seed | Literal["file"] = "file", **given: Any) -> Policy:
    """Read a policy that `policy.save` wrote; it goes on exactly where it was saved.

    `FileError` where the file is damaged or holds no policy, `FileNotFoundError` where there is none.

    - `seed`: "file" goes on with the random numbers of the file too, so that processes which load one file draw the same arms. A number or a
      `numpy.random.Generator` gives it others; None takes fresh ones from the operating system.
    - `given`: what a file cannot hold: `experts=` of an Exp4 whose experts are functions.

    Kinds of features of your own (`hsb.Composite`) are found by the names of their classes: define or import these first.

    >>> import hsb, tempfile, pathlib
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy.save(pathlib.Path(folder) / "policy.hsb")
    ...     twin = hsb.load(pathlib.Path(folder) / "policy.hsb")
    >>> twin.decide(0.3).propensity == policy.decide(0.3).propensity
    True
    """
    path = path_of("path", path, folder=False)
    if path.exists() and not path.is_file():
        raise FileError(f"{path}: no ordinary file, so there is no policy in it. Name the file that save wrote.")
    drawn = None if isinstance(seed, str) and seed == "file" else drawn_from(seed)
    with path.open("rb") as file:
        try:
            policy = unpack(file, given)
            policy.rng = policy.rng if drawn is None else drawn
            return policy
        except DAMAGE as error:
            if isinstance(error, FileError | UnknownKind):
                raise FileError(f"{path}: {error}") from None
            raise FileError(f"{path}: not a whole hsb policy file ({error!s:.500}). Use another copy of it.") from error


def described(policy: Policy) -> dict[str, Any]:
    """What a policy is, as plain data: two that say the same and learn the same stay the same."""
    return {
        **copying.to_plain_data(policy),
        **policy.loss_scale.plain_data(),
        **({"floor": policy.floor} if policy.floor > 0.0 else {}),
        "rounds": min(policy.rounds, MOST),
        "generator": plain(policy.rng.bit_generator.state),
    }


def pack(policy: Policy) -> bytes:
    """The bytes of a policy's file; InputError if its arms or its random generator cannot be written."""
    with policy.lock:
        settle(policy)
        return _packed(policy)


def _packed(policy: Policy) -> bytes:
    ledger, name = policy.ledger, type(policy.rng.bit_generator).__name__
    if name not in STATES:
        raise InputError(f"The random generator {name} cannot be written to a file. Use one of {', '.join(STATES)}.")
    arrays = policy.learner.to_arrays()
    header = {"format": FORMAT, "version": VERSION, **described(policy), "clipped": min(policy.clipped, MOST)}
    header |= {"issued": min(ledger.issued, MOST), "lineage": ledger.lineage, "past": ledger.past}
    header["elsewhere"] = ledger.elsewhere.plain()
    header["arrays"] = {name: [array.dtype.kind, *array.shape] for name, array in arrays.items()}
    text, buffer = json.dumps(header), io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    try:
        how = zipfile.ZIP_DEFLATED if len(text) <= HEADER else zipfile.ZIP_STORED  # so that its size is never suspect
        archive.writestr("header.json", text, how)
        archive.writestr("ledger", ledger.packed())
        archive.writestr("elsewhere", ledger.elsewhere.packed())
        for name, array in arrays.items():
            archive.writestr(name, array.astype(copying.STORED[array.dtype.kind]).tobytes())
        archive.close()
    except BaseException:
        archive.fp = (
            None  # so that it is let go of: closing would say that an entry is open, in the place of what interrupted it
        )
        raise
    return buffer.getvalue()


def unpack(source: bytes | BinaryIO, given: dict[str, Any]) -> Policy:
    """The policy that `pack` wrote; `given` is what a file cannot hold. Anything wrong with the bytes is one of `DAMAGE`."""
    with Archive(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
        header = _header(archive)
        kind = Policy.kinds[header["policy"]]
        if unwanted := set(given) - set(kind.asked_again):
            raise FileError(f"it holds a {header['policy']}, which takes no {', '.join(sorted(unwanted))}. Leave that out.")
        counts = {name: _count(header[name]) for name in ("rounds", "clipped", "issued")}
        _count(header.get("clipped_losses", 0))
        common: dict[str, Any] = {
            "arms": [decode_arm(arm) for arm in header["arms"]],
            "loss_range": "auto" if header["loss_range"] == "auto" else tuple(header["loss_range"]),
        }
        common |= {name: header[name] for name in ("outside", "floor") if name in header}
        common["seed"] = generator(header["generator"])
        elsewhere = Elsewhere.unpacked(header["elsewhere"], archive.read("elsewhere"))
        ledger = Ledger.unpacked(counts["issued"], archive.read("ledger"), header["lineage"], header["past"], elsewhere)
        with limited((1 + MADE) * archive.bytes / 8):
            afford(archive.unpacked / 8)
            settings = {**header["settings"], **given}
            encoding = settings.pop("encoding", None)
            policy: Policy = kind.from_settings(settings, common)
            if encoding is not None:
                encode_contexts(policy, encoder_from(encoding))
            policy.loss_scale.resume(header)
            removed = [decode_arm(arm) for arm in header["removed"]]
            if not set(removed) < set(policy.arms):
                raise FileError("its removed arms are not some of its arms.")
            arrays = {name: _array(archive, name, *what) for name, what in header["arrays"].items()}
            copying.resume(policy, arrays, removed=removed, rounds=counts["rounds"], clipped=counts["clipped"], ledger=ledger)
        return policy


def _header(archive: Archive) -> dict[str, Any]:
    """The header, of a kind and a version that are known here."""
    header = json.loads(archive.text("header.json"))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileError("not an hsb policy file.")
    version = header["version"]
    if type(version) is not int:
        raise FileError(f"its version is {version!r:.100}.")
    if version != VERSION:
        fix = "Install a newer hsb." if version > VERSION else "It was never released: make the policy anew."
        raise FileError(f"written in format {version!r:.100}, this version reads format {VERSION}. {fix}")
    if header["policy"] not in Policy.kinds:
        raise FileError(f"it holds a {header['policy']!r:.100}, which this version does not know. Install a newer hsb.")
    if not isinstance(header["arms"], list) or not isinstance(header["removed"], list):
        raise FileError("its arms are no list.")
    return header


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MOST:
        raise FileError(f"its counters must be whole numbers from 0 to {MOST}.")
    return value


def _array(archive: Archive, name: str, kind: str, *shape: int) -> np.ndarray:
    """An entry as an array of that kind and shape; one length may be -1, and follows from the others."""
    if name in NAMED or not all(type(length) is int and -1 <= length <= MOST for length in shape):
        raise FileError(f"its {name} has no shape.")
    if -1 not in shape and 8 * math.prod(shape) != archive.size(name):
        raise FileError(f"its {name} has another size than its shape.")
    return (
        np.frombuffer(archive.read(name), dtype=copying.STORED[kind])
        .reshape(shape)
        .astype(copying.STORED[kind].replace("<", "="))
    )
