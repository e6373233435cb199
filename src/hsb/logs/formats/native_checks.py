"""Checks of an hsb Parquet file: its footer, its types, and every number in a group of rows."""

import json
import math
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from ...errors import FileError, quoted
from ...types import Floats, Ints
from .table import need

VERSION = 2
WIDEST = 1 << 20  # features
# Columns that are read together: not contexts, which takes memory even if null.
COLUMNS = ["arm", "pool", "reward", "timestamp", "propensity", "offers", "bits"]
TYPES = {"arm": "int32", "pool": "int32", "reward": "double", "timestamp": "double", "propensity": "double"}


class Footer(NamedTuple):
    """The content of the footer: features, arms, the number of rows, a digest for each group of rows."""

    features: int
    uniform: bool | None
    arms: list[Any]
    rows: int
    groups: list[str]
    estimated: bool = False


class Stored(NamedTuple):
    """A group of rows as stored, after the checks: pool k has the next sizes[k] of the members, in order."""

    arm: Ints
    pool: Ints
    reward: Floats
    timestamp: Floats
    probabilities: Floats
    sizes: Ints
    members: Ints
    features: Any  # (n, d) numbers, or (n, bytes) with a bit for each feature


def is_label(arm: Any) -> bool:
    """Can this arm be written as a label?"""
    return isinstance(arm, str | int) or (isinstance(arm, float) and math.isfinite(arm))


def write_facts(facts: Footer) -> str:
    """Return the text of the footer."""
    content = {"version": VERSION, **facts._asdict()}
    if not facts.estimated:
        del content["estimated"]
    return json.dumps(content | {"digest": _sum(content)})


def read_facts(raw: bytes) -> Footer:
    """Parse the footer. Raises `FileError` for another version, ValueError or TypeError for a damaged footer."""
    content = json.loads(raw)
    if not isinstance(content, dict):
        raise ValueError("its footer does not describe a log")
    if (version := content["version"]) != VERSION:
        raise FileError(f"It has version {quoted(version)}; this hsb reads {VERSION}. Write it again, or update hsb.")
    if content.pop("digest") != _sum(content):
        raise ValueError("its digest does not match")
    content.setdefault("estimated", False)
    facts = Footer(**{name: content[name] for name in Footer._fields})
    if type(facts.features) is not int or not 1 <= facts.features <= WIDEST:
        raise ValueError(f"features must be a whole number in 1 .. {WIDEST}")
    if facts.uniform not in (None, True, False):
        raise ValueError("uniform must be true, false or null")
    if facts.estimated not in (True, False):
        raise ValueError("estimated must be true or false")
    if not isinstance(facts.arms, list) or not all(map(is_label, facts.arms)) or len(set(facts.arms)) < len(facts.arms):
        raise ValueError("arms must be different texts and numbers")
    if not isinstance(facts.groups, list):
        raise ValueError("groups must be a list")
    return facts


def _sum(content: Any) -> str:
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def check_types(schema: Any, features: int) -> None:
    """Raise ValueError if a column has another type than `write_native` writes."""
    types = need("pyarrow.types")
    there = {name: schema.field(name).type for name in (*COLUMNS, "contexts")}
    bad = [name for name, kind in TYPES.items() if str(there[name]) != kind]
    if not (types.is_list(there["offers"]) and str(there["offers"].value_type) == "int32"):
        bad.append("offers")
    if not types.is_fixed_size_binary(there["bits"]) or there["bits"].byte_width != (features + 7) // 8:
        bad.append("bits")
    wide = types.is_fixed_size_list(there["contexts"]) and str(there["contexts"].value_type) == "double"
    if not wide or there["contexts"].list_size != features:
        bad.append("contexts")
    if bad:
        raise ValueError(f"the column {bad[0]} has the type {there[bad[0]]}, which is wrong for {features} features")


def read_group(file: Any, k: int, facts: Footer) -> Stored:
    """Read group k of the rows. Raises ValueError if it was changed after it was written, or is not valid."""
    table = file.read_row_group(k, columns=COLUMNS)
    if table["bits"].null_count:
        table = table.append_column("contexts", file.read_row_group(k, columns=["contexts"])["contexts"])
    held = _stored(table, facts.features)
    if _digest(held) != facts.groups[k]:
        raise ValueError("its digest does not match: the file was changed after it was written")
    _check(held, len(facts.arms), bool(facts.uniform))
    return held


