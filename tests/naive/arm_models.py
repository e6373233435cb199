"""A slow, simple version of the models of arms with features: every product by name, ridge regressions by their normal equations."""

import math

import numpy as np
import numpy.typing as npt

from .ensemble import Ridge, scrambled

Array = npt.NDArray[np.float64]


def cut(p: float, low: float = 0.0, high: float = 1.0) -> float:
    return min(max(p, low), high)


class NaiveArmModels:
    """`where` says which product of a context's and an arm's column is which column of the shared model."""

    def __init__(self, where: npt.NDArray[np.int64], precision: float, own_precision: float) -> None:
        self.where, self.precision, self.own_precision = where, precision, own_precision
        self.stack = Ridge(np.full(3, 5.0), np.array([0.5, 0.5, 0.0]))
        self.rounds = 0
        self.start()

    def start(self) -> None:
        self.shared = Ridge(np.full(self.where.max() + 1, self.precision))
        self.own: dict[int, Ridge] = {}
        self.evidence = 1.0
        self.residuals = {0.98: [0.0, 0.0], 0.998: [0.0, 0.0]}

    def products(self, x: Array, g: Array) -> Array:
        phi = np.zeros(self.where.max() + 1)
        for i, a in enumerate(x):
            for j, b in enumerate(g):
                phi[self.where[i, j]] += a * b
        return phi

    @staticmethod
    def folded(x: Array) -> Array:
        o = np.zeros(min(len(x), 16))
        o[0] = 1.0
        for i, a in enumerate(x[1:]):
            o[1 + i % 15] += a
        return o

    def inputs(self, x: Array, g: Array, slot: int) -> tuple[Array, float, float]:
        """The inputs of the stack, and the standard deviations of the shared model and of the arm's own."""
        phi, o = self.products(x, g), self.folded(x)
        own = self.own.get(slot, Ridge(np.full(len(o), self.own_precision)))
        line = 0.5 + self.shared.w @ phi
        return (np.array([cut(line) - 0.5, cut(line + own.w @ o) - 0.5, 1.0]), self.shared.width(phi), own.width(o))

    def index(self, x: Array, g: Array, slot: int) -> float:
        inputs, shared, own = self.inputs(x, g, slot)
        optimism = 0.1 * (1.0 + min(2.0, self.rounds / 5000.0))
        return 0.5 + float(self.stack.w @ inputs) - optimism * (shared + 0.2 * own)

    def learn(self, x: Array, g: Array, slot: int, loss: float) -> bool:
        """Learn a round; return whether the models began again."""
        inputs, _, _ = self.inputs(x, g, slot)
        p = cut(0.5 + float(self.stack.w @ inputs), 0.01, 0.99)
        ahead = {}
        for memory, sums in self.residuals.items():
            ahead[memory] = cut(p + sums[0] / (sums[1] + 4.0), 0.01, 0.99)
            sums[0], sums[1] = memory * sums[0] + loss - p, memory * sums[1] + 1.0
        likely = {memory: loss * q + (1.0 - loss) * (1.0 - q) for memory, q in ahead.items()}
        self.evidence = max(1.0, self.evidence * likely[0.98] / likely[0.998])
        again = self.evidence > (self.rounds + 1) * math.sqrt(self.rounds + 1) + 1e4
        self.stack.learn(inputs, loss - 0.5)
        phi, o = self.products(x, g), self.folded(x)
        if again:
            self.start()
        line = 0.5 + float(self.shared.w @ phi)
        self.shared.learn(phi, loss - 0.5, scrambled(self.rounds) >> 40)
        if slot >= 0:
            self.own.setdefault(slot, Ridge(np.full(len(o), self.own_precision))).learn(o, loss - line)
        self.rounds += 1
        return again


def naive_product_columns(before: npt.NDArray[np.int64], columns: int, of_arms: int) -> npt.NDArray[np.int64]:
    """The column of each product: those there were, then one after the other, single columns first; beyond 256 they share."""
    where = np.full((columns, of_arms), -1)
    where[: before.shape[0], : before.shape[1]] = before
    used = int(before.max(initial=-1)) + 1
    single = [(i, 0) for i in range(columns)] + [(0, j) for j in range(of_arms)]
    for i, j in [*single, *((i, j) for i in range(1, columns) for j in range(1, of_arms))]:
        if where[i, j] < 0:
            where[i, j] = used if used < 256 else 1 + (i * 131 + j * 31) % 255
            used += where[i, j] == used
    return where
