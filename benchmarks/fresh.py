"""Measures that need a process of their own: importing, the first decision, memory.

The parent calls `seconds_to_import` and the others; the child is this same file, told by its argument what to do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STATM = Path("/proc/self/statm")  # Linux


def seconds_to_import(module: str) -> float:
    """Of `import module` alone, in a fresh interpreter."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def import_loads_numba() -> bool:
    """Does importing hsb load Numba?"""
    code = "import sys, hsb; print('numba' in sys.modules)"
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "True"


def seconds_to_first_decision() -> float:
    """From starting the process to its first decision: interpreter, import, policy, compiled code read from the cache."""
    start = time.monotonic()  # one clock for all processes, on Linux and macOS
    return _child("first_decision")["at"] - start


def first_use(depth: int) -> dict[str, float]:
    """Seconds from starting the process until the default has learned a round, and more until it has simulated, nothing being compiled."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as cache:
        child = _child("use", str(depth), NUMBA_CACHE_DIR=cache)
    return {"learned": child["learned"] - start, "simulate": child["simulated"] - child["learned"]}


def memory(rounds: int) -> dict[str, float]:
    """Bytes per distinct context at depth 52 and three arms, every round teaching."""
    return _child("memory", str(rounds))


def _child(*arguments: str, **environment: str) -> dict[str, Any]:
    command = [sys.executable, Path(__file__).resolve(), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | environment)
    return json.loads(done.stdout)


def first_decision() -> dict[str, float]:
    """In the child."""
    import hsb

    hsb.HSB(hsb.BinaryTree(depth=10), arms=3, horizon=1000, seed=0).decide(0.37)
    return {"at": time.monotonic()}


def use(depth: int) -> dict[str, float]:
    """In the child."""
    import hsb

    policy = hsb.HSB(hsb.BinaryTree(depth=depth), arms=3, seed=0)
    policy.learn(policy.decide(0.37), loss=1.0)
    learned = time.monotonic()
    hsb.simulate(policy, [0.1, 0.7], [[0.0, 1.0, 1.0]] * 2)
    return {"learned": learned, "simulated": time.monotonic()}


def measure_memory(rounds: int) -> dict[str, float]:
    """In the child: resident memory before and after; the table and the compiled code are there all along, the result is dropped."""
    import resource

    import numpy as np
    from timing import noise, policy, rate

    import hsb

    tree = hsb.BinaryTree(depth=52)
    world = noise(rounds)
    eta = rate(tree, 3, rounds)
    hsb.simulate(policy(tree, 3, eta), world.contexts[:1000], world.losses[:1000])  # loads the compiled code
    distinct = len(np.unique((world.contexts * 2.0**52).astype(np.int64)))
    before = _resident()
    player = policy(tree, 3, eta)
    hsb.simulate(player, world.contexts, world.losses)
    after = _resident()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "distinct": distinct,
        "resident": (after - before) / distinct,  # 0 where the system does not say
        "nbytes": player.nbytes / distinct,
        "peak": (peak - before) / distinct,
    }


def _resident() -> int:
    """Resident bytes, after the allocator has given back what is free."""
    import ctypes
    import resource

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)
    if not STATM.exists():
        return 0
    return int(STATM.read_text().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    children = {"first_decision": first_decision, "use": use, "memory": measure_memory}
    print(json.dumps(children[what](*map(int, rest))))
