"""`Uniform`: plays uniformly, for collecting data and as a baseline."""

from __future__ import annotations

from typing import Any, ClassVar

from ..learners.uniform import UniformPlay
from ..policy import Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..types import Arms, Outside, Range, Seed


class Uniform(Policy):
    """Plays every available arm with the same probability. It learns nothing; its logs are the best for evaluating other policies.

    It ignores contexts. Arguments as in `hsb.HSB`.

    >>> import hsb
    >>> hsb.Uniform(arms=4).probabilities("any context", available=[0, 2])
    array([0.5, 0. , 0.5, 0. ])
    """

    guarantee: ClassVar[str] = "None: it does not learn."

    def __init__(
        self,
        *,
        arms: Arms,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        arm_set = ArmSet(arms)
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=UniformPlay(len(arm_set)), **common)
