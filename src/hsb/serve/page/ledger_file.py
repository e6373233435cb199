"""Ledgers in files beside the journal, so that a restart does not read it from its beginning.

A file is worth nothing by itself: it can be made again from the journal, and is, where it is damaged, was written by other code, or the
journal is not the one that it was made from. It holds numbers only: no names, no contexts.
"""

import functools
import hashlib
import json
import os
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from ... import e_values
from ...evaluate.off_policy import betting
from ..store.queries import Queries
from . import bands, ledger, numbers
from .ledger import FeedbackLedger, UpdateLedger

KINDS: dict[str, type] = {
    each.__name__: each
    for each in (
        UpdateLedger,
        FeedbackLedger,
        numbers.UpdateTally,
        numbers.ArmSums,
        numbers.ChosenSums,
        numbers.Bucket,
        numbers.Floors,
        e_values.FeedbackEvidence,
    )
}
SEAL = 16  # bytes of the digest that a file begins with
Ledgers = tuple[UpdateLedger, FeedbackLedger]


def folder_of(journal: Path) -> Path:
    """Where the ledgers of a journal are kept."""
    return journal.with_name(journal.name + "-page")


@functools.cache
def made_by() -> str:
    """A digest of the code that makes ledgers: what other code made may mean something else."""
    found = hashlib.blake2b(digest_size=8)
    for module in (numbers, bands, ledger, e_values, betting):
        found.update(Path(module.__file__ or "").read_bytes())
    return found.hexdigest()


def marks(reader: Queries, policy: int, updates: UpdateLedger, feedback: FeedbackLedger) -> list[Any]:
    """What the journal has where the ledgers end: another journal, or an older copy of it that went on otherwise, has something else."""
    stream = reader.rows("SELECT kind, decision, reward, at FROM stream WHERE policy = ? AND seq = ?", policy, updates.at)
    last = reader.rows("SELECT id FROM decision WHERE rowid <= ? ORDER BY rowid DESC LIMIT 1", feedback.at)
    return [[list(row) for row in stream], [list(row) for row in last]]


def write(path: Path, reader: Queries, policy: int, ledgers: Ledgers) -> None:
    """Write them, whole or not at all. OSError where there is no room."""
    arrays: list[bytes] = []
    about = {"by": made_by(), "marks": marks(reader, policy, *ledgers), "ledgers": [_plain(each, arrays) for each in ledgers]}
    head = json.dumps(about).encode()
    body = len(head).to_bytes(8, "little") + head + b"".join(arrays)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    part = path.with_suffix(".part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(hashlib.blake2b(body, digest_size=SEAL).digest() + body)
    os.replace(part, path)


def read(path: Path, reader: Queries, policy: int) -> Ledgers | None:
    """The ledgers of a policy of this journal; None where the file has none."""
    try:
        raw = path.read_bytes()
        body = raw[SEAL:]
        if hashlib.blake2b(body, digest_size=SEAL).digest() != raw[:SEAL]:
            return None
        size = int.from_bytes(body[:8], "little")
        about = json.loads(body[8 : 8 + size])
        if about["by"] != made_by():
            return None
        updates, feedback = (_made(each, memoryview(body)[8 + size :]) for each in about["ledgers"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    waits = "SELECT 1 FROM pending p JOIN decision d ON d.id = p.decision WHERE p.policy = ? AND d.rowid <= ? LIMIT 1"
    if about["marks"] != marks(reader, policy, updates, feedback) or reader.rows(waits, policy, feedback.at):
        return None
    return updates, feedback


def _plain(value: Any, arrays: list[bytes]) -> Any:
    """A value as JSON has it; arrays go behind it."""
    if isinstance(value, np.ndarray):
        place = sum(map(len, arrays))
        arrays.append(np.ascontiguousarray(value).tobytes())
        return {"array": [value.dtype.str, list(value.shape), place]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | deque | list):
        most = [value.maxlen] if isinstance(value, deque) else []
        return {type(value).__name__: [[_plain(each, arrays) for each in value], *most]}
    if type(value).__name__ in KINDS:
        names = getattr(type(value), "__slots__", None) or vars(value)
        return {"kind": [type(value).__name__, {name: _plain(getattr(value, name), arrays) for name in names}]}
    return value


def _made(given: Any, arrays: memoryview) -> Any:
    """The value that `_plain` wrote."""
    if not isinstance(given, dict):
        return given
    ((what, parts),) = given.items()
    if what == "array":
        dtype, shape, place = np.dtype(parts[0]), parts[1], parts[2]
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(arrays[place : place + size], dtype=dtype).reshape(shape).copy()
    if what == "kind":
        found: Any = object.__new__(KINDS[parts[0]])
        for name, each in parts[1].items():
            setattr(found, name, _made(each, arrays))
        return found
    some = [_made(each, arrays) for each in parts[0]]
    return tuple(some) if what == "tuple" else deque(some, parts[1]) if what == "deque" else some
