"""A slow, simple version of the ensemble: ridge regressions by their normal equations, trees of node objects, counts in small arrays."""

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
TREES, CUTS, DEEPEST = 16, 15, 40
WORD = (1 << 64) - 1


def scrambled(n: int) -> int:
    """Return splitmix64 after n steps."""
    z = n * 0x9E3779B97F4A7C15 & WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


class Ridge:
    """Targets y at x, each with a weight; prior precisions of the weights. A weights = b if no round was left out."""

    def __init__(self, precision: Array, mean: Array | None = None) -> None:
        self.precision = precision.copy()
        self.w = np.zeros(len(precision)) if mean is None else mean.copy()
        self.A = np.diag(precision)

    def learn(self, x: Array, y: float, turn: int = -1) -> None:
        """Learn y at x. If x is well known, only one round in four, by `turn`, changes the covariance, and counts four times."""
        v = np.linalg.solve(self.A, x)
        q = 1.0 + x @ v
        self.w = self.w + v / q * (y - self.w @ x)
        if turn < 0 or q >= 1.05:
            self.A = self.A + np.outer(x, x)
        elif turn % 4 == 0:
            self.A = self.A + 4.0 * np.outer(x, x)

    def width(self, x: Array) -> float:
        return math.sqrt(x @ np.linalg.solve(self.A, x))

    def predict(self, x: Array, average: float) -> float:
        """Return the prediction, cut to [0, 1], less 1/2; the constant, feature 0, has the average as its prior."""
        expected = np.zeros(len(x))
        expected[0] = (average - 0.5) * self.precision[0]
        return min(max(0.5 + self.w @ x + x @ np.linalg.solve(self.A, expected), 0.0), 1.0) - 0.5

    def add(self, precision: Array) -> None:
        n, more = len(self.w), len(precision)
        A = np.zeros((n + more, n + more))
        A[:n, :n], A[n:, n:] = self.A, np.diag(precision)
        self.A, self.w = A, np.concatenate([self.w, np.zeros(more)])
        self.precision = np.concatenate([self.precision, precision])


@dataclass
class Cut:
    column: int
    arms: int
    threshold: float | None = None
    sides: Array = field(init=False)

    def __post_init__(self) -> None:
        self.sides = np.zeros((2, self.arms, 2))  # side, arm, (lost, kept)

    def gain(self) -> float:
        gain = 0.0
        for (l0, k0), (l1, k1) in zip(self.sides[0], self.sides[1], strict=True):
            n0, n1 = l0 + k0, l1 + k1
            if self.threshold is not None and n0 > 0 and n1 > 0:
                mu, h = (l0 + l1 + 0.5) / (n0 + n1 + 1), n0 * n1 / (n0 + n1)
                gain += 0.5 * (h * (l0 / n0 - l1 / n1) ** 2 / (mu * (1 - mu)) - math.log(1 + h))
        return gain


@dataclass
class Node:
    counts: Array
    cuts: list[Cut] | None
    visited: int = 0
    look: int = 15
    stop: float = 0.5
    column: int = 0
    threshold: float = 0.0
    children: "tuple[Node, Node] | None" = None


