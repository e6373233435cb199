"""A policy's arms: their order, which were removed, and which are available in a round."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import arm_list, format_arms, is_hashable, is_label, is_scalar
from ..errors import InputError, quoted
from ..types import Ints, Masks


class ArmSet:
    """Arms in order, some of them removed. Immutable: `with_arm`, `without` and `restored` return another set.

    A mask has one byte per arm; None is the mask of a round in which every arm is available.
    """

    __slots__ = ("arms", "default_mask", "index", "removed")

    def __init__(self, arms: int | Iterable[Hashable], removed: Iterable[Hashable] = ()) -> None:
        self.arms = arm_list(arms)
        self.removed = frozenset(removed)
        self.index = {arm: i for i, arm in enumerate(self.arms)}
        self.default_mask: Masks | None = None
        if self.removed:
            self.default_mask = np.array([arm not in self.removed for arm in self.arms], dtype=np.uint8)

    def __len__(self) -> int:
        return len(self.arms)

    @property
    def active(self) -> list[Hashable]:
        """All arms except those removed."""
        return [arm for arm in self.arms if arm not in self.removed]

    def check_new(self, arm: Hashable) -> bool:
        """Return True for a new arm, False for a removed one that may come back; else raise InputError: no label, or already there."""
        if not is_label(arm):
            raise InputError(
                f"An arm must be hashable and equal to itself, e.g. a name, a number or a tuple; given {quoted(arm)}."
            )
        if arm not in self.index:
            return True
        if arm not in self.removed:
            raise InputError(f"There is an arm {quoted(arm)} already. Arms must differ.")
        return False

    def with_arm(self, arm: Hashable) -> ArmSet:
        """Return the set with one more arm, at the end."""
        return ArmSet([*self.arms, arm], self.removed)

    def restored(self, arm: Hashable) -> ArmSet:
        """Return the set in which a removed arm is available again."""
        return ArmSet(self.arms, self.removed - {arm})

    def without(self, arm: Hashable) -> ArmSet:
        """Return the set with one arm removed; InputError if there is no such arm, or no other arm."""
        if not is_hashable(arm) or arm not in self.index or arm in self.removed:
            raise InputError(f"There is no arm {quoted(arm)} to remove. The arms are {format_arms(self.active)}.")
        if len(self.active) == 1:
            raise InputError(f"{quoted(arm)} is the last arm; a policy needs at least one. Add another first.")
        return ArmSet(self.arms, self.removed | {arm})

    def number(self, arm: Hashable) -> int:
        """Return the index of an arm; InputError if there is no such arm."""
        try:
            return self.index[arm]
        except (KeyError, TypeError):
            raise InputError(
                f"Unknown arm {quoted(arm)}. The arms are {format_arms(self.arms)}; policy.add_arm() adds one."
            ) from None

    def mask(self, available: Iterable[Hashable] | None, *, past: bool = False) -> Masks | None:
        """Return the mask of the arms listed; None lists all that are not removed. With `past`, removed arms are allowed."""
        if available is None:
            return self.default_mask
        mask = np.zeros(len(self.arms), dtype=np.uint8)
        if isinstance(available, str | bytes) or not isinstance(available, Iterable) or is_scalar(available):
            raise InputError(f"available must be a list of arms among {format_arms(self.arms)}; given {quoted(available)}.")
        for arm in available:
            index = self.index.get(arm) if is_hashable(arm) else None
            if index is None or (isinstance(arm, bool | np.bool_) and not isinstance(self.arms[index], bool)):
                raise InputError(f"Unknown arm {quoted(arm)} in available. The arms are {format_arms(self.arms)}.")
            if arm in self.removed and not past:
                raise InputError(f"Arm {quoted(arm)} in available was removed. policy.add_arm({quoted(arm)}) brings it back.")
            mask[index] = 1
        if not mask.any():
            raise InputError("available is empty: a round needs at least one arm. Leave it out to make every arm available.")
        return None if mask.all() else mask

    def first(self, n: int) -> Masks:
        """Return the mask of a round that had only the first `n` arms."""
        return (np.arange(len(self.arms)) < n).astype(np.uint8)

    def names(self, mask: Masks | None) -> tuple[Hashable, ...] | None:
        """Return the arms of a mask; None if it has every arm."""
        return None if mask is None else tuple(arm for i, arm in enumerate(self.arms) if mask[i])

    def table(self, available: ArrayLike | None, rounds: int) -> Masks | None:
        """Return a mask for each of `rounds` rounds, from a table of booleans; None if every arm is available in every round."""
        if available is None:
            return None if self.default_mask is None else np.tile(self.default_mask, (rounds, 1))
        masks = np.asarray(available)
        needed = (rounds, len(self.arms))
        if masks.dtype.kind in "iu" and masks.size and masks.min() >= 0 and masks.max() <= 1:
            masks = masks.astype(bool)
        if masks.shape != needed or masks.dtype != np.bool_:
            raise InputError(f"available needs booleans of shape {needed}; given {masks.dtype} of shape {masks.shape}.")
        if self.default_mask is not None:
            masks = masks & self.default_mask.astype(bool)
        if not masks.any(axis=1).all():
            raise InputError(f"available[{int(np.argmin(masks.any(axis=1)))}] has no arm; every round needs at least one.")
        return np.ascontiguousarray(masks, dtype=np.uint8)

    def pools(self, members: Iterable[Ints]) -> Masks:
        """Return a mask for each pool of arms, a list of indices; removed arms are left out."""
        pools = list(members)
        masks = np.zeros((len(pools), len(self.arms)), dtype=np.uint8)
        for k, pool in enumerate(pools):
            masks[k, pool] = 1
        if self.default_mask is not None:
            masks &= self.default_mask
        return masks

    def __getstate__(self) -> tuple[Any, ...]:
        return self.arms, self.removed

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]
