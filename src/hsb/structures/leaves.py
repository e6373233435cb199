"""The leaves of a structure, without its hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.state import Member, make_cells
from ..errors import InputError, quoted
from .base import Cost, Structure, no_stop, spelled
from .spaces import Box, Cells, space_from_dict

MOST_LEAVES = 1 << 26

Divided = Structure | Cells | int  # an int is the number of equal cells of one feature


class Leaves(Structure, listed=False):
    """The separate cells of a structure, for S-EXP3 and every policy with a table per cell.

    Every mapping of the N leaves to arms has the same prior weight M^-N. It is not a structure of Section IV, and not among `Structure.kinds`.

    >>> from hsb import BinaryTree
    >>> Leaves(BinaryTree(depth=3)).leaf_of(0.3), Leaves(5).leaf_of(0.3)
    (2, 1)
    """

    def __init__(self, structure: Divided) -> None:
        self.of: Structure | None = None
        if isinstance(structure, Structure):
            self.of = structure.of if isinstance(structure, Leaves) else structure
            self.space, self.features, self.leaves = structure.space, structure.features, structure.leaves
        elif isinstance(structure, Cells):
            self.space, self.features, self.leaves = structure, (0,), structure.n
        elif isinstance(structure, int | np.integer) and not isinstance(structure, bool) and structure >= 1:
            self.space, self.features, self.leaves = Box.unit(), (0,), int(structure)
        else:
            raise InputError(
                f"A structure is needed, e.g. hsb.BinaryTree(depth=10), or a number of equal cells; given {quoted(structure)}."
            )
        self.max_group, self.max_groups = self.leaves, 1
        if self.leaves > MOST_LEAVES:
            raise InputError(
                f"{spelled(self.leaves)} leaves would each have a table; the limit is {MOST_LEAVES:,}. Use a coarser structure, or hsb.HSB."
            )

    @property
    def cost(self) -> Cost:
        return Cost(1, 0)

    def splits(self, regions: int, arms: int) -> int:
        """Return 1: a single split into all leaves."""
        return 1

    def worst_cost(self, regions: int, arm_cost: float, arms: int, stop: float | None) -> float:
        """Return the cost, the same for every mapping."""
        no_stop(self, stop)
        return self.leaves * arm_cost

    def members(self, arms: int, stop: float | None) -> list[Member]:
        no_stop(self, stop)
        return [make_cells(self.leaves, arms)]

    @property
    def finest(self) -> Structure:
        return self if self.of is None else self.of.finest

    def parameters(self) -> dict[str, Any]:
        return {"leaves": self.leaves}

    def plain(self) -> dict[str, Any]:
        """Return plain data that `from_plain` reads."""
        if self.of is not None:
            return {"structure": self.of.to_dict()}
        return {"cells": self.leaves, "space": self.space.to_dict()}

    @staticmethod
    def from_plain(data: dict[str, Any]) -> Leaves:
        """Restore from the data of `plain`."""
        if "structure" in data:
            return Leaves(Structure.from_dict(data["structure"]))
        space = space_from_dict(data["space"])
        return Leaves(space if isinstance(space, Cells) else int(data["cells"]))

    def __repr__(self) -> str:
        return repr(self.leaves if self.of is None else self.of)