class Forest:
    def __init__(self, arms: int, nodes: int, blocks: int) -> None:
        self.arms, self.nodes, self.blocks, self.used = arms, nodes, blocks, 0
        self.probabilities = np.zeros(0)  # of the columns but the constant
        self.start()

    def random(self) -> float:
        self.used += 1
        return (scrambled(self.used) >> 11) / 2.0**53

    def draw(self) -> list[Cut]:
        cuts = []
        for _ in range(CUTS):
            u, column = self.random(), 0
            if len(self.probabilities):
                sums = np.cumsum(self.probabilities)
                sums[-1] = 1.0
                column = 1 + int(np.count_nonzero(sums <= u))
            cuts.append(Cut(column, self.arms))
        return cuts

    def start(self) -> None:
        self.trees = [Node(np.zeros((self.arms, 2)), self.draw()) for _ in range(TREES)]
        self.nodes_used = self.blocks_used = TREES

    def look_again(self) -> None:
        if self.nodes_used == TREES:
            for tree in self.trees:
                tree.cuts = self.draw()

    def path(self, tree: Node, z: Array) -> list[Node]:
        nodes = [tree]
        while nodes[-1].children is not None:
            nodes.append(nodes[-1].children[int(z[nodes[-1].column] > nodes[-1].threshold)])
        return nodes

    @staticmethod
    def means(path: list[Node], arm: int) -> list[float]:
        """Return each node's mean: its counts, and the rest of its parent's as one further play."""
        means, expected = [], 0.5
        for i, node in enumerate(path):
            lost, kept = node.counts[arm]
            if i > 0:
                rest = np.maximum(path[i - 1].counts[arm] - node.counts[arm], 0.0)
                expected = (rest[0] + expected) / (rest.sum() + 1)
            means.append((lost + expected) / (lost + kept + 1))
        return means

    def predict(self, z: Array, arm: int) -> tuple[float, float]:
        mean = width = 0.0
        for tree in self.trees:
            path, reach, spread = self.path(tree, z), 1.0, 0.0
            for node, mu in zip(path, self.means(path, arm), strict=True):
                here = reach * (node.stop if node.children else 1.0)
                reach -= here
                n = node.counts[arm].sum() + 1
                mean += here * mu / TREES
                spread += here * (mu * (1 - mu) * n + 1) / (n * (n + 1))
            width += math.sqrt(spread) / TREES
        return mean, width

    def learn(self, z: Array, arm: int, loss: float) -> None:
        for tree in self.trees:
            path = self.path(tree, z)
            below = math.nan
            for node, mu in reversed(list(zip(path, self.means(path, arm), strict=True))):
                mu = min(max(mu, 1e-9), 1 - 1e-9)
                q = loss * mu + (1 - loss) * (1 - mu)
                if node.children:
                    stop = node.stop * q
                    q = stop + (1 - node.stop) * below
                    share = 1 / (node.visited + 2)
                    node.stop = (1 - share) * stop / q + share / 2
                below = q
            for node in path:
                node.visited += 1
                node.counts[arm] += loss, 1 - loss
            if path[-1].cuts is not None:
                self.watch(path[-1], len(path), z, arm, loss)

    def watch(self, leaf: Node, level: int, z: Array, arm: int, loss: float) -> None:
        assert leaf.cuts is not None
        for cut in leaf.cuts:
            if cut.threshold is None:
                if self.random() >= 0.3:
                    continue
                cut.threshold = z[cut.column] + (-1e-9 if self.random() < 0.5 else 1e-9)
            cut.sides[int(z[cut.column] > cut.threshold), arm] += loss, 1 - loss
        if leaf.visited < leaf.look or level >= DEEPEST:
            return
        leaf.look = math.ceil(1.5 * leaf.visited)
        best = max(leaf.cuts, key=Cut.gain)
        if self.nodes_used + 2 <= self.nodes and best.gain() > 2.0:
            assert best.threshold is not None
            leaf.column, leaf.threshold, leaf.stop = best.column, best.threshold, 0.5
            left = Node(best.sides[0].copy(), self.draw())
            right = Node(best.sides[1].copy(), None)
            if self.blocks_used < self.blocks:
                self.blocks_used += 1
                right.cuts = self.draw()
            leaf.children, leaf.cuts = (left, right), None
            self.nodes_used += 2

    def all(self) -> list[Node]:
        results = list(self.trees)
        for node in results:
            results += node.children or ()
        return results

    def add_arm(self) -> None:
        self.arms += 1
        for node in self.all():
            node.counts = np.vstack([node.counts, np.zeros(2)])
            for cut in node.cuts or ():
                cut.arms += 1
                cut.sides = np.concatenate([cut.sides, np.zeros((2, 1, 2))], axis=1)

    def move(self, a: Array, c: Array) -> None:
        for node in self.all():
            if node.children:
                node.threshold = a[node.column] * node.threshold + c[node.column]
            for cut in node.cuts or ():
                if cut.threshold is not None:
                    cut.threshold = a[cut.column] * cut.threshold + c[cut.column]


