"""`Learner`, the protocol between a policy and its algorithm, and the values that they pass to each other.

A policy owns its arms, its range of losses, its random numbers and its ledger of decisions; it knows no algorithm. A learner is an algorithm:
it owns the learned state and knows no arm by name. One round goes

    read a context -> choose an arm -> (the world) -> recall the view -> learn the loss -> settle what is due

and each step gets what it needs as arguments. `read` turns a context into a view, whatever the algorithm needs of it: a key, a leaf, a vector.
A learner never draws random numbers: `u` is an argument, so a decision is a pure function of the learner, the context and `u`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from ..features.arm_kinds import ArmKinds
from ..types import Arrays, Floats, Ints, Masks
from .rows import rows_of

Choice = tuple[int, float, float]
"""The index of an arm, the probability with which it is played, and the share of the advice on it: -1 without an advisor."""


class Memo(NamedTuple):
    """The part of the state at the moment of deciding that a decision keeps, so that late feedback is learned by that state."""

    rounds: int = -1
    """Rounds learned before the decision; -1 if no policy made it."""
    arms: int = 0
    """The number of arms."""
    advice: float = -1.0
    """The share of the advice on its arm; -1 without an advisor."""
    cells: Any = None
    """The cell of each input, if learning changes how contexts are read (`Learner.keeps_cells`)."""
    slot: int = 0
    """Its place on its page, from 0."""


NO_MEMO = Memo()


class Also(NamedTuple):
    """Losses of other arms than the one played, scaled to [0, 1]: only models learn them, nothing that is proved depends on them."""

    arms: Ints
    losses: Floats


class Distributions(NamedTuple):
    """`fill`, `advice` and `cells` of several contexts."""

    fit: list[int]
    """Indices of the contexts that could be read. The other fields have an entry for each of these."""
    p: Floats
    """The distribution over arms, a row for each context."""
    advice: Floats
    """The share of the advice on each arm, a row for each context."""
    cells: list[Any]


class LoggedRows(NamedTuple):
    """Rows of a log, as learners take them. The arms of masks[pool[t]], one byte per arm, are available in row t."""

    points: Any
    """The contexts that `check` returned."""
    masks: Masks
    pool: Ints
    arm: Ints
    """The index of the arm shown."""
    losses: Floats
    """The loss of that arm, scaled to [0, 1]."""

    def mask(self, t: int) -> Masks | None:
        """Return the mask of row t; None if every arm is available."""
        mask = self.masks[self.pool[t]]
        return None if mask.all() else mask


class Played(NamedTuple):
    """A table to play: available arms and losses of each round, the numbers that decide, and arrays for the outcome."""

    points: Any
    masks: Masks | None
    """A row of bytes for each round; None if every arm is always available."""
    losses: Floats
    """A column for each arm, scaled to [0, 1]."""
    us: Floats
    """The uniform sample that picks the arm of each round."""
    arms: Ints
    """Output: the index of the arm played."""
    probabilities: Floats
    """Output: the probability with which it was played."""

    def mask(self, t: int) -> Masks | None:
        """Return the mask of round t; None if every arm is available."""
        return None if self.masks is None or self.masks[t].all() else self.masks[t]


class Learner(Protocol):
    """An algorithm. Masks have one byte per arm, and are None if every arm is available.

    `learn` does one of two things. Either it changes the learner's arrays in one compiled call, which also counts the round in `rounds`. Or it
    returns a successor: one that shares no memory with this learner, or one that `prepare` made and `undo` can take back. So an interrupt
    leaves the state before the round or the state after it, and `rounds` shows which.

    Every learner has the methods of the first part. Those of the other parts have a default. A learner with compiled loops over tables
    defines them too; each loop then learns at least one row, and stops as soon as something is due.
    """

    any_context: ClassVar[bool] = False
    """Whether one context may be a table, e.g. the advice of several experts. If so, a table never stands for many contexts."""

    # -- every learner ---------------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """The number of rounds learned, counted by the call that learns."""

    def read(self, context: Any) -> tuple[Any, int]:
        """Return the view of a context, for `choose`, `fill` and `learn`; and 1 if the context was clipped to the space, else 0."""

    def choose(self, view: Any, mask: Masks | None, u: float) -> Choice:
        """Return the arm that `u` selects, its probability and its share of the advice."""

    def fill(self, view: Any, mask: Masks | None, p: Floats) -> None:
        """Write the distribution over arms into `p`."""

    def learn(self, view: Any, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> Self | None:
        """Learn the `loss` in [0, 1] of an arm, played with this probability. Return None, or the successor that replaces this learner.

        `memo` is None for a logged decision. A learner that `takes_also` has a further argument, an `Also` or None.
        """

    def check(self, contexts: Any) -> tuple[Any, int]:
        """Check a table of contexts and return it, a row for each context, with the number of contexts clipped. Changes nothing."""

    def with_arm(self, arm: Hashable, features: Any = None) -> Self:
        """Return a successor with one more arm. `arm` is its label, for messages; `features` describe it."""

    def copy(self) -> Self:
        """Return an independent learner in the same state."""

    def to_arrays(self) -> Arrays:
        """Return the learned state, arrays by name."""

    def from_arrays(self, arrays: Arrays, rounds: int) -> Self:
        """Return a learner with the settings of this fresh one and the state of `arrays`; ValueError if they do not fit."""

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments as plain data."""

    # -- one round, with defaults ----------------------------------------------------------------------------------------

    takes_arm_features: ClassVar[bool] = False
    """Whether it learns from features of arms."""
    changing_settings: ClassVar[tuple[str, ...]] = ()
    """The settings that change as it learns."""

    takes_also: ClassVar[bool] = False
    """Whether its models learn the losses of other arms than the one played."""
    takes_requests: ClassVar[bool] = False
    """Whether a context is a `Request`, with its own arms."""
    counts_feedback: ClassVar[bool] = True
    """Whether feedback by arm is counted and tested: there are few arms, always the same."""
    uniform_share: float = 0.0
    """The share of decisions that the algorithm itself needs to be uniform now; the policy's floor may be larger."""
    slots: int = 1
    """The number of slots of a page for which it learns separately; 1 if it learns for all slots together."""
    keeps_cells: ClassVar[bool] = False
    """Whether learning changes how contexts are read, so that decisions keep their cells."""

    def read_slot(self, context: Any, slot: int) -> tuple[Any, int]:
        """`read` for a slot of a page, from 0."""
        return self.read(context)

    def share_of(self, view: Any) -> float:
        """Return the `uniform_share` of decisions with this view."""
        return self.uniform_share

    def rank(self, slot: int) -> Learner:
        """Return the learner of a slot."""
        return self

    def logged_memo(self, memo: Memo) -> Memo | None:
        """Return the part of the memo that counts for a decision that the policy did not make."""
        return None

    def recall(self, context: Any, memo: Memo | None) -> tuple[Any, int]:
        """`read` for a context about to be learned, as it was read for the decision. `memo` is None for a logged decision."""
        return self.read(context)

    def count(self, view: Any) -> int | None:
        """Return the number of arms of a view, if each context has its own; None if they are those of the policy."""
        return None

    def prepare(self, view: Any, memo: Memo | None) -> Any:
        """Make a view ready for `learn`: add the successor, if the round needs one. Changes nothing. `recall` includes this step."""
        return view

    def undo(self, view: Any) -> None:
        """Undo what an interrupted `learn` of this view changed; the round was not learned. A second call changes nothing."""
        return

    def cells(self, view: Any) -> Ints | None:
        """Return the cells that a decision's memo keeps; None unless it `keeps_cells`."""
        return None

    def read_row(self, row: Any) -> Any:
        """`read` for a row of a table that `check` returned."""
        return self.read(row)[0]

    def advice(self, arm: int) -> float:
        """Return the share of the advice on an arm in the last `choose` or `fill`; -1 without an advisor."""
        return -1.0

    def settle(self, view: Any, rounds: int) -> Self | None:
        """Do what is due after `rounds` rounds, `view` being that of the last; return a successor or None. A second call changes nothing."""
        return None

    def describe_arm(self, index: int, arm: Hashable, features: Any) -> Self:
        """Return a successor that knows these features of an arm."""
        return self

    def validator(self) -> Callable[[Any], object]:
        """Return a function that raises InputError for a context that cannot be learned, assuming all earlier contexts have been learned."""
        return self.read

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        """The features known by name, and their kinds; None if it does not take contexts by name."""
        return None

    @property
    def arm_kinds(self) -> ArmKinds | None:
        """The kinds of the features of arms, if arms come with each request; else None."""
        return None

    def rename_texts(self, rename: Callable[[str, int], str | None]) -> Self | None:
        """Return a successor that knows some categories and tags by other names; None if all names stay."""
        return None

    @property
    def microseconds(self) -> float:
        """An estimate of the time a decision takes, on one processor of 2026, within a factor of two; 0 if it does not grow with the data."""
        return 0.0

    @property
    def nbytes(self) -> int:
        """The size of the state in memory, in bytes."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def repr_settings(self) -> dict[str, Any]:
        """Return the settings that `repr` shows."""
        return {}

    # -- tables and logs, with defaults ----------------------------------------------------------------------------------

    bulk_floor: ClassVar[bool] = False
    """Whether `play` applies the floor itself."""
    bulk_logs: ClassVar[bool] = False
    """Whether it has `learn_rows`."""

    def contexts(self, table: Any, points: Any) -> list[Any]:
        """Return the contexts of a table one by one, as decisions keep them; `points` is the table that `check` returned."""
        return copy_rows(table)

    def cells_of_rows(self, points: Any) -> Any:
        """`cells` for each row of a table; None unless it `keeps_cells`."""
        return None

    def choose_rows(self, points: Any, masks: Masks | None, us: Floats) -> tuple[Ints, Floats, Floats] | None:
        """`choose` for each row: arms, probabilities, advice; None if one by one is better."""
        return None

    def choose_contexts(self, contexts: list[Any], us: list[float]) -> list[tuple[Choice, Ints | None] | None] | None:
        """`choose` for each context, with its cells; None for a context that cannot be read. None if one by one is better."""
        return None

    def fill_contexts(self, contexts: list[Any]) -> Distributions | None:
        """`fill`, `advice` and `cells` for each context that can be read. None if one by one is better."""
        return None

    def fill_rows(self, rows: LoggedRows, p: Floats) -> bool:
        """Write `fill` of each row into the rows of `p`; return False if it has no loop for that."""
        return False

    def read_rows(self, points: Any, start: int) -> Any:
        """Return the view of the rows from `start` on that it can learn together; None if row `start` must be learned by itself."""
        return None

    def play(self, view: Any, table: Played, start: int, share: float, to_come: int) -> Self | None:
        """Decide and learn the rows of a view from `read_rows`. The share `share` is uniform; `to_come` rounds follow, including these."""
        return None

    def learn_rows(self, view: Any, rows: LoggedRows, probabilities: Floats, start: int) -> Self | None:
        """Learn the logged rows of a view from `read_rows`, played with these probabilities."""
        return None

    def rows_to_fit(self, points: Any) -> Floats | None:
        """Return rows just learned, as `refit_models` takes them; None if it has no models to fit to a whole log."""
        return None

    @property
    def numbers_to_fit(self) -> int:
        """Count the numbers that `rows_to_fit` keeps of a row."""
        return 0

    def refit_models(self, rows: Floats, arm: Ints, losses: Floats) -> Self:
        """Return a successor with models fitted together to all the rows learned, those of a log."""
        return self

    def end_log(self) -> Self:
        """Return a successor that treats all it has learned as a log: its own rounds begin now."""
        return self

    def begin_replay(self, rows: LoggedRows, us: Floats) -> Any:
        """Begin a replay of a log, which `replay` continues until it is `over`; None if rows are replayed one by one."""
        return None

    def replay(self, run: Any) -> Self | None:
        """Continue a replay until something is due or it is over."""
        return None


def copy_rows(contexts: Any) -> list[Any]:
    """Return the rows of a table unchanged, copied so that the caller cannot change them by writing to the table."""
    if isinstance(contexts, list | tuple):
        return [row.copy() if isinstance(row, list | np.ndarray) else row for row in contexts]
    rows_of(contexts)
    table = np.array(contexts)
    return table.tolist() if table.ndim == 1 else list(table)


def take_arrays(fresh: Arrays, stored: Arrays) -> None:
    """Copy arrays from a file into those of a fresh learner; ValueError if they do not fit."""
    for name, target in fresh.items():
        array = stored[name]
        if array.shape != target.shape or array.dtype != target.dtype:
            raise ValueError(f"its {name} does not fit its settings")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError("its state holds numbers that are not finite")
        target[...] = array
