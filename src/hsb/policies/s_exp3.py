"""`SExp3`: a separate EXP3 in every cell."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ..checks import flag
from ..learners.priors import CellsPrior
from ..learners.structured import Structured
from ..policy import Certificate, Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.transaction import settle
from ..structures import Structure
from ..structures.leaves import Leaves
from ..structures.spaces import Cells
from ..types import Arms, Outside, Range, Seed


class SExp3(Policy):
    """An EXP3 in every one of the N leaves of a structure: all M^N mappings of leaves to M arms, with equal prior weight (Section I-A).

    With the same `learning_rate` it equals `HSB(tree, stop=0)`, the tree that never stops above its leaves, and is faster.

    - `structure`: a structure, of which only the leaves count; an `hsb.Cells`; or the number of equal cells that [0, 1] is divided into.
    - `horizon`: the number of rounds T to come, for the rate sqrt(2 N ln M / (T M)). Or give `learning_rate`, a constant above 0. With
      neither, the rate in round t is about sqrt(N ln M / (M t)).
    - `arms`, `implicit`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    >>> import hsb
    >>> policy = hsb.SExp3(32, arms=3, horizon=10_000, seed=0)
    >>> policy.learn(policy.decide(0.37), loss=1.0)
    >>> round(policy.regret_bound())
    1452
    """

    guarantee: ClassVar[str] = (
        "In expectation, against every mapping of the cells, whatever the contexts and losses, if neither the arm nor its loss decides "
        "whether feedback comes: sqrt(2 N M T ln M), with a horizon and without a floor; else regret_bound(T)."
    )

    learner: Structured

    def __init__(
        self,
        structure: Structure | Cells | int,
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
        arm_set, prior = ArmSet(arms), CellsPrior(Leaves(structure), "any mapping of the cells")
        learner = Structured.fresh(
            prior, len(arm_set), horizon=horizon, learning_rate=learning_rate, implicit=flag("implicit", implicit)
        )
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=learner, **common)

    @property
    def structure(self) -> Leaves:
        """The leaves, each with a separate EXP3."""
        prior = self.learner.prior
        assert isinstance(prior, CellsPrior) and prior.leaves is not None
        return prior.leaves

    def regret_bound(self, horizon: float | None = None) -> float:
        """Return N ln M / rate + M T rate / 2, for T = `horizon` rounds (default: its own); with the rate of theory, sqrt(2 N M T ln M).

        >>> import hsb
        >>> round(hsb.SExp3(1024, arms=3, horizon=100_000).regret_bound())
        25981
        """
        with self.lock:
            settle(self)
            cost = self.learner.prior.best_cost(self.learner.mixture, self.arms)
            return self.learner.bound(cost, horizon, floor=self.floor)

    def certificate(self, delta: float | None = None) -> Certificate:
        """Return the `Certificate` of the rounds learned, against any mapping of the cells; `delta` as in `hsb.HSB.certificate`."""
        with self.lock:
            settle(self)
            return self.learner.certificate(delta, arms=self.arms, units=self.loss_scale.units, who=type(self).__name__)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(Leaves.from_plain(settings.pop("structure")), **settings, **common)
