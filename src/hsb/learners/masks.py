"""Masks as kernels take them: empty, not None, if every arm is available."""

import numpy as np

from ..engine.state import EVERY_ARM as EVERY_ARM
from ..types import Masks


def masks_of(masks: Masks | None, rows: slice) -> Masks:
    """The masks of some rows of a table; without columns if every arm is available."""
    return np.zeros((rows.stop - rows.start, 0), dtype=np.uint8) if masks is None else masks[rows]
