"""Policies in files: a zip of one JSON header and plain arrays. No code is stored and none is run on reading.

The header names the format and its version; every entry carries a checksum. A file is written whole or not at all (`replacing`).
"""

import io
import json
import lzma
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from .arguments import generator
from .errors import FileError, InputError
from .guard import locked
from .ledger import Elsewhere, Ledger
from .plain import decode_arm, encode_arm
from .policies import Policy
from .types import Seed

FORMAT, VERSION = "hsb-policy", 4
# What zipfile, bz2, json and numpy raise on flipped bytes and huge numbers.
DAMAGE: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError)
DAMAGE += (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError)
KINDS = {"f": "<f8", "i": "<i8", "u": "<u8"}
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def save(policy: Policy, path: str | Path) -> None:
    """Write a policy to a file, whole or not at all."""
    write_atomically(Path(path), pack(policy))


def load(path: str | Path, *, seed: Seed | Literal["file"] = "file", **given: Any) -> Policy:
    """Read a policy; it goes on exactly where it was saved.

    Its random numbers too: processes that load one file draw the same arms. `seed`, a number, a `numpy.random.Generator` or None, which
    takes fresh ones from the operating system, gives it others. What a file cannot hold is given again: `experts=` of an Exp4 whose experts
    are functions.

    >>> import hsb, tempfile, pathlib
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy.save(pathlib.Path(folder) / "policy.hsb")
    ...     twin = hsb.load(pathlib.Path(folder) / "policy.hsb")
    >>> twin.decide(0.3).propensity == policy.decide(0.3).propensity
    True
    """
    path = Path(path)
    data = path.read_bytes()
    drawn = None if isinstance(seed, str) and seed == "file" else generator(seed)
    try:
        policy = unpack(data, given)
        policy.rng = policy.rng if drawn is None else drawn
        return policy
    except DAMAGE as error:
        if isinstance(error, FileError):
            raise FileError(f"{path}: {error}") from None
        raise FileError(f"{path}: not a whole hsb policy file ({error}). Use another copy of it.") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's contents in one step."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` in one step when the block ends; where it raises, nothing changes.

    It is written beside its place, flushed to disk and then moved, so that a crash leaves either the old file or the new one, whole.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def described(policy: Policy) -> dict[str, Any]:
    """What a policy is, as plain data: two that say the same and learn the same stay the same."""
    return {
        "policy": type(policy).__name__,
        "settings": policy.settings(),
        "arms": [encode_arm(arm) for arm in policy.arms],
        "removed": [encode_arm(arm) for arm in policy.arms if arm in policy.offer.removed],
        **policy.loss_scale.plain_data(),
        **({"floor": policy.floor} if policy.floor > 0.0 else {}),
        "rounds": policy.rounds,
        "generator": plain(policy.rng.bit_generator.state),
    }


