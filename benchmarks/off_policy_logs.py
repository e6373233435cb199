"""Logs whose answer is known: who wrote them, which policy is asked about, and what it would truly earn. Everything is synthetic.

Independent rows: two features, five arms, rewards of .5 or .04 on average, propensities that are uniform, skewed (down to .05) or hard (down to
.004). Adaptive rows: Section VI-A, written by an HSB while it learns, with its own propensities.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np

import hsb
from hsb.logs import Batch
from hsb.problems import Stationary
from hsb.types import Floats

ARMS = 5
PHASES = np.linspace(0.0, 2 * np.pi, ARMS, endpoint=False)
HARD, SKEWED = 5.0, 2.2  # how strongly the logger prefers what it likes
LEAST = {"skewed": 0.05, "hard": 0.004}
TAUGHT = 1_000_003  # a seed of its own
GRID = 96  # points a side of the truth's average: three in each side of a target's cells

Write = Callable[[int, int], Batch]  # (rows, seed)


class Case(NamedTuple):
    """Logs to be judged by: what writes them, the policy asked about, and its true value."""

    name: str
    logger: str
    write: Write
    target: hsb.Policy
    truth: float


def expected(level: float, x: Floats) -> Floats:
    """(n, 5): the probability of a reward; `level` on average over the square."""
    waves = np.sin(2 * np.pi * x[:, :1] + PHASES) * np.cos(np.pi * x[:, 1:] + PHASES / 2)
    return level * (1.0 + 0.85 * waves)


def propensities(logger: str, x: Floats) -> Floats:
    """(n, 5): a logger that prefers other arms than the best, and the more so the harder the log."""
    if logger == "uniform":
        return np.full((len(x), ARMS), 1.0 / ARMS)
    likes = np.cos(2 * np.pi * x[:, :1] + 2.0 * x[:, 1:] + PHASES)
    weights = np.exp((HARD if logger == "hard" else SKEWED) * likes)
    least = LEAST[logger]
    return least + (1.0 - ARMS * least) * weights / weights.sum(axis=1, keepdims=True)


def drawn(rng: np.random.Generator, p: Floats) -> np.ndarray:
    """One arm a row."""
    return (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1).clip(0, p.shape[1] - 1)


def independent(logger: str, level: float, rows: int, seed: int) -> Batch:
    """A log of rows that know nothing of each other."""
    rng = np.random.default_rng([17, seed])
    x = rng.random((rows, 2))
    p = propensities(logger, x)
    arm, row = drawn(rng, p), np.arange(rows)
    reward = (rng.random(rows) < expected(level, x)[row, arm]).astype(np.float64)
    return Batch.of(contexts=x, arm=arm, reward=reward, propensity=p[row, arm], arms=list(range(ARMS)))


@cache
def trained(kind: str) -> hsb.Policy:
    """The target: an HSB that learned so slowly that it only prefers (soft), or that is nearly sure (sharp)."""
    rng = np.random.default_rng(3)
    x = rng.random((20_000, 2))
    tree = hsb.BinaryTree(depth=3, space=hsb.Box.unit(2))
    policy = hsb.HSB(tree, arms=ARMS, learning_rate={"soft": 0.002, "sharp": 0.05}[kind], seed=0)
    hsb.simulate(policy, x, rewards=(rng.random((len(x), ARMS)) < expected(0.5, x)).astype(np.float64))
    return policy


def worth(policy: hsb.Policy, level: float) -> float:
    """The truth, by a grid."""
    side = (np.arange(GRID) + 0.5) / GRID
    x = np.array([(a, b) for a in side for b in side])
    probabilities = np.array([policy.probabilities(at) for at in x])
    return float((probabilities * expected(level, x)).sum(axis=1).mean())


def adaptive(make: Callable[[int, int], hsb.Policy], rows: int, seed: int) -> Batch:
    """The log of a policy that learned while it wrote: VI-A, rewards 1 - loss."""
    contexts, losses, _ = Stationary().sample(rows, seed)
    run = hsb.simulate(make(rows, seed), contexts, losses)
    return Batch.of(contexts=contexts, arm=run.arms, reward=1.0 - run.losses, propensity=run.propensities, arms=[0, 1, 2])


def tree() -> hsb.BinaryTree:
    """What adaptive loggers and their targets are made of."""
    return hsb.BinaryTree(depth=4)


@cache
def taught(rounds: int) -> hsb.Policy:
    """A target of adaptive logs: the paper's HSB after so many rounds of VI-A of its own. After 3,000 it still plays every arm now and then."""
    contexts, losses, _ = Stationary().sample(rounds, TAUGHT)
    policy = hsb.HSB(tree(), arms=3, horizon=rounds, seed=0)
    hsb.simulate(policy, contexts, losses)
    return policy


def worth_on_the_line(policy: hsb.Policy) -> float:
    """The truth of a target on VI-A, by a grid."""
    x = (np.arange(GRID * GRID) + 0.5) / GRID**2
    rewards = 1.0 - Stationary().expected(x[:, None], np.arange(len(x)), len(x))
    return float(np.mean([policy.probabilities(at) @ mean for at, mean in zip(x.tolist(), rewards, strict=True)]))


@cache
def cases() -> dict[str, Case]:
    """All of them by name, made once a process."""
    made = []
    for logger in ("uniform", "skewed", "hard"):
        for kind in ("soft", "sharp"):
            for level in (0.5, 0.04):
                target = trained(kind)
                made.append(
                    Case(
                        f"{logger}, {kind}, {level}", logger, partial(independent, logger, level), target, worth(target, level)
                    )
                )
    played: dict[str, Write] = {
        "default": partial(adaptive, lambda rows, seed: hsb.HSB(tree(), arms=3, seed=seed)),
        "horizon": partial(adaptive, lambda rows, seed: hsb.HSB(tree(), arms=3, horizon=rows, seed=seed)),
        "floor 0.05": partial(adaptive, lambda rows, seed: hsb.HSB(tree(), arms=3, floor=0.05, seed=seed)),
        "floor 0.2": partial(adaptive, lambda rows, seed: hsb.HSB(tree(), arms=3, floor=0.2, seed=seed)),
    }
    targets = {"trained": taught(3000), "well trained": taught(20_000), "uniform": hsb.Uniform(arms=3)}
    for logger, write in played.items():
        for name, target in targets.items():
            made.append(Case(f"{logger}, {name}", logger, write, target, worth_on_the_line(target)))
    return {case.name: case for case in made}
