"""A policy on many rows at once: decisions, feedback, tables and logs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import starmap
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import is_number, listed
from ..errors import InputError, quoted
from ..structures.spaces import numbers
from ..types import Floats, Ints, Masks, Table
from .arms import EVERYTHING, Offer
from .decision import Decision
from .decisions import Decisions
from .floor import Floored
from .ledger import Ledger
from .lock import Guarded
from .loss_range import LossScale, Scaled
from .rows import Rows, losses_or_rewards, rows_of


class Bulk(Floored, Scaled, Guarded):
    """What a policy does with many rows. Row by row here, with what it does in a round; where it has a kernel for tables it overrides that."""

    offer: Offer
    ledger: Ledger
    rng: np.random.Generator
    rounds: int
    version: int
    clipped: int

    def check(self, contexts: ArrayLike) -> tuple[NDArray[Any], int]:
        """A whole table of contexts, checked, one row each, and how many were clipped."""
        raise NotImplementedError

    def _locate(self, context: Any, *, count: bool) -> None:
        raise NotImplementedError

    def _locate_row(self, row: Any) -> None:
        raise NotImplementedError

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        raise NotImplementedError

    def _checked(self, decision: Any) -> tuple[Masks, int, bool]:
        raise NotImplementedError

    def _learn(self, decision: Decision, offered: Masks, index: int, own: bool, value: float, rewarded: bool) -> None:
        raise NotImplementedError

    def _advice_on(self, index: int) -> float:
        raise NotImplementedError

    # -- a round is learned whole, or not at all ------------------------------------------------------------------------

    _which: Callable[[int], Ints]
    """Of the log at hand, which rows were the first so many that it learned."""
    _done: list[Any]
    """What kernels have done since the last round, or the last part of a table, was begun: the step that learns puts its mark here."""

    def _commit(self, kernel: Callable[..., Any], *given: Any, rounds: int = 1) -> Any:
        """Call what learns the round at hand, or so many of the table at hand, and note that it did. No interrupt can come in between.

        A signal is heard between two steps of the interpreter. `+=` is one step, if what it calls is compiled; what is written in Python may
        be interrupted itself, and has then not been done.
        """
        self._done += zip((rounds,), starmap(kernel, (given,)), strict=False)
        return self._done[-1][1]

    _marks: ClassVar[bool] = True
    """Does every kernel that learns a round put its mark into `_done`? Else `_counted` knows."""

    def _counted(self, begun: int) -> int:
        """How many rounds were learned of what was begun after as many as these."""
        return rounds_in(self._done)

    def _finish(self) -> None:
        """What was begun is over."""
        self._tally()
        self._done, self._open = [], None

    def _tally(self) -> None:
        """Count what was learned. It can be done again from its beginning: each step sets what it sets."""
        begun, decision, own, after = self._open
        learned = self._counted(begun)
        if learned:
            self.rounds = begun + learned
            self.version += 1
            if after is not None:
                self.loss_scale = after
            if decision is not None and not self.ledger.closed(decision, self.rounds):
                self.ledger.close(decision, self.rounds, own=own)
            self._catch_up()

    def _settle(self) -> None:
        """Make whole what was interrupted: what was learned is counted, the rest was never begun."""
        self._refuse_torn()
        if self._open is not None:
            self._forget()
            self._tally()
            self._refresh()
            self._done, self._open = [], None

    def _catch_up(self) -> None:
        """What is due after as many rounds as there are now, if it is; doing it again changes nothing."""

    def _forget(self) -> None:
        """A round was interrupted: nothing that was kept for it counts."""

    def _refresh(self) -> None:
        raise NotImplementedError

    def _begin(self) -> None:
        """A part of a table is begun, whose rounds kernels will count (`_commit`)."""
        self._done = []
        self._open = self.rounds, None, False, None

    def _end(self, rounds: int = 0) -> None:
        """It is over; it had so many rounds, if nothing else says so."""
        if self._open is not None:
            if rounds and not self._counted(self._open[0]):
                self._done.append((rounds, None))
            self._finish()

    def met(self, before: LossScale, values: Floats, *, rewarded: bool) -> None:
        """The losses, or rewards, of rows that were learned: its range of losses goes on from what it was before."""
        after = before.copy()
        after.learned(values, rewarded)
        self.loss_scale = after

    def first_learned(self, count: int) -> Ints:
        """Of the rows that it was last given to replay or to learn, the numbers of the first `count` that it learned."""
        return self._which(count)

    def _learn_row(self, offered: Masks, index: int, loss: float, chance: float) -> None:
        """Learn a row of a table or log, which was located."""
        self._begin()
        try:
            self._update(offered, index, loss, chance)
            self._end(1)
        except BaseException:
            self._settle()
            raise

    def _note(self, index: int) -> None:
        """The next `_update` is for the round that was just decided, in which this arm is played."""

    def _rereader(self) -> Callable[[Any], object]:
        """What refuses a context that could not be learned, were those that it was given before learned by then."""
        return lambda context: self._locate(context, count=False)

    # -- decisions and feedback ----------------------------------------------------------------------------------------

    def decide_many(
        self,
        contexts: ArrayLike | Iterable[Any],
        *,
        available: ArrayLike | Iterable[Iterable[Hashable] | None] | None = None,
        u: ArrayLike | None = None,
    ) -> Decisions:
        """Choose an arm for each context of a table, with what is known now: the `Decisions` that `decide` would make one after the other.

        `available` has an entry for each row, the arms that it offers, or None for all; or it is a table of booleans, a column for each arm.
        `u` has a number in [0, 1) for each row; None draws them. The whole table is checked before the first decision is made.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], seed=0)
        >>> made = policy.decide_many([0.1, 0.5, 0.9], available=[["a", "b"], None, ["c"]])
        >>> policy.learn_many(made, rewards=[1.0, None, 0.0], missing="skip"), policy.rounds
        (2, 2)
        """
        points, clipped = self.check(contexts)  # type: ignore[arg-type]
        n = len(points)
        masks, given = self._masks(available, n), self._rows_given(contexts, points)
        us = self.rng.random(n) if u is None else each_u(u, n)
        arms, chances, advised = self.decide_rows(points, masks, us)
        seen = self._saw_rows(points)
        self.clipped += clipped
        made = []
        for t, (index, chance, advice) in enumerate(zip(arms.tolist(), chances.tolist(), advised.tolist(), strict=True)):
            names = None if masks[t].all() else self.offer.names(masks[t])
            decision = Decision.made(self, given[t], self.arms[index], chance, names, self.ledger)  # type: ignore[arg-type]
            decision.advised, decision.seen = advice, seen[t]
            made.append(decision)
        return Decisions(made)

    def learn_many(
        self,
        decisions: Iterable[Decision],
        *,
        losses: ArrayLike | Iterable[Any] | None = None,
        rewards: ArrayLike | Iterable[Any] | None = None,
        missing: Literal["error", "skip"] = "error",
    ) -> int:
        """Learn the losses (or the rewards) of several decisions in their order, as `learn` would one after the other.

        Returns the number of rows learned. All or nothing: where a row cannot be learned, none is, and the `InputError` says which. A row
        without feedback, None or NaN, is such a row; with `missing="skip"` it is left out, and its decision can be learned later. Where it is
        interrupted (Ctrl-C), it has learned the first rows, and `rounds` counts them.

        >>> import hsb
        >>> policy = hsb.Exp3(arms=2, learning_rate=0.1, seed=0)
        >>> policy.learn_many(policy.decide_many([None] * 3), losses=[0.0, 1.0, 0.5])
        3
        """
        name, table = losses_or_rewards("learn_many", losses, rewards)  # type: ignore[arg-type]
        if not isinstance(missing, str) or missing not in ("error", "skip"):
            raise InputError(
                f"missing must be 'error' or 'skip', what to do with a row without feedback; given {quoted(missing)}."
            )
        rows, values = each_row("decisions", decisions), each_row(name, table)
        if len(rows) != len(values):
            raise InputError(f"learn_many needs one of {name} for each decision; given {len(values)} for {len(rows)}.")
        taken: list[Any] = []
        read = self._rereader()
        seen: dict[Any, int] = {}
        for t, (decision, value) in enumerate(zip(rows, values, strict=True)):
            if missing == "skip" and (value is None or (is_number(value) and value != value)):
                continue
            try:
                offered, index, own = self._checked(decision)
                first = seen.setdefault(int(decision.id) if own else self.ledger.name_of(decision), t)
                if first != t:
                    raise InputError(f"{quoted(decision)} is in row {first} already. Each decision counts once.")
                if value is None:
                    raise InputError(f"There is none of the {name}. missing='skip' leaves such decisions open.")
                number, rewarded = self.loss_scale.given(*((value, None) if name == "losses" else (None, value)))
                read(decision.context)
            except InputError as error:
                raise InputError(f"Row {t}: {error} Nothing of this call was learned.") from None
            taken.append((decision, offered, index, own, number, rewarded))
        for each in taken:
            self._learn(*each)
        return len(taken)

    def _masks(self, available: Any, n: int) -> Masks:
        """A mask for each of n rows; without columns where every row offers every arm."""
        if available is None or (isinstance(available, np.ndarray) and available.ndim == 2):
            return self.offer.table(available, n)
        rows = each_row("available", available)
        if len(rows) != n:
            raise InputError(
                f"available needs an entry for each of the {n} contexts, a list of arms or None; given {len(rows)}."
            )
        masks = np.ones((n, len(self.arms)), dtype=np.uint8)
        for t, each in enumerate(rows):
            try:
                mask = self.offer.now if each is None else self.offer.mask(each)
            except InputError as error:
                raise InputError(f"Row {t}: {error}") from None
            masks[t] = mask if len(mask) else 1
        return masks

    def _rows_given(self, contexts: Any, points: Any) -> list[Any]:
        """The contexts of a table, one by one."""
        return _as_given(contexts)

    def _saw_rows(self, points: Table) -> Any:
        """Of each row, what a decision must keep of how its context was seen, where that changes."""
        return [None] * len(points)

    def decide_rows(self, points: Table, masks: Masks, us: Floats) -> tuple[Ints, Floats, Floats]:
        """For each row of a checked table the arm, by number, its propensity, and how much of the advice was on it. Changes nothing."""
        n = len(us)
        arms, chances, advised = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
        for t in range(n):
            self._locate_row(points[t])
            arms[t], chances[t] = self._floored(EVERYTHING if masks[t].all() else masks[t], float(us[t]))
            advised[t] = self._advice_on(int(arms[t]))
        return arms, chances, advised

    # -- tables and logs -----------------------------------------------------------------------------------------------

    def play(
        self,
        points: NDArray[Any],
        masks: Masks,
        losses: Floats,
        *,
        to_come: int,
        given: Floats | None = None,
        rewarded: bool = False,
    ) -> tuple[Ints, Floats]:
        """Decide and learn in each row of a table that `check` gave: the arms played, by number, and their propensities.

        `masks` has no columns where every arm is offered; `losses` are scaled, a column for each arm; `to_come` is the number of rounds that
        follow, these among them. `given` are the losses, or with `rewarded` the rewards, before they were scaled: a range of losses that is
        found on the way takes in those that were met.
        """
        if losses.shape[1] != len(self.arms):
            raise InputError(
                f"The table has {losses.shape[1]} arms, the policy {len(self.arms)} by now. Add arms before or after."
            )
        n, begun, drawn, scale = len(losses), self.rounds, self.rng.bit_generator.state, self.loss_scale
        arms, chances = np.empty(n, dtype=np.int64), np.empty(n)
        play = type(self)._play if self.even == 0.0 or self.floors_tables else Bulk._play
        try:
            self._begin()
            play(self, points, masks, losses, self.rng.random(n), arms, chances, to_come)
            self._end(n)
        except BaseException:
            self._settle()
            self.rng.bit_generator.state = drawn
            self.rng.random(self.rounds - begun)  # as many as rounds were played
            raise
        finally:
            if given is not None:
                k = self.rounds - begun
                self.met(scale, given[np.arange(k), arms[:k]], rewarded=rewarded)
        return arms, chances

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        for t in range(len(us)):
            offered = masks[t] if not masks[t].all() else EVERYTHING
            self._locate_row(points[t])
            arms[t], chances[t] = index, chance = self._floored(offered, float(us[t]))
            self._learn_row(offered, index, float(losses[t, index]), chance)

    def replay_rows(self, rows: Rows) -> Ints:
        """Decide on every row of a log and learn where the choice is the arm that was shown: which rows it learned."""
        us = self.rng.random(len(rows.arm))
        learned: list[int] = []
        self._which = lambda k: np.array(learned[:k], dtype=np.int64)
        for t in range(len(us)):
            offered = rows.offered(t)
            self._locate_row(rows.points[t])
            index, propensity = self._floored(offered, float(us[t]))
            if index == rows.arm[t]:
                self._note(index)
                learned.append(t)
                self._learn_row(offered, index, float(rows.losses[t]), propensity)
        return np.array(learned, dtype=np.int64)

    def learn_rows(self, rows: Rows, chances: Floats) -> None:
        """Learn every row of a log, shown with these propensities."""
        self._which = np.arange
        for t in range(len(rows.arm)):
            self._locate_row(rows.points[t])
            self._learn_row(rows.offered(t), int(rows.arm[t]), float(rows.losses[t]), float(chances[t]))

    def distributions(self, rows: Rows) -> Floats:
        """The probability of every arm on every row of a log, a column for each arm. Changes nothing."""
        table = np.empty((len(rows.pool), len(self.arms)))
        for t in range(len(table)):
            self._locate_row(rows.points[t])
            self._fill(rows.offered(t), table[t])
            table[t] = self._raised(table[t], rows.offered(t))
        return table


def each_row(name: str, given: Any) -> list[Any]:
    """What has an entry a row, as a list."""
    if isinstance(given, str | bytes | dict) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
        raise InputError(f"{name} must have an entry for each row, in a list; given {quoted(given)}.")
    return listed(name, given, 10**9)


def _as_given(contexts: Any) -> list[Any]:
    """The rows themselves, none of which the caller can still change by writing to the table."""
    if isinstance(contexts, list | tuple):
        return [each.copy() if isinstance(each, list | np.ndarray) else each for each in contexts]
    rows_of(contexts)
    table = np.array(contexts)
    return table.tolist() if table.ndim == 1 else list(table)


def each_u(u: ArrayLike, n: int) -> Floats:
    """A number in [0, 1) for each of n contexts; InputError where that is not what is given."""
    us = numbers("u", u)
    if us.shape != (n,) or not ((us >= 0.0) & (us < 1.0)).all():
        raise InputError(f"u must be {n} numbers in [0, 1), one for each context; given {quoted(u)}.")
    return us


def rounds_in(done: list[Any]) -> int:
    """How many rounds the marks of kernels stand for: (rounds, ...) so far; ((row, rounds), ...) in a log; or 0, one round."""
    if not done:
        return 0
    last = done[-1]
    if type(last) is tuple:
        return int(last[0][1] if type(last[0]) is tuple else last[0])
    return int(last == 0)
