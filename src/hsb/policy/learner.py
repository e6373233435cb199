"""What an algorithm is: the protocol between a policy and its learner, and the values that they pass to each other.

A policy owns its arms, its range of losses, its random numbers and its list of decisions; it knows no algorithm. A learner is an algorithm:
it owns what was learned and knows no arm by name. One round goes

    read a context -> choose an arm -> (the world) -> recall what was seen -> learn the loss -> settle what is due

and each step gets what it needs as arguments. A learner never draws random numbers: `u` comes in, so a decision is a pure function of the
learner, the context and `u`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from ..types import Arrays, Floats, Ints, Masks
from .rows import rows_of

Choice = tuple[int, float, float]
"""An arm, by its index, the probability with which it is played, and the share of the advisor's advice that was on it: -1 if there is none."""


class Memo(NamedTuple):
    """What a decision remembers of the moment in which it was made, so that late feedback is learned as it was decided."""

    rounds: int = -1
    """Rounds learned before it; -1 for a decision that no policy made here."""
    arms: int = 0
    """How many arms there were."""
    advice: float = -1.0
    """The share of the advice that was on its arm."""
    cells: Any = None
    """The cell of each input, if the way of reading contexts changes with what is learned."""


NO_MEMO = Memo()


class Distributions(NamedTuple):
    """What `fill` and `advice` say of several contexts."""

    fit: list[int]
    """Which of the contexts given could be read; the rest is of these."""
    p: Floats
    """A row for each."""
    advice: Floats
    """Likewise, the advice on each arm."""
    cells: list[Any]


class LoggedRows(NamedTuple):
    """Rows of a log, as learners take them. Row t offers the arms of masks[pool[t]], one byte per arm."""

    points: Any
    """Contexts that `check` returned."""
    masks: Masks
    pool: Ints
    arm: Ints
    """The index of the arm shown."""
    losses: Floats
    """Its loss, scaled to [0, 1]."""

    def mask(self, t: int) -> Masks | None:
        """The mask of row t; None if every arm is available."""
        mask = self.masks[self.pool[t]]
        return None if mask.all() else mask


class Played(NamedTuple):
    """A table to play: what each round offers and would lose, the numbers that decide, and where the outcome is written."""

    points: Any
    masks: Masks | None
    """A row of bytes for each round; None if every round offers every arm."""
    losses: Floats
    """A column for each arm, scaled to [0, 1]."""
    us: Floats
    arms: Ints
    """Out: the index of the arm played."""
    probabilities: Floats
    """Out: the probability with which it was played."""

    def mask(self, t: int) -> Masks | None:
        """The mask of round t; None if every arm is available."""
        return None if self.masks is None or self.masks[t].all() else self.masks[t]


