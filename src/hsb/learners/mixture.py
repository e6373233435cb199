"""Exact exponential weights over all mappings of a structure, from keys to probabilities: the core of HSB, S-EXP3 and EXP3."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from .. import reproducible_math
from ..checks import is_number
from ..engine.state import State
from ..errors import InputError, quoted
from ..policy.certificate import Certificate
from ..policy.learner import Also, LoggedRows, Memo, Played
from ..types import Arrays, Floats, Ints, Masks
from .masks import masks_of
from .rates import Prior, Rates

MANY = 1000  # rows from which a separate kernel is worth it
MEMORY = 256  # distributions that a replay remembers
MOST_LATE = 1e17  # rounds
MOST_PHASES = 2**53
NO_POOL: Ints = np.zeros(0, dtype=np.int64)
NO_LOSSES: Floats = np.zeros((0, 0))
NO_U: Floats = np.zeros(0)


class Replaying(NamedTuple):
    """The state of a replay of a log by a mixture."""

    pools: Any
    events: Any
    memory: Any
    learned: Any
    at: list[tuple[int, int]]
    """The first row not decided yet, and the number of rows learned; only the last entry counts."""

    @property
    def over(self) -> bool:
        """Whether all rows have been decided."""
        return self.at[-1][0] >= len(self.events.u)


class Mixture:
    """A state, its rate, and the counts that a certificate needs. A successor replaces it when the rate falls."""

    __slots__ = ("born", "implicit", "phases", "rates", "state")

    def __init__(self, state: State, rates: Rates, *, implicit: bool, born: int, phases: int = 1) -> None:
        self.state, self.rates, self.implicit = state, rates, implicit
        self.born = born  # number of arms in the first round
        self.phases = phases  # number of rates, and of sets of arms and features, so far
        self._set_pace()

    def _set_pace(self) -> None:
        """Set the phase of the state."""
        drift, head_drift = self.rates.phase.drift, self.rates.phase.head_drift
        rate = self.rates.rate
        price = self.rates.phase.sharing(self.arms) / rate
        gamma = rate / 2.0 if self.implicit else 0.0
        until = float(self.rates.phase.until)
        pace: dict[str, float] = {"gamma": gamma, "drift": drift, "head_drift": head_drift, "price": price}
        self.state.set_pace(rate, **pace, until=until, excess_limit=self.rates.excess_limit)

    @property
    def arms(self) -> int:
        """The number of arms."""
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
        also: Also | None = None,
    ) -> None:
        """Learn the loss of an arm. Late rounds count more, so that the rate falls faster (`docs/proofs.md`).

        `plain`: without the baseline shift of the state. `recalled`: use the memo's advice even if the decision was made in this round.
        `also`: losses that only advisors learn.
        """
        if memo is None:
            self.state.update(key, mask, arm, loss, probability, plain=plain, also=also)
        else:
            self.state.update(key, mask, arm, loss, probability, memo.rounds, memo.advice, recalled, plain, also)

    @property
    def next_rates(self) -> Rates:
        """The rates that follow from the rounds learned and their excess."""
        return self.rates.at(self.state.learned_rounds, self.state.late, excess=self.excess)

    def next_phase(self) -> Self:
        """Return the successor at these rates."""
        return self._with(self.state.copy(), self.next_rates)

    @property
    def excess(self) -> float:
        """The sum of loss + ln(Z)/rate over the rounds, sharing apart; a "confident" rate depends on it."""
        return float(self.state.sums[1]) - self.state.shared

    def _with(self, state: State, rates: Rates, born: int | None = None, phases: int | None = None) -> Self:
        """Return the successor with a copy of the state at these rates; if the rate falls, the weights are flattened."""
        phases = self.phases if phases is None else phases
        if state.learned_rounds > 0 and rates.rate < self.rates.rate:
            state.flatten(rates.rate / self.rates.rate)
            phases = min(phases + 1, MOST_PHASES)
        return type(self)(state, rates, implicit=self.implicit, born=self.born if born is None else born, phases=phases)

    def on(self, state: State, *, more_mappings: bool = False) -> Self:
        """Return the successor with another state at the same rates; `more_mappings` if the state has new mappings."""
        phases = min(self.phases + (more_mappings and state.learned_rounds > 0), MOST_PHASES)
        return type(self)(state, self.rates, implicit=self.implicit, born=self.born, phases=phases)

    def copy(self) -> Self:
        """Return an independent copy."""
        return self.on(self.state.copy())

    def with_arm(self, prior: Prior) -> Self:
        """Return the successor with one more arm, of share 1/(M+1) in every node."""
        state, rounds = self.state.copy(), self.state.learned_rounds
        state.widen()
        rates = self.rates.for_arms(prior, self.arms + 1, rounds, self.state.late)
        phases = min(self.phases + (rounds > 0), MOST_PHASES)
        return self._with(state, rates, self.born + (rounds == 0), phases)

    # -- tables and logs -----------------------------------------------------------------------------------------------

    def rows_left(self) -> int:
        """Return the number of rounds until the phase ends."""
        return math.ceil(self.rates.phase.until - self.state.late) - self.state.learned_rounds

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
        """Begin a replay of logged rows."""
        from ..engine.kernels import replay as kernels

        masks, pool = rows.masks, rows.pool
        members = [np.flatnonzero(mask) for mask in masks]
        starts = np.concatenate([[0], np.cumsum([len(arms) for arms in members])]).astype(np.int64)
        indices = np.where(masks > 0, np.cumsum(masks, axis=1, dtype=np.int64) - 1, -1)[pool, rows.arm]
        pools = kernels.ArmPools(
            masks, starts, np.concatenate(members).astype(np.int64), indices, np.asarray(masks.all(axis=1))
        )
        shape = (MEMORY, self.arms)
        memory = kernels.Memory(np.empty(shape), np.empty(shape), np.full(MEMORY, -1, dtype=np.int64))
        learned = kernels.Learned(np.empty(len(us), dtype=np.int64), np.empty(len(us)))
        events = kernels.Events(keys, pool, rows.arm, rows.losses, us)
        return Replaying(pools, events, memory, learned, [(0, 0)])

    def replay(self, run: Replaying) -> None:
        """Continue a replay until the phase or the log ends."""
        most = run.at[-1][1] + self.rows_left()
        run.at.append(self.state.replay(run.pools, run.events, run.memory, most, run.learned, run.at[-1]))

    # -- what is proved ------------------------------------------------------------------------------------------------

    def arm_costs(self) -> Floats:
        """Return the prior cost of each arm: ln M, and for an added arm also ln of the number of arms then."""
        costs: Floats = np.full(self.arms, reproducible_math.ln(self.arms))
        costs[self.born :] += reproducible_math.logs(np.arange(self.born, self.arms))
        return costs

    def advice_cost(self) -> float:
        """Return the prior cost of the ensemble less that of the mixture, which bounds add; InputError without an ensemble."""
        schedule = self.rates.schedule
        if not schedule.head:
            raise InputError(
                "This policy has no models for advice=. Leave out advice=, or horizon=, learning_rate= and drift= of the policy."
            )
        return -reproducible_math.ln(schedule.head[1]) - schedule.head_cost

    def certificate(
        self, cost: float, delta: float | None, *, against: str, units: str, shifted: bool = False, advice: float | None = None
    ) -> Certificate:
        """Return the certificate against mappings that gained at most `cost`; `advice`: the gain of the advice."""
        lost, excess, masked = self.state.sums.tolist()
        rounds, rate = self.state.learned_rounds, self.rates.rate
        return Certificate(rounds, lost, excess, cost, rate, masked > 0.0, against, delta, shifted, units, advice)

    def confidence_cost(self, delta: float | None, who: str) -> float:
        """Return what a bound with probability 1 - delta adds to the cost of every mapping: a union bound over rates and sets of arms and
        features so far (`docs/proofs.md`). Each mapping also pays its prior cost a second time."""
        if delta is None:
            return 0.0
        if not is_number(delta) or not 0.0 < delta < 1.0:
            raise InputError(f"delta must be a probability in (0, 1), e.g. 0.05; given {quoted(delta)}.")
        if not self.implicit:
            raise InputError(
                "A certificate with probability 1 - delta needs estimates without heavy tails, which change the policy; given implicit=False. "
                f"Make the policy with {who}(..., implicit=True), or call certificate() without delta."
            )
        return reproducible_math.ln(self.phases * (self.phases + 1) / delta)

    # -- files ---------------------------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Return the learned state, arrays by name."""
        state = self.state
        counted = np.array([*state.sums, self.born, self.phases, state.late, state.shared])
        return {"rate": np.array([self.rates.rate]), "counted": counted, **state.to_arrays()}

    def from_arrays(self, arrays: Arrays, prior: Prior, rounds: int) -> Self:
        """Return a mixture with the settings of this fresh one and the state of `arrays`; ValueError if they do not fit."""
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
