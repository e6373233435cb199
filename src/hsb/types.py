"""Short names for the types used throughout."""

from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Masks = NDArray[np.uint8]  # one byte for each arm: is it available? Empty if all arms are
Table = NDArray[Any]  # contexts that were checked, one row each
Available = Iterable[Hashable] | None  # the arms to choose among; None: all
Arms = int | Iterable[Hashable]  # the number of arms, or the arms
Bounds = tuple[float, float]  # the least and the most that a loss may be
Range = Bounds | Literal["auto"]  # the same, or inferred from the data
Outside = Literal["error", "clip"]  # what to do with a loss outside its range
Seed = int | np.random.Generator | None  # the source of random numbers
Arrays = dict[str, NDArray[Any]]  # a state in plain arrays, by name
