"""What an adapter says of its library. Needs NumPy alone: it is imported in every library's own environment.

An adapter is one file of `libraries/` with one `LIBRARY`. It must import without the library: `make` imports it when it is called.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Settings = dict[str, Any]


class Play(NamedTuple):
    """An arm, the probability with which it was drawn if the library tells it, and whatever else the library wants back with the loss."""

    arm: int
    propensity: float | None = None
    keep: Any = None


class Table(NamedTuple):
    """What a player is made for: arms 0..arms-1, `width` columns of features, so many rounds to be played, a seed."""

    arms: int
    width: int
    rounds: int
    seed: int


class Player(ABC):
    """One configuration at play. Losses are in [0, 1]; a library that wants rewards is given 1 - loss. Arms go in and come out as they are,
    unchecked: what the library does with an arm that it does not know, or with a NaN, is for us to see."""

    def prepare(self, X: Floats) -> Any:
        """Rows of features in the library's own form. Done before the clock starts."""
        return X

    @abstractmethod
    def decide(self, x: Any) -> Play:
        """Choose an arm for a prepared row."""

    @abstractmethod
    def learn(self, x: Any, play: Play, loss: float) -> None:
        """The loss of an earlier decision, the last one or not."""


class BatchPlayer(Player):
    """A player whose library decides and learns many rounds in one call."""

    @abstractmethod
    def decide_many(self, X: Any) -> list[Play]:
        """Choose an arm for each of several prepared rows, a slice of what `prepare` gave."""

    @abstractmethod
    def learn_many(self, X: Any, plays: list[Play], losses: Floats) -> None:
        """The losses of these decisions."""

    def decide(self, x: Any) -> Play:
        """A batch of one."""
        return self.decide_many(x[None])[0]

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """A batch of one."""
        self.learn_many(x[None], [play], np.array([loss]))


def coins(rewards: Floats, rng: np.random.Generator) -> None:
    """Make rewards strictly between 0 and 1 into 0 or 1 by a coin with that mean: for a model of successes and failures."""
    between = (rewards > 0) & (rewards < 1)
    if between.any():
        rewards[between] = rng.random(between.sum()) < rewards[between]


class BulkPlayer(Player):
    """A player whose library plays a whole table in one call and learns after every round."""

    @abstractmethod
    def run(self, X: Floats, losses: Floats) -> Numbers:
        """The arms played, given encoded contexts (not prepared) and the losses of all arms."""


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of a library: how to make it, its default, and the other settings that are tried."""

    name: str
    make: Callable[[Table, Settings], Player]
    default: Settings = field(default_factory=dict)
    """The library's own defaults, written out; where it has none, what its documentation's first example uses."""
    grid: tuple[Settings, ...] = ()
    """Settings that are tried besides the default, on a seed of their own."""
    encodings: tuple[str, ...] = ("raw", "cubic", "bins")
    """Of `features.ENCODINGS`; ("none",) for an algorithm without contexts."""
    constant: bool = False
    """Add a column of ones, for a model without an intercept of its own."""
    batch: int = 1
    """At most so many rounds between two updates, where one at a time would take too long. Small at first: a twentieth of the rounds played."""
    needs: str = ""
    """Another module, beside the library's own, without which it is left out."""
    says: str = ""
    """What a reader must know of it."""

    def __post_init__(self) -> None:
        """Settings as plain data, as they come back from a file: lists, not tuples."""
        object.__setattr__(self, "default", json.loads(json.dumps(self.default)))
        object.__setattr__(self, "grid", tuple(json.loads(json.dumps(self.grid))))


@dataclass(frozen=True)
class Library:
    """A library and what is taken from it."""

    name: str
    package: str
    """What pip calls it."""
    module: str
    """What Python imports, to decide something."""
    algorithms: tuple[Algorithm, ...]
    source: str
    """The pages of its documentation that the adapter follows."""
    own_environment: tuple[str, ...] = ()
    """Requirements of a virtual environment of its own, where it does not go together with the others."""
    says: str = ""
    """What a reader must know of all its rows."""