def digest(table: Any, features: int) -> str:
    """Return the digest of a table that is about to be written."""
    return _digest(_stored(table, features))


def _digest(held: Stored) -> str:
    total = blake2b(digest_size=16)
    for column in held:
        array = np.ascontiguousarray(column)
        total.update(f"{array.dtype.str}{array.shape}".encode())
        total.update(array.data)
    return total.hexdigest()


def _stored(table: Any, features: int) -> Stored:
    """Return the columns of a table as NumPy arrays."""
    compute, n = need("pyarrow.compute"), len(table)
    if any(table[name].null_count for name in ("arm", "pool", "reward", "timestamp")):
        raise ValueError("a number is missing")
    lists = table["offers"].drop_null()
    sizes = np.asarray(compute.list_value_length(lists), dtype=np.int64)
    flat = compute.list_flatten(lists)
    if flat.null_count:
        raise ValueError("an available arm is missing")
    arm, pool = np.asarray(table["arm"], dtype=np.int64), np.asarray(table["pool"], dtype=np.int64)
    if len(pool) and not (pool.min() >= 0 and pool.max() < len(sizes)):
        raise ValueError("a row has a pool that is not listed")
    if not np.array_equal(pool[np.flatnonzero(np.asarray(table["offers"].is_valid()))], np.arange(len(sizes))):
        raise ValueError("pools are not numbered in order of appearance")
    if table["propensity"].null_count not in (0, n):
        raise ValueError("some propensities are missing")
    with np.errstate(divide="ignore"):
        probabilities = np.asarray(table["propensity"]) if not table["propensity"].null_count else 1.0 / sizes[pool]
    features_there = _features(table, n, features)
    columns = (arm, pool, np.asarray(table["reward"]), np.asarray(table["timestamp"]), probabilities, sizes)
    return Stored(*columns, np.asarray(flat, dtype=np.int64), features_there)


def _features(table: Any, n: int, features: int) -> Any:
    bits = table["bits"]
    if bits.null_count not in (0, n):
        raise ValueError("some features are missing")
    if not bits.null_count:
        column, width = bits.combine_chunks(), (features + 7) // 8
        raw = np.frombuffer(column.buffers()[1], dtype=np.uint8)[column.offset * width :][: n * width]
        return raw.reshape(n, width)
    contexts = table["contexts"].combine_chunks()
    if contexts.null_count or (flat := contexts.flatten()).null_count:
        raise ValueError("some features are missing")
    return np.asarray(flat).reshape(n, features)


def _check(held: Stored, arms: int, uniform: bool) -> None:
    """Raise ValueError for numbers that a reader of a batch must not see."""
    for name, numbers in (("an arm", held.arm), ("an available arm", held.members)):
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < arms):
            raise ValueError(f"{name} is not in 0 .. {arms - 1}")
    if not held.sizes.all():
        raise ValueError("a pool is empty")
    keys = np.repeat(np.arange(len(held.sizes)), held.sizes) * arms + held.members
    if not (np.diff(keys) > 0).all():
        raise ValueError("the arms of a pool are not in increasing order, each once")
    shown = held.pool * arms + held.arm
    index = np.searchsorted(keys, shown)
    if len(shown) and (index[-1] >= len(keys) or index.max() >= len(keys) or not np.array_equal(keys[index], shown)):
        raise ValueError("an arm was shown that was not available")
    if not (((held.probabilities > 0.0) & (held.probabilities <= 1.0)).all() and np.isfinite(held.reward).all()):
        raise ValueError("a propensity is not in (0, 1], or a reward is not finite")
    if uniform and not np.allclose(held.probabilities * held.sizes[held.pool], 1.0, rtol=1e-6, atol=0.0):
        raise ValueError("arms were not drawn uniformly, though the footer has uniform = true")
    if held.features.dtype != np.uint8 and not np.isfinite(held.features).all():
        raise ValueError("a feature is not finite")
