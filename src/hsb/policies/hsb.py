"""HSB, Algorithm 1."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .. import theory
from ..arguments import stop_prior
from ..members import Member
from ..structures import Structure, from_dict
from .mixture import Mixture

if TYPE_CHECKING:
    from ..explain import Explanation


class HSB(Mixture):
    """Hierarchical Structure based Bandits: the mixture of every mapping that the structure can express, exactly (Algorithm 1).

    - `arms`: a number, or the arms themselves (any hashables).
    - `horizon`: the number of rounds to come, if known: Corollary 1's constant rate, for an optimal partition into `regions` regions
      (by default as many as arms). Or `learning_rate` itself. With neither, the rate falls as sqrt(A / (M t)) (anytime).
    - `stop`: a tree's prior probability of stopping at a node; the paper's is one half. 0 gives S-EXP3.
    - `loss_range`: losses (and rewards) lie in it; they are scaled to [0, 1].
    - `seed`: an int, a `numpy.random.Generator`, or None. Same seed, same run.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=3, horizon=1000, seed=0)
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
        stop: float | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.regions = regions
        self.stop = stop_prior(stop)
        super().__init__(structure, arms=arms, horizon=horizon, learning_rate=learning_rate, loss_range=loss_range, seed=seed)
        self.regions = None if regions is None else int(regions)

    def regret_bound(self, horizon: float | None = None, *, regions: int | None = None) -> float:
        """Theorem 2 at this policy's rate over `horizon` rounds (by default the one it was made for), for so many regions.

        At Corollary 1's rate, that is sqrt(2 A M T). Infinite for a falling rate: see the README for what is known of it.

        >>> import hsb
        >>> tree = hsb.BinaryTree(depth=10)
        >>> round(hsb.HSB(tree, arms=3, horizon=100_000).regret_bound()), round(hsb.theory.regret_bound(tree, arms=3, horizon=100_000))
        (6720, 6720)
        """
        if self.learning_rate is None:
            return super().regret_bound(horizon)
        return theory.hierarchy_bound(
            self.structure,
            arms=len(self.arms),
            horizon=self._horizon(horizon),
            learning_rate=self.learning_rate,
            regions=self.regions if regions is None else regions,
        )

    def explain(self) -> Explanation:
        """The most probable mapping: regions, their arms, how sure. Data that prints as rules and can be drawn (`.plot()`).

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], learning_rate=1.0)
        >>> for context, bad in ((0.2, "a"), (0.7, "b")):
        ...     policy.learn(hsb.Decision(context=context, arm=bad, propensity=0.05), loss=1.0)
        >>> print(policy.explain())
        0 <= x < 0.5: play 'b' (sure 1.00)
        0.5 <= x <= 1: play 'a' (sure 1.00)
        """
        from ..explain import explain

        return explain(self.structure, self._members, self.arms, self.stop)

    def _fresh(self) -> list[Member]:
        return self.structure.members(len(self.arms), self.stop)

    def _prior_bound(self) -> float:
        """Theorem 2's, for so many regions."""
        arms = len(self.arms)
        return theory.prior_bound(self.structure, arms=arms, regions=arms if self.regions is None else self.regions)

    def _best_cost(self) -> float:
        from ..explain.price import price

        return price(self.explain(), stop=self.stop)

    def _settings(self) -> dict[str, Any]:
        return {
            "structure": self.structure.to_dict(),
            "horizon": self.horizon,
            "regions": self.regions,
            "learning_rate": self.learning_rate if self.horizon is None else None,
            "stop": self.stop,
        }

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(from_dict(settings.pop("structure")), **settings, **common)

    def _shown(self) -> dict[str, Any]:
        return {"structure": self.structure, "learning_rate": self.learning_rate}
