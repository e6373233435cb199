"""Epoch-Greedy: explore one round, exploit several, more and more."""

import math
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..policy.loss_range import UNIT
from ..structures.leaves import Divided
from ..theory.leaders import epoch_greedy_bound, log_mappings
from ..types import Arms, Arrays, Floats, Ints, Masks, Outside, Range, Seed, Table
from .leader import Leader, best_mapping


class EpochGreedy(Leader):
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

    _own = ("locator", "totals", "counts")
    guarantee: ClassVar[str] = (
        "Where rounds are independent and alike, against every mapping of its class: 2 (4.5 M T^2 ln|Pi|)^(1/3) + 2. None against adversaries."
    )

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
        super().__init__(
            structure,
            arms=arms,
            regions=regions,
            loss_range=loss_range,
            reward_range=reward_range,
            outside=outside,
            floor=floor,
            seed=seed,
        )
        self.counts: Ints = np.zeros(2, dtype=np.int64)  # explored rounds, exploiting rounds still to come
        self._refresh()

    @property
    def explored(self) -> int:
        """How many explored rounds it has learned from."""
        return int(self.counts[0])

    @property
    def mapping(self) -> Ints:
        """The best mapping on the explored rounds: for each leaf the number of its arm, in `arms`. Ties go to the lowest."""
        return self._mapping.copy()

    def regret_bound(self, horizon: float | None = None) -> float:
        """2 (4.5 M T^2 ln|Pi|)^(1/3) + 2 over T = `horizon` rounds that are independent and alike, order T^(2/3).

        Nothing is proved of other rounds. Infinite with a `floor`, and where `loss_range` is "auto".

        >>> import hsb
        >>> round(EpochGreedy(hsb.BinaryTree(depth=5), arms=3, regions=3).regret_bound(100_000))
        21071
        """
        if self.floor > 0.0 or self.loss_scale.auto:
            return (
                math.inf
            )  # nothing is proved with a floor, nor where rounds are not alike since the scale of their losses changes
        if horizon is None:
            raise InputError("Over how many rounds? Give regret_bound(horizon): this policy needs none otherwise.")
        return epoch_greedy_bound(self._log_count(), arms=len(self.arms), horizon=horizon)

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        return self._kernels.explore_or_exploit(self._mapping, self.totals, self.counts, self._leaf, offered, u)  # type: ignore[no-any-return]

    def _fill(self, offered: Masks, p: Floats) -> None:
        p[:] = 0.0
        if self.counts[1]:
            p[self._kernels.play(self._mapping, self.totals, self._leaf, offered)] = 1.0
        else:
            p[:] = offered if len(offered) else 1.0
            p /= p.sum()

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        given = (self._mapping, self.totals, self.counts, self._leaf, index, loss, propensity, self._price, self._work)
        self._commit(self._kernels.learn_epoch, *given)

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        leaves = self.locator.keys(points)
        given = (self._mapping, self.totals, self.counts, leaves, masks, losses, us, self._price, self._work, arms, chances)
        self._commit(self._kernels.play_epochs, *given, rounds=len(us))

    def _log_count(self) -> float:
        return log_mappings(leaves=self.structure.leaves, arms=len(self.arms), regions=self.regions)

    def _refresh(self) -> None:
        super()._refresh()
        self._mapping = best_mapping(self.totals, self.regions)[0]
        self._price = 2.0 * len(self.arms) * self._log_count() or math.inf  # with one arm there is nothing to explore

    def take_arrays(self, arrays: Arrays) -> None:
        super().take_arrays(arrays)
        if ((self.counts < 0) | (self.counts > 2**53)).any():
            raise ValueError("its counts are not those of rounds")

    def settings(self) -> dict[str, Any]:
        return {"structure": self.structure.plain(), "regions": self.regions}

    def _shown(self) -> dict[str, Any]:
        return {"structure": self.structure, "regions": self.regions, "explored": self.explored}
