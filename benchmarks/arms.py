"""Arms with features: rewards and times of hsb, of a ridge for each arm, and of Vowpal Wabbit if it is installed. Synthetic worlds.

`python benchmarks/arms.py [--rounds 10000] [--seeds 2] [--vw]`. Every rival of Vowpal Wabbit's is run with several settings on each world, and
its best setting is printed: the choice favours it. Times of Vowpal Wabbit include making its text, which is how Python calls it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import product
from typing import Any, Protocol

import numpy as np
from arm_worlds import BilinearWorld

import hsb

KINDS = ("match", "own", "steps")
BOUNDS = "--cb_min_cost -1 --cb_max_cost 0"
RATES = (0.5, 2.0)
VW = {
    "squarecb": [
        f"--squarecb --gamma_scale {g} -l {rate} {more}" for g, rate, more in product((100, 1000, 10_000), RATES, ("", BOUNDS))
    ],
    "regcb": [f"--regcb --mellowness {m} -l {rate} {BOUNDS}" for m, rate in product((1e-5, 1e-4, 1e-3), RATES)],
    "first": [f"--first {n} -l {rate}" for n, rate in product((100, 300, 1000), RATES)],
}


class Player(Protocol):
    """A policy for arms with features."""

    def choose(self, context: dict[str, float], arms: dict[str, dict[str, float]]) -> str:
        """Return one of the arms."""

    def learn(self, reward: float) -> None:
        """Learn the reward of the arm just chosen."""


class Ours:
    """`hsb.HSB(arms=hsb.Open())` with its defaults."""

    def __init__(self, seed: int) -> None:
        self.policy = hsb.HSB(arms=hsb.Open(), seed=seed)

    def choose(self, context: dict[str, float], arms: dict[str, dict[str, float]]) -> str:
        self.decision = self.policy.decide(context, arms=arms)
        return str(self.decision.arm)

    def learn(self, reward: float) -> None:
        self.policy.learn(self.decision, reward=reward)


class Separate:
    """A ridge regression on the context for each arm, with an upper confidence bound (disjoint LinUCB): features of arms are not used."""

    def __init__(self, seed: int, alpha: float = 0.3) -> None:
        self.alpha = alpha
        self.models: dict[str, tuple[Any, Any]] = {}

    def choose(self, context: dict[str, float], arms: dict[str, dict[str, float]]) -> str:
        x = np.array([1.0, *context.values()])
        best, most = "", -np.inf
        for arm in arms:
            P, b = self.models.get(arm, (None, None))
            value = self.alpha * np.sqrt(x @ x) if P is None else x @ (P @ b) + self.alpha * np.sqrt(x @ P @ x)
            if value > most:
                best, most = arm, value
        self.last = x, best
        return best

    def learn(self, reward: float) -> None:
        x, arm = self.last
        P, b = self.models.get(arm, (np.eye(len(x)), np.zeros(len(x))))
        v = P @ x
        self.models[arm] = P - np.outer(v, v) / (1.0 + x @ v), b + (reward - 0.5) * x


class Vowpal:
    """Vowpal Wabbit with features of arms (ADF), products of both, and the arms' names."""

    def __init__(self, seed: int, options: str) -> None:
        from vowpalwabbit import Workspace

        self.vw = Workspace(f"--cb_explore_adf -q UA -q UI --quiet --random_seed {seed} {options}")
        self.rng = np.random.default_rng(seed)

    def choose(self, context: dict[str, float], arms: dict[str, dict[str, float]]) -> str:
        shared = "shared |U " + " ".join(f"{name}:{value:.5g}" for name, value in context.items())
        self.lines = [
            f"|A {' '.join(f'{name}:{value:.5g}' for name, value in features.items())} |I {arm}"
            for arm, features in arms.items()
        ]
        self.shared = shared
        p = np.array(self.vw.predict([shared, *self.lines]))
        self.k = int(self.rng.choice(len(p), p=p / p.sum()))
        self.p = float(p[self.k])
        return list(arms)[self.k]

    def learn(self, reward: float) -> None:
        lines = list(self.lines)
        lines[self.k] = f"0:{-reward}:{self.p} {lines[self.k]}"
        self.vw.learn([self.shared, *lines])


def play(kind: str, seed: int, rounds: int, make: Callable[[int], Player]) -> tuple[float, float, float, float]:
    """Return the average reward, the best and the uniform expectation, and microseconds a round."""
    world, player = BilinearWorld(kind, seed), make(seed)
    total = best = uniform = seconds = 0.0
    for _ in range(rounds):
        context, arms, chances, rewards = world.round()
        begin = time.perf_counter()
        arm = player.choose(context, arms)
        seconds += time.perf_counter() - begin
        reward = float(rewards[list(arms).index(arm)])
        begin = time.perf_counter()
        player.learn(reward)
        seconds += time.perf_counter() - begin
        total, best, uniform = total + reward, best + chances.max(), uniform + chances.mean()
    return total / rounds, best / rounds, uniform / rounds, seconds / rounds * 1e6


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--vw", action="store_true")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    for kind in KINDS:
        makers: dict[str, list[tuple[str, Callable[[int], Player]]]] = {
            "hsb": [("", Ours)],
            "a ridge for each arm": [("", Separate)],
        }
        if options.vw:
            makers |= {
                name: [(each, lambda seed, each=each: Vowpal(seed, each)) for each in settings] for name, settings in VW.items()
            }
        print(f"\n{kind}, synthetic: 1,000 arms, 200 there at a time, 30 offered; {options.rounds} rounds, seeds {list(seeds)}")
        for name, settings in makers.items():
            rows = [
                (np.mean([play(kind, seed, options.rounds, make) for seed in seeds], axis=0), each) for each, make in settings
            ]
            (reward, best, uniform, time_taken), setting = max(rows, key=lambda row: row[0][0])
            print(f"{name:22} {reward:.3f}   {time_taken:6.0f} us a round   {setting}", flush=True)
        print(f"{'uniform':22} {uniform:.3f}\n{'best possible':22} {best:.3f}")


if __name__ == "__main__":
    main()
