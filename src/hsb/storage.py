"""Policies in files: a zip of one JSON header and plain arrays. No code is stored and none is run on reading.

The header names the format and its version; every entry carries a checksum. A file is written beside its place, flushed to disk and then moved
over the old one in a single step, so that a crash leaves either the old file or the new one, whole.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FileError, InputError
from .kernels import header as h
from .ledger import Ledger
from .members import Member, aligned_zeros, scratch
from .policy import HSB
from .structures import from_dict

FORMAT, VERSION = "hsb-policy", 1
DAMAGE: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
)
DAMAGE += (ArithmeticError, RuntimeError, OSError)  # what zipfile, bz2, json and numpy raise on flipped bytes and huge numbers
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def save(policy: HSB, path: str | Path) -> None:
    """Write a policy atomically."""
    write_atomically(Path(path), _pack(policy))


def load(path: str | Path) -> HSB:
    """Read a policy; it goes on exactly where it was saved.

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
    try:
        return _unpack(data)
    except DAMAGE as error:
        if isinstance(error, FileError):
            raise FileError(f"{path}: {error}") from None
        raise FileError(f"{path}: not a whole hsb policy file ({error}). Use another copy of it.") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's contents in one step."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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


def _pack(policy: HSB) -> bytes:
    name = type(policy._rng.bit_generator).__name__
    if name not in GENERATORS:
        raise InputError(f"The random generator {name} cannot be written to a file. Use one of {', '.join(GENERATORS)}.")
    header = {
        "format": FORMAT,
        "version": VERSION,
        "structure": policy.structure.to_dict(),
        "arms": [_encode_arm(arm) for arm in policy.arms],
        "removed": [_encode_arm(arm) for arm in policy.arms if arm in policy._removed],
        "horizon": _plain(policy.horizon),
        "regions": _plain(policy.regions),
        "learning_rate": policy.learning_rate,
        "stop": policy.stop,
        "loss_range": list(policy.loss_range),
        "rounds": policy.rounds,
        "clipped": policy.clipped,
        "issued": policy._ledger.issued,
        "stream": policy._ledger.stream,
        "past": policy._ledger.past,
        "generator": _plain(policy._rng.bit_generator.state),
        "members": len(policy._members),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("ledger", bytes(policy._ledger.bits))
        for k, member in enumerate(policy._members):
            F, I = _trimmed(member)
            archive.writestr(f"{k}.floats", F.astype("<f8").tobytes())
            archive.writestr(f"{k}.ints", I.astype("<i8").tobytes())
    return buffer.getvalue()


def _unpack(data: bytes) -> HSB:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        header = json.loads(archive.read("header.json"))
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise FileError("not an hsb policy file.")
        if header["version"] > VERSION:
            raise FileError(f"written in format {header['version']}, this version reads up to {VERSION}. Install a newer hsb.")
        policy = HSB(
            from_dict(header["structure"]),
            arms=[_decode_arm(arm) for arm in header["arms"]],
            horizon=None if header["horizon"] is None else header["horizon"],
            regions=header["regions"],
            learning_rate=None if header["horizon"] is not None else header["learning_rate"],
            stop=header["stop"],
            loss_range=tuple(header["loss_range"]),
            seed=_generator(header["generator"]),
        )
        rate = header["learning_rate"]
        if rate is not None and not (isinstance(rate, float) and 0.0 < rate < np.inf):
            raise FileError(f"its learning rate is {rate!r}.")
        if any(type(header[name]) is not int or header[name] < 0 for name in ("rounds", "clipped", "issued")):
            raise FileError("its counters must be whole numbers of at least 0.")
        policy.learning_rate = header["learning_rate"]
        fresh = policy._members
        if header["members"] != len(fresh):
            raise FileError(f"{header['members']} members where its structure has {len(fresh)}.")
        members = []
        for k in range(len(fresh)):
            F = np.frombuffer(archive.read(f"{k}.floats"), dtype="<f8").astype(np.float64)
            I = np.frombuffer(archive.read(f"{k}.ints"), dtype="<i8").astype(np.int64)
            members.append(_checked(F, I, fresh[k]))
        past = {str(who): (int(rounds), int(issued)) for who, (rounds, issued) in header["past"].items()}
        ledger = Ledger(int(header["issued"]), archive.read("ledger"), str(header["stream"]), past)
        if len(ledger.bits) * 8 < ledger.issued:
            raise FileError("its ledger of decisions is too short.")
        policy._set_members(members)
        policy._removed = {_decode_arm(arm) for arm in header["removed"]}
        if not policy._removed < set(policy.arms):
            raise FileError("its removed arms are not some of its arms.")
        policy.rounds, policy.clipped = int(header["rounds"]), int(header["clipped"])
        policy._ledger = ledger.fork(policy.rounds)
        policy._refresh()
        return policy


def _trimmed(member: Member) -> Member:
    """Without the rows not in use."""
    F, I = member
    if I[h.KIND] != h.COMPRESSED:
        return member
    I = I[: I[h.LINKS] + I[h.ROWS] * I[h.LINK_STRIDE]].copy()
    I[h.CAPACITY] = I[h.ROWS]
    return Member(F[: I[h.ROW0] + I[h.ROWS] * I[h.STRIDE]], I)


def _checked(F: np.ndarray, I: np.ndarray, fresh: Member) -> Member:
    """The arrays, if kernels that check nothing can be trusted with them: every place they name lies inside them."""
    free = [h.ROWS, h.CAPACITY, h.WHOLE] if fresh.I[h.KIND] in (h.DENSE, h.COMPRESSED) else []
    ours, theirs = fresh.I[: h.HEADER].copy(), I[: h.HEADER].copy()
    ours[free], theirs[free] = 0, 0
    if len(theirs) != h.HEADER or not np.array_equal(ours, theirs):
        raise FileError("its state does not fit its structure.")
    kind, rows = I[h.KIND], int(I[h.ROWS]) if free else 0
    if kind == h.DENSE:
        fits = len(I) == len(fresh.I) and len(F) == len(fresh.F) and I[h.CAPACITY] == fresh.I[h.CAPACITY]
    elif kind == h.COMPRESSED:
        links = I[I[h.LINKS] :]
        fits = rows >= 0 and len(links) == rows * I[h.LINK_STRIDE] and len(F) == I[h.ROW0] + rows * I[h.STRIDE]
        fits = fits and I[h.CAPACITY] == rows and _links_fit(links.reshape(rows, int(I[h.LINK_STRIDE])), I, rows)
    else:
        # Only a graph keeps tables after its header: what the finder needs, and where each node's row begins.
        tables = slice(int(I[h.SPEC]), None) if kind == h.GRAPH else slice(0, 0)
        fits = len(I) == len(fresh.I) and len(F) == len(fresh.F) and np.array_equal(I[tables], fresh.I[tables])
    if not fits:
        raise FileError("its state does not fit its structure.")
    if not _finite(F, I):
        raise FileError("its state holds numbers that are not finite.")
    if kind in (h.DENSE, h.COMPRESSED):  # the prior must be the header's
        for at in (h.GO, h.STAY):
            table = slice(int(I[at]), int(I[at] + I[h.DEPTH] + 1))
            if not np.array_equal(F[table], fresh.F[table]):
                raise FileError("its state does not fit its stop prior.")
    room = aligned_zeros(len(F))
    room[:] = F
    return Member(room, I)


def _finite(F: np.ndarray, I: np.ndarray) -> bool:
    """Every number, scratch apart; where the prior forbids stopping, a tree's rows count it as infinitely small."""
    finite = np.isfinite(F)
    for part in scratch(Member(F, I)):
        finite[part] = True
    if I[h.KIND] in (h.DENSE, h.COMPRESSED) and I[h.DEPTH] > 0 and F[I[h.STAY] + 1] == 0.0:
        hidden = I[h.ROW0] + I[h.STRIDE] * np.arange(I[h.CAPACITY]) + I[h.LOGS] + 1
        finite[hidden] |= F[hidden] == np.inf
    return bool(finite.all())


def _links_fit(links: np.ndarray, I: np.ndarray, rows: int) -> bool:
    bottom, top = links[:, 0] & 4095, links[:, 0] >> 12
    children = links[:, 1 : 1 + I[h.FANOUT]]
    bits, per_word = int(I[h.BITS]), int(I[h.PER_WORD])
    keys = links[:, 1 + I[h.FANOUT] :]
    digits = keys[:, :, None] >> (bits * np.arange(per_word)) & ((1 << bits) - 1)
    return bool(
        np.all(digits < I[h.FANOUT])
        and np.all(keys >> (bits * per_word) == 0)
        and np.all((top >= 0) & (top <= bottom) & (bottom <= I[h.DEPTH]))
        and np.all((children >= -1) & (children < rows))
        and np.all(children[children >= 0] > 0)
        and len(np.unique(children[children >= 0])) == max(rows - 1, 0)
        and np.all((children < 0) | (top[np.maximum(children, 0)] == bottom[:, None] + 1))
    )


def _encode_arm(arm: Hashable) -> Any:
    if arm is None or isinstance(arm, bool | int | float | str):
        return arm
    if isinstance(arm, np.bool_ | np.integer | np.floating):
        return _encode_arm(arm.item())
    if isinstance(arm, tuple):
        return {"tuple": [_encode_arm(part) for part in arm]}
    raise InputError(
        f"Arm {arm!r} cannot be written to a file: arms must be None, booleans, numbers, strings or tuples of these. "
        "Use a name for the arm and keep the object in a table of your own."
    )


def _decode_arm(arm: Any) -> Hashable:
    if isinstance(arm, dict):
        return tuple(_decode_arm(part) for part in arm["tuple"])
    if arm is None or isinstance(arm, bool | int | float | str):
        return arm
    raise FileError(f"it holds an arm of an unknown kind: {arm!r}.")


def _plain(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    if isinstance(state, np.ndarray):
        return {"array": state.tolist(), "dtype": str(state.dtype)}
    return int(state) if isinstance(state, np.integer) else state


def _from_plain(state: Any) -> Any:
    if isinstance(state, dict) and "array" in state:
        return np.array(state["array"], dtype=np.dtype(state["dtype"]))
    if isinstance(state, dict):
        return {name: _from_plain(value) for name, value in state.items()}
    return state


def _generator(state: dict[str, Any]) -> np.random.Generator:
    name = state.get("bit_generator")
    if name not in GENERATORS:
        raise FileError(f"its random generator {name!r} is not one of {', '.join(GENERATORS)}.")
    generator = getattr(np.random, name)()
    generator.state = _from_plain(state)
    return np.random.Generator(generator)
