"""Times on a machine that others use too: runs take turns, and the least of each counts."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import hsb
from hsb.problems import Noise, Sample

DATA = 0  # the seed of every world that is timed


def noise(rounds: int, *, arms: int = 3, features: int = 1) -> Sample:
    """A loss in (0, 1] whatever is played, so that every round teaches: the dearest case."""
    return Noise(arms=arms, features=features).sample(rounds, DATA)


def generator(seed: int) -> np.random.Generator:
    """A policy's random numbers, to be had again for the C programs."""
    return np.random.default_rng([seed, 0xBE])


def least(*runs: Callable[[], float], repeats: int) -> list[float]:
    """The least result of each run, taken in turns (A B A B ...): a disturbance hits all of them or is thrown away."""
    results = [[run() for run in runs] for _ in range(repeats)]
    return [min(column) for column in zip(*results, strict=True)]


def policy(structure: hsb.Structure, arms: int, eta: float, seed: int = 1) -> hsb.HSB:
    """A fresh policy whose random numbers can be had again."""
    return hsb.HSB(structure, arms=arms, learning_rate=eta, seed=generator(seed))


def rate(structure: hsb.Structure, arms: int, horizon: int) -> float:
    """Corollary 1's rate."""
    return hsb.theory.learning_rate(structure, arms=arms, horizon=horizon)


def simulate_ns(fresh: Callable[[], hsb.HSB], world: Sample) -> float:
    """Nanoseconds a round of one whole `simulate` call (checks, random numbers and results included) by a fresh policy."""
    player = fresh()
    start = time.perf_counter()
    hsb.simulate(player, world.contexts, world.losses)
    return (time.perf_counter() - start) * 1e9 / len(world.losses)


def warm_simulate_ns(player: hsb.HSB, world: Sample) -> float:
    """The same, going on with a policy that has seen these contexts before."""
    return simulate_ns(lambda: player, world)


def step_ns(player: hsb.HSB, contexts: list[float], losses: list[float]) -> float:
    """Nanoseconds of one `decide` and one `learn` from Python, the loop around them included. The loss is the same whatever is played."""
    start = time.perf_counter()
    for context, loss in zip(contexts, losses, strict=True):
        player.learn(player.decide(context), loss=loss)
    return (time.perf_counter() - start) * 1e9 / len(contexts)
