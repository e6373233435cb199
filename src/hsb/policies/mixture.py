"""Exponential weights over every mapping of a structure, exactly: what HSB, S-EXP3 and EXP3 are."""

import math
from typing import Any

import numpy as np

from .. import reproducible_math
from ..checks import flag, is_number
from ..engine.state import State
from ..errors import InputError, quoted
from ..learners.keys import Keys, Nowhere
from ..policy.arms import EVERYTHING
from ..policy.certificate import Certificate
from ..policy.decision import Decision
from ..policy.loss_range import UNIT
from ..policy.rows import Rows
from ..policy.tables import rounds_in
from ..types import Arms, Arrays, Floats, Ints, Masks, Outside, Range, Seed, Table
from .located import Located
from .rated import Rated

PLACES = 256  # of a replay's memory of probabilities
MOST_LATE = 1e17  # rounds
MOST_PHASES = 2**53
MANY = 1000  # rows worth a kernel of their own, which must be compiled first


class Mixture(Rated, Located, listed=False):
    """A policy with a locator, a state and a schedule: context to key, key to probabilities, rounds to rates.

    A policy of this kind says what they are: `_locator`, `_fresh`, and what its rate is meant for (`_prior_bound`).
    """

    state: State
    _advised: float
    floors_tables = True
    _marks = False  # its state counts rounds
    _own = ("locator", "state")
    _later = -1.0  # what `_late` will be once the round at hand is learned; -1: what it is
    _shifted = False  # were losses learned less a number set beforehand?
    _against: str = "the mapping that explain() shows"

    def __init__(
        self,
        *,
        arms: Arms,
        horizon: float | None = None,
        learning_rate: float | None = None,
        implicit: bool = False,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        super().__init__(arms=arms, loss_range=loss_range, reward_range=reward_range, outside=outside, floor=floor, seed=seed)
        self.implicit = flag("implicit", implicit)
        self._set_rate(horizon, learning_rate)
        self.locator = self._locator()
        self.state = self._fresh()
        self._born = len(self.arms)  # arms that were there from the first round on
        self._phases = 1  # how many rates and sets of arms there were
        self._refresh()

    def _locator(self) -> Keys | Nowhere:
        """How a context becomes a key."""
        raise NotImplementedError

    def _fresh(self) -> State:
        """A state at its prior."""
        raise NotImplementedError

    def _best_cost(self) -> float:
        """ln(1/beta) of the most probable mapping; where it names an arm that was added, that is paid for (`_arm_costs`)."""
        raise NotImplementedError

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        self._visited, every = False, offered is EVERYTHING
        found = self.state.decide(self.locator.key, None if every else offered, u)
        self._visited = every
        return found

    def _fill(self, offered: Masks, p: Floats) -> None:
        self._visited, every = False, offered is EVERYTHING
        self.state.fill(self.locator.key, None if every else offered, p)
        self._visited = every

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        all_offered = offered is EVERYTHING or bool(offered.all())
        advised, self._advised = self._advised, -1.0
        visited, self._visited = self._visited and all_offered and advised < 0.0, False
        self.state.update(self.locator.key, None if all_offered else offered, index, loss, propensity, visited, advised)

    def _advice_on(self, index: int) -> float:
        return self.state.advised(index)

    def _recall(self, decision: Decision) -> None:
        """What was advised then; and where feedback is late, its rounds count as more, so that the rate falls faster (`docs/proofs.md`)."""
        if self.rounds > decision.rounds >= 0:
            self._later = min(self._late + 2.0 * (self.rounds - decision.rounds) / len(self.arms), MOST_LATE)
            self._due = 0
            self._advised = decision.advised

    def _catch_up(self) -> None:
        if self._later >= 0.0:
            self._late = self._later
            self._later = -1.0
            self._due = math.ceil(self._stretch.until - self._late)
        super()._catch_up()

    def _forget(self) -> None:
        super()._forget()
        self._advised = -1.0
        if self._open is None or not self._counted(self._open[0]):
            self._later = -1.0

    def _counted(self, begun: int) -> int:
        return rounds_in(self._done) or self.state.seen - begun

    def _tally(self) -> None:
        super()._tally()
        self.state.set_seen(self.rounds)

    def _turn(self, rounds: int) -> None:
        super()._turn(rounds)
        self._set_pace()

    def _set_pace(self) -> None:
        """Tell the state what the stretch is."""
        _, _, drift, head_drift = self._stretch
        price = self._stretch.sharing(len(self.arms)) / self.rate
        gamma = self.rate / 2.0 if self.implicit else 0.0
        self.state.set_pace(self.rate, gamma=gamma, drift=drift, head_drift=head_drift, price=price, floor=self.even)

    def _flatten(self, r: float) -> dict[str, Any]:
        state = self.state.copy()
        state.flatten(r)
        return {"state": state, "_phases": min(self._phases + 1, MOST_PHASES)}

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        self._visited = False
        table = self.state.tables.Rounds(self.locator.keys(points), masks if masks.shape[1] else None, None, losses, us)
        out = self.state.tables.Out(arms, chances, np.empty(len(us)))
        for part in self._stretches(len(us)):
            self.state.play(table, out, part, to_come=to_come - part.start, done=self._done)

    def decide_rows(self, points: Table, masks: Masks, us: Floats) -> tuple[Ints, Floats, Floats]:
        if self.even > 0.0 or len(us) < MANY:
            return super().decide_rows(points, masks, us)
        self._visited, n = False, len(us)
        out = self.state.tables.Chosen(np.empty(n, dtype=np.int64), np.empty(n), np.empty(n))
        self.state.choose(
            self.state.tables.Rounds(self.locator.keys(points), masks if masks.shape[1] else None, None, None, us), out
        )
        return out.arms, out.chances, out.advised

    def learn_rows(self, rows: Rows, chances: Floats) -> None:
        self._visited, n, self._which = False, len(rows.arm), np.arange
        keys = self.locator.keys(rows.points)
        table = self.state.tables.Rounds(
            keys, rows.masks, rows.pool, rows.losses, None, rows.arm, np.ascontiguousarray(chances)
        )
        try:
            self._begin()
            for part in self._stretches(n):
                self.state.learn(table, part, done=self._done)
            self._end()
        except BaseException:
            self._settle()
            raise

    def distributions(self, rows: Rows) -> Floats:
        """The probability of every arm on every row of a log, a column for each arm. O(rows * nodes * arms), compiled."""
        self._visited, table = False, np.empty((len(rows.pool), len(self.arms)))
        self.state.distributions(self.state.tables.Rounds(self.locator.keys(rows.points), rows.masks, rows.pool), table)
        return self._raised(table, rows.masks[rows.pool]) if self.even > 0.0 else table

    def replay_rows(self, rows: Rows) -> Ints:
        if self.even > 0.0:
            return super().replay_rows(rows)
        from ..engine.kernels import replay as kernels

        self._visited = False
        us, masks, pool = self.rng.random(len(rows.arm)), rows.masks, rows.pool
        members = [np.flatnonzero(mask) for mask in masks]
        starts = np.concatenate([[0], np.cumsum([len(arms) for arms in members])]).astype(np.int64)
        places = np.where(masks > 0, np.cumsum(masks, axis=1, dtype=np.int64) - 1, -1)[pool, rows.arm]
        whole = np.asarray(masks.all(axis=1))
        offers = kernels.Offers(masks, starts, np.concatenate(members).astype(np.int64), places, whole)
        shape = (PLACES, len(self.arms))
        memory = kernels.Memory(np.empty(shape), np.empty(shape), np.full(PLACES, -1, dtype=np.int64))
        learned = kernels.Learned(np.empty(len(us), dtype=np.int64), np.empty(len(us)))
        events = kernels.Events(self.locator.keys(rows.points), pool, rows.arm, rows.losses, us)
        at, begun, self._which = (0, 0), self.rounds, lambda k: learned.rows[:k]
        try:
            self._begin()
            while at[0] < len(us):
                most = math.ceil(self._stretch.until - self._late) - begun
                at = self.state.replay(offers, events, memory, most, learned, at, self._done)
                self.rounds = begun + at[1]
                self._catch_up()
            self._end()
        except BaseException:
            self._settle()
            raise
        return np.asarray(learned.rows[: at[1]])

    def certificate(self, delta: float | None = None) -> Certificate:
        """What the rounds learned so far prove of what was lost: a fact about this run; with `delta`, a bound on the true regret.

        `delta`, in (0, 1), is the probability with which the bound may fail. It needs a policy made with `implicit=True`, else `InputError`.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> for t in range(100):
        ...     decision = policy.decide(t % 2 / 2)
        ...     policy.learn(decision, loss=float(decision.arm == t % 2))
        >>> policy.certificate().average < 0.5
        True
        """
        lost, excess, masked = self.state.sums.tolist()
        mapping = self._best_cost()
        cost = mapping + self.schedule.head_cost
        if delta is not None:
            if not is_number(delta) or not 0.0 < delta < 1.0:
                raise InputError(f"delta must be a probability in (0, 1), e.g. 0.05; given {quoted(delta)}.")
            if not self.implicit:
                raise InputError(
                    "A certificate that holds with probability 1 - delta needs estimates without heavy tails, which change what is played: "
                    f"make the policy with {type(self).__name__}(..., implicit=True). certificate() without delta is always there."
                )
            # A union over mappings, by their prior weights, and over the rates and sets of arms that there were (`docs/proofs.md`).
            cost += mapping + reproducible_math.ln(self._phases * (self._phases + 1) / delta)
        units = self.loss_scale.units
        return Certificate(self.rounds, lost, excess, cost, self.rate, masked > 0.0, self._against, delta, self._shifted, units)

    def _arm_costs(self) -> Floats:
        """What naming each arm costs: ln M, and for one that was added, ln of how many there were then."""
        costs: Floats = np.full(len(self.arms), reproducible_math.ln(len(self.arms)))
        costs[self._born :] += reproducible_math.logs(np.arange(self._born, len(self.arms)))
        return costs

    @property
    def nbytes(self) -> int:
        """Memory that the state takes, in bytes, without room that is not used yet."""
        return self.state.nbytes

    def _refresh(self) -> None:
        super()._refresh()
        self.state.set_seen(self.rounds)
        self._visited, self._advised = False, -1.0

    def _widen(self) -> None:
        self.state.widen()
        self._born += self.rounds == 0
        self._phases = min(self._phases + (self.rounds > 0), MOST_PHASES)

    def resume(self, arrays: Arrays, *, rounds: int, **rest: Any) -> None:
        super().resume(arrays, rounds=rounds, **rest)
        if rounds == 0:
            self.state.set_sums(np.zeros(3))

    def _settings(self) -> dict[str, Any]:
        return {**self._rate_settings(), **({"implicit": True} if self.implicit else {})}

    def to_arrays(self) -> Arrays:
        return {
            **super().to_arrays(),
            "counted": np.array([*self.state.sums, self._born, self._phases, self._late]),
            **self.state.to_arrays(),
        }

    def take_arrays(self, arrays: Arrays) -> None:
        arrays = dict(arrays)
        arrays.pop("sums", None)
        counted = arrays.pop(
            "counted", np.array([0.0, np.inf, 0.0, len(self.arms), 1.0, 0.0])
        )  # formats up to 3: nothing is certified
        if counted.shape != (6,) or not (0.0 <= counted[0] < np.inf and counted[1] > -np.inf and counted[2] >= 0.0):
            raise ValueError("its counts must be sums of losses")
        if (
            counted[3] not in range(1, len(self.arms) + 1)
            or not 1.0 <= counted[4] <= MOST_PHASES
            or not 0.0 <= counted[5] <= MOST_LATE
        ):
            raise ValueError("its counts of arms, rates and late rounds do not fit")
        self.state = self.state.from_arrays(arrays)
        self.state.set_sums(counted[:3])
        self._born, self._phases, self._late = int(counted[3]), int(counted[4]), float(counted[5])
