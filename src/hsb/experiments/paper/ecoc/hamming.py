"""Hamming decoding: the class whose codeword is nearest."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ....checks import generator
from ....errors import InputError, quoted
from ....structures.spaces import numbers
from ....types import Ints
from .coding import checked_signs


class HammingDecoder:
    """Decodes a codeword as the class whose codeword, its row of `matrix`, differs from it in the fewest bits.

    If several classes are nearest, `ties="random"` takes each with the same probability and `ties="lowest"` the first. `seed`, an int or a
    `numpy.random.Generator`, determines the random choices; None takes fresh random numbers.

    >>> from hsb.experiments.paper.ecoc import one_versus_all
    >>> decoder = HammingDecoder(one_versus_all(3), ties="lowest")
    >>> decoder.decode([[-1, 1, -1], [-1, -1, -1]])
    array([1, 0])
    >>> HammingDecoder(one_versus_all(3)).decode([[-1, -1, -1]] * 3, [0.0, 0.4, 0.9])
    array([0, 1, 2])
    """

    def __init__(
        self, matrix: ArrayLike, *, ties: Literal["random", "lowest"] = "random", seed: int | np.random.Generator | None = None
    ) -> None:
        if ties not in ("random", "lowest"):
            raise InputError(f"ties must be 'random' or 'lowest'; given {quoted(ties)}.")
        self.matrix = checked_signs("matrix", matrix)
        self.ties = ties
        self._rng = generator(seed)

    def distances(self, codes: ArrayLike) -> Ints:
        """Return the number of bits in which each codeword differs from that of each class: a row for each codeword, a column for each class.

        >>> HammingDecoder([[1, -1], [-1, 1]]).distances([[1, 1], [1, -1]])
        array([[1, 1],
               [0, 2]])
        """
        signs = checked_signs("codes", codes, self.matrix.shape[1]).astype(np.int64)
        return np.asarray((signs.shape[1] - signs @ self.matrix.T.astype(np.int64)) // 2)

    def decode(self, codes: ArrayLike, us: ArrayLike | None = None) -> Ints:
        """Return the number of the nearest class for each row of `codes`, codewords of +1 and -1.

        `us` has a number in [0, 1) for each row, which breaks ties; None draws them.
        """
        distances = self.distances(codes)
        if self.ties == "lowest":
            return np.asarray(distances.argmin(axis=1))
        n = len(distances)
        draws = self._rng.random(n) if us is None else numbers("us", us)
        if draws.shape != (n,) or not ((draws >= 0.0) & (draws < 1.0)).all():
            raise InputError(f"us needs a number in [0, 1) for each of the {n} codewords; given shape {draws.shape}.")
        nearest = distances == distances.min(axis=1, keepdims=True)
        nth = np.floor(draws * nearest.sum(axis=1)).astype(np.int64)  # which of the nearest
        return np.asarray((nearest.cumsum(axis=1) > nth[:, None]).argmax(axis=1))
