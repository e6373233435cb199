"""A log in a Parquet file with 20 columns of mixed kinds, from the file to a trained policy: time a row and peak memory.

    python benchmarks/tables.py 1000000

Each size runs in a process of its own, so that its peak memory is its own. The world is synthetic.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from report import Row

ARMS = ["sale", "app", "film"]
CATEGORIES = (2, 3, 4, 6, 9)  # of the columns of text
PIECE = 100_000  # rows made at a time
PARTS = {"arm": "shown", "propensity": "p", "reward": "click"}


def table_rows(sizes: tuple[int, ...]) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Rows for the largest size, and how memory grew from the smallest."""
    at = cache(measure)
    least, most = min(sizes), max(sizes)
    yield "tables: read by name", partial(_row, at, most, "read", 4.0, "read by name", "250,000 rows a second")
    yield "tables: train", partial(_row, at, most, "train", 20.0, "train, HSB without a structure", "50,000 rows a second")
    yield "tables: growth of memory", partial(_growth, at, least, most)


def _row(at: Any, rows: int, what: str, bar: float, title: str, meaning: str) -> Row:
    found = at(rows)
    note = f"{rows:,} rows, 20 mixed columns, {found['columns']:.0f} columns, {len(ARMS)} arms, synthetic; the bar is {meaning}"
    return Row(f"tables: {title}", found[what] * 1e6 / rows, "us/row", bar, note=note)


def _growth(at: Any, least: int, most: int) -> Row:
    few, many = at(least)["peak"], at(most)["peak"]
    return Row(
        f"tables: peak memory, {most:,} rows", many, "MB", 1.5, few, f"{least:,} rows", note="growth with the log's length"
    )


def measure(rows: int) -> dict[str, float]:
    """In a process of its own."""
    here = Path(__file__).resolve()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, here, str(rows)], check=True, capture_output=True, text=True, env=environment, cwd=here.parent
    )
    return dict(json.loads(done.stdout))


def columns(rows: int, seed: int) -> dict[str, Any]:
    """8 numbers, 4 whole numbers, 5 columns of text, 3 of true and false; some values are missing."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for j in range(8):
        made[f"number{j}"] = pa.array(rng.normal(size=rows) * 10.0**j, mask=rng.random(rows) < (0.2 if j % 2 else -1.0))
    for j in range(4):
        made[f"count{j}"] = pa.array(rng.integers(0, 24, rows), mask=rng.random(rows) < (0.1 if j == 0 else -1.0))
    for j, size in enumerate(CATEGORIES):
        words = np.array([f"word {k}" for k in range(size)], dtype=object)[rng.integers(0, size, rows)]
        made[f"word{j}"] = pa.array(words, mask=rng.random(rows) < (0.1 if j == 2 else -1.0))
    for j in range(3):
        made[f"flag{j}"] = pa.array(rng.random(rows) < 0.3, mask=rng.random(rows) < (0.05 if j == 0 else -1.0))
    shown = rng.integers(0, len(ARMS), rows)
    likes = np.stack([made["number0"].to_numpy() > 0.0, made["count1"].to_numpy() >= 18, made["flag1"].to_numpy(False)])
    click = rng.random(rows) < 0.05 + 0.1 * likes[shown, np.arange(rows)]
    return made | {"shown": np.array(ARMS)[shown], "p": np.full(rows, 1.0 / len(ARMS)), "click": click.astype(np.int8)}


def write(path: Path, rows: int) -> None:
    """A file of so many rows, made a piece at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for begin in range(0, rows, PIECE):
        table = pa.table(columns(min(PIECE, rows - begin), seed=begin))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def run(rows: int) -> dict[str, float]:
    """Make, read, train; seconds of each, peak memory in MB."""
    import resource

    import hsb

    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write(path, rows)
        hsb.learn_from(hsb.HSB(arms=ARMS, seed=0), hsb.logs.open(path, **PARTS).head(3000))  # type: ignore[arg-type]  # compile
        start = time.perf_counter()
        hsb.logs.open(path, **PARTS).by_name().count()  # type: ignore[arg-type]
        found["read"] = time.perf_counter() - start
        policy = hsb.HSB(arms=ARMS, seed=0)
        start = time.perf_counter()
        hsb.learn_from(policy, hsb.logs.open(path, **PARTS))  # type: ignore[arg-type]
        found["train"] = time.perf_counter() - start
    found["columns"] = policy.learner.reader.columns  # type: ignore[union-attr]
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]))))
