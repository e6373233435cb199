"""Problems: contexts, the expected loss of each arm, and the loss of the best policy that knows them."""

import copy
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..checks import whole
from ..errors import InputError, quoted
from ..play import Run, simulate
from ..policy import Policy
from ..structures import BinaryTree
from ..structures.spaces import Box
from ..types import Floats, Ints

GRID = {1: 1 << 14, 2: 1 << 10}  # points for each feature, by the number of features: `best_loss` is accurate to 1e-6 or better
SCATTERED = 1 << 18  # random points for more features: accurate to 1e-3


class Sample(NamedTuple):
    """The data of T rounds with M arms, drawn from a problem: three tables.

    >>> import hsb.problems
    >>> hsb.problems.Stationary().sample(4, seed=0).losses.shape
    (4, 3)
    """

    contexts: Floats
    """The contexts, shape (T, features)."""
    losses: Floats
    """The loss of every arm in every round, shape (T, M)."""
    expected: Floats
    """The expected losses, shape (T, M)."""


class Problem(ABC):
    """A synthetic problem: draws contexts from the unit box, and losses with given expectations, all from a seed.

    `arms` is the number of arms M, `features` the number of features in a context. To define a problem, subclass it: return the expected loss
    of each arm in `expected`, and store the constructor's arguments, plain data, as attributes of the same names. Draw the random part of the
    model in `_draw`. Contexts are uniform and losses are 0 or 1, unless you override `_contexts` or `_losses`.

    >>> import numpy as np
    >>> class Halves(Problem, listed=False):  # without listed=False, `by_name` knows it too
    ...     def __init__(self):
    ...         super().__init__(arms=2)
    ...     def expected(self, contexts, when, rounds):
    ...         return np.where(contexts < 0.5, [0.1, 0.9], [0.9, 0.1])
    >>> round(Halves().best_loss(100), 12)
    0.1
    """

    kinds: ClassVar[dict[str, type["Problem"]]] = {}  # filled as classes are defined, for `by_name`
    name: ClassVar[str]
    """The problem's name for `by_name`."""
    synthetic: ClassVar[bool] = True
    """Are the expected losses known?"""
    reacts: ClassVar[bool] = False
    """Do its losses depend on the policy? Then it can only `play`, not `sample`."""

    def __init_subclass__(cls, *, listed: bool = True) -> None:
        super().__init_subclass__()
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()
        if listed and Problem.kinds.get(cls.name, cls).__module__ == cls.__module__:  # a user's Stationary is not VI-A's
            Problem.kinds[cls.name] = cls

    def __init__(self, *, arms: int = 3, features: int = 1) -> None:
        self.arms = whole("arms", arms, 2, 10**6)
        self.space = Box.unit(whole("features", features, 1, 10**6))

    @abstractmethod
    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        """Return the expected loss of every arm, shape (T, M), for contexts of shape (T, features) in rounds `when` (from 0) of `rounds`."""

    def _draw(self, rng: np.random.Generator) -> None:
        """Draw the random part of the model: phases, cuts, permutations."""
        return

    def _contexts(self, rng: np.random.Generator, rounds: int) -> Floats:
        return rng.random((rounds, self.space.features))

    def _losses(self, rng: np.random.Generator, expected: Floats) -> Floats:
        return flips(rng, expected)

    def _phases(self, rounds: int) -> Iterator[tuple[int, float]]:
        """Yield (round, share): a round that represents a share of all rounds. One pair if nothing changes over time."""
        yield 0, 1.0

    def sample(self, rounds: int, seed: int, *, new_model: bool = False) -> Sample:
        """Draw contexts and losses of `rounds` rounds, a `Sample`. The same `seed` gives the same sample.

        With `new_model=True` the random part of the model is drawn from the seed too, after the contexts.

        >>> import hsb.problems
        >>> contexts, losses, expected = hsb.problems.Stationary().sample(1000, seed=0)
        >>> contexts.shape, losses.shape, expected.shape
        ((1000, 1), (1000, 3), (1000, 3))
        """
        rounds = whole("rounds", rounds, 1)
        rng = data_generator(seed)
        contexts = self._contexts(rng, rounds)
        problem = copy.copy(self) if new_model else self
        if new_model:
            problem._draw(rng)
        expected = problem.expected(contexts, np.arange(rounds), rounds)
        return Sample(contexts, problem._losses(rng, expected), expected)

    def play(self, policy: Policy, rounds: int, seed: int) -> Run:
        """Let a policy play `rounds` rounds drawn from `seed`. It continues from its present state and is changed. Returns a `Run`."""
        self.check(policy)
        contexts, losses, _ = self.sample(rounds, seed)
        return simulate(policy, contexts, losses)

    def best_loss(self, rounds: int) -> float:
        """Return the expected average loss, over `rounds` rounds, of a policy that knows the model and always plays the best arm.

        By quadrature over uniform contexts: accurate to 1e-6 for one or two features, to 1e-3 for more.

        >>> import hsb.problems
        >>> round(hsb.problems.Stationary().best_loss(100_000), 4)
        0.1957
        """
        rounds = whole("rounds", rounds, 1)
        return float(sum(share * best for share, best in self._best_by_phase(rounds)))

    def best_losses(self, marks: Any, rounds: int) -> Floats:
        """Return `best_loss` over the first t rounds, for each t in `marks`, as an array; `rounds` is the number of all rounds.

        >>> import hsb.problems
        >>> hsb.problems.HiddenImprovement().best_losses([500, 1000], 1000).round(12)
        array([0.3, 0.2])
        """
        rounds, points = whole("rounds", rounds, 1), np.asarray(marks, dtype=np.float64)
        if points.ndim != 1 or not ((points >= 1) & (points <= rounds)).all():
            raise InputError(f"marks must be rounds from 1 to {rounds}; given {quoted(marks)}.")
        parts = list(self._best_by_phase(rounds)) if len(list(self._phases(rounds))) > 1 else [(1.0, self.best_loss(rounds))]
        ends = rounds * np.cumsum([0.0, *(share for share, _ in parts)])
        totals = np.cumsum([0.0, *(rounds * share * best for share, best in parts)])
        return np.asarray(np.interp(points, ends, totals) / points)

    def _best_by_phase(self, rounds: int) -> Iterator[tuple[float, float]]:
        """Yield each phase's share of the rounds, and the expected loss of the best arms in it."""
        features = self.space.features
        if features in GRID:
            axis = (np.arange(GRID[features]) + 0.5) / GRID[features]
            points = np.stack(np.meshgrid(*[axis] * features), axis=-1).reshape(-1, features)
        else:
            points = np.random.default_rng(0).random((SCATTERED, features))
        for when, share in self._phases(rounds):
            yield share, float(self.expected(points, np.full(len(points), when), rounds).min(axis=1).mean())

    def structure(self, depth: int = 10) -> BinaryTree:
        """Return an `hsb.BinaryTree` of depth `depth` over the contexts."""
        return BinaryTree(depth=depth, space=self.space)

    @property
    def title(self) -> str:
        """The problem in words, for figures.

        >>> import hsb.problems
        >>> hsb.problems.SuddenChange(at=0.5).title
        'Sudden change (at=0.5)'
        """
        settings = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return self.name.replace("-", " ").capitalize() + (f" ({settings})" if settings else "")

    def check(self, policy: Policy) -> None:
        """Raise `InputError` unless `policy` is a policy with as many arms as the problem."""
        if not isinstance(policy, Policy):
            raise InputError(
                f"A problem is played by a policy, e.g. hsb.HSB(problem.structure(10), arms=3); given {quoted(policy)}."
            )
        if len(policy.arms) != self.arms:
            raise InputError(
                f"{quoted(self)} has {self.arms} arms and the policy {len(policy.arms)}. Make it with arms={self.arms}."
            )

    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments as plain data."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def to_dict(self) -> dict[str, Any]:
        """Return name and settings as plain data: `by_name(**problem.to_dict())` makes an equal problem."""
        return {"name": self.name, **self.parameters()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters().items())})"


class RandomProblem(Problem, listed=False):
    """A problem whose model (phases, cuts, permutations) is random: `model` is the seed of the model."""

    FEATURES: ClassVar[int] = 1

    def __init__(self, *, arms: int = 3, model: int = 0) -> None:
        super().__init__(arms=arms, features=self.FEATURES)
        self.model = whole("model", model, 0)
        self._draw(np.random.default_rng([self.model, 0x40DE1]))


def data_generator(seed: int) -> np.random.Generator:
    """Return a generator that differs from that of a policy with the same seed."""
    return np.random.default_rng([whole("seed", seed, 0), 0xDA7A])


def flips(rng: np.random.Generator, probability: Floats) -> Floats:
    """Draw losses of 0 or 1; 1 has these probabilities."""
    return (rng.random(probability.shape) < probability).astype(np.float64)