class Ensemble:
    """z has the constant first. `nodes` and `blocks`: the most nodes of the forest, and leaves of it that watch cuts."""

    def __init__(self, arms: int, nodes: int, blocks: int, cosines: int = 128) -> None:
        self.arms, self.count, self.changes = arms, cosines, 0
        self.precision, self.cosine_precision = np.array([0.15]), 0.15
        self.frequencies = np.zeros((1, cosines))
        self.phases = np.random.Generator(np.random.PCG64(0x485342)).uniform(size=cosines)
        self.forest = Forest(arms, nodes, blocks)
        self.weigh_anew()
        self.start(forest=False)

    def weigh_anew(self) -> None:
        self.stack = Ridge(np.full(4, 5.0), np.array([0.8, 0.1, 0.1, 0.0]))

    def line(self) -> Ridge:
        return Ridge(self.precision)

    def curve(self) -> Ridge:
        return Ridge(np.array([self.cosine_precision, *np.full(self.count, 0.5)]))

    def start(self, forest: bool = True) -> None:
        self.linear = [self.line() for _ in range(self.arms)]
        self.cosines = [self.curve() for _ in range(self.arms)]
        self.memories = np.zeros((self.arms, 2, 2))  # short and long; residuals and plays
        self.rounds, self.lost, self.evidence = 0, 0.0, 1.0
        self.logged = 0  # rows of a log that the models were fitted to
        if forest:
            self.forest.start()

    def set_columns(self, groups: list[int]) -> None:
        before, columns, features = len(self.precision), 1 + len(groups), max(len(set(groups)), 1)
        fresh = self.rounds == 0
        first = 0 if fresh else before
        new = np.full(columns - first, 0.15 * (features + 1))
        self.precision = np.concatenate([self.precision[:first], new])
        rows = [self.frequencies[:first]]
        bands = 2.0 ** np.random.Generator(np.random.PCG64(0x57415645)).uniform(size=self.count)
        for column in range(first, columns):
            normal = np.random.Generator(np.random.PCG64([0x46524551, column])).normal(size=self.count)
            rows.append((normal * bands / (2 * math.pi * math.sqrt(features)))[None])
        self.frequencies = np.concatenate(rows)
        self.forest.probabilities = np.array([1 / groups.count(g) / features for g in groups])
        if fresh:
            self.cosine_precision = 0.15 * (features + 1)
            self.weigh_anew()
            self.start()
        else:
            for model in self.linear:
                model.add(new)
            self.forest.look_again()

    def add_arm(self) -> None:
        self.arms += 1
        self.linear.append(self.line())
        self.cosines.append(self.curve())
        self.memories = np.concatenate([self.memories, np.zeros((1, 2, 2))])
        self.forest.add_arm()

    def phi(self, z: Array) -> Array:
        """The constant and the cosines, whose polynomial is the kernel's."""
        t = self.phases + z[1:] @ self.frequencies[1:]
        t = (t - np.floor(t + 0.5)) ** 2
        cosine = np.polyval([-21.1461384, 58.84210458, -85.28453151, 64.9300702, -19.73904346, 1.0], t)
        return np.concatenate([[1.0], math.sqrt(2 / self.count) * cosine])

    def inputs(self, z: Array, arm: int) -> tuple[Array, float]:
        average = (self.lost + 1) / (self.rounds + 2)
        mean, width = self.forest.predict(z, arm)
        line, curve = self.linear[arm].predict(z, average), self.cosines[arm].predict(self.phi(z), average)
        return np.array([line, mean - 0.5, curve, 1.0]), width

    def index(self, z: Array, arm: int) -> float:
        x, width = self.inputs(z, arm)
        f, w = (min(max(weight, 0.0), 1.0) for weight in self.stack.w[1:3])
        own = self.rounds - self.logged
        linear, local = (1 - f) * 0.1 * (1 + min(2, own / 5000)), f + w * min(1, own / 10000)
        if self.logged:
            linear, local = linear * own / self.rounds, local * own / self.rounds
        return 0.5 + self.stack.w @ x - linear * self.linear[arm].width(z) - local * width

    def indices(self, z: Array, available: npt.NDArray[np.bool_]) -> Array:
        return np.array([self.index(z, arm) if available[arm] else math.inf for arm in range(self.arms)])

    def learn(self, z: Array, arm: int, loss: float) -> bool:
        """Learn a loss; restart the models if the environment changed."""
        x, _ = self.inputs(z, arm)
        changed = self.watch(arm, loss, min(max(0.5 + self.stack.w @ x, 0.01), 0.99))
        turn = scrambled(self.rounds) >> 40
        self.stack.learn(x, loss - 0.5)
        if changed:
            self.start()
            self.changes += 1
        self.rounds += 1
        self.lost += loss
        self.linear[arm].learn(z, loss - 0.5, turn)
        self.cosines[arm].learn(self.phi(z), loss - 0.5, turn)
        self.forest.learn(z, arm, loss)
        return changed

    def watch(self, arm: int, loss: float, p: float) -> bool:
        q = []
        for memory, keep in zip(self.memories[arm], (0.98, 0.998), strict=True):
            corrected = min(max(p + memory[0] / (memory[1] + 4), 0.01), 0.99)
            q.append(loss * corrected + (1 - loss) * (1 - corrected))
            memory *= keep
            memory += loss - p, 1
        self.evidence = max(1.0, self.evidence * q[0] / q[1])
        return self.evidence > (self.rounds + 1) ** 1.5 + 1e4
