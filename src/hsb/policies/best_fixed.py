"""The best mapping in hindsight: what regret is measured against."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..checks import whole
from ..errors import InputError
from ..learners.keys import Nowhere
from ..policy.loss_range import UNIT
from ..policy.rows import check_shape, losses_or_rewards
from ..structures.leaves import Divided, Leaves
from ..structures.spaces import numbers, shortened
from ..types import Arms, Arrays, Floats, Ints, Masks, Outside, Range, Seed, Table
from .leader import Leader, best_mapping, check_budget

Where = Divided | None
WIDE = 1e200  # a range of losses beyond this is measured in units of itself


class BestFixed(Leader):
    """One mapping from the leaves of a structure to arms, played for ever; it learns nothing. `BestFixed.of` finds the best one for a table.

    - `structure`: as in `hsb.SExp3`. None: it plays one arm, and contexts are not looked at.
    - `mapping`: the number of an arm (its place in `arms`) for each leaf, or one number for all.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    Where its arm is not offered, it plays the best offered one by that leaf's totals in the table it was fitted to; if it never was fitted,
    the first one offered.

    >>> import hsb
    >>> policy = BestFixed(hsb.BinaryTree(depth=1), arms=["a", "b"], mapping=[1, 0])
    >>> policy.decide(0.2).arm, policy.decide(0.8).arm
    ('b', 'a')
    """

    guarantee: ClassVar[str] = "None: it does not learn, it knows the answer."

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
        super().__init__(
            1 if structure is None else structure,
            arms=arms,
            regions=None,
            loss_range=loss_range,
            reward_range=reward_range,
            outside=outside,
            floor=floor,
            seed=seed,
        )
        self.average_loss = float("nan")
        """Its mean loss a round on the table that it was fitted to; NaN if it was given its mapping."""
        self._blind = structure is None
        if self._blind:
            self.locator = Nowhere()
        leaves, most = self.structure.leaves, len(self.arms)
        given = numbers("mapping", mapping)
        given = np.full(leaves, given) if given.ndim == 0 else given
        if given.shape != (leaves,) or not ((given >= 0) & (given < most) & (given == np.floor(given))).all():
            raise InputError(
                f"mapping needs an arm number in 0 .. {most - 1} for each leaf, shape ({leaves},), or one for all; "
                f"given shape {given.shape}: {shortened(mapping)}."
            )
        self._mapping: Ints = given.astype(np.int64)
        self._refresh()

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
        """The best mapping for a table of `losses` (or `rewards`), shape (T, M): no mapping of its class loses less in hindsight.

        The class: one arm (no structure, or regions=1), any arm in each leaf (regions=None; leaves never seen get the best arm overall), or
        at most `regions` runs of equal arms along the numbered leaves (by dynamic programming, O(N M regions)). Ties: the lowest arm number.
        `contexts` has a row for each of the T rounds; `arms` are the names of the columns, None for 0, 1, ... The policy's `average_loss` is
        what the mapping loses a round. Other arguments as in `hsb.HSB`.

        >>> import hsb
        >>> found = BestFixed.of(hsb.BinaryTree(depth=1), [0.1, 0.4, 0.7], [[1, 0], [1, 0], [0, 1]])
        >>> found.mapping, found.average_loss, BestFixed.of(None, [0.1, 0.4, 0.7], [[1, 0], [1, 0], [0, 1]]).average_loss
        (array([1, 0]), 0.0, 0.3333333333333333)
        """
        name, given = losses_or_rewards("BestFixed.of", losses, rewards)
        table = numbers(name, given)
        if table.ndim != 2 or 0 in table.shape:
            raise InputError(f"{name} needs shape (rounds, arms), at least one of each; given {table.shape}.")
        most = None if regions is None else whole("regions", regions, 1)
        count = table.shape[1] if arms is None else arms
        policy = cls(
            structure,
            arms=count,
            mapping=0,
            loss_range=loss_range,
            reward_range=reward_range,
            outside=outside,
            floor=floor,
            seed=seed,
        )
        points, policy.clipped = policy.check(contexts)
        check_shape(name, table, (len(points), len(policy.arms)))
        policy.loss_scale.check(table, name + "[{}]")
        policy._fit(points, table, most, rewarded=rewards is not None)
        return policy

    @property
    def mapping(self) -> Ints:
        return self._mapping.copy()

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        return self._kernels.play(self._mapping, self.totals, self._leaf, offered), 1.0

    def _fill(self, offered: Masks, p: Floats) -> None:
        p[:] = 0.0
        p[self._kernels.play(self._mapping, self.totals, self._leaf, offered)] = 1.0

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        pass

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        leaves = self.locator.keys(points)
        chances[:] = 1.0
        self._commit(self._kernels.play_known, self._mapping, self.totals, leaves, masks, arms, rounds=len(us))

    def _fit(self, points: Floats, table: Floats, regions: int | None, *, rewarded: bool) -> None:
        scale, table = self.loss_scale, self.loss_scale.moved(table)
        if scale.auto:  # it knows the answer, so also the range
            scale.learned(table.ravel(), rewarded)
            table, rewarded = scale.losses(table) if rewarded else table, False
        low, high = self.loss_range
        losses = high - table if rewarded else table - low
        leaf = self.locator.keys(points)[:, 0]
        unit = 1.0 if high - low <= WIDE else high - low  # so that sums stay finite
        losses = losses / unit
        np.add.at(self.totals, leaf, losses)
        self._mapping = best_mapping(self.totals, regions)[0]
        if regions is None:
            seen = np.bincount(leaf, minlength=self.structure.leaves) > 0
            self._mapping[~seen] = best_mapping(self.totals, 1)[0][0]
        self.average_loss = low + unit * float(losses[np.arange(len(leaf)), self._mapping[leaf]].mean())

    def _widen(self) -> None:
        """The mapping stays; the new arm, of which nothing is known, comes last where its arm is not offered."""
        check_budget(self.structure.leaves, len(self.arms) + 1, 0)
        self.totals = np.concatenate((self.totals, self.totals.max(axis=1, keepdims=True)), axis=1)

    def to_arrays(self) -> Arrays:
        return {**super().to_arrays(), "mapping": self._mapping}

    def take_arrays(self, arrays: Arrays) -> None:
        super().take_arrays(arrays)
        if not ((self._mapping >= 0) & (self._mapping < len(self.arms))).all():
            raise ValueError("its mapping names arms that it does not have")

    def settings(self) -> dict[str, Any]:
        return {
            "structure": None if self._blind else self.structure.plain(),
            "average_loss": None if np.isnan(self.average_loss) else self.average_loss,
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        where = settings["structure"]
        policy = cls(None if where is None else Leaves.from_plain(where), mapping=0, **common)
        if settings["average_loss"] is not None:
            policy.average_loss = float(settings["average_loss"])
        return policy

    def _shown(self) -> dict[str, Any]:
        return {"structure": None if self._blind else self.structure, "average_loss": self.average_loss}
