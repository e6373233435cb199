"""Slow and obvious versions of the Bayesian and linear policies, to compare the kernels with.

Contexts are given as leaves of a tree, numbered from the left; a node is (level, number). Nothing here draws an arm.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Node = tuple[int, int]
Pruning = tuple[Node, ...]


class Prunings:
    """The mixture over every pruning of a tree, written out: prior times the product of its nodes' predictions."""

    def __init__(self, k: int, depth: int, arms: int, stop: float, prior: tuple[float, float]) -> None:
        self.k, self.depth = k, depth
        self.counts = {
            node: np.tile(np.array(prior, dtype=float), (arms, 1)) for level in range(depth + 1) for node in self._level(level)
        }
        self.log_evidence = dict.fromkeys(self.counts, 0.0)
        self.priors = dict(self._prunings((0, 0), stop))

    def _level(self, level: int) -> list[Node]:
        return [(level, i) for i in range(self.k**level)]

    def _prunings(self, node: Node, stop: float) -> Iterator[tuple[Pruning, float]]:
        level, i = node
        if level == self.depth:
            yield (node,), 1.0
            return
        yield (node,), stop
        below = [list(self._prunings((level + 1, self.k * i + c), stop)) for c in range(self.k)]
        for parts in product(*below):
            yield sum((part for part, _ in parts), ()), (1 - stop) * math.prod(prior for _, prior in parts)

    def path(self, leaf: int) -> list[Node]:
        return [(level, leaf // self.k ** (self.depth - level)) for level in range(self.depth + 1)]

    def learn(self, leaf: int, arm: int, loss: float) -> float:
        """Return the probability that the mixture gave this loss."""
        before = self.log_total()
        for node in self.path(leaf):
            good, bad = self.counts[node][arm]
            self.log_evidence[node] += loss * math.log(bad / (good + bad)) + (1 - loss) * math.log(good / (good + bad))
            self.counts[node][arm] += 1 - loss, loss
        return math.exp(self.log_total() - before)

    def _logs(self) -> dict[Pruning, float]:
        return {
            nodes: math.log(prior) + sum(self.log_evidence[node] for node in nodes)
            for nodes, prior in self.priors.items()
            if prior > 0.0
        }

    def log_total(self) -> float:
        logs = list(self._logs().values())
        return max(logs) + math.log(math.fsum(math.exp(v - max(logs)) for v in logs))

    def stops(self, leaf: int) -> list[float]:
        """Return the posterior probability of stopping at each level above a leaf."""
        logs, total = self._logs(), self.log_total()
        return [math.fsum(math.exp(v - total) for nodes, v in logs.items() if node in nodes) for node in self.path(leaf)]

    def probabilities(self, leaf: int, available: Collection[int] | None = None) -> Array:
        return mixed(self.stops(leaf), [self.counts[node] for node in self.path(leaf)], available)


class FadingTree:
    """One node after the other, in logarithms, with forgetting."""

    def __init__(
        self, k: int, depth: int, arms: int, stop: float, prior: tuple[float, float], forgetting: float | None = None
    ) -> None:
        self.k, self.depth, self.arms, self.stop, self.prior, self.forgetting = k, depth, arms, stop, prior, forgetting
        self.extra: dict[Node, Array] = {}
        self.log_x: dict[Node, float] = {}

    def path(self, leaf: int) -> list[Node]:
        return [(level, leaf // self.k ** (self.depth - level)) for level in range(self.depth + 1)]

    def _counts(self, node: Node) -> Array:
        result: Array = self.extra.get(node, np.zeros((self.arms, 2))) + self.prior
        return result

    def _odds(self, node: Node) -> tuple[float, float]:
        """Return ln of the probabilities of stopping and of continuing."""
        if node[0] == self.depth:
            return 0.0, -math.inf
        stop = math.log(self.stop) if self.stop > 0.0 else -math.inf
        go = math.log1p(-self.stop) + self.log_x.get(node, 0.0)
        total = np.logaddexp(stop, go)
        return stop - total, go - total

    def learn(self, leaf: int, arm: int, loss: float) -> float:
        keep = 1.0 if self.forgetting is None else self.forgetting
        below = 0.0
        for node in reversed(self.path(leaf)):
            good, bad = self._counts(node)[arm]
            q = loss * math.log(bad / (good + bad)) + (1 - loss) * math.log(good / (good + bad))
            stop, go = self._odds(node)
            ratio = np.logaddexp(stop + q, go + below)
            if node[0] < self.depth:
                self.log_x[node] = keep * self.log_x.get(node, 0.0) + below - q
            extra = self.extra.setdefault(node, np.zeros((self.arms, 2)))
            for m in range(self.arms):
                extra[m] *= keep if m == arm else 1 - (1 - keep) / 10
            extra[arm] += 1 - loss, loss
            below = float(ratio)
        return math.exp(below)

    def probabilities(self, leaf: int, available: Collection[int] | None = None) -> Array:
        stops, reach = [], 0.0
        for node in self.path(leaf):
            stop, go = self._odds(node)
            stops.append(math.exp(reach + stop))
            reach += go
        return mixed(stops, [self._counts(node) for node in self.path(leaf)], available)


def mixed(stops: Sequence[float], counts: Sequence[Array], available: Collection[int] | None) -> Array:
    total = np.zeros(len(counts[0]))
    for stop, table in zip(stops, counts, strict=True):
        if stop > 1e-12:
            total += stop * least(table, available)
    return total


def least(counts: Array, available: Collection[int] | None = None, points: int = 40_001, reach: float = 60.0) -> Array:
    """Probability that each arm's Beta(bad, good) is the least of the available ones: Simpson's rule on one fine grid of log-odds.

    For counts between about 0.5 and 500; two thirds of the points for each cumulative sum are between those of the outer sum.
    """
    y = np.linspace(-reach, reach, points)
    h = y[1] - y[0]
    low, high = -np.logaddexp(0.0, -y), -np.logaddexp(0.0, y)  # ln loss, ln (1 - loss)
    arms = range(len(counts)) if available is None else sorted(available)
    density, survival = {}, {}
    for m in arms:
        good, bad = counts[m]
        f = np.exp(bad * low + good * high + math.lgamma(good + bad) - math.lgamma(good) - math.lgamma(bad))
        pairs = h / 3 * (f[:-2:2] + 4 * f[1:-1:2] + f[2::2])
        density[m], survival[m] = f[::2], 1.0 - np.concatenate(([0.0], np.cumsum(pairs)))
    result = np.zeros(len(counts))
    for m in arms:
        others = np.prod([survival[j] for j in arms if j != m], axis=0)
        result[m] = 2 * h * np.sum(density[m] * others)  # the trapezoid rule: exponentially accurate over the whole line
    return result


def exact_least(counts: Sequence[tuple[int, int]]) -> Array:
    """Return `least` for whole counts, exactly: densities and survivals are polynomials with rational coefficients."""

    def times(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
        results = [Fraction(0)] * (len(p) + len(q) - 1)
        for i, x in enumerate(p):
            for j, y in enumerate(q):
                results[i + j] += x * y
        return results

    densities, survivals = [], []
    for good, bad in counts:
        scale = Fraction(math.factorial(good + bad - 1), math.factorial(good - 1) * math.factorial(bad - 1))
        f = [Fraction(0)] * (bad - 1) + [scale * (-1) ** i * math.comb(good - 1, i) for i in range(good)]
        densities.append(f)
        survivals.append([Fraction(1)] + [-c / (i + 1) for i, c in enumerate(f)])
    results = []
    for m, p in enumerate(densities):
        for j, survival in enumerate(survivals):
            p = times(p, survival) if j != m else p
        results.append(float(sum(c / (i + 1) for i, c in enumerate(p))))
    return np.array(results)


class Ridge:
    """LinUCB that stores every round and solves a system of equations at each decision."""

    def __init__(self, arms: int, d: int, alpha: float, ridge: float) -> None:
        self.alpha, self.ridge, self.d = alpha, ridge, d
        self.seen: list[list[tuple[Array, float]]] = [[] for _ in range(arms)]

    def learn(self, z: Array, arm: int, loss: float) -> None:
        self.seen[arm].append((np.array(z), loss))

    def scores(self, z: Array) -> Array:
        results = []
        for rounds in self.seen:
            Z = np.array([row for row, _ in rounds]).reshape(-1, self.d)
            A = self.ridge * np.eye(self.d) + Z.T @ Z
            theta = np.linalg.solve(A, Z.T @ np.array([loss for _, loss in rounds]))
            results.append(z @ theta - self.alpha * math.sqrt(z @ np.linalg.solve(A, z)))
        return np.array(results)
