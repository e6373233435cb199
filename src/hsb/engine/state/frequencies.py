"""The frequencies of an ensemble's cosines: fixed random numbers, the same in every ensemble and on every machine."""

import math
from functools import lru_cache

import numpy as np

from ... import reproducible_math
from ...types import Floats

BANDWIDTHS = (1.0, 2.0)  # standard deviations of a cosine's frequencies, times the root of the number of features
RIM, GRID = 3.65, 2.0**40  # beyond RIM NumPy's normal numbers take a logarithm; such are rounded to 1/GRID


def frequencies(columns: range, cosines: int, features: int) -> Floats:
    """Return frequencies in turns, a row for each column, a column for each cosine: normal, each cosine with a separate bandwidth.

    >>> frequencies(range(3), 4, 2).shape
    (3, 4)
    """
    table = np.array([normals(column, cosines) for column in columns]).reshape(len(columns), cosines)
    return np.asarray(table * (_bandwidths(cosines) / (2.0 * math.pi * math.sqrt(features))))


@lru_cache(8)
def _bandwidths(cosines: int) -> Floats:
    low, high = BANDWIDTHS
    uniform = np.random.Generator(np.random.PCG64(0x57415645)).uniform(size=cosines)
    bandwidths = low * reproducible_math.exps(uniform * reproducible_math.log(high / low))
    bandwidths.flags.writeable = False
    return np.asarray(bandwidths)


def normals(column: int, count: int) -> Floats:
    """Return normal numbers for a column. NumPy takes large ones from the C library's logarithm, so their last bits are rounded off.

    >>> normals(1, 2).tolist() == normals(1, 9)[:2].tolist()
    True
    """
    row = np.random.Generator(np.random.PCG64([0x46524551, column])).normal(size=count)
    return np.where(np.abs(row) < RIM, row, np.round(row * GRID) / GRID)
