"""A digest of this machine's arithmetic. Equal digests suggest, as far as a probe can, that two machines replay a journal equally."""

import hashlib
from functools import cache
from typing import Any

import numpy as np

from ...policies import HSB
from ...reproducible_math import exp, expm1, log, log1p

VALUES = 1024
UPDATES = 200


@cache
def arithmetic() -> str:
    """Return the digest of elementary functions of fixed values and of a policy after fixed updates.

    hsb computes all of them with + - * / alone, so every machine should give the same digest. A faulty compiler, processor or library
    gives another.

    >>> len(arithmetic())
    16
    """
    values = [(k * 0.6180339887498949) % 1.0 for k in range(1, VALUES + 1)]
    numbers = [function(scale * x) for function, scale in ((exp, 40.0), (log, 1e6), (expm1, 3.0), (log1p, 9.0)) for x in values]
    policy: Any = HSB(arms=["a", "b", "c"], seed=0)
    for k, x in enumerate(values[:UPDATES]):
        decision = policy.propose({"x": x, "kind": "uvw"[k % 3]}, u=values[-1 - k])
        policy.learn_proposed(decision, reward=values[(7 * k) % VALUES])
    content = np.array(numbers, dtype="<f8").tobytes() + policy.digest().encode()
    return hashlib.blake2b(content, digest_size=8).hexdigest()
