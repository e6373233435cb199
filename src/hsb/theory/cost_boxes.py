"""Prior of a mapping on position splits: one array of boxes for each choice of levels, finer ones first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from .logs import NEVER, log, log_sum


def boxes(mapping: NDArray[np.int64], bits: Sequence[int], values: Floats) -> float:
    """ln beta of the whole box; `one` is the symbol of a box where it is constant, -1 elsewhere."""
    bits = [b for b in bits if b]
    finest = tuple(bits)
    shape = [2**b for b in bits]
    one = {finest: mapping.reshape(shape)}
    weight = {finest: values[one[finest]]}
    for levels in product(*(range(b, -1, -1) for b in bits)):
        if levels == finest:
            continue
        below = {j: (*levels[:j], levels[j] + 1, *levels[j + 1 :]) for j, b in enumerate(bits) if levels[j] < b}
        splits = [np.add(*_halves(weight[finer], j)) for j, finer in below.items()]
        left, right = next(_halves(one[finer], j) for j, finer in below.items())
        one[levels] = np.where(left == right, left, -1)
        here = np.where(one[levels] >= 0, values[one[levels]], NEVER)
        weight[levels] = log_sum(np.stack([here, *splits], axis=-1)) - log(len(splits) + 1)
    return float(weight[(0,) * len(bits)].ravel()[0])


def _halves(parts: NDArray[Any], j: int) -> tuple[NDArray[Any], NDArray[Any]]:
    before = (slice(None),) * j
    return parts[(*before, slice(0, None, 2))], parts[(*before, slice(1, None, 2))]
