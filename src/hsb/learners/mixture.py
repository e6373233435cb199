"""Exponential weights over every mapping of a structure, exactly: keys in, probabilities out. What HSB, S-EXP3 and EXP3 are made of."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from .. import reproducible_math
from ..checks import is_number
from ..engine.state import State
from ..errors import InputError, quoted
from ..policy.certificate import Certificate
from ..policy.learner import LoggedRows, Memo, Played
from ..types import Arrays, Floats, Ints, Masks
from .masks import masks_of
from .rates import Prior, Rates

MANY = 1000  # rows worth a kernel of their own
MEMORY = 256  # distributions that a replay remembers
MOST_LATE = 1e17  # rounds
MOST_PHASES = 2**53
NO_POOL: Ints = np.zeros(0, dtype=np.int64)
NO_LOSSES: Floats = np.zeros((0, 0))
NO_U: Floats = np.zeros(0)


class Replaying(NamedTuple):
    """A log on its way through a mixture."""

    pools: Any
    events: Any
    memory: Any
    learned: Any
    at: list[tuple[int, int]]
    """The first row not decided yet, and how many were learned; the last entry counts."""

    @property
    def over(self) -> bool:
        """Were all rows decided?"""
        return self.at[-1][0] >= len(self.events.u)


class Mixture:
    """A state, the rate at which it learns, and what a certificate needs to know of its past. Replaced by a successor when the rate falls."""

    __slots__ = ("born", "implicit", "phases", "rates", "state")

    def __init__(self, state: State, rates: Rates, *, implicit: bool, born: int, phases: int = 1) -> None:
        self.state, self.rates, self.implicit = state, rates, implicit
        self.born = born  # arms that were there from the first round on
        self.phases = phases  # how many rates, and sets of arms and features, there were
        self._set_pace()

    def _set_pace(self) -> None:
        """Tell the state what the phase is."""
        drift, head_drift = self.rates.phase.drift, self.rates.phase.head_drift
        rate = self.rates.rate
        price = self.rates.phase.sharing(self.arms) / rate
        gamma = rate / 2.0 if self.implicit else 0.0
        until = float(self.rates.phase.until)
        pace: dict[str, float] = {"gamma": gamma, "drift": drift, "head_drift": head_drift, "price": price}
        self.state.set_pace(rate, **pace, until=until, excess_limit=self.rates.excess_limit)

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return self.state.arms

    # -- a round -------------------------------------------------------------------------------------------------------

    def learn(
        self,
        key: Ints,
        mask: Masks | None,
        arm: int,
        loss: float,
        probability: float,
        memo: Memo | None,
        plain: bool = False,
        recalled: bool = False,
    ) -> None:
        """Learn the loss of an arm. If feedback is late, its rounds count as more, so that the rate falls faster (`docs/proofs.md`).

        `plain`: nothing is taken off the loss, whatever the state's shift. `recalled`: the advice is the memo's also if the decision was
        made in this round.
        """
        if memo is None:
            self.state.update(key, mask, arm, loss, probability, plain=plain)
        else:
            self.state.update(key, mask, arm, loss, probability, memo.rounds, memo.advice, recalled, plain)

    def turned(self) -> Self:
        """The successor in the phase that the rounds learned, and their excess, have come to."""
        state = self.state
        return self._with(state.copy(), self.rates.turned(state.seen, state.late, excess=self.excess))

    @property
    def excess(self) -> float:
        """By how much more than was won was lost, sharing apart: what a rate that follows it sees."""
        return float(self.state.sums[1]) - self.state.shared

    def _with(self, state: State, rates: Rates, born: int | None = None, phases: int | None = None) -> Self:
        """Go on with a copy of the state at these rates: if the rate fell, what was learned is flattened."""
        phases = self.phases if phases is None else phases
        if state.seen > 0 and rates.rate < self.rates.rate:
            state.flatten(rates.rate / self.rates.rate)
            phases = min(phases + 1, MOST_PHASES)
        return type(self)(state, rates, implicit=self.implicit, born=self.born if born is None else born, phases=phases)

    def on(self, state: State, *, more_mappings: bool = False) -> Self:
        """Go on with another state at the same rates; it may have mappings that there were not before."""
        phases = min(self.phases + (more_mappings and state.seen > 0), MOST_PHASES)
        return type(self)(state, self.rates, implicit=self.implicit, born=self.born, phases=phases)

    def copy(self) -> Self:
        """An independent one."""
        return self.on(self.state.copy())

    def with_arm(self, prior: Prior) -> Self:
        """The successor with one more arm, with the share 1/(M+1) in every node."""
        state, rounds = self.state.copy(), self.state.seen
        state.widen()
        rates = self.rates.for_arms(prior, self.arms + 1, rounds, self.state.late)
        phases = min(self.phases + (rounds > 0), MOST_PHASES)
        return self._with(state, rates, self.born + (rounds == 0), phases)

    # -- tables and logs -----------------------------------------------------------------------------------------------

    def rows_left(self) -> int:
        """How many rounds of a table there are before the phase is over."""
        return math.ceil(self.rates.phase.until - self.state.late) - self.state.seen

    def play(self, keys: Ints, table: Played, start: int, share: float, to_come: int | None = None) -> None:
        """Decide and learn rows from `start` on, one for each key."""
        state, rows = self.state, slice(start, start + len(keys))
        state.set_floor(share)
        rounds = state.tables.Rounds(keys, masks_of(table.masks, rows), NO_POOL, table.losses[rows], table.us[rows])
        out = state.tables.Out(table.arms[rows], table.probabilities[rows], np.empty(len(keys)))
        more = {} if to_come is None else {"to_come": to_come}
        state.play(rounds, out, slice(0, len(keys)), **more)

    def learn_rows(self, keys: Ints, rows: LoggedRows, probabilities: Floats, start: int) -> None:
        """Learn logged rows from `start` on, one for each key."""
        some = slice(start, start + len(keys))
        probabilities = np.ascontiguousarray(probabilities[some])
        table = self.state.tables.Logged(keys, rows.masks, rows.pool[some], rows.arm[some], rows.losses[some], probabilities)
        self.state.learn(table, slice(0, len(keys)))

    def choose_rows(self, keys: Ints, masks: Masks | None, us: Floats) -> tuple[Ints, Floats, Floats]:
        """`choose` for each key."""
        n, tables = len(us), self.state.tables
        out = tables.Chosen(np.empty(n, dtype=np.int64), np.empty(n), np.empty(n))
        self.state.choose(tables.Rounds(keys, masks_of(masks, slice(0, n)), NO_POOL, NO_LOSSES, us), out)
        return out.arms, out.probabilities, out.advised

    def fill_rows(self, keys: Ints, rows: LoggedRows, p: Floats) -> None:
        """`fill` for each key. O(rows * nodes * arms), compiled."""
        self.state.distributions(self.state.tables.Rounds(keys, rows.masks, rows.pool, NO_LOSSES, NO_U), p)

    def begin_replay(self, keys: Ints, rows: LoggedRows, us: Floats) -> Replaying:
        """A replay of logged rows."""
        from ..engine.kernels import replay as kernels

        masks, pool = rows.masks, rows.pool
        members = [np.flatnonzero(mask) for mask in masks]
        starts = np.concatenate([[0], np.cumsum([len(arms) for arms in members])]).astype(np.int64)
        places = np.where(masks > 0, np.cumsum(masks, axis=1, dtype=np.int64) - 1, -1)[pool, rows.arm]
        pools = kernels.ArmPools(masks, starts, np.concatenate(members).astype(np.int64), places, np.asarray(masks.all(axis=1)))
        shape = (MEMORY, self.arms)
        memory = kernels.Memory(np.empty(shape), np.empty(shape), np.full(MEMORY, -1, dtype=np.int64))
        learned = kernels.Learned(np.empty(len(us), dtype=np.int64), np.empty(len(us)))
        events = kernels.Events(keys, pool, rows.arm, rows.losses, us)
        return Replaying(pools, events, memory, learned, [(0, 0)])

    def replay(self, run: Replaying) -> None:
        """Go on with a replay until the phase is over, or the log."""
        most = run.at[-1][1] + self.rows_left()
        run.at.append(self.state.replay(run.pools, run.events, run.memory, most, run.learned, run.at[-1]))

    # -- what is proved ------------------------------------------------------------------------------------------------

    def arm_costs(self) -> Floats:
        """What naming each arm costs: ln M, and for one that was added, ln of how many there were then."""
        costs: Floats = np.full(self.arms, reproducible_math.ln(self.arms))
        costs[self.born :] += reproducible_math.logs(np.arange(self.born, self.arms))
        return costs

    def advice_cost(self) -> float:
        """What naming its models costs, less what naming the mixture does, which bounds add; InputError if there are none."""
        schedule = self.rates.schedule
        if not schedule.head:
            raise InputError(
                "This policy follows no models. Leave out advice=, or horizon=, learning_rate= and drift= of the policy."
            )
        return -reproducible_math.ln(schedule.head[1]) - schedule.head_cost

    def certificate(
        self, cost: float, delta: float | None, *, against: str, units: str, shifted: bool = False, advice: float | None = None
    ) -> Certificate:
        """What the rounds learned prove against mappings that gained at most `cost`; `advice`: what the advice itself gained."""
        lost, excess, masked = self.state.sums.tolist()
        rounds, rate = self.state.seen, self.rates.rate
        return Certificate(rounds, lost, excess, cost, rate, masked > 0.0, against, delta, shifted, units, advice)

    def confidence_cost(self, delta: float | None, who: str) -> float:
        """What holding with probability 1 - delta adds to the price of every mapping: a union over the rates and sets of arms and features
        that there were (`docs/proofs.md`). Beside it each mapping pays its own price once more."""
        if delta is None:
            return 0.0
        if not is_number(delta) or not 0.0 < delta < 1.0:
            raise InputError(f"delta must be a probability in (0, 1), e.g. 0.05; given {quoted(delta)}.")
        if not self.implicit:
            raise InputError(
                "A certificate that holds with probability 1 - delta needs estimates without heavy tails, which change what is played: "
                f"make the policy with {who}(..., implicit=True). certificate() without delta is always there."
            )
        return reproducible_math.ln(self.phases * (self.phases + 1) / delta)

    # -- files ---------------------------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """All that was learned, by name."""
        state = self.state
        counted = np.array([*state.sums, self.born, self.phases, state.late, state.shared])
        return {"rate": np.array([self.rates.rate]), "counted": counted, **state.to_arrays()}

    def from_arrays(self, arrays: Arrays, prior: Prior, rounds: int) -> Self:
        """The mixture that `to_arrays` described, this one being fresh; ValueError if it does not fit."""
        arrays = dict(arrays)
        rates, counted, arms = self.rates.from_file(arrays.pop("rate")), arrays.pop("counted"), self.arms
        if counted.shape != (7,) or not (0.0 <= counted[0] < np.inf and counted[1] > -np.inf and counted[2] >= 0.0):
            raise ValueError("its counts must be sums of losses")
        born, phases, late, shared = counted[3:].tolist()
        if (
            born not in range(1, arms + 1)
            or not 1.0 <= phases <= MOST_PHASES
            or not (0.0 <= late <= MOST_LATE and 0.0 <= shared < np.inf)
        ):
            raise ValueError("its counts of arms, rates and late rounds do not fit")
        state = self.state.from_arrays(arrays)
        state.set_counts(rounds, late, counted[:3] if rounds else np.zeros(3), shared if rounds else 0.0)
        before = type(self)(state, rates, implicit=self.implicit, born=int(born), phases=int(phases))
        return before._with(state, rates.for_arms(prior, arms, rounds, late))
