"""The native format, HSB's own Parquet files: compact for any log, and fast to read. Groups of rows are written and read one at a time.

A row has arm and pool (int32), reward, timestamp and propensity (float64; all null if each is 1 / size of the pool), and its features: `bits`
if all features of the group are 0 or 1, else `contexts`. Pools are numbered within a group in order of appearance. `offers` lists a pool's
arms on the row where it first appears, and is null elsewhere. The footer holds, under the key "hsb", the labels of the arms, a digest of every
group of rows, and a digest of the footer itself (`native_checks.py`); pages also have Parquet's checksums.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import listed, path_of, whole
from ...errors import InputError
from ...types import Ints
from ..batch import Batch, Pools
from ..log import Log, Problems
from .native_checks import COLUMNS, Footer, Stored, check_types, digest, is_label, read_facts, read_group, write_facts
from .table import damaged, need, parquet

GROUP = 1 << 16  # rows written together
TOGETHER = 16  # groups of a file that one process reads
KEY = b"hsb"


class StoredLog(Log):
    """A log from Parquet files that `hsb.logs.write` or `hsb.logs.convert` wrote. Its arms and its length are known before it is read.

    `hsb.logs.open` makes it. `paths` are the files, `rows` is the most rows of a batch.

    >>> import tempfile, pathlib, hsb.logs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log.parquet"
    ...     _ = hsb.logs.write(path, hsb.logs.SyntheticToday(1000, seed=1), "parquet")
    ...     log = hsb.logs.open(path)
    ...     len(log), [batch.contexts.shape for batch in log]
    (1000, [(1000, 136)])
    """

    def __init__(self, paths: Sequence[Path], *, rows: int = 1 << 13) -> None:
        super().__init__()
        self.paths = [path_of("a log", path) for path in listed("paths", paths, 1 << 20)]
        self.size = whole("rows", rows, 1)
        if not self.paths:
            raise InputError("A log needs at least one file; given none.")
        facts = self._facts = [_facts(path) for path in self.paths]
        if len({one.features for one in facts}) > 1:
            raise InputError(f"The files have different numbers of features: {[one.features for one in facts]}.")
        self.features = facts[0].features
        self.uniform = facts[0].uniform if len({one.uniform for one in facts}) == 1 else None
        self.known_arms = list(dict.fromkeys(arm for one in facts for arm in one.arms))
        indices = {arm: k for k, arm in enumerate(self.known_arms)}
        self._indices = [np.array([indices[arm] for arm in one.arms], dtype=np.int64) for one in facts]
        self._rows = sum(one.rows for one in facts)
        self._groups: list[range | None] = [None] * len(facts)  # which groups of rows are read; None: all

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"StoredLog({[str(path) for path in self.paths]})"

    def __iter__(self) -> Iterator[Batch]:
        self.problems = Problems()
        arms = tuple(self.known_arms)
        for path, indices, facts, groups in zip(self.paths, self._indices, self._facts, self._groups, strict=True):
            with parquet(path) as file:
                for k in range(file.num_row_groups) if groups is None else groups:
                    with damaged(path, f"group {k} of its rows cannot be read"):
                        group = _group(read_group(file, k, facts), indices)
                    for begin in range(0, len(group), self.size):
                        part = group.take(slice(begin, begin + self.size))
                        contexts: Any = part.contexts
                        if contexts.dtype == np.uint8:
                            contexts = np.unpackbits(contexts, axis=1, count=self.features).astype(np.float64)
                        yield replace(part, contexts=contexts, arms=arms, estimated=facts.estimated)

    def cut(self) -> list[Log]:
        """Return a log for each file, or for each million rows or so of a larger file; the parts do not depend on the reader."""
        return [part for k in range(len(self.paths)) for part in self._pieces(k)]

    def _pieces(self, k: int) -> Iterator["StoredLog"]:
        with damaged(self.paths[k], "its footer cannot be read"), parquet(self.paths[k]) as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        begin, wanted = 0, self._groups[k] or range(len(sizes))
        for end in [*range(begin + TOGETHER, len(wanted), TOGETHER), len(wanted)]:
            piece = copy(self)
            piece.problems, piece.paths = Problems(), [self.paths[k]]
            piece._indices, piece._facts, piece._groups = [self._indices[k]], [self._facts[k]], [wanted[begin:end]]
            piece._rows = sum(sizes[i] for i in wanted[begin:end])
            begin = end
            yield piece

    @property
    def knows_arms(self) -> bool:
        return True


def _group(held: Stored, indices: Ints) -> Batch:
    """Make a batch of a stored group: without arms, its features as stored (numbers, or bytes with a bit for each feature)."""
    arm, pools = held.arm, Pools(np.concatenate([[0], np.cumsum(held.sizes)]), held.members)
    if not np.array_equal(indices, np.arange(len(indices))):
        arm, pools = indices[arm], Pools.of([indices[pools[k]].tolist() for k in range(len(held.sizes))])
    return Batch(held.features, arm, held.reward, held.probabilities, held.timestamp, held.pool, pools, ())


def is_native(path: Path) -> bool:
    """Did HSB write this Parquet file?"""
    with damaged(path, "its footer cannot be read"), parquet(path) as file:
        return KEY in (file.metadata.metadata or {})


def _facts(path: Path) -> Footer:
    with damaged(path, "its description cannot be read"), parquet(path) as file:
        raw, rows, groups = (file.metadata.metadata or {}).get(KEY), file.metadata.num_rows, file.num_row_groups
        if raw is None:
            raise InputError(f"{path} was not written by hsb. Name its columns: context=[...], arm=, propensity=, reward=.")
        facts = read_facts(raw)
        if rows < 0 or facts.rows != rows or len(facts.groups) != groups:
            raise ValueError("its number of rows or of groups differs from its footer")
        check_types(file.schema_arrow, facts.features)
        return facts._replace(rows=rows)


def write_native(file: Any, batches: Iterable[Batch], uniform: bool | None) -> None:
    """Write batches to an open file; the footer records whether arms were drawn uniformly (`uniform`), and digests for `read_group`."""
    writer: Any = None
    rows, groups, estimated = 0, [], False
    try:
        for group in _groups(batches):
            table = _table(group)
            if writer is None:
                make = need("pyarrow.parquet").ParquetWriter
                writer = make(file, table.schema, compression="lz4", use_dictionary=COLUMNS[:5], write_page_checksum=True)
            writer.write_table(table, row_group_size=len(table))
            features, arms = group[-1].contexts.shape[1], group[-1].arms
            rows += len(table)
            estimated |= any(batch.estimated for batch in group)
            groups.append(digest(table, features))
        if writer is None:
            raise InputError("There is nothing to write: the log has no row that can be used. See log.problems.")
        if not all(is_label(arm) for arm in arms):
            raise InputError("Labels of arms must be text or finite numbers to be written; this log has others. Rename them.")
        writer.add_key_value_metadata({KEY: write_facts(Footer(features, uniform, list(arms), rows, groups, estimated))})
    finally:
        if writer is not None:
            writer.close()


def _groups(batches: Iterable[Batch]) -> Iterator[list[Batch]]:
    """Yield lists of batches with at least `GROUP` rows together (the last perhaps fewer). Each batch must fit the one before."""
    held: list[Batch] = []
    last: Batch | None = None
    for batch in filter(len, batches):
        last = last or batch
        before, now = last.contexts.shape[1], batch.contexts.shape[1]
        if now != before:
            raise InputError(f"All batches need the same features; given {before}, then {now}.")
        if batch.arms[: len(last.arms)] != last.arms:
            raise InputError(
                "Batches of a log need the arms of the batch before, in the same order, perhaps followed by more; given others."
            )
        last = batch
        held.append(batch)
        if sum(map(len, held)) >= GROUP:
            yield held
            held = []
    if held:
        yield held


def _table(held: list[Batch]) -> Any:
    """Return batches as one table of the native columns, whose types are the same for all batches."""
    arrow = need("pyarrow")
    names = ("arm", "reward", "timestamp", "propensity")
    whole = {name: np.concatenate([getattr(batch, name) for batch in held]) for name in names}
    pool, first, pools = _merge_pools(held)
    n, features, sizes = len(pool), held[0].contexts.shape[1], pools.sizes
    is_uniform = np.array_equal(whole["propensity"], 1.0 / sizes[pool])
    filled = np.zeros(n, dtype=np.int64)
    filled[first] = sizes
    offsets = np.concatenate([[0], np.cumsum(filled)]).astype(np.int32)
    members = arrow.array(pools.members.astype(np.int32))
    bits, contexts = arrow.nulls(n, arrow.binary((features + 7) // 8)), arrow.nulls(n, arrow.list_(arrow.float64(), features))
    if all(((batch.contexts == 0.0) | (batch.contexts == 1.0)).all() for batch in held):
        packed = np.concatenate([np.packbits(batch.contexts != 0.0, axis=1) for batch in held])
        bits = arrow.FixedSizeBinaryArray.from_buffers(bits.type, n, [None, arrow.py_buffer(np.ascontiguousarray(packed))])
    else:
        flat = np.concatenate([batch.contexts for batch in held]).ravel()
        contexts = arrow.FixedSizeListArray.from_arrays(arrow.array(flat), features)
    return arrow.table(
        {
            "arm": whole["arm"].astype(np.int32),
            "pool": pool.astype(np.int32),
            "reward": whole["reward"],
            "timestamp": whole["timestamp"],
            "propensity": arrow.nulls(n, arrow.float64()) if is_uniform else whole["propensity"],
            "offers": arrow.ListArray.from_arrays(arrow.array(offsets), members, mask=arrow.array(filled == 0)),
            "bits": bits,
            "contexts": contexts,
        }
    )


def _merge_pools(held: list[Batch]) -> tuple[Ints, Ints, Pools]:
    """Return each row's pool, numbered in order of appearance; the row where each pool first appears; and the pools."""
    seen: dict[bytes, int] = {}
    numbers = []
    for batch in held:
        keys = (batch.pools[k].tobytes() for k in range(len(batch.pools.sizes)))
        numbers.append(np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)[batch.pool])
    used, first, which = np.unique(np.concatenate(numbers), return_index=True, return_inverse=True)
    order, sets = np.argsort(first), list(seen)
    pools = Pools.of([np.frombuffer(sets[k], dtype=np.int64).tolist() for k in used[order]])
    return np.argsort(order)[which], first[order], pools