@locked
def pack(policy: Policy) -> bytes:
    """The bytes of a policy's file; InputError where its arms or its random generator cannot be written."""
    ledger, name = policy.ledger, type(policy.rng.bit_generator).__name__
    if name not in GENERATORS:
        raise InputError(f"The random generator {name} cannot be written to a file. Use one of {', '.join(GENERATORS)}.")
    arrays = policy.to_arrays()
    header = {"format": FORMAT, "version": VERSION, **described(policy), "clipped": policy.clipped}
    header |= {"issued": ledger.issued, "stream": ledger.stream, "past": ledger.past}
    header |= {"elsewhere": ledger.elsewhere.plain()} if ledger.elsewhere.blocks else {}
    header["arrays"] = {name: [array.dtype.kind, *array.shape] for name, array in arrays.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("ledger", bytes(ledger.bits))
        for name, array in arrays.items():
            archive.writestr(name, array.astype(KINDS[array.dtype.kind]).tobytes())
    return buffer.getvalue()


def unpack(data: bytes, given: dict[str, Any]) -> Policy:
    """The policy that `pack` wrote; `given` is what a file cannot hold. Anything wrong with the bytes is one of `DAMAGE`."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        header = json.loads(archive.read("header.json"))
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise FileError("not an hsb policy file.")
        if header["version"] > VERSION:
            raise FileError(f"written in format {header['version']}, this version reads up to {VERSION}. Install a newer hsb.")
        if header["version"] == 1:
            _upgrade(header)
        if header["policy"] not in Policy.kinds:
            raise FileError(f"it holds a {header['policy']!r}, which this version does not know. Install a newer hsb.")
        kind = Policy.kinds[header["policy"]]
        if unwanted := set(given) - set(kind.asked_again):
            raise FileError(f"it holds a {header['policy']}, which takes no {', '.join(sorted(unwanted))}. Leave that out.")
        common: dict[str, Any] = {
            "arms": [decode_arm(arm) for arm in header["arms"]],
            "loss_range": "auto" if header["loss_range"] == "auto" else tuple(header["loss_range"]),
        }
        common |= {name: header[name] for name in ("outside", "floor") if name in header}
        policy = kind.from_settings({**header["settings"], **given}, {**common, "seed": _generator(header["generator"])})
        policy.loss_scale.resume(header)
        if any(type(header[name]) is not int or header[name] < 0 for name in ("rounds", "clipped", "issued")):
            raise FileError("its counters must be whole numbers of at least 0.")
        arrays = {name: _array(archive.read(name), *what) for name, what in header["arrays"].items()}
        past = {str(who): (int(rounds), int(issued)) for who, (rounds, issued) in header["past"].items()}
        elsewhere = Elsewhere(header.get("elsewhere"))
        ledger = Ledger(int(header["issued"]), archive.read("ledger"), str(header["stream"]), past, elsewhere)
        if len(ledger.bits) * 8 < ledger.issued:
            raise FileError("its ledger of decisions is too short.")
        removed = [decode_arm(arm) for arm in header["removed"]]
        if not set(removed) < set(policy.arms):
            raise FileError("its removed arms are not some of its arms.")
        policy.resume(arrays, removed=removed, rounds=int(header["rounds"]), clipped=int(header["clipped"]), ledger=ledger)
        return policy


def _upgrade(header: dict[str, Any]) -> None:
    """Format 1 knew only HSB, and kept its settings in the header itself."""
    names = ("structure", "horizon", "regions", "learning_rate", "stop")
    header["policy"] = "HSB"
    header["settings"] = {name: header[name] for name in names}
    if header["horizon"] is not None:
        header["settings"]["learning_rate"] = None
    header["arrays"] = {f"{k}.{what}": [what[0], -1] for k in range(header["members"]) for what in ("floats", "ints")}


def _array(data: bytes, kind: str, *shape: int) -> np.ndarray:
    return np.frombuffer(data, dtype=KINDS[kind]).reshape(shape).astype(KINDS[kind].replace("<", "="))


def plain(state: Any) -> Any:
    """The state of a random generator, nested dicts of numbers and arrays, as JSON has it."""
    if isinstance(state, dict):
        return {name: plain(value) for name, value in state.items()}
    if isinstance(state, np.ndarray):
        return {"array": state.tolist(), "dtype": str(state.dtype)}
    return int(state) if isinstance(state, np.integer) else state


def from_plain(state: Any) -> Any:
    """The state that `plain` wrote."""
    if isinstance(state, dict) and "array" in state:
        return np.array(state["array"], dtype=np.dtype(state["dtype"]))
    if isinstance(state, dict):
        return {name: from_plain(value) for name, value in state.items()}
    return state


def _generator(state: dict[str, Any]) -> np.random.Generator:
    name = state.get("bit_generator")
    if name not in GENERATORS:
        raise FileError(f"its random generator {name!r} is not one of {', '.join(GENERATORS)}.")
    generator = getattr(np.random, name)()
    generator.state = from_plain(state)
    return np.random.Generator(generator)
