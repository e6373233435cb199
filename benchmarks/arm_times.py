"""Times of `hsb.HSB(arms=hsb.Open())` from Python: decide, learn and explain, by the number of arms that a request offers. Synthetic.

`python benchmarks/arm_times.py`. Processor time, the least average of five parts, after 2,000 rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import hsb

PARTS, ROUNDS = 5, 200
SIZES = ((30, 10, 14), (200, 10, 14), (1000, 10, 20))  # arms offered, numbers of a context, numbers of an arm


def requests(offered: int, inputs: int, of_arms: int, rounds: int, seed: int) -> list[tuple[dict[str, float], dict[str, Any]]]:
    """Return contexts with arms offered out of 2,000."""
    rng = np.random.default_rng(seed)
    arms = [{f"g{j}": float(value) for j, value in enumerate(rng.normal(size=of_arms))} for _ in range(2000)]
    return [
        (
            {f"x{i}": float(value) for i, value in enumerate(rng.normal(size=inputs))},
            {f"a{k}": arms[k] for k in rng.choice(2000, size=offered, replace=False).tolist()},
        )
        for _ in range(rounds)
    ]


def least(call: Callable[[], Any], times: int) -> float:
    """Return the least processor time of a call, in microseconds."""
    best = np.inf
    for _ in range(times):
        begin = time.process_time()
        call()
        best = min(best, time.process_time() - begin)
    return best * 1e6


def main() -> None:
    """Print a table."""
    print("offered  inputs  of arms  decide us  learn us  explain ms  MB")
    for offered, inputs, of_arms in SIZES:
        policy, rng = hsb.HSB(arms=hsb.Open(), seed=0), np.random.default_rng(1)
        for context, arms in requests(offered, inputs, of_arms, 2000, 0):
            policy.learn(policy.decide(context, arms=arms), reward=float(rng.random() < 0.3))
        decide = learn = np.inf
        for _ in range(PARTS):
            deciding = learning = 0.0
            for context, arms in requests(offered, inputs, of_arms, ROUNDS, 0):  # arms that are known
                begin = time.process_time()
                decision = policy.decide(context, arms=arms)
                middle = time.process_time()
                policy.learn(decision, reward=float(rng.random() < 0.3))
                deciding, learning = deciding + middle - begin, learning + time.process_time() - middle
            decide, learn = min(decide, deciding), min(learn, learning)
        scale = 1e6 / ROUNDS
        explain = least(policy.explain, 5) / 1e3
        print(
            f"{offered:7} {inputs:7} {of_arms:8} {decide * scale:10.0f} {learn * scale:9.0f} {explain:11.1f} {policy.nbytes / 2**20:5.1f}"
        )


if __name__ == "__main__":
    main()
