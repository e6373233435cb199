"""Epoch-Greedy: explore one round, exploit several, more and more."""

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
    classes, one over what that mapping may still lose a round to the best one; the constant comes from the proof in `theory/leaders.py`.
    There is no horizon to know.

    Rounds count when they are learned. A propensity below 1 means explored, however late it comes (and wherever it comes from: logged rounds
    count too); a round with propensity 1 teaches nothing. Feedback that comes late leads to more exploring at first, repaid afterwards.
    With a `floor` every round is explored, and its loss counts by its propensity.

    - `structure`: as in `hsb.SExp3`.
    - `regions`: which mappings there are: those with at most `regions` runs of equal arms along the numbered leaves. None: all M^N.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    >>> import hsb, numpy as np
    >>> policy = EpochGreedy(hsb.BinaryTree(depth=3), arms=2, regions=2, seed=0)
    >>> x = np.random.default_rng(1).random(5000)
    >>> run = hsb.simulate(policy, x, np.column_stack([x > 0.5, x <= 0.5]))
    >>> run.average_loss < 0.2, policy.mapping
    (True, array([0, 0, 0, 0, 1, 1, 1, 1]))
    """

    guarantee: ClassVar[str] = (
        "Where rounds are independent and alike, against every mapping of its class: 2 (4.5 M T^2 ln|Pi|)^(1/3) + 2. None against adversaries."
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
        """The leaves of the structure that it was made with."""
        return self.learner.table.structure

    @property
    def regions(self) -> int | None:
        """The most regions of a mapping; None if each leaf is by itself."""
        return self.learner.table.regions

    @property
    def totals(self) -> Floats:
        """The estimated total loss of each arm in each leaf, of explored rounds: a row for each leaf, a column for each arm."""
        return self.learner.table.totals

    @property
    def explored(self) -> int:
        """How many explored rounds it has learned from."""
        return int(self.learner.counts[EXPLORED])

    @property
    def mapping(self) -> Ints:
        """The best mapping on the explored rounds: for each leaf the number of its arm, in `arms`. Ties go to the lowest."""
        with self.lock:
            settle(self)
            return self.learner.mapping.copy()

    def regret_bound(self, horizon: float | None = None) -> float:
        """2 (4.5 M T^2 ln|Pi|)^(1/3) + 2 over T = `horizon` rounds that are independent and alike, order T^(2/3).

        Nothing is proved of other rounds. Infinite with a `floor`, and if `loss_range` is "auto".

        >>> import hsb
        >>> round(EpochGreedy(hsb.BinaryTree(depth=5), arms=3, regions=3).regret_bound(100_000))
        21071
        """
        with self.lock:
            settle(self)
            if self.floor > 0.0 or self.loss_scale.auto:  # then rounds are not alike: the scale of their losses changes
                return math.inf
            if horizon is None:
                raise InputError("Over how many rounds? Give regret_bound(horizon): this policy needs none otherwise.")
            return epoch_greedy_bound(self.learner.log_count, arms=len(self.arms), horizon=horizon)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(Leaves.from_plain(settings.pop("structure")), **settings, **common)
