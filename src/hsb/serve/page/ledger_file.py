"""Ledgers in files beside the journal, so that a restart need not read the journal from its beginning.

A file is a cache. It is computed again from the journal if it is damaged, was written by other code, or belongs to another journal. It holds
numbers only: no names, no contexts.
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
SEAL = 16  # bytes of the digest at the start of a file
Ledgers = tuple[UpdateLedger, FeedbackLedger]


def folder_of(journal: Path) -> Path:
    """Return the folder with the ledgers of a journal."""
    return journal.with_name(journal.name + "-page")


@functools.cache
def code_digest() -> str:
    """Return a digest of the code that makes ledgers: a ledger of other code may have another meaning."""
    digest = hashlib.blake2b(digest_size=8)
    for module in (numbers, bands, ledger, e_values, betting):
        digest.update(Path(module.__file__ or "").read_bytes())
    return digest.hexdigest()


def marks(reader: Queries, policy: int, updates: UpdateLedger, feedback: FeedbackLedger) -> list[Any]:
    """Return the rows at which the ledgers end. They differ in another journal, and in an older copy that continued differently."""
    stream = reader.rows("SELECT kind, decision, reward, at FROM stream WHERE policy = ? AND seq = ?", policy, updates.at)
    last = reader.rows("SELECT id FROM decision WHERE rowid <= ? ORDER BY rowid DESC LIMIT 1", feedback.at)
    return [[list(row) for row in stream], [list(row) for row in last]]


def write(path: Path, reader: Queries, policy: int, ledgers: Ledgers) -> None:
    """Write the ledgers, whole or not at all. Raises OSError, e.g. if the disk is full."""
    arrays: list[bytes] = []
    about = {
        "by": code_digest(),
        "marks": marks(reader, policy, *ledgers),
        "ledgers": [_plain(each, arrays) for each in ledgers],
    }
    head = json.dumps(about).encode()
    body = len(head).to_bytes(8, "little") + head + b"".join(arrays)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    part = path.with_suffix(".part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(hashlib.blake2b(body, digest_size=SEAL).digest() + body)
    os.replace(part, path)


def read(path: Path, reader: Queries, policy: int) -> Ledgers | None:
    """Read the ledgers of a policy of this journal; None if the file has no usable ones."""
    try:
        raw = path.read_bytes()
        body = raw[SEAL:]
        if hashlib.blake2b(body, digest_size=SEAL).digest() != raw[:SEAL]:
            return None
        size = int.from_bytes(body[:8], "little")
        about = json.loads(body[8 : 8 + size])
        if about["by"] != code_digest():
            return None
        updates, feedback = (_restore(each, memoryview(body)[8 + size :]) for each in about["ledgers"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    waits = "SELECT 1 FROM pending p JOIN decision d ON d.id = p.decision WHERE p.policy = ? AND d.rowid <= ? LIMIT 1"
    if about["marks"] != marks(reader, policy, updates, feedback) or reader.rows(waits, policy, feedback.at):
        return None
    return updates, feedback


def _plain(value: Any, arrays: list[bytes]) -> Any:
    """Return a value as JSON can hold it; append its arrays to `arrays`."""
    if isinstance(value, np.ndarray):
        offset = sum(map(len, arrays))
        arrays.append(np.ascontiguousarray(value).tobytes())
        return {"array": [value.dtype.str, list(value.shape), offset]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | deque | list):
        most = [value.maxlen] if isinstance(value, deque) else []
        return {type(value).__name__: [[_plain(each, arrays) for each in value], *most]}
    if type(value).__name__ in KINDS:
        names = getattr(type(value), "__slots__", None) or vars(value)
        return {"kind": [type(value).__name__, {name: _plain(getattr(value, name), arrays) for name in names}]}
    return value


def _restore(value: Any, arrays: memoryview) -> Any:
    """Return the value that `_plain` wrote."""
    if not isinstance(value, dict):
        return value
    ((what, parts),) = value.items()
    if what == "array":
        dtype, shape, offset = np.dtype(parts[0]), parts[1], parts[2]
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(arrays[offset : offset + size], dtype=dtype).reshape(shape).copy()
    if what == "kind":
        instance: Any = object.__new__(KINDS[parts[0]])
        for name, inner in parts[1].items():
            setattr(instance, name, _restore(inner, arrays))
        return instance
    items = [_restore(inner, arrays) for inner in parts[0]]
    return tuple(items) if what == "tuple" else deque(items, parts[1]) if what == "deque" else items
