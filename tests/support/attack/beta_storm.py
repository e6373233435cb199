"""Nodes of Thompson sampling with counts of any size: probabilities of being the least, and how long they take."""

import time

import numpy as np

from hsb.engine.kernels import beta

NONE = np.zeros(0, dtype=np.uint8)


def least(good, bad) -> tuple[np.ndarray, float]:
    """Return each arm's probability, and the seconds taken."""
    counts = np.column_stack([good, bad]).ravel().astype(np.float64)
    p, work = np.zeros(len(good)), np.zeros((len(good), beta.COLUMNS))
    begin = time.process_time()
    beta.add_least(counts, NONE, 0.0, 0.0, 1.0, p, work)
    return p, time.process_time() - begin


def storm(count: int, seed: int) -> tuple[float, float]:
    """Return the largest distance of a sum from 1, and the longest time."""
    rng, off, slowest = np.random.default_rng(seed), 0.0, 0.0
    least([1.0, 1.0], [1.0, 1.0])
    for i in range(count):
        arms = rng.integers(2, 6)
        good = 10 ** rng.uniform(-3, 12 if i % 2 else 6, arms)
        bad = 10 ** rng.uniform(-3, 12 if i % 3 else 6, arms)
        p, seconds = least(good, bad)
        off, slowest = max(off, abs(p.sum() - 1.0)), max(slowest, seconds)
        assert (p >= 0.0).all() and np.isfinite(p).all(), (good, bad)
    return off, slowest
