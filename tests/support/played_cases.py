"""Worlds and players for the tests of simulated play."""

import numpy as np
import numpy.typing as npt

import hsb
from hsb.explain.columns import Column
from support.structure_cases import with_tree

Array = npt.NDArray[np.float64]
BANNERS = ["b0", "b1", "b2", "b3", "b4"]
COUNTRIES, DEVICES = ("FR", "DE", "IT", "US", "UK", "ES"), ("mobile", "desktop", "tablet")
VISITOR = (
    Column("country", "category", labels=COUNTRIES),
    Column("age", missing=True),
    Column("device", "category", labels=DEVICES),
    Column("hour", low=0.0, high=24.0),
    Column("member", "flag"),
    Column("spend"),
)


def banners(rounds: int, seed: int = 0) -> tuple[Array, Array]:
    """Return contexts with six features, and losses of five banners: each depends on one to three of the first five features."""
    rng = np.random.default_rng(seed)
    x = rng.random((rounds, 6))
    clicks = np.column_stack(
        [
            0.15 + 0.5 * (x[:, 0] > 0.5) * (x[:, 1] < 0.5),
            0.2 + 0.4 * x[:, 2],
            0.15 + 0.5 * (x[:, 0] < 0.25),
            0.1 + 0.6 * x[:, 1] * x[:, 4],
            np.full(rounds, 0.35),
        ]
    )
    return x, (rng.random((rounds, 5)) >= clicks).astype(float)


def taught_banners(rounds: int, *, seed: int = 0, arms: list[str] | None = None, **settings: object) -> hsb.HSB:
    """Return HSB's default on six features after `rounds` rounds, advised by a tree of cells."""
    tree = hsb.BinaryTree(depth=12, space=hsb.Box.unit(6))
    policy = with_tree(hsb.HSB(tree, arms=arms or BANNERS, seed=seed, **settings))  # type: ignore[arg-type]
    hsb.simulate(policy, *banners(rounds, seed))
    return policy


def visitors(n: int, seed: int) -> Array:
    """Return rows of numbers, codes and flags; a fifth of the ages is missing."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 12, n).round()
    age[rng.random(n) < 0.2] = np.nan
    country, device = rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]), rng.choice(3, n, p=[0.6, 0.3, 0.1])
    return np.column_stack([country, age, device, rng.random(n) * 24, rng.random(n) < 0.3, rng.lognormal(3, 1, n)])


def by_rules(rows: Array) -> Array:
    """Return the best of four arms for each visitor: by country and hour, device and age, and membership."""
    worth = np.full((len(rows), 4), 0.1)
    worth[:, 0] += 0.5 * np.isin(rows[:, 0], [0, 1]) * (rows[:, 3] >= 18)
    worth[:, 1] += 0.4 * (rows[:, 2] == 0) * (np.nan_to_num(rows[:, 1], nan=0.0) > 45)
    worth[:, 2] += 0.3 * rows[:, 4]
    worth[:, 3] += 0.25
    return softmax(8 * worth)


def softmax(worth: Array) -> Array:
    weights = np.exp(worth - worth.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def linear(weights: Array, scale: float = 4.0) -> "object":
    """Return a player whose arms' scores are linear in the features."""

    def play(rows: Array) -> Array:
        return softmax(scale * (rows - 0.5) @ weights.T)

    return play
