"""Three candidates on one log: `hsb.evaluate.compare_off_policy` over a Parquet file of 20 numeric columns, on one core.

    python benchmarks/candidates.py 1000000

HSB on a binary tree of depth 10, always one arm, and uniform play; by the doubly robust estimator, so the log is read twice. Each size runs in
a process of its own, so that its peak memory is its own. The world is synthetic.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from report import Row

FEATURES, ARMS, PIECE = 20, ("a", "b", "c", "d", "e"), 50_000


def candidate_rows(most: int) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Time a row, and how time and memory grow from a tenth of the size."""
    found: dict[int, dict[str, float]] = {}

    def at(size: int) -> dict[str, float]:
        if size not in found:
            found[size] = measure(size)
        return found[size]

    yield "candidates: time", partial(_time, at, most)
    yield "candidates: growth of time", partial(_growth, at, most, "us", "time a row", "us/row")
    yield "candidates: growth of memory", partial(_growth, at, most, "peak", "peak memory", "MB")


def _time(at: Any, rows: int) -> Row:
    note = f"{rows:,} rows of {FEATURES} columns, read twice, one core; synthetic; the bar is 100,000 rows a second"
    return Row("logs: three candidates compared", at(rows)["us"], "us/row", 10.0, note=note)


def _growth(at: Any, rows: int, what: str, title: str, unit: str) -> Row:
    few = f"{rows // 10:,} rows"
    return Row(
        f"logs: candidates, {title}, {rows:,} rows", at(rows)[what], unit, 1.5, at(rows // 10)[what], few, "growth with the log"
    )


def measure(rows: int) -> dict[str, float]:
    """In a process of its own, on one core."""
    here = Path(__file__).resolve()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, here, str(rows)], check=True, capture_output=True, text=True, env=environment, cwd=here.parent
    )
    return dict(json.loads(done.stdout))


def run(rows: int) -> dict[str, float]:
    """Write a log, train on its head, compare; microseconds a row, and peak memory in MB."""
    import resource

    import numpy as np
    import pyarrow

    import hsb

    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)

    def piece(number: int, size: int) -> hsb.logs.Batch:
        rng = np.random.default_rng(number)
        x, arm = rng.random((size, FEATURES)), rng.integers(0, len(ARMS), size)
        reward = (rng.random(size) < 0.1 + 0.3 * (arm == (x[:, 0] * len(ARMS)).astype(int))).astype(np.float64)
        probabilities = np.full(size, 1 / len(ARMS))
        return hsb.logs.Batch.of(contexts=x, arm=arm, reward=reward, propensity=probabilities, arms=ARMS)

    def first(x: Any) -> Any:
        return x[:, :1]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        hsb.logs.write(path, (piece(k, min(PIECE, rows - k)) for k in range(0, rows, PIECE)), "parquet")
        log = hsb.logs.open(path)
        policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=ARMS, learning_rate=0.05, seed=0)
        hsb.learn_from(policy, log.head(20_000), context=first)
        candidates = {"policy": policy, "always b": "b", "uniform": None}
        hsb.evaluate.compare_off_policy(candidates, log.head(2000), context=first)  # compile
        start = time.perf_counter()
        result = hsb.evaluate.compare_off_policy(candidates, log, context=first)
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"us": seconds * 1e6 / rows, "peak": peak, "value": result["policy"].value}


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]))))
