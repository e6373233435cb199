"""A synthetic log of the Today Module; the real one may not be redistributed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import whole
from ..types import Floats
from .batch import Batch, Pools
from .log import Log, Problems

ROWS = 1 << 13  # of a batch; each batch has its own random numbers
FEATURES = 136
LEVELS, GROUPS = 64, 3  # of the two things that make users differ
LEVEL = np.repeat(np.linspace(-1.0, 1.0, LEVELS), GROUPS)  # z of each kind of known users
UNKNOWN = LEVELS * GROUPS  # the kind of users with only feature 1
SHARE_UNKNOWN = 0.25
CLICKS = 0.04  # average rate under uniform display
START, SPAN = 1_317_513_600, 15 * 86_400  # 2 October 2011, for 15 days
MOST_ARTICLES = 100_000
FEWEST, MOST = 20, 50  # articles in a pool


class SyntheticToday(Log):
    """A synthetic log of `visits` visits with the statistics of Yahoo!'s R6B: a uniformly drawn article, and clicks by user and article.

    - 136 binary features: the first is always on, in a quarter of the rows alone; the others are on about 7% of the time.
    - Users differ by a level z in [-1, 1], which affects most features and so their first principal component, and by a group, which affects
      a few features and hardly that component.
    - Of `articles` articles in all, 20 to 50 are available at a time; they come and go. Articles differ in their click rate, and by z and group
      in the users who like them. On average 4% of visits end in a click.

    Everything follows from the `seed`. Unlike a real log, it has the attribute `probabilities`: the click probability of every article in each
    row of the last batch.

    >>> log = SyntheticToday(20_000, seed=0)
    >>> batches = list(log)
    >>> len(log), [len(batch) for batch in batches], bool(batches[0].contexts[:, 0].all())
    (20000, [8192, 8192, 3616], True)
    """

    uniform = True

    def __init__(self, visits: int, *, seed: int = 0, articles: int = 50) -> None:
        count: Any = visits
        visits = whole("visits", int(count) if isinstance(count, float) and count.is_integer() else count, 1)
        super().__init__()
        self.visits, self.seed, self.articles = (
            int(visits),
            whole("seed", seed, 0),
            whole("articles", articles, FEWEST, MOST_ARTICLES),
        )
        rng = np.random.default_rng([self.seed, 0])
        self._thresholds = _feature_table(rng)
        self._clicks = _click_table(rng, self.articles)
        self._ids = [f"id-{number}" for number in 500_000 + np.cumsum(rng.integers(1, 400, self.articles))]
        self._changes, self._pools = _pools(rng, self.articles)

    def __len__(self) -> int:
        return self.visits

    def __repr__(self) -> str:
        return f"SyntheticToday({self.visits}, seed={self.seed}, articles={self.articles})"

    def __iter__(self) -> Iterator[Batch]:
        self.problems = Problems()
        for begin in range(0, self.visits, ROWS):
            yield self._batch(begin, min(begin + ROWS, self.visits))

    def _batch(self, begin: int, end: int) -> Batch:
        rng = np.random.default_rng([self.seed, 1, begin // ROWS])
        n = end - begin
        visit = np.arange(begin, end)
        kind = np.where(rng.random(n) >= SHARE_UNKNOWN, rng.integers(0, UNKNOWN, n), UNKNOWN)
        contexts = (rng.integers(0, 1 << 16, (n, FEATURES), dtype=np.uint16) < self._thresholds[kind]).astype(np.float64)
        contexts[:, 0] = 1.0
        number = np.searchsorted(self._changes, visit / self.visits, side="right") - 1
        present, pool = np.unique(number, return_inverse=True)
        pools = Pools.of([self._pools[k].tolist() for k in present])
        index = (rng.random(n) * pools.sizes[pool]).astype(np.int64)
        arm = pools.members[pools.starts[pool] + index]
        self.probabilities = self._clicks[kind]
        """The click probability of every article in each row of the last batch."""
        reward = (rng.random(n) < self.probabilities[np.arange(n), arm]).astype(np.float64)
        seen = 1 + max(int(self._pools[k].max()) for k in range(int(number[-1]) + 1))
        self.known_arms.extend(self._ids[len(self.known_arms) : seen])
        time = (START + visit * SPAN // self.visits).astype(np.float64)
        return Batch(contexts, arm, reward, 1.0 / pools.sizes[pool], time, pool, pools, tuple(self._ids[:seen]))


def _feature_table(rng: np.random.Generator) -> NDArray[np.uint16]:
    """Return how often each kind of user has each feature, in units of 2^-16."""
    base = rng.normal(-3.0, 0.8, FEATURES)
    slope = rng.normal(0.0, 1.6, FEATURES)
    group = np.where(rng.random((GROUPS, FEATURES)) < 0.1, 1.5, 0.0)
    logits = base + np.outer(LEVEL, slope) + np.tile(group, (LEVELS, 1))
    table = np.zeros((UNKNOWN + 1, FEATURES), dtype=np.uint16)
    table[:UNKNOWN] = (65535 / (1.0 + np.exp(-logits))).astype(np.uint16)
    return table


def _click_table(rng: np.random.Generator, articles: int) -> Floats:
    """Return the click rate of each kind of user on each article."""
    appeal = rng.normal(0.0, 0.35, articles)
    liked_at = rng.uniform(-1.0, 1.0, articles)  # the z that likes it best
    level = np.cos(np.pi / 2 * (LEVEL[:, None] - liked_at)) * rng.uniform(0.4, 1.4, articles)
    group = np.tile(rng.normal(0.0, 0.3, (GROUPS, articles)), (LEVELS, 1))
    logits = np.vstack([appeal + level + group, appeal + rng.normal(0.0, 0.3, articles)])
    share = np.append(np.full(UNKNOWN, (1.0 - SHARE_UNKNOWN) / UNKNOWN), SHARE_UNKNOWN)
    low, high = -20.0, 5.0
    for _ in range(60):  # the constant that makes the average right
        middle = (low + high) / 2
        rate = float((share @ (1.0 / (1.0 + np.exp(-logits - middle)))).mean())
        low, high = (middle, high) if rate < CLICKS else (low, middle)
    return np.asarray(1.0 / (1.0 + np.exp(-logits - low)))


def _pools(rng: np.random.Generator, articles: int) -> tuple[Floats, list[NDArray[np.int64]]]:
    """Return when the pool changes, as fractions of the log, and the articles of each pool. Articles are numbered in order of appearance."""
    first = min(articles, 25)
    pool = list(range(first))
    pools = [np.array(pool)]
    for new in range(first, articles):
        leave = int(rng.integers(0, 3)) if len(pool) < MOST else 1
        for _ in range(min(leave, len(pool) + 1 - FEWEST)):
            pool.pop(int(rng.integers(0, max(1, len(pool) // 2))))  # one of the older half
        pool.append(new)
        pools.append(np.array(pool))
    return np.concatenate([[0.0], np.sort(rng.random(articles - first))]), pools
