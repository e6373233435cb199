"""`EpochGreedy`: explore one round, exploit several, more and more."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

from ..errors import InputError
from ..learners.leaders import EXPLORED, EpochLeader
from ..learners.leaf_totals import LeafTotals
from ..policy import Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.transaction import settle
from ..structures.leaves import Divided, Leaves
from ..theory.leaders import epoch_greedy_bound
from ..types import Arms, Floats, Ints, Outside, Range, Seed


class EpochGreedy(Policy):
    """Epoch-Greedy (Langford and Zhang 2007) over the mappings of a structure's leaves.

    Epoch n is one round of a uniformly random arm, then s_n = floor(sqrt(n / (2 M ln|Pi|))) rounds of the mapping with the least
    estimated loss on the explored rounds alone. |Pi| is the number of mappings of N leaves to M arms. This is the paper's rule for finite
    classes: the inverse of what that mapping may still lose per round to the best one. The constant comes from the proof in
    `theory/leaders.py`. It needs no horizon.

    Rounds count when they are learned. A propensity below 1 means explored, however late the feedback (logged rounds count too); a round with
    propensity 1 changes nothing. Late feedback leads to more exploration at first and less afterwards. With a `floor` every round is explored,
    and its loss is weighted by its propensity.

    - `structure`: as in `hsb.SExp3`.
    - `regions`: restricts mappings to those with at most `regions` runs of equal arms along the numbered leaves. Default: all M^N.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    >>> import hsb, numpy as np
    >>> policy = EpochGreedy(hsb.BinaryTree(depth=3), arms=2, regions=2, seed=0)
    >>> x = np.random.default_rng(1).random(5000)
    >>> run = hsb.simulate(policy, x, np.column_stack([x > 0.5, x <= 0.5]))
    >>> run.average_loss < 0.2, policy.mapping
    (True, array([0, 0, 0, 0, 1, 1, 1, 1]))
    """

    guarantee: ClassVar[str] = (
        "If rounds are independent and identically distributed, and neither the arm nor its loss decides whether feedback comes, in "
        "expectation against every mapping of its class: 2 (4.5 M T^2 ln|Pi|)^(1/3) + 2, without a floor. "
        "None against adversaries."
    )

    learner: EpochLeader

    def __init__(
        self,
        structure: Divided,
        *,
        arms: Arms,
        regions: int | None = None,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        arm_set = ArmSet(arms)
        learner = EpochLeader(LeafTotals.fresh(structure, len(arm_set), regions))
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=learner, **common)

    @property
    def structure(self) -> Leaves:
        """The leaves of the structure."""
        return self.learner.table.structure

    @property
    def regions(self) -> int | None:
        """The maximum number of regions of a mapping; None without a limit."""
        return self.learner.table.regions

    @property
    def totals(self) -> Floats:
        """The estimated total loss of each arm in each leaf over the explored rounds: a row for each leaf, a column for each arm."""
        return self.learner.table.totals

    @property
    def explored(self) -> int:
        """The number of explored rounds learned."""
        return int(self.learner.counts[EXPLORED])

    @property
    def mapping(self) -> Ints:
        """The best mapping on the explored rounds: the index of the arm of each leaf. Ties go to the lowest index."""
        with self.lock:
            settle(self)
            return self.learner.mapping.copy()

    def regret_bound(self, horizon: float | None = None) -> float:
        """Return 2 (4.5 M T^2 ln|Pi|)^(1/3) + 2, for T = `horizon` independent, identically distributed rounds; order T^(2/3).

        Nothing is proved for other rounds. Infinite with a `floor`, and if `loss_range` is "auto".

        >>> import hsb
        >>> round(EpochGreedy(hsb.BinaryTree(depth=5), arms=3, regions=3).regret_bound(100_000))
        21071
        """
        with self.lock:
            settle(self)
            if (
                self.floor > 0.0 or self.loss_scale.auto
            ):  # then rounds are not identically distributed: the scale of losses changes
                return math.inf
            if horizon is None:
                raise InputError(
                    "regret_bound needs a horizon, the number of rounds: this policy has none. Use regret_bound(horizon)."
                )
            return epoch_greedy_bound(self.learner.log_count, arms=len(self.arms), horizon=horizon)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(Leaves.from_plain(settings.pop("structure")), **settings, **common)
