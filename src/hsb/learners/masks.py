"""Masks as the kernels of the simpler learners take them: empty, not None, if every arm is available."""

import numpy as np

from ..policy.learner import Played
from ..types import Masks

EVERY_ARM: Masks = np.zeros(0, dtype=np.uint8)
"""The mask of a round in which every arm is available."""


def masks_of(table: Played, rows: slice) -> Masks:
    """The masks of some rows of a table; without columns if every arm is available."""
    return np.zeros((rows.stop - rows.start, 0), dtype=np.uint8) if table.masks is None else table.masks[rows]