class Learner(Protocol):
    """All that an algorithm is. Masks have one byte per arm, and are None if every arm is available.

    `learn` changes the learner's arrays in one compiled call, which also counts the round in `seen`, or returns a successor, which it shares
    no memory with or which `prepare` made and `undo` knows of. So an interrupt leaves the state before the round or the state after it, and
    `seen` says which.

    The methods of the first part are what every learner has. Those of the second part have a default: a learner with compiled loops over
    tables defines them, and then each loop learns at least one row and stops where something is due.
    """

    any_context: ClassVar[bool] = False
    """May one context be a table, as the advice of several experts is? Then no table is taken for many contexts."""

    # -- every learner ---------------------------------------------------------------------------------------------------

    @property
    def seen(self) -> int:
        """Rounds learned, counted by the call that learns."""

    def read(self, context: Any) -> tuple[Any, int]:
        """What it sees of a context, for `choose`, `fill` and `learn`; and 1 if the context was clipped to the space, else 0."""

    def choose(self, seen: Any, mask: Masks | None, u: float) -> Choice:
        """The arm that `u` selects."""

    def fill(self, seen: Any, mask: Masks | None, p: Floats) -> None:
        """Write the distribution over arms into `p`."""

    def learn(self, seen: Any, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> Self | None:
        """Learn the loss of an arm; no memo: a logged decision. Returns None, or the successor to replace this learner by."""

    def check(self, contexts: Any) -> tuple[Any, int]:
        """A table of contexts, checked, one row each, and how many were clipped. Changes nothing."""

    def with_arm(self, arm: Hashable, features: Any = None) -> Self:
        """A successor with one more arm. `arm` is for messages; `features` say what it is like."""

    def copy(self) -> Self:
        """An independent learner in the same state."""

    def to_arrays(self) -> Arrays:
        """All that was learned, by name."""

    def from_arrays(self, arrays: Arrays, rounds: int) -> Self:
        """The learner, of the same settings as this fresh one, that `to_arrays` described; ValueError if they do not fit."""

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments, as plain data."""

    # -- one round, with defaults ----------------------------------------------------------------------------------------

    takes_arm_features: ClassVar[bool] = False
    """Does it learn from what arms are like?"""
    changing_settings: ClassVar[tuple[str, ...]] = ()
    """Which of its settings change as it learns."""

    uniform_share: float = 0.0
    """The share of decisions that the algorithm itself needs to be uniform now; the policy's floor may be larger."""
    keeps_cells: ClassVar[bool] = False
    """Does the way in which it reads contexts change, so that decisions remember their cells?"""

    def recall(self, context: Any, memo: Memo | None) -> tuple[Any, int]:
        """`read` for a context that is about to be learned, as it was seen when the decision was made; no memo: a logged decision."""
        return self.read(context)

    def prepare(self, seen: Any, memo: Memo | None) -> Any:
        """What was seen, ready for `learn`: with the successor, if it cannot be learned without one. Changes nothing. `recall` did it."""
        return seen

    def undo(self, seen: Any) -> None:
        """Undo what `learn` changed for what was seen before it was interrupted: the round was not learned. Doing it again changes nothing."""
        return

    def cells(self, seen: Any) -> Ints | None:
        """What a decision's memo keeps of what was seen, if it `keeps_cells`."""
        return None

    def read_row(self, row: Any) -> Any:
        """`read` for a row of a table that `check` returned."""
        return self.read(row)[0]

    def advice(self, arm: int) -> float:
        """The share of the advice in the last `choose` or `fill` that was on an arm; -1 if there is no advisor."""
        return -1.0

    def settle(self, seen: Any, rounds: int) -> Self | None:
        """Do what is due after `rounds` rounds, the last of which it saw as `seen`; calling it again changes nothing. A successor, or None."""
        return None

    def describe_arm(self, index: int, arm: Hashable, features: Any) -> Self:
        """A successor that knows these features of an arm."""
        return self

    def validator(self) -> Callable[[Any], object]:
        """A function that raises InputError for a context that could not be learned once those given to it before were learned."""
        return self.read

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        """The features that it knows by name, and their kinds; None if it does not take contexts by name."""
        return None

    def renamed(self, rename: Callable[[str, int], str | None]) -> Self | None:
        """The same learner, which knows some categories and tags of contexts by other names; None where all names stay."""
        return None

    @property
    def microseconds(self) -> float:
        """About how long a decision takes, on one processor of 2026, within a factor of two; 0 where it does not grow with what is seen."""
        return 0.0

    @property
    def nbytes(self) -> int:
        """Memory that the state takes, in bytes."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def shown(self) -> dict[str, Any]:
        """What `repr` says of its settings."""
        return {}

    # -- tables and logs, with defaults ----------------------------------------------------------------------------------

    bulk_floor: ClassVar[bool] = False
    """Does `play` look at the floor itself?"""
    bulk_logs: ClassVar[bool] = False
    """Does it have `learn_rows`?"""

    def contexts(self, given: Any, points: Any) -> list[Any]:
        """The contexts of a table one by one, as decisions keep them; `points` is what `check` returned."""
        return as_given(given)

    def cells_of_rows(self, points: Any) -> Any:
        """`cells` for each row of a table; None if there are none."""
        return None

    def choose_rows(self, points: Any, masks: Masks | None, us: Floats) -> tuple[Ints, Floats, Floats] | None:
        """`choose` for each row: arms, probabilities, advice; None if rows are better chosen one by one."""
        return None

    def choose_contexts(self, contexts: list[Any], us: list[float]) -> list[tuple[Choice, Ints | None] | None] | None:
        """`choose` for each context, with its cells; None for one that is refused. None if they are better chosen one by one."""
        return None

    def fill_contexts(self, contexts: list[Any]) -> Distributions | None:
        """`fill`, `advice` and `cells` for each context that is not refused. None if they are better taken one by one."""
        return None

    def fill_rows(self, rows: LoggedRows, p: Floats) -> bool:
        """`fill` for each row, into the rows of `p`; False if it has no loop for that."""
        return False

    def read_rows(self, points: Any, start: int) -> Any:
        """What it sees of the rows from `start` on that it can learn at once; None if row `start` must be learned by itself."""
        return None

    def play(self, seen: Any, table: Played, start: int, share: float, to_come: int) -> Self | None:
        """Decide and learn the rows that `read_rows` saw. `share` is uniform; `to_come` rounds follow, these among them."""
        return None

    def learn_rows(self, seen: Any, rows: LoggedRows, probabilities: Floats, start: int) -> Self | None:
        """Learn the logged rows that `read_rows` saw, shown with these probabilities."""
        return None

    def rows_to_fit(self, points: Any) -> Floats | None:
        """Rows that were just learned, as `fitted` takes them; None if it has nothing that could be fitted to a whole log."""
        return None

    def fitted(self, rows: Floats, arm: Ints, losses: Floats) -> Self:
        """A successor whose models are fitted at once to all the rows that it learned, those of a log."""
        return self

    def logged(self) -> Self:
        """A successor that knows that all it learned came from a log: its own rounds begin now."""
        return self

    def begin_replay(self, rows: LoggedRows, us: Floats) -> Any:
        """A replay of a log for `replay`, which goes on with it until it is `over`; None if rows are replayed one by one."""
        return None

    def replay(self, run: Any) -> Self | None:
        """Go on with a replay until something is due or it is over."""
        return None


def as_given(contexts: Any) -> list[Any]:
    """The rows of a table as they are, none of which the caller can still change by writing to the table."""
    if isinstance(contexts, list | tuple):
        return [each.copy() if isinstance(each, list | np.ndarray) else each for each in contexts]
    rows_of(contexts)
    table = np.array(contexts)
    return table.tolist() if table.ndim == 1 else list(table)


def take_arrays(fresh: Arrays, given: Arrays) -> None:
    """Copy arrays from a file into those of a fresh learner; ValueError if they do not fit."""
    for name, own in fresh.items():
        array = given[name]
        if array.shape != own.shape or array.dtype != own.dtype:
            raise ValueError(f"its {name} does not fit its settings")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError("its state holds numbers that are not finite")
        own[...] = array
