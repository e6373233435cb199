"""A slow, simple version of HSB's default: the advisor as a dictionary of nodes, the mixture as the paper's recursion."""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from naive import mixture as naive

Array = npt.NDArray[np.float64]
PRIOR = np.array([0.01, 0.99])
FIRST, BUDGET, HEAD_SHARED = 2048, 9.0, 3.0


@dataclass
class Node:
    arms: int
    stop: float = 0.5
    visits: int = 0
    evidence: float = 1.0
    lost: Array = field(init=False)
    plays: Array = field(init=False)
    short_lost: Array = field(init=False)
    short_plays: Array = field(init=False)

    def __post_init__(self) -> None:
        self.lost, self.plays, self.short_lost, self.short_plays = np.zeros((4, self.arms))


class Advisor:
    """Nodes by path, a string of bits. A change forgets every node at or below a path."""

    def __init__(self, depth: int, arms: int) -> None:
        self.depth, self.arms = depth, arms
        self.nodes: dict[str, Node] = {}
        self.changes = 0

    def path(self, cell: int) -> list[str]:
        bits = format(cell, f"0{self.depth}b") if self.depth else ""
        return [bits[:level] for level in range(self.depth + 1)]

    def means(self, cell: int) -> list[Array]:
        """Return the mean of each level; each shrinks to its expected mean."""
        return [
            (node.lost + 4 * expected) / (node.plays + 4)
            for node, expected in zip(self.found(cell), self.expected(cell), strict=True)
        ]

    def found(self, cell: int) -> list[Node]:
        return [self.nodes.get(path, Node(self.arms)) for path in self.path(cell)]

    def expected(self, cell: int) -> list[Array]:
        """Return the expected mean of each level: that of the rest of the parent, which counts as 4 plays."""
        nodes = self.found(cell)
        means = [np.full(self.arms, 0.5)]
        for parent, node in pairwise(nodes):
            means.append((parent.lost - node.lost + 4 * means[-1]) / (parent.plays - node.plays + 4))
        return means

    def advise(self, cell: int, available: npt.NDArray[np.bool_]) -> Array:
        """Return the arms with the least mean - 1.25 standard deviations, averaged over the path: a distribution, uniform over ties."""
        reach, index = 1.0, np.zeros(self.arms)
        for path, mu in zip(self.path(cell), self.means(cell), strict=True):
            node = self.nodes.get(path, Node(self.arms))
            here = reach * node.stop if len(path) < self.depth else reach
            index += here * (mu - 1.25 * np.sqrt((mu * (1 - mu) + 1 / (node.plays + 4)) / (node.plays + 5)))
            reach *= 1 - node.stop
        index[~available] = math.inf
        least = index <= index.min() + 1e-12
        return least / least.sum()

    def learn(self, cell: int, arm: int, loss: float) -> None:
        below = math.nan
        for path, mean, expected in reversed(list(zip(self.path(cell), self.means(cell), self.expected(cell), strict=True))):
            node = self.nodes.setdefault(path, Node(self.arms))
            mu = mean[arm]
            q = loss * mu + (1 - loss) * (1 - mu)
            if len(path) < self.depth:
                stop, go = node.stop * q, (1 - node.stop) * below
                q = stop + go
                share = 1 / (node.visits + 2)
                node.stop = (1 - share) * stop / q + share / 2
            below = q
            short = (node.short_lost[arm] + 4 * expected[arm]) / (node.short_plays[arm] + 4)
            node.evidence = max(1.0, node.evidence * (loss * short + (1 - loss) * (1 - short)) / q)
            node.lost[arm] += loss
            node.plays[arm] += 1
            node.short_lost[arm] = 0.98 * node.short_lost[arm] + loss
            node.short_plays[arm] = 0.98 * node.short_plays[arm] + 1
            node.visits += 1
        changed = [path for path in self.path(cell) if self.nodes[path].evidence > self.nodes[path].visits ** 1.5 + 1e4]
        if changed:
            self.changes += 1
            self.nodes = {path: node for path, node in self.nodes.items() if not path.startswith(changed[0])}


class Default:
    """HSB(structure, arms=M): the recursion and the advisor side by side, at a falling rate."""

    def __init__(self, hierarchy: naive.Hierarchy, depth: int, arms: int) -> None:
        self.hierarchy, self.arms = hierarchy, arms
        self.advisor = Advisor(depth, arms)
        self.rounds = 0
        self.mixture = naive.Recursion(hierarchy, arms, 1 / FIRST)
        self.end, self.rate = FIRST, self.rate_until(FIRST)
        self.weights = PRIOR.copy()

    def rate_until(self, end: int) -> float:
        return math.sqrt(BUDGET / (self.arms * end / math.sqrt(2)))

    def flatten(self) -> None:
        """Flatten all weights; the weight of the whole mixture is its w at the root."""
        length, self.end = self.end, 2 * self.end
        r, self.rate = self.rate_until(self.end) / self.rate, self.rate_until(self.end)
        root = self.hierarchy.root
        before = self.mixture.w()[root]
        self.mixture.flatten(r)
        whole = np.array([self.mixture.w()[root] / before**r, 1.0])
        self.weights = PRIOR ** (1 - r) * self.weights**r * whole
        self.weights /= self.weights.sum()
        self.mixture.drift = 1 / length

    def probabilities(self, leaf: int, cell: int, available: list[int] | None = None) -> Array:
        awake = naive._awake(available, self.arms)
        p = self.weights[0] * self.mixture.probabilities(leaf) * awake + self.weights[1] * self.advisor.advise(cell, awake)
        return p / p.sum()

    def learn(self, leaf: int, cell: int, arm: int, loss: float, propensity: float, available: list[int] | None = None) -> None:
        awake = naive._awake(available, self.arms)
        if loss > 0 and awake.sum() > 1:
            factor = np.ones(self.arms)
            factor[arm] = math.exp(-self.rate * loss / propensity)
            p = self.probabilities(leaf, cell, available)
            factor[~awake] = (p * factor).sum()  # sleeping arms keep their share of all weight
            raw = self.mixture.probabilities(leaf)
            self.weights *= [(raw * factor).sum(), (self.advisor.advise(cell, awake) * factor).sum()]
            self.weights /= self.weights.sum()
            drift = HEAD_SHARED * self.mixture.drift
            self.weights = (1 - drift) * self.weights + drift * PRIOR
            self.mixture.multiply(leaf, factor)
        self.advisor.learn(cell, arm, loss)
        self.rounds += 1
        if self.rounds == self.end:
            self.flatten()
