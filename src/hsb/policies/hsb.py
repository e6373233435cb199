"""HSB, Algorithm 1, and its default without knobs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from .. import theory
from ..advisors import WithAdvisor, depth_for, make_advisor, widen_advisor
from ..arguments import is_number, stop_prior
from ..errors import InputError
from ..members import Member, room
from ..structures import Structure, from_dict
from ..types import Arrays, Floats, Masks
from .mixture import Mixture

if TYPE_CHECKING:
    from ..explain import Explanation

Drift = float | Literal["auto"] | None
_UNSAID: Any = object()


class HSB(Mixture):
    """Hierarchical Structure based Bandits: the mixture of every mapping that the structure can express, exactly (Algorithm 1).

    `HSB(structure, arms=M)` needs nothing else: no horizon, no rate, no drift. Beside the mixture it keeps an advisor, which learns quickly and
    notices changes; the guarantee stays and holds at any time (`docs/proofs.md`). With a `horizon` or `learning_rate` it is the paper's.

    - `arms`: a number, or the arms themselves (any hashables).
    - `horizon`: the number of rounds to come, if known: Corollary 1's constant rate, for an optimal partition into `regions` regions
      (by default as many as arms). Or `learning_rate` itself.
    - `drift`: "auto" (the default without horizon and rate): the advisor. None (the default with one of them): no drift. A number: in
      each node learned from, every arm gives that share of its weight to all (fixed share); regret is then bounded against mappings that
      change. With None or a number, and neither a horizon nor a rate, the rate falls as sqrt(A / (M t)): measured, not proved.
    - `stop`: a tree's prior probability of stopping at a node; the paper's is one half. 0 gives S-EXP3.
    - `loss_range`: losses (and rewards) lie in it; they are scaled to [0, 1].
    - `seed`: an int, a `numpy.random.Generator`, or None. Same seed, same run.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=3, seed=0)
    >>> decision = policy.decide(0.37)
    >>> policy.learn(decision, loss=1.0)
    >>> policy.probabilities(0.37).sum().round(12)
    np.float64(1.0)
    """

    guarantee: ClassVar[str] = (
        "Against every mapping of the structure, whatever the contexts and losses: ln(1/beta)/rate + M T rate/2 (Theorem 1)."
    )

    def __init__(
        self,
        structure: Structure,
        *,
        arms: int | Iterable[Hashable],
        horizon: float | None = None,
        regions: int | None = None,
        learning_rate: float | None = None,
        drift: Drift = _UNSAID,
        stop: float | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.regions = regions
        self.stop = stop_prior(stop)
        self.drift = _checked_drift(drift, default="auto" if horizon is None and learning_rate is None else None)
        self._advisor: Member | None = None
        super().__init__(structure, arms=arms, horizon=horizon, learning_rate=learning_rate, loss_range=loss_range, seed=seed)
        self.regions = None if regions is None else int(regions)
        if self.drift == "auto":
            self._advisor = make_advisor(depth_for(structure, len(self.arms)), len(self.arms))
            self._refresh()

    # -- what is known of it -----------------------------------------------------------------------------------------

    def regret_bound(self, horizon: float | None = None, *, regions: int | None = None) -> float:
        """What Theorem 2 says of this policy over `horizon` rounds (by default the one it was made for), for so many regions.

        At Corollary 1's rate, that is sqrt(2 A M T); for the default, `theory.anytime_bound`. Infinite for a rate that falls
        from round to round, of which nothing is proved.

        >>> import hsb
        >>> tree = hsb.BinaryTree(depth=10)
        >>> round(hsb.HSB(tree, arms=3, horizon=100_000).regret_bound()), round(hsb.theory.regret_bound(tree, arms=3, horizon=100_000))
        (6720, 6720)
        """
        arms = len(self.arms)
        regions = (self.regions or arms) if regions is None else regions
        cost = theory.prior_bound(self.structure, arms=arms, regions=regions, stop=self.stop)
        if self.learning_rate is None:
            if self.drift != "auto":
                return super().regret_bound(horizon)
            return theory.anytime_mixture_bound(cost, arms=arms, horizon=self._horizon(horizon))
        rounds = self._horizon(horizon)
        cost += self._extra_cost(rounds)
        return theory.mixture_bound(cost, learning_rate=self.learning_rate, arms=arms, horizon=rounds)

    def explain(self) -> Explanation:
        """The most probable mapping: regions, their arms, how sure. Data that prints as rules and can be drawn (`.plot()`).

        Of a policy with an advisor: how the advisor splits the space, and the best arm of each part.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], learning_rate=1.0)
        >>> for context, bad in ((0.2, "a"), (0.7, "b")):
        ...     policy.learn(hsb.Decision(context=context, arm=bad, propensity=0.05), loss=1.0)
        >>> print(policy.explain())
        0 <= x < 0.5: play 'b' (sure 1.00)
        0.5 <= x <= 1: play 'a' (sure 1.00)
        """
        from ..explain import explain, explain_advisor

        if self._advisor is not None:
            return explain_advisor(self.structure, self._advisor, self.arms)
        return explain(self.structure, self._members, self.arms, self.stop)

    def _extra_cost(self, rounds: float) -> float:
        """What the advisor and sharing add to ln(1/beta)."""
        if self.drift is None:
            return 0.0
        if self.drift == "auto":
            epochs = 1 if self.learning_rate is None else len(theory.epoch_rates(rounds, arms=len(self.arms)))
            return theory.advisor_cost(epochs)
        return -rounds * float(np.log1p(-self.drift))

    def _best_cost(self) -> float:
        from ..explain.price import price

        return price(self.explain(), stop=self.stop) + self._extra_cost(self.rounds)

    def _certified(self, cost: float) -> float | None:
        if self.learning_rate is None and self.drift == "auto":
            return sum(cost / rate for rate in theory.epoch_rates(self.rounds, arms=len(self.arms)))
        return super()._certified(cost)

    # -- rounds with an advisor --------------------------------------------------------------------------------------

    @property
    def _map(self) -> Structure:
        return self.structure if self._advisor is None else self._with_advisor

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        if self._advisor is None:
            return Mixture._choose(self, offered, u)
        *keys, cell = self._keys
        A, B = self._advisor
        found: tuple[int, float] = self._advised.decide(
            self._Fs, self._Is, tuple(keys), self._counts, offered, self._p, u, A, B, cell[0, 0]
        )
        return found

    def _fill(self, offered: Masks, p: Floats) -> None:
        if self._advisor is None:
            return super()._fill(offered, p)
        *keys, cell = self._keys
        self._advised.probabilities(self._Fs, self._Is, tuple(keys), self._counts, offered, p, *self._advisor, cell[0, 0])
        return None

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        if self._advisor is None:
            return Mixture._update(self, offered, index, loss, propensity)
        *keys, cell = self._keys
        end, rate, drift = self._epoch()
        x = rate * loss / propensity
        while not self._advised.update(
            self._Fs, self._Is, tuple(keys), self._counts, offered, self._p, index, loss, x, drift, *self._advisor, cell[0, 0]
        ):
            self._set_members([room(member) for member in self._members])
        self._sums[2] += x * loss / 2.0
        if self.rounds + 1 == end and self.learning_rate is None:
            self._restart()
        return None

    def _play(
        self, points: NDArray[Any], masks: Masks, losses: Floats, us: Floats, played: Any, chances: Floats, to_come: int
    ) -> None:
        if self._advisor is None:
            return super()._play(points, masks, losses, us, played, chances, to_come)
        *keys, cells = self._table_keys(points)
        A, B = self._advisor
        n, first = len(us), self.rounds
        done = 0
        while done < n:
            end, rate, drift = self._epoch(first + done)
            stop = min(n, end - first)
            begin = done
            while done < stop:
                done = self._advised.simulate(
                    *(self._Fs, self._Is, tuple(keys), self._counts, masks, self._p, losses, us, rate, drift),
                    *(A, B, cells, played, chances, done, stop),
                )
                if done < stop:
                    self._set_members([room(member, to_come - done) for member in self._members])
            suffered = losses[np.arange(begin, stop), played[begin:stop]]
            self._count_all(np.full(stop - begin, rate), suffered, chances[begin:stop], falling=False)
            if first + done == end and self.learning_rate is None:
                self._restart()
        return None

    def _epoch(self, rounds: int | None = None) -> tuple[int, float, float]:
        """Where the present epoch ends, its rate, and how much is shared in its rounds."""
        start, length = theory.epoch(self.rounds if rounds is None else rounds)
        rate = self.learning_rate
        return start + length, theory.epoch_rate(length, arms=len(self.arms)) if rate is None else rate, 1.0 / length

    def _restart(self) -> None:
        """A new epoch: the mixture and its weight beside the advisor go back to their prior."""
        assert self._advisor is not None
        self._set_members(self._fresh())
        self._advised.restart(self._advisor.F)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _fresh(self) -> list[Member]:
        return self.structure.members(len(self.arms), self.stop)

    def _prior_bound(self) -> float:
        """Theorem 2's, for so many regions."""
        arms = len(self.arms)
        return theory.prior_bound(self.structure, arms=arms, regions=arms if self.regions is None else self.regions)

    def _refresh(self) -> None:
        self._drift = self.drift if isinstance(self.drift, float) else 0.0
        if self._advisor is not None:
            from ..kernels import advised
            from ..kernels.header import DEPTH

            self._advised = advised
            self._with_advisor = WithAdvisor(self.structure, int(self._advisor.I[DEPTH]))
        super()._refresh()

    def _widen(self) -> None:
        super()._widen()
        if self._advisor is not None:
            self._advisor = widen_advisor(self._advisor)

    def _detach(self) -> None:
        super()._detach()
        if self._advisor is not None:
            self._advisor = Member(self._advisor.F.copy(), self._advisor.I.copy())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_advised"}

    @property
    def nbytes(self) -> int:
        """Memory that the state takes, rows not yet used apart."""
        return super().nbytes + (0 if self._advisor is None else sum(array.nbytes for array in self._advisor))

    def _arrays(self) -> Arrays:
        arrays = super()._arrays()
        if self._advisor is not None:
            arrays["advisor"] = self._advisor.F
        return arrays

    def _set_arrays(self, arrays: Arrays) -> None:
        arrays = dict(arrays)
        if self._advisor is not None:
            given = arrays.pop("advisor")
            if given.shape != self._advisor.F.shape or not np.isfinite(given).all() or given.min() < 0.0:
                raise ValueError("its advisor does not fit its settings")
            self._advisor.F[:] = given
        super()._set_arrays(arrays)

    def _settings(self) -> dict[str, Any]:
        return {
            "structure": self.structure.to_dict(),
            "horizon": self.horizon,
            "regions": self.regions,
            "learning_rate": self.learning_rate if self.horizon is None else None,
            "drift": self.drift,
            "stop": self.stop,
        }

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(from_dict(settings.pop("structure")), **settings, **common)

    def _shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"structure": self.structure, "learning_rate": self.learning_rate}
        return shown if self.drift is None else shown | {"drift": self.drift}


def _checked_drift(drift: Drift, default: Drift) -> Drift:
    if drift is _UNSAID:
        return default
    if drift is None or drift == "auto":
        return drift
    if not is_number(drift) or not 1e-12 <= drift <= 0.5:
        raise InputError(
            f"drift must be 'auto', None (no drift), or a share of weight in [1e-12, 0.5], e.g. 1e-5; given {drift!r}."
        )
    return float(drift)
