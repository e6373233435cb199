"""The arrays that everything here speaks of, by their short names."""

from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Masks = NDArray[np.uint8]  # one byte an arm: is it available? Empty where every arm is
Table = NDArray[Any]  # contexts that were checked, one row each
Arms = int | Iterable[Hashable]  # how many arms there are, or the arms themselves
Bounds = tuple[float, float]  # the least and the most that a loss may be
Range = Bounds | Literal["auto"]  # the same, or found on the way
Outside = Literal["error", "clip"]  # what is done with a loss outside its range
Seed = int | np.random.Generator | None  # what random numbers come from
Arrays = dict[str, NDArray[Any]]  # a state in plain arrays, by name
