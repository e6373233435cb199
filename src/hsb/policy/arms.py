"""Which arms there are, which are offered, and where each stands."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import arm_list, is_hashable, is_label, is_scalar, shown
from ..errors import InputError, quoted
from ..types import Ints, Masks

EVERYTHING: Masks = np.zeros(0, dtype=np.uint8)  # the mask of a round that offers every arm


class Offer:
    """A policy's arms in their order, some of them removed. A mask has one byte per arm, and is empty where every arm is offered."""

    def __init__(self, arms: int | Iterable[Hashable]) -> None:
        self.arms = arm_list(arms)
        self.removed: set[Hashable] = set()
        self._number()

    def _number(self) -> None:
        self.index = {arm: i for i, arm in enumerate(self.arms)}
        self.now = EVERYTHING  # the mask of a round that says nothing of its arms
        if self.removed:
            self.now = np.array([arm not in self.removed for arm in self.arms], dtype=np.uint8)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._number()  # EVERYTHING is told by what it is, not by what is in it

    def copy(self) -> "Offer":
        """An independent one."""
        twin = Offer(self.arms)
        twin.removed = set(self.removed)
        twin._number()
        return twin

    @property
    def active(self) -> list[Hashable]:
        """All arms but those removed."""
        return [arm for arm in self.arms if arm not in self.removed]

    def is_back(self, arm: Hashable) -> bool:
        """Bring a removed arm back; False where it is new."""
        if not is_label(arm):
            raise InputError(f"An arm must be hashable and equal to itself: a name, a number, a tuple; given {quoted(arm)}.")
        if arm not in self.index:
            return False
        if arm not in self.removed:
            raise InputError(f"There is an arm {quoted(arm)} already. Arms must differ.")
        self.removed.remove(arm)
        self._number()
        return True

    def add(self, arm: Hashable) -> None:
        """A new arm, the last one."""
        self.arms.append(arm)
        self._number()

    def remove(self, arm: Hashable) -> None:
        """Offer it no more."""
        if not is_hashable(arm) or arm not in self.index or arm in self.removed:
            raise InputError(f"There is no arm {quoted(arm)} to remove. The arms are {shown(self.active)}.")
        if len(self.active) == 1:
            raise InputError(f"{quoted(arm)} is the last arm; a policy needs at least one. Add another first.")
        self.removed.add(arm)
        self._number()

    def number(self, arm: Hashable) -> int:
        """The place of an arm."""
        try:
            return self.index[arm]
        except (KeyError, TypeError):
            raise InputError(
                f"Unknown arm {quoted(arm)}. The arms are {shown(self.arms)}; policy.add_arm() adds one."
            ) from None

    def mask(self, available: Iterable[Hashable], *, past: bool = False) -> Masks:
        """The mask of the arms listed. A removed arm may have been available in the past."""
        mask = np.zeros(len(self.arms), dtype=np.uint8)
        if isinstance(available, str | bytes) or not isinstance(available, Iterable) or is_scalar(available):
            raise InputError(f"available must be a list of arms out of {shown(self.arms)}; given {quoted(available)}.")
        for arm in available:
            index = self.index.get(arm) if is_hashable(arm) else None
            if index is None or (isinstance(arm, bool | np.bool_) and not isinstance(self.arms[index], bool)):
                raise InputError(f"Unknown arm {quoted(arm)} in available, which lists arms. The arms are {shown(self.arms)}.")
            if arm in self.removed and not past:
                raise InputError(f"Arm {quoted(arm)} in available was removed. policy.add_arm({quoted(arm)}) brings it back.")
            mask[index] = 1
        if not mask.any():
            raise InputError("available is empty: a round needs at least one arm. Leave it out to offer every arm.")
        return EVERYTHING if mask.all() else mask

    def first(self, n: int) -> Masks:
        """The mask of a round in which there were only the first `n` arms."""
        return (np.arange(len(self.arms)) < n).astype(np.uint8)

    def names(self, mask: Masks) -> tuple[Hashable, ...]:
        """The arms of a mask."""
        return tuple(arm for i, arm in enumerate(self.arms) if not len(mask) or mask[i])

    def table(self, available: ArrayLike | None, rounds: int) -> Masks:
        """A mask for each of `rounds` rounds, from a table of booleans; without columns where every round offers every arm."""
        if available is None:
            return np.tile(self.now, (rounds, 1))
        masks = np.asarray(available)
        needed = (rounds, len(self.arms))
        if masks.dtype.kind in "iu" and masks.size and masks.min() >= 0 and masks.max() <= 1:
            masks = masks.astype(bool)
        if masks.shape != needed or masks.dtype != np.bool_:
            raise InputError(f"available needs booleans of shape {needed}; given {masks.dtype} of shape {masks.shape}.")
        if self.removed:
            masks = masks & self.now.astype(bool)
        if not masks.any(axis=1).all():
            raise InputError(f"available[{int(np.argmin(masks.any(axis=1)))}] offers no arm; every round needs at least one.")
        return np.ascontiguousarray(masks, dtype=np.uint8)

    def pools(self, places: Iterable[Ints]) -> Masks:
        """A row of bytes, never empty, for each pool of arms, whose places are given; removed arms are left out."""
        pools = list(places)
        masks = np.zeros((len(pools), len(self.arms)), dtype=np.uint8)
        for k, pool in enumerate(pools):
            masks[k, pool] = 1
        if self.removed:
            masks &= self.now
        return masks
