"""The arrays that everything here speaks of, by their short names."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Masks = NDArray[np.uint8]
"""One byte an arm: is it offered? Empty where every arm is."""
Table = NDArray[Any]
"""Contexts that were checked, one row each."""
Arms = int | Iterable[Hashable]
"""How many arms there are, or the arms themselves."""
Bounds = tuple[float, float]
"""The least and the most that a loss may be."""
Seed = int | np.random.Generator | None
"""What random numbers come from."""
Arrays = dict[str, NDArray[Any]]
"""A state in plain arrays, by name."""
