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
MOST = 2**53  # largest count of rounds, decisions etc. in a file: more than there is time for
NAMED = ("header.json", "ledger", "elsewhere")
MADE = 2  # times that a load makes a policy: from its settings, then with its known features


def save(policy: Policy, path: str | Path) -> None:
    """Write a policy to a file, wholly or not at all."""
    write_atomically(path_of("path", path, folder=False), pack(policy))


def load(path: str | Path, *, seed: Seed | Literal["file"] = "file", **arguments: Any) -> Policy:
    """Read a policy that `policy.save` wrote. It resumes from exactly the saved state.

    Raises `FileError` if the file is damaged or holds no policy, `FileNotFoundError` if there is no file.

    - `seed`: "file" resumes the random numbers of the file too, so processes that load one file draw the same arms. An int or a
      `numpy.random.Generator` replaces them; None takes fresh ones from the operating system.
    - `arguments`: arguments that a file cannot hold: `experts=` of an Exp4 whose experts are functions.

    Before loading, define or import the classes of your kinds of features (`hsb.Composite`): the file has only their names.

    >>> import hsb, tempfile, pathlib
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy.save(pathlib.Path(folder) / "policy.hsb")
    ...     loaded = hsb.load(pathlib.Path(folder) / "policy.hsb")
    >>> loaded.decide(0.3).propensity == policy.decide(0.3).propensity
    True
    """
    path = path_of("path", path, folder=False)
    if path.exists() and not path.is_file():
        raise FileError(f"{path}: no ordinary file, so it holds no policy. Name the file that save wrote.")
    drawn = None if isinstance(seed, str) and seed == "file" else drawn_from(seed)
    with path.open("rb") as file:
        try:
            policy = unpack(file, arguments)
            policy.rng = policy.rng if drawn is None else drawn
            return policy
        except DAMAGE as error:
            if isinstance(error, FileError | UnknownKind):
                raise FileError(f"{path}: {error}") from None
            raise FileError(f"{path}: not a whole hsb policy file ({error!s:.500}). Use another copy of the file.") from error


def described(policy: Policy) -> dict[str, Any]:
    """Return a policy's settings, arms and generator as plain data. Policies with equal data that learn the same stay equal."""
    return {
        **copying.to_plain_data(policy),
        **policy.loss_scale.plain_data(),
        **({"floor": policy.floor} if policy.floor > 0.0 else {}),
        "rounds": min(policy.rounds, MOST),
        "generator": plain(policy.rng.bit_generator.state),
    }


def pack(policy: Policy) -> bytes:
    """Return the bytes of a policy's file; InputError if its arms or its random generator cannot be written."""
    with policy.lock:
        settle(policy)
        return _pack(policy)


def _pack(policy: Policy) -> bytes:
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
        method = (
            zipfile.ZIP_DEFLATED if len(text) <= HEADER else zipfile.ZIP_STORED
        )  # `Archive` limits what a header unpacks to
        archive.writestr("header.json", text, method)
        archive.writestr("ledger", ledger.packed())
        archive.writestr("elsewhere", ledger.elsewhere.packed())
        for name, array in arrays.items():
            archive.writestr(name, array.astype(copying.STORED[array.dtype.kind]).tobytes())
        archive.close()
    except BaseException:
        archive.fp = None  # closing would raise that an entry is open, in place of the interrupt
        raise
    return buffer.getvalue()


def unpack(source: bytes | BinaryIO, arguments: dict[str, Any]) -> Policy:
    """Read the policy that `pack` wrote; `arguments` holds arguments that a file cannot. Damaged bytes raise one of `DAMAGE`."""
    with Archive(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
        header = _header(archive)
        kind = Policy.kinds[header["policy"]]
        if unwanted := set(arguments) - set(kind.load_arguments):
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
            settings = {**header["settings"], **arguments}
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
    """Read the header; FileError unless this version knows its format and its class of policy."""
    header = json.loads(archive.text("header.json"))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileError("not an hsb policy file.")
    version = header["version"]
    if type(version) is not int:
        raise FileError(f"its version is {version!r:.100}.")
    if version != VERSION:
        fix = "Install a newer hsb." if version > VERSION else "That format was never released: make a new policy."
        raise FileError(f"written in format {version!r:.100}; this version reads format {VERSION}. {fix}")
    if header["policy"] not in Policy.kinds:
        raise FileError(f"it holds a {header['policy']!r:.100}, which this version does not know. Install a newer hsb.")
    if not isinstance(header["arms"], list) or not isinstance(header["removed"], list):
        raise FileError("its arms are not a list.")
    return header


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MOST:
        raise FileError(f"its counters must be whole numbers from 0 to {MOST}.")
    return value


def _array(archive: Archive, name: str, kind: str, *shape: int) -> np.ndarray:
    """Return an entry as an array of this kind and shape; one length may be -1, which follows from the others."""
    if name in NAMED or not all(type(length) is int and -1 <= length <= MOST for length in shape):
        raise FileError(f"its {name} has no shape.")
    if -1 not in shape and 8 * math.prod(shape) != archive.size(name):
        raise FileError(f"its {name} has another size than its shape.")
    return (
        np.frombuffer(archive.read(name), dtype=copying.STORED[kind])
        .reshape(shape)
        .astype(copying.STORED[kind].replace("<", "="))
    )
