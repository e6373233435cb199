"""Exponential weights over every mapping of a structure, exactly: what HSB, S-EXP3 and EXP3 are."""

from collections.abc import Iterator

import numpy as np

from ..locators import Keys, Nowhere
from ..offer import EVERYTHING
from ..rows import Rows
from ..state import State
from ..theory.schedule import Sums
from ..types import Arms, Arrays, Bounds, Floats, Ints, Masks, Seed, Table
from .certificate import Certificate
from .located import Located
from .rated import Rated

PLACES = 256  # of a replay's memory of probabilities


class Mixture(Rated, Located, listed=False):
    """A policy with a locator, a state and a schedule: context to key, key to probabilities, rounds to rates.

    A policy of this kind says what they are: `_locator`, `_fresh`, and what its rate is meant for (`_prior_bound`).
    """

    state: State
    _own = ("locator", "state", "_sums")

    def __init__(
        self,
        *,
        arms: Arms,
        horizon: float | None = None,
        learning_rate: float | None = None,
        loss_range: Bounds = (0.0, 1.0),
        seed: Seed = None,
    ) -> None:
        super().__init__(arms=arms, loss_range=loss_range, seed=seed)
        self._set_rate(horizon, learning_rate)
        self.locator = self._locator()
        self.state = self._fresh()
        self._sums = list(Sums())
        self._refresh()

    def _locator(self) -> Keys | Nowhere:
        """How a context becomes a key."""
        raise NotImplementedError

    def _fresh(self) -> State:
        """A state at its prior."""
        raise NotImplementedError

    def _best_cost(self) -> float:
        """ln(1/beta) of the best mapping in hindsight."""
        raise NotImplementedError

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        self._visited = offered is EVERYTHING
        return self.state.decide(self.locator.key, None if self._visited else offered, u)

    def _fill(self, offered: Masks, p: Floats) -> None:
        self._visited = offered is EVERYTHING
        self.state.fill(self.locator.key, None if self._visited else offered, p)

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        rate, drift, until, _ = self._stretch
        x = rate * loss / propensity
        all_offered = offered is EVERYTHING
        visited, self._visited = self._visited and all_offered, False
        self.state.update(self.locator.key, None if all_offered else offered, index, loss, x, drift, visited)
        if loss > 0.0:  # as `kernels/tables.add_up`
            self._sums[2] += x * loss / 2.0
        if self.schedule.falls:
            self._sums[0] += rate
            self._sums[1] += rate * x * loss / 2.0
        if self.rounds + 1 == until:
            self._turn(until)

    def _turn(self, rounds: int) -> None:
        """The stretch that ended after `rounds` rounds gives way to the next."""
        if self._stretch.restart:
            self.state.restart(self._fresh().members)
        self._stretch = self.schedule.stretch(rounds)

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        self._visited = False
        table = self.state.tables.Rounds(self.locator.keys(points), masks if masks.shape[1] else None, None, losses, us)
        out = self.state.tables.Out(arms, chances, np.empty(len(us)))
        for part, rates, drift in self._stretches(len(us)):
            self.state.play(table, rates, drift, out, part, to_come=to_come - part.start)
            self._count(rates[part], out.losses[part], chances[part])

    def learn_rows(self, rows: Rows, chances: Floats) -> None:
        self._visited, n, before = False, len(rows.arm), self.rounds
        keys = self.locator.keys(rows.points)
        table = self.state.tables.Rounds(
            keys, rows.masks, rows.pool, rows.losses, None, rows.arm, np.ascontiguousarray(chances)
        )
        for part, rates, drift in self._stretches(n):
            self.state.learn(table, rates, drift, part)
            self._count(rates[part], rows.losses[part], chances[part])
        self.rounds = before + n
        self.version += 1

    def _stretches(self, n: int) -> Iterator[tuple[slice, Floats, float]]:
        """The next n rounds cut where rate or drift change: the part, the rates of all rounds, the drift; in between, the turn."""
        done, before = 0, self.rounds
        while done < n:
            stretch = self._stretch
            stop = n if self.schedule.falls else min(n, stretch.until - before)
            part = slice(done, stop)
            rates = self.schedule.rates(before, n) if self.schedule.falls else np.full(n, stretch.rate)
            yield part, rates, stretch.drift
            done = stop
            self.rounds = before + done
            if before + done >= stretch.until:
                self._turn(before + done)

    def distributions(self, rows: Rows) -> Floats:
        """What it would play on every row of a log, a column an arm. O(rows * nodes * arms), compiled."""
        self._visited, table = False, np.empty((len(rows.pool), len(self.arms)))
        self.state.distributions(self.state.tables.Rounds(self.locator.keys(rows.points), rows.masks, rows.pool), table)
        return table

    def replay_rows(self, rows: Rows) -> Ints:
        from ..kernels import replay as kernels

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
        at, begun = (0, 0), self.rounds
        while at[0] < len(us):
            stretch, first = self._stretch, at[1]
            most = len(us) if self.schedule.falls else min(len(us), stretch.until - begun)
            rates = self.schedule.rates(begun, most) if self.schedule.falls else np.full(most, stretch.rate)
            at = self.state.replay(offers, events, memory, rates, stretch.drift, learned, at)
            part = slice(first, at[1])
            self._count(rates[part], rows.losses[learned.rows[part]], learned.chances[part])
            self.rounds = begun + at[1]
            if self.rounds >= stretch.until:
                self._turn(self.rounds)
        return np.asarray(learned.rows[: at[1]])

    def _count(self, rates: Floats, losses: Floats, propensities: Floats) -> None:
        sums = np.array(self._sums)
        self.state.tables.add_up(sums, rates, losses, propensities, self.schedule.falls)
        self._sums = sums.tolist()

    def certificate(self) -> Certificate:
        """What the rounds played so far prove about the regret: Theorem 1's bound with the observed second-order term.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> for t in range(100):
        ...     decision = policy.decide(t % 2 / 2)
        ...     policy.learn(decision, loss=float(decision.arm == t % 2))
        >>> policy.certificate().average < 0.5
        True
        """
        cost = self._best_cost() + self.schedule.extra_cost(self.rounds)
        if not self.rounds:
            return Certificate(0, cost, 0.0, float("inf"))
        return Certificate(self.rounds, cost, *self.schedule.certified(cost, self.rounds, Sums(*self._sums)))

    @property
    def nbytes(self) -> int:
        """Memory that the state takes, rows not yet used apart."""
        return self.state.nbytes

    def _refresh(self) -> None:
        super()._refresh()
        self._visited = False

    def _widen(self) -> None:
        self.state.widen()

    def to_arrays(self) -> Arrays:
        return {"sums": np.array(self._sums), **self.state.to_arrays()}

    def take_arrays(self, arrays: Arrays) -> None:
        arrays = dict(arrays)
        sums = arrays.pop("sums", np.zeros(3))  # the first files had none
        if sums.shape != (3,) or not np.isfinite(sums).all():
            raise ValueError("its sums must be three finite numbers")
        self.state = self.state.from_arrays(arrays)
        self._sums = sums.tolist()
