"""Exponential weights over every mapping of a structure, exactly: the engine behind HSB, S-EXP3 and EXP3."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import theory
from ..errors import InputError
from ..members import Member, add_arm, duplicate, in_use, room
from ..stored import checked, trimmed
from ..structures import Structure
from ..types import Arrays, Floats, Masks
from .certificate import Certificate
from .located import Located


class Mixture(Located, listed=False):
    """A state (the members of a structure) that kernels update, at a rate that is constant or falls with the rounds."""

    def __init__(
        self,
        structure: Structure,
        *,
        arms: int | Iterable[Hashable],
        horizon: float | None,
        learning_rate: float | None,
        loss_range: tuple[float, float],
        seed: int | np.random.Generator | None,
    ) -> None:
        super().__init__(structure, arms=arms, loss_range=loss_range, seed=seed)
        self.learning_rate = theory.constant_rate(
            self._prior_bound(), arms=len(self.arms), horizon=horizon, learning_rate=learning_rate
        )
        self.horizon = None if horizon is None else float(horizon)
        self._drift = 0.0  # share of an arm's weight that it gives to all, in each node learned from
        # Over the rounds learned from: rate; rate^2 loss^2 / (2 propensity); rate loss^2 / (2 propensity). A constant rate needs only the last.
        self._sums = [0.0, 0.0, 0.0]
        self._set_members(self._fresh())
        self._refresh()

    # -- what the three differ in -----------------------------------------------------------------------------------

    @abstractmethod
    def _fresh(self) -> list[Member]:
        """A state at its prior."""

    @abstractmethod
    def _prior_bound(self) -> float:
        """A, an upper bound on ln(1/beta) of the mappings that the rate is meant for."""

    @abstractmethod
    def _best_cost(self) -> float:
        """ln(1/beta) of the best mapping in hindsight."""

    def _anytime(self, t: Any) -> Any:
        """The rate of round t, or of an array of rounds: sqrt(A / (M t))."""
        return np.sqrt(self._cost / t)

    # -- a round -----------------------------------------------------------------------------------------------------

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        return self._kernels.decide(self._Fs, self._Is, self._keys, self._counts, offered, self._p, u)  # type: ignore[no-any-return]

    def _fill(self, offered: Masks, p: Floats) -> None:
        self._kernels.probabilities(self._Fs, self._Is, self._keys, self._counts, offered, p)

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        rate = self.learning_rate
        if rate is None:
            rate = float(self._anytime(self.rounds + 1.0))
        x = rate * loss / propensity
        while not self._kernels.update(
            self._Fs, self._Is, self._keys, 0, self._counts, offered, self._p, index, x, self._drift, False
        ):
            self._set_members([room(member) for member in self._members])
        if loss > 0.0:  # as `kernels/rounds.add_all`
            self._sums[2] += x * loss / 2.0
        if self.learning_rate is None:
            self._sums[0] += rate
            self._sums[1] += rate * x * loss / 2.0

    def _play(
        self, points: NDArray[Any], masks: Masks, losses: Floats, us: Floats, played: Any, chances: Floats, to_come: int
    ) -> None:
        n, first = len(us), self.rounds + 1
        if self.learning_rate is not None:
            rates = np.full(n, self.learning_rate)
        else:
            rates = self._anytime(np.arange(first, first + n, dtype=np.float64))
        keys, suffered = self._table_keys(points), np.empty(n)
        done = 0
        while True:
            done = self._kernels.simulate(
                self._Fs,
                self._Is,
                keys,
                self._counts,
                masks,
                self._p,
                losses,
                us,
                rates,
                self._drift,
                played,
                chances,
                suffered,
                done,
            )
            if done == n:
                break
            self._set_members([room(member, to_come - done) for member in self._members])
        self._count_all(rates, suffered, chances, falling=self.learning_rate is None)

    def _count_all(self, rates: Floats, losses: Floats, propensities: Floats, *, falling: bool) -> None:
        sums = np.array(self._sums)
        self._kernels.add_all(sums, rates, losses, propensities, falling)
        self._sums = sums.tolist()

    # -- the whole policy --------------------------------------------------------------------------------------------

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
        weight, falling, second = self._sums
        cost = self._best_cost()
        if not self.rounds:
            return Certificate(0, cost, 0.0, math.inf)
        price = self._certified(cost)
        if price is None:  # a falling rate: rounds weighed by their rates
            return Certificate(self.rounds, cost, falling * self.rounds / weight, (cost + falling) * self.rounds / weight)
        return Certificate(self.rounds, cost, second, price + second)

    def _certified(self, cost: float) -> float | None:
        """What Theorem 1 charges in all for a mapping with ln(1/beta) = cost; None for a rate that falls from round to round."""
        return None if self.learning_rate is None else cost / self.learning_rate

    def _horizon(self, horizon: float | None) -> float:
        """The rounds that a bound is asked for."""
        found = self.horizon if horizon is None else horizon
        if found is None:
            raise InputError("Over how many rounds? Give regret_bound(horizon): this policy was made without one.")
        return found

    @property
    def nbytes(self) -> int:
        """Memory that the state takes, rows not yet used apart."""
        return sum(in_use(member) for member in self._members)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _set_members(self, members: list[Member]) -> None:
        from ..kernels import rounds

        self._kernels = rounds
        self._members = members
        self._Fs = tuple(member.F for member in members)
        self._Is = tuple(member.I for member in members)

    def _refresh(self) -> None:
        super()._refresh()
        if not hasattr(self, "_kernels"):
            self._set_members(self._members)
        self._counts = np.zeros(len(self._members), dtype=np.int64)
        cost, arms = self._prior_bound(), len(self.arms)
        self._cost = cost / arms
        if self.horizon is not None:
            self.learning_rate = theory.constant_rate(cost, arms=arms, horizon=self.horizon, learning_rate=None)

    def _widen(self) -> None:
        self._set_members([add_arm(member) for member in self._members])

    def _detach(self) -> None:
        self._set_members([duplicate(member) for member in self._members])
        self._sums = list(self._sums)

    def _arrays(self) -> Arrays:
        arrays: Arrays = {"sums": np.array(self._sums)}
        for k, member in enumerate(self._members):
            arrays[f"{k}.floats"], arrays[f"{k}.ints"] = trimmed(member)
        return arrays

    def _set_arrays(self, arrays: Arrays) -> None:
        fresh = self._members
        if len([name for name in arrays if name != "sums"]) != 2 * len(fresh):
            raise ValueError(f"its arrays are not those of a structure with {len(fresh)} members")
        sums = arrays.get("sums", np.zeros(3))  # the first files had none
        if sums.shape != (3,) or not np.isfinite(sums).all():
            raise ValueError("its sums must be three finite numbers")
        self._sums = sums.tolist()
        self._set_members([checked(arrays[f"{k}.floats"], arrays[f"{k}.ints"], member) for k, member in enumerate(fresh)])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_kernels", "_Fs", "_Is")}
