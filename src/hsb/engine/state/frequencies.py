"""The frequencies of an ensemble's cosines: drawn once and for all, the same in every ensemble and on every machine."""

import math
from functools import lru_cache

import numpy as np

from ... import reproducible_math
from ...types import Floats

BANDWIDTHS = (1.0, 2.0)  # standard deviations of a cosine's frequencies, times the root of the number of features
RIM, GRID = 3.65, 2.0**40  # where NumPy's normal numbers begin to need a logarithm, and what such are rounded to


def frequencies(places: range, cosines: int, features: int) -> Floats:
    """In turns, a row a place, a column a cosine: normal, each cosine with a bandwidth of its own.

    >>> frequencies(range(3), 4, 2).shape
    (3, 4)
    """
    table = np.array([normals(place, cosines) for place in places]).reshape(len(places), cosines)
    return np.asarray(table * (_bandwidths(cosines) / (2.0 * math.pi * math.sqrt(features))))


@lru_cache(8)
def _bandwidths(cosines: int) -> Floats:
    low, high = BANDWIDTHS
    uniform = np.random.Generator(np.random.PCG64(0x57415645)).uniform(size=cosines)
    found = low * reproducible_math.exps(uniform * reproducible_math.log(high / low))
    found.flags.writeable = False
    return np.asarray(found)


def normals(place: int, count: int) -> Floats:
    """Normal numbers of a place. Those far out NumPy takes from the C library's logarithm, so their last bits are left out.

    >>> normals(1, 2).tolist() == normals(1, 9)[:2].tolist()
    True
    """
    row = np.random.Generator(np.random.PCG64([0x46524551, place])).normal(size=count)
    return np.where(np.abs(row) < RIM, row, np.round(row * GRID) / GRID)
