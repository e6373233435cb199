"""A synthetic log of Yahoo's kind, end to end: text to Parquet, then the replay of HSB on a binary tree of depth 10.

    python benchmarks/logs.py 28041015    the size of R6B: about 10 GB of text, removed afterwards

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

from report import Row


def log_rows(sizes: tuple[int, ...]) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Rows for the largest size, and how time and memory grew from the smallest."""
    at = cache(measure)
    least, most = min(sizes), max(sizes)
    yield "logs: text to Parquet", partial(_row, at, most, "convert", 4.0, "text to Parquet, R6B", "250,000 lines a second")
    yield (
        "logs: replay",
        partial(_row, at, most, "replay", 0.5, "replay from Parquet, HSB depth 10", "2 million visits a second"),
    )
    yield "logs: memory", partial(_memory, at, most)
    yield "logs: growth of time", partial(_growth, at, least, most, "replay", "time a visit", "us/visit", 1.5)
    yield "logs: growth of memory", partial(_growth, at, least, most, "peak", "peak memory", "MB", 1.5)


def _row(at: Any, visits: int, what: str, bar: float, title: str, meaning: str) -> Row:
    us = at(visits)[what] * 1e6 / visits
    return Row(f"logs: {title}", us, "us/visit", bar, note=f"{visits:,} visits, synthetic; the bar is {meaning}")


def _memory(at: Any, visits: int) -> Row:
    note = f"{visits:,} visits: peak of the whole process, compiled code included"
    return Row("logs: peak memory", at(visits)["peak"], "MB", 1000.0, note=note)


def _growth(at: Any, least: int, most: int, what: str, title: str, unit: str, bar: float) -> Row:
    scale = {least: 1.0, most: 1.0} if unit == "MB" else {least: 1e6 / least, most: 1e6 / most}
    few, many = at(least)[what] * scale[least], at(most)[what] * scale[most]
    return Row(
        f"logs: {title}, {most:,} visits", many, unit, bar, few, f"{least:,} visits", note="growth with the log's length"
    )


def measure(visits: int) -> dict[str, float]:
    """In a process of its own."""
    here = Path(__file__).resolve()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, here, str(visits)], check=True, capture_output=True, text=True, env=environment, cwd=here.parent
    )
    return dict(json.loads(done.stdout))


def run(visits: int) -> dict[str, float]:
    """Make, convert, replay; seconds of each, peak memory in MB, and what came of it."""
    import resource

    import hsb

    found: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        found[name] = time.perf_counter() - start
        return result

    def player(log: hsb.logs.Log, rows: int) -> Callable[[], Any]:
        encoder = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(log.head(rows))
        policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=log.arms, learning_rate=0.01, seed=0)
        return lambda: hsb.replay(policy, log, context=encoder)

    player(hsb.logs.SyntheticToday(5000, seed=2), 1000)()  # compile
    with tempfile.TemporaryDirectory() as folder:
        text, table = Path(folder) / "log.txt", Path(folder) / "log.parquet"
        timed("write", lambda: hsb.logs.write(text, hsb.logs.SyntheticToday(visits, seed=1), "yahoo-r6b"))
        timed("convert", lambda: hsb.logs.convert(text, table, format="yahoo-r6b"))
        text.unlink()
        result = timed("replay", player(hsb.logs.open(table), max(1000, visits // 20)))
    found |= {"matched": result.matched, "clicks": result.average_reward, "visits": result.rounds}
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]))))
