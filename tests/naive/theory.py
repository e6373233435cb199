"""Slow, simple versions of `hsb.theory` for changing mappings: everything is enumerated.

A way of splitting is a list of nodes whose regions partition the space, with its prior. A round is (leaf, arm, x), with
x = rate * loss / propensity; the notation is that of `mixture.py`.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np

from naive.mixture import Hierarchy, Node

Way = tuple[float, tuple[Node, ...]]
Round = tuple[int, int, float]


def ways(hierarchy: Hierarchy, node: Node | None = None) -> Iterator[Way]:
    """Return every way to split below a node (the root), with its prior: stop, or split and continue in each child."""
    node = hierarchy.root if node is None else node
    stop, splits = hierarchy.options(node)
    if stop > 0:
        yield stop, (node,)
    for share, group in splits:
        if share > 0:
            for below in product(*(list(ways(hierarchy, child)) for child in group)):
                yield share * math.prod(prior for prior, _ in below), tuple(part for _, parts in below for part in parts)


def step(old: int, new: int, arms: int, drift: float) -> float:
    """Fixed share: the probability that a part's arm goes from old to new after a round with a loss in it."""
    return (1.0 - drift) * (old == new) + drift / arms


def chain_weight(rounds: Sequence[Round], path: Sequence[int], arms: int, drift: float) -> float:
    """One sequence of arms of one part over the rounds that visit it: its probability times e^-x in rounds with the same arm."""
    weight = 1.0 / arms if path else 1.0
    for t, (_, arm, x) in enumerate(rounds):
        if t > 0:
            weight *= step(path[t - 1], path[t], arms, drift if rounds[t - 1][2] > 0 else 0.0)
        weight *= math.exp(-x) if path[t] == arm else 1.0
    return weight


def total_weight(hierarchy: Hierarchy, arms: int, rounds: Sequence[Round], drift: float) -> float:
    """The mixture's weight after the rounds: the sum over all ways, and over all sequences of arms of each part."""
    parts: dict[Node, float] = {}
    for node, region in hierarchy.regions.items():
        seen = [r for r in rounds if r[0] in region]
        parts[node] = sum(chain_weight(seen, path, arms, drift) for path in product(range(arms), repeat=len(seen)))
    return sum(prior * math.prod(parts[node] for node in way) for prior, way in ways(hierarchy))


def sequence_weight(
    hierarchy: Hierarchy, arms: int, rounds: Sequence[Round], drift: float, mappings: Sequence[Sequence[int]]
) -> float:
    """The prior weight of one sequence of mappings, mappings[t] in round t, losses apart; all rounds have a loss. At least e^-tracking_cost."""
    total = 0.0
    for prior, way in ways(hierarchy):
        weight = prior
        for node in way:
            region = hierarchy.regions[node]
            if any(len({g[leaf] for leaf in region}) > 1 for g in mappings):
                weight = 0.0
                break
            seen = [(t, r) for t, r in enumerate(rounds) if r[0] in region]
            path = [mappings[t][r[0]] for t, r in seen]
            weight *= chain_weight([(leaf, -1, x) for _, (leaf, _, x) in seen], path, arms, drift)
        total += weight
    return total


def tracking_cost(hierarchy: Hierarchy, arms: int, mappings: Sequence[Sequence[int]], drift: float, rounds: int) -> float:
    """`theory.tracking_cost` way by way."""
    stay, move = step(0, 0, arms, drift), drift / arms
    total = 0.0
    for prior, way in ways(hierarchy):
        weight = prior
        for node in way:
            region = hierarchy.regions[node]
            constant = all(len({g[leaf] for leaf in region}) == 1 for g in mappings)
            leaf = min(region)
            changes = sum(a[leaf] != b[leaf] for a, b in pairwise(mappings))
            weight *= (move / stay) ** changes / arms if constant else 0.0
        total += weight
    return math.inf if total == 0.0 else -math.log(total) - max(0, rounds - 1) * math.log(stay)


class SharedOdds:
    """The odds form on a binary tree of depth 0 or 1 with fixed share on the arms and, if `options_too`, on the root's options too."""

    def __init__(self, depth: int, arms: int, drift: float, *, options_too: bool) -> None:
        self.depth, self.arms, self.drift, self.options_too = depth, arms, drift, options_too
        self.arm = {node: np.full(arms, 1.0 / arms) for node in (["all"] if depth == 0 else ["all", 0, 1])}
        self.stop = np.array([1.0, 0.0] if depth == 0 else [0.5, 0.5])

    def probabilities(self, leaf: int) -> np.ndarray:
        below = self.arm[leaf] if self.depth else 0.0
        return np.asarray(self.stop[0] * self.arm["all"] + self.stop[1] * below)

    def learn(self, leaf: int, arm: int, x: float) -> None:
        ratios = []
        for node in ["all", leaf] if self.depth else ["all"]:
            weights = self.arm[node]
            weights[arm] *= math.exp(-x)
            ratios.append(weights.sum())
            self.arm[node] = (1 - self.drift) * weights / weights.sum() + self.drift / self.arms
        if self.depth:
            self.stop *= ratios
            self.stop /= self.stop.sum()
            if self.options_too:
                self.stop = (1 - self.drift) * self.stop + self.drift / 2


class HiddenMappings:
    """Exact Bayes for a mapping that changes on a tree of depth 0 or 1: a state is (option, arm of the root, arms of the leaves).

    After a round, each node that contains the leaf redraws its arm with probability `drift`; with `options_too` the root's option too.
    """

    def __init__(self, depth: int, arms: int, drift: float, *, options_too: bool) -> None:
        self.depth, self.arms, self.drift, self.options_too = depth, arms, drift, options_too
        options = range(2) if depth else range(1)
        self.shape = (len(options), *[arms] * (3 if depth else 1))
        self.belief = np.full(self.shape, 1.0 / math.prod(self.shape))

    def arm_of(self, state: tuple[int, ...], leaf: int) -> int:
        return state[2 + leaf] if state[0] == 1 else state[1]

    def probabilities(self, leaf: int) -> np.ndarray:
        p = np.zeros(self.arms)
        for state in np.ndindex(self.shape):
            p[self.arm_of(state, leaf)] += self.belief[state]
        return p

    def learn(self, leaf: int, arm: int, x: float) -> None:
        for state in np.ndindex(self.shape):
            if self.arm_of(state, leaf) == arm:
                self.belief[state] *= math.exp(-x)
        self.belief /= self.belief.sum()
        visited = [1, 2 + leaf] if self.depth else [1]
        for axis in visited + ([0] if self.options_too else []):
            mean = self.belief.mean(axis=axis, keepdims=True)
            self.belief = (1 - self.drift) * self.belief + self.drift * mean
