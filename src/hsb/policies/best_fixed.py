"""`BestFixed`: the best mapping in hindsight, the comparator of regret."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..checks import whole
from ..errors import InputError
from ..learners.leaders import FixedMapping
from ..learners.leaf_totals import LeafTotals
from ..policy import Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.rows import check_shape, losses_or_rewards
from ..structures.leaves import Divided, Leaves
from ..structures.spaces import numbers, shortened
from ..types import Arms, Floats, Ints, Outside, Range, Seed

Where = Divided | None
WIDE = 1e200  # a wider range of losses is scaled to width 1


class BestFixed(Policy):
    """A fixed mapping from the leaves of a structure to arms; it learns nothing. `BestFixed.of` computes the best one for a table.

    - `structure`: as in `hsb.SExp3`. None: it plays one arm and ignores contexts.
    - `mapping`: the index of an arm in `arms` for each leaf, or one number for all.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    If its arm is not available, it plays the best available arm by that leaf's totals in the table of `BestFixed.of`; without such a table,
    the first available arm.

    >>> import hsb
    >>> policy = BestFixed(hsb.BinaryTree(depth=1), arms=["a", "b"], mapping=[1, 0])
    >>> policy.decide(0.2).arm, policy.decide(0.8).arm
    ('b', 'a')
    """

    guarantee: ClassVar[str] = "None: it does not learn. It is the best mapping in hindsight."

    learner: FixedMapping

    def __init__(
        self,
        structure: Where,
        *,
        arms: Arms,
        mapping: ArrayLike,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        arm_set = ArmSet(arms)
        table = LeafTotals.fresh(structure, len(arm_set))
        learner = FixedMapping(table, _mapping(mapping, table.structure.leaves, len(arm_set)))
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=learner, **common)

    @classmethod
    def of(
        cls,
        structure: Where,
        contexts: ArrayLike,
        losses: ArrayLike | None = None,
        *,
        rewards: ArrayLike | None = None,
        arms: Arms | None = None,
        regions: int | None = None,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> Self:
        """Compute the best mapping for a table of `losses` (or `rewards`), shape (T, M): no mapping of its class loses less in hindsight.

        The class: one arm (no structure, or regions=1), any arm in each leaf (regions=None; leaves without rows get the best arm overall),
        or at most `regions` runs of equal arms along the numbered leaves (by dynamic programming, O(N M regions)). Ties: the lowest arm number.
        `contexts` has a row for each of the T rounds; `arms` are the names of the columns, by default 0, 1, ... The policy's `average_loss` is
        the mapping's loss per round. Other arguments as in `hsb.HSB`.

        >>> import hsb
        >>> best = BestFixed.of(hsb.BinaryTree(depth=1), [0.1, 0.4, 0.7], [[1, 0], [1, 0], [0, 1]])
        >>> best.mapping, best.average_loss, BestFixed.of(None, [0.1, 0.4, 0.7], [[1, 0], [1, 0], [0, 1]]).average_loss
        (array([1, 0]), 0.0, 0.3333333333333333)
        """
        name, argument = losses_or_rewards("BestFixed.of", losses, rewards)
        table = numbers(name, argument)
        if table.ndim != 2 or 0 in table.shape:
            raise InputError(f"{name} needs shape (rounds, arms), at least one of each; given {table.shape}.")
        most = None if regions is None else whole("regions", regions, 1)
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        policy = cls(structure, arms=table.shape[1] if arms is None else arms, mapping=0, **common)
        points, policy.clipped = policy.learner.check(contexts)
        check_shape(name, table, (len(points), len(policy.arms)))
        policy.loss_scale.check_table(table, name + "[{}]")
        losses, unit = policy._as_losses(table, are_rewards=rewards is not None)
        policy.learner = policy.learner.best_for(points, losses, most, low=policy.loss_range[0], unit=unit)
        return policy

    def _as_losses(self, table: Floats, *, are_rewards: bool) -> tuple[Floats, float]:
        """Return a table as losses of at least 0 in some unit, and the unit, chosen so that sums stay finite."""
        scale, table = self.loss_scale, self.loss_scale.clip(table)
        if scale.auto:  # it knows the whole table, so also the range
            scale.take_rows(table.ravel(), are_rewards)
            table, are_rewards = scale.losses_of(table) if are_rewards else table, False
        low, high = self.loss_range
        losses = high - table if are_rewards else table - low
        unit = 1.0 if high - low <= WIDE else high - low
        return losses / unit, unit

    @property
    def structure(self) -> Leaves:
        """The leaves of the structure."""
        return self.learner.table.structure

    @property
    def totals(self) -> Floats:
        """The total loss of each arm in each leaf of the table of `BestFixed.of`; 0 without a table."""
        return self.learner.table.totals

    @property
    def mapping(self) -> Ints:
        """The index of the arm of each leaf."""
        return self.learner.mapping.copy()

    @property
    def average_loss(self) -> float:
        """Its mean loss per round on the table of `BestFixed.of`; NaN without a table."""
        return self.learner.average_loss

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        where = settings["structure"]
        policy = cls(None if where is None else Leaves.from_plain(where), mapping=0, **common)
        if settings["average_loss"] is not None:
            learner = policy.learner
            policy.learner = FixedMapping(learner.table, learner.mapping, float(settings["average_loss"]))
        return policy


def _mapping(mapping: ArrayLike, leaves: int, arms: int) -> Ints:
    """Return the index of an arm for each leaf; InputError if `mapping` is not that."""
    indices = numbers("mapping", mapping)
    indices = np.full(leaves, indices) if indices.ndim == 0 else indices
    if indices.shape != (leaves,) or not ((indices >= 0) & (indices < arms) & (indices == np.floor(indices))).all():
        raise InputError(
            f"mapping needs an arm number in 0 .. {arms - 1} for each leaf, shape ({leaves},), or one for all; "
            f"given shape {indices.shape}: {shortened(mapping)}."
        )
    return indices.astype(np.int64)
