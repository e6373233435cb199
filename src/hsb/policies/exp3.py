"""`Exp3`: one distribution over arms, whatever the context."""

from __future__ import annotations

from typing import Any, ClassVar

from ..checks import flag
from ..learners.priors import CellsPrior
from ..learners.structured import Structured
from ..policy import Certificate, Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.transaction import settle
from ..types import Arms, Outside, Range, Seed


class Exp3(Policy):
    """Exponential weights over the arms with importance-weighted losses; the context is ignored.

    With the same `learning_rate` it equals HSB on a single leaf.

    - `horizon`: the number of rounds T to come, for the rate sqrt(2 ln M / (T M)) with M arms. Or give `learning_rate`, a constant above 0.
      With neither, the rate in round t is about sqrt(ln M / (M t)).
    - `arms`, `implicit`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    >>> import hsb
    >>> policy = hsb.Exp3(arms=["a", "b"], horizon=1000, seed=0)
    >>> policy.learn(policy.decide(None), reward=1.0)
    >>> round(policy.regret_bound())
    53
    """

    guarantee: ClassVar[str] = (
        "In expectation, against every single arm, whatever the losses, if neither the arm nor its loss decides whether feedback comes: "
        "sqrt(2 M T ln M), with a horizon and without a floor; else regret_bound(T)."
    )

    learner: Structured

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
        arm_set = ArmSet(arms)
        learner = Structured.fresh(
            CellsPrior(), len(arm_set), horizon=horizon, learning_rate=learning_rate, implicit=flag("implicit", implicit)
        )
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=learner, **common)

    def regret_bound(self, horizon: float | None = None) -> float:
        """Return ln M / rate + M T rate / 2, for T = `horizon` rounds (default: its own); with the rate of theory, sqrt(2 M T ln M).

        >>> import hsb
        >>> round(hsb.Exp3(arms=3, horizon=100_000).regret_bound())
        812
        """
        with self.lock:
            settle(self)
            cost = self.learner.prior.best_cost(self.learner.mixture, self.arms)
            return self.learner.bound(cost, horizon, floor=self.floor)

    def certificate(self, delta: float | None = None) -> Certificate:
        """Return the `Certificate` of the rounds learned, against any single arm; `delta` as in `hsb.HSB.certificate`."""
        with self.lock:
            settle(self)
            return self.learner.certificate(delta, arms=self.arms, units=self.loss_scale.units, who=type(self).__name__)
