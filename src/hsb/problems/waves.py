"""Problems whose arms are random waves, steps or noise. `model` is the seed of the model, which is the same for every sample."""

from collections.abc import Iterator

import numpy as np

from ..checks import whole
from ..types import Floats, Ints
from .base import Problem, RandomProblem

TIMES = 256  # rounds that represent all in a problem that drifts


class Smooth(RandomProblem):
    """At the context s each arm is expected to lose 0.5 + 0.4 sin(2 pi (f s + phi)), f one of 1/2, 1, 3/2, 2 and phi uniform on [0, 1).

    Both are drawn for each of `arms` arms from the seed `model`, so every sample has the same model.

    >>> Smooth(arms=10).sample(100, seed=0).losses.shape
    (100, 10)
    """

    def _draw(self, rng: np.random.Generator) -> None:
        self._frequencies, self._shifts = rng.choice([0.5, 1.0, 1.5, 2.0], self.arms), rng.random(self.arms)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return self._waves(contexts)

    def _waves(self, contexts: Floats, turn: Floats | float = 0.0) -> Floats:
        return np.asarray(0.5 + 0.4 * np.sin(2 * np.pi * (contexts * self._frequencies + self._shifts + turn)))


class RealLosses(Smooth):
    """Losses that are not 0 or 1: `Smooth` scaled to [0.2, 0.8], plus noise uniform on [-0.2, 0.2].

    `arms` and `model` as in `Smooth`.

    >>> len(np.unique(RealLosses().sample(100, seed=0).losses))
    300
    """

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return 0.2 + 0.75 * (self._waves(contexts) - 0.1)

    def _losses(self, rng: np.random.Generator, expected: Floats) -> Floats:
        return np.clip(expected + rng.uniform(-0.2, 0.2, expected.shape), 0.0, 1.0)


class RareClicks(Smooth):
    """`Smooth` scaled to [0.92, 0.98]: for every arm a loss of 0 is as rare as a click.

    `arms` and `model` as in `Smooth`.

    >>> bool(RareClicks().sample(1000, seed=0).losses.mean() > 0.9)
    True
    """

    def __init__(self, *, arms: int = 10, model: int = 0) -> None:
        super().__init__(arms=arms, model=model)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return 0.98 - 0.075 * (self._waves(contexts) - 0.1)


class Articles(RandomProblem):
    """At the context s an arm gets a click, a loss of 0, with probability min(0.5, 0.04 exp(a + 0.35 sin(2 pi (f s + phi)))).

    Drawn for each arm are a, normal with deviation 0.35, f, one of 1/2, 1, 3/2, and phi, uniform on [0, 1). Some arms are better everywhere, as
    articles are. `arms` and `model` as in `Smooth`.

    >>> bool(Articles().sample(1000, seed=0).losses.mean() > 0.9)
    True
    """

    def __init__(self, *, arms: int = 25, model: int = 0) -> None:
        super().__init__(arms=arms, model=model)

    def _draw(self, rng: np.random.Generator) -> None:
        self._levels = rng.normal(0.0, 0.35, self.arms)
        self._frequencies, self._shifts = rng.choice([0.5, 1.0, 1.5], self.arms), rng.random(self.arms)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        waves = np.sin(2 * np.pi * (contexts * self._frequencies + self._shifts))
        return np.asarray(1.0 - np.minimum(0.5, 0.04 * np.exp(self._levels + 0.35 * waves)))


class Noise(Problem):
    """Losses uniform on (0, 1] for every arm: nothing can be learned, and every round has a loss. This takes the most computation.

    `arms` is the number of arms, `features` the number of features in a context.

    >>> Noise(arms=2, features=3).sample(100, seed=0).contexts.shape
    (100, 3)
    """

    def __init__(self, *, arms: int = 3, features: int = 1) -> None:
        super().__init__(arms=arms, features=features)
        self.features = self.space.features

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return np.broadcast_to(0.5, (len(contexts), self.arms))

    def _losses(self, rng: np.random.Generator, expected: Floats) -> Floats:
        return 1.0 - rng.random(expected.shape)


class SlowDrift(Smooth):
    """`Smooth` whose phases make one full turn during the run, every second arm in the opposite direction.

    `arms` and `model` as in `Smooth`.

    >>> SlowDrift().expected(np.array([[0.3]]), np.array([0]), 100).shape
    (1, 3)
    """

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return self._waves(contexts, np.outer(when / rounds, np.where(np.arange(self.arms) % 2, -1.0, 1.0)))

    def _phases(self, rounds: int) -> Iterator[tuple[int, float]]:
        few = min(rounds, TIMES)
        for start, end in ((k * rounds // few, (k + 1) * rounds // few) for k in range(few)):
            yield (start + end - 1) // 2, (end - start) / rounds


class Piecewise(RandomProblem):
    """[0, 1) is cut into `pieces` intervals at random; in each, every arm has an expected loss drawn uniformly from [0.1, 0.9).

    `arms` and `model` as in `Smooth`.

    >>> Piecewise(arms=5).sample(100, seed=0).losses.shape
    (100, 5)
    """

    def __init__(self, *, arms: int = 3, pieces: int = 8, model: int = 0) -> None:
        self.pieces = whole("pieces", pieces, 1, 10**6)
        super().__init__(arms=arms, model=model)

    def _draw(self, rng: np.random.Generator) -> None:
        self._cuts = np.sort(rng.random(self.pieces - 1))
        self._means = rng.uniform(0.1, 0.9, (self.pieces, self.arms))

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return np.asarray(self._means[np.searchsorted(self._cuts, contexts[:, 0], side="right")])

    def best_loss(self, rounds: int) -> float:
        """Return the exact value: the average of the least expected loss of each interval, weighted by its length. Ignores `rounds`."""
        return float(np.diff(self._cuts, prepend=0.0, append=1.0) @ self._means.min(axis=1))


class TwoFeatures(RandomProblem):
    """Contexts (x, y) in the unit square; each arm is expected to lose 0.5 + 0.4 sin(2 pi (f x + g y + phi)).

    Drawn for each arm are f and g, one of -1, -1/2, 1/2, 1, and phi, uniform on [0, 1). `arms` and `model` as in `Smooth`.

    >>> TwoFeatures().structure(depth=4).space
    Box([0.0, 0.0], [1.0, 1.0])
    """

    FEATURES = 2

    def _draw(self, rng: np.random.Generator) -> None:
        self._directions, self._shifts = rng.choice([-1.0, -0.5, 0.5, 1.0], (2, self.arms)), rng.random(self.arms)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return np.asarray(0.5 + 0.4 * np.sin(2 * np.pi * (contexts @ self._directions + self._shifts)))
