"""What a problem is: contexts, the expected loss of each arm, and what the best policy that knows them would lose."""

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

GRID = {1: 1 << 14, 2: 1 << 10}  # points a feature, by the number of features: `best_loss` is then right to 1e-6 or better
SCATTERED = 1 << 18  # points where there are more features: right to 1e-3


class Sample(NamedTuple):
    """What a problem draws for T rounds and M arms: three tables.

    >>> import hsb.problems
    >>> hsb.problems.Stationary().sample(4, seed=0).losses.shape
    (4, 3)
    """

    contexts: Floats
    """The contexts, shape (T, features)."""
    losses: Floats
    """The loss of every arm in every round, shape (T, M)."""
    expected: Floats
    """The loss that was to be expected, shape (T, M)."""


class Problem(ABC):
    """A world to play in, made up: contexts are drawn from the unit box, losses from the expected ones, all from a seed alone.

    `arms` is the number of arms, `features` that of the numbers in a context. A problem of your own says what each arm is expected to lose
    (`expected`) and keeps its constructor's arguments, plain data, under their names. What of its model is random it draws in `_draw`. Contexts
    are uniform and losses 0 or 1 unless it says otherwise (`_contexts`, `_losses`).

    >>> import numpy as np
    >>> class Halves(Problem, listed=False):  # without listed=False, `named` knows it too
    ...     def __init__(self):
    ...         super().__init__(arms=2)
    ...     def expected(self, contexts, when, rounds):
    ...         return np.where(contexts < 0.5, [0.1, 0.9], [0.9, 0.1])
    >>> round(Halves().best_loss(100), 12)
    0.1
    """

    kinds: ClassVar[dict[str, type["Problem"]]] = {}  # filled as classes are defined; `named` looks here
    name: ClassVar[str]
    """What `named` calls it."""
    synthetic: ClassVar[bool] = True
    """Is it made up, so that the expected losses are known?"""
    reacts: ClassVar[bool] = False
    """Do its losses depend on the policy? Then there is nothing to `sample`, only to `play`."""

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
        """The expected loss of every arm, shape (T, M), at contexts of shape (T, features) in the rounds `when`, 0-based, out of `rounds`."""

    def _draw(self, rng: np.random.Generator) -> None:
        """Draw what is random of the model: phases, cuts, permutations."""
        return

    def _contexts(self, rng: np.random.Generator, rounds: int) -> Floats:
        return rng.random((rounds, self.space.features))

    def _losses(self, rng: np.random.Generator, expected: Floats) -> Floats:
        return flips(rng, expected)

    def _phases(self, rounds: int) -> Iterator[tuple[int, float]]:
        """Rounds that stand for all, and the share of rounds each stands for. One where nothing changes."""
        yield 0, 1.0

    def sample(self, rounds: int, seed: int, *, new_model: bool = False) -> Sample:
        """Contexts and losses of `rounds` rounds, a `Sample`. Same `seed`, same sample.

        With `new_model=True` what is random of the model is drawn from the seed too, after the contexts, in place of the problem's own.

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
        """Let a policy play the `rounds` rounds that `seed` draws. It goes on from its present state and is changed. Returns a `Run`."""
        self.check(policy)
        contexts, losses, _ = self.sample(rounds, seed)
        return simulate(policy, contexts, losses)

    def best_loss(self, rounds: int) -> float:
        """The average loss to be expected over `rounds` rounds by who knows the model and always plays the best arm.

        By quadrature over uniform contexts: right to 1e-6 for one or two features, to 1e-3 for more.

        >>> import hsb.problems
        >>> round(hsb.problems.Stationary().best_loss(100_000), 4)
        0.1957
        """
        rounds = whole("rounds", rounds, 1)
        return float(sum(share * best for share, best in self._best_by_phase(rounds)))

    def best_losses(self, marks: Any, rounds: int) -> Floats:
        """`best_loss` over the first t rounds alone, for each t in `marks`, an array; `rounds` is the number of rounds in all.

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
        """Each phase's share of the rounds, and what the best arms are expected to lose in it."""
        features = self.space.features
        if features in GRID:
            axis = (np.arange(GRID[features]) + 0.5) / GRID[features]
            points = np.stack(np.meshgrid(*[axis] * features), axis=-1).reshape(-1, features)
        else:
            points = np.random.default_rng(0).random((SCATTERED, features))
        for when, share in self._phases(rounds):
            yield share, float(self.expected(points, np.full(len(points), when), rounds).min(axis=1).mean())

    def structure(self, depth: int = 10) -> BinaryTree:
        """An `hsb.BinaryTree` of depth `depth` over its contexts."""
        return BinaryTree(depth=depth, space=self.space)

    @property
    def title(self) -> str:
        """The problem in words, for figures.

        >>> import hsb.problems
        >>> hsb.problems.SuddenChange(at=0.5).title
        'Sudden change (at=0.5)'
        """
        said = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return self.name.replace("-", " ").capitalize() + (f" ({said})" if said else "")

    def check(self, policy: Policy) -> None:
        """InputError unless the policy has as many arms as the problem."""
        if not isinstance(policy, Policy):
            raise InputError(
                f"A problem is played by a policy, e.g. hsb.HSB(problem.structure(10), arms=3); given {quoted(policy)}."
            )
        if len(policy.arms) != self.arms:
            raise InputError(
                f"{quoted(self)} has {self.arms} arms and the policy {len(policy.arms)}. Make it with arms={self.arms}."
            )

    def parameters(self) -> dict[str, Any]:
        """A dict of the constructor's arguments, as plain data."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def to_dict(self) -> dict[str, Any]:
        """A dict of name and settings, as plain data: `named(**problem.to_dict())` makes an equal one."""
        return {"name": self.name, **self.parameters()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters().items())})"


class RandomProblem(Problem, listed=False):
    """A problem whose model (phases, cuts, permutations) is drawn at random: `model` says which."""

    FEATURES: ClassVar[int] = 1

    def __init__(self, *, arms: int = 3, model: int = 0) -> None:
        super().__init__(arms=arms, features=self.FEATURES)
        self.model = whole("model", model, 0)
        self._draw(np.random.default_rng([self.model, 0x40DE1]))


def data_generator(seed: int) -> np.random.Generator:
    """Not the one that a policy with the same seed draws from."""
    return np.random.default_rng([whole("seed", seed, 0), 0xDA7A])


def flips(rng: np.random.Generator, probability: Floats) -> Floats:
    """Losses of 0 or 1, 1 with these probabilities."""
    return (rng.random(probability.shape) < probability).astype(np.float64)
