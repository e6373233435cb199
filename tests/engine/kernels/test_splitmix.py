"""splitmix64, against Python's whole numbers."""

import numpy as np
import pytest

from hsb.engine.kernels.splitmix import seeded

MASK = 2**64 - 1


def slow(u):
    z = (int(u * 2.0**53) + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@pytest.mark.parametrize("u", [0.0, 2.0**-53, 0.3, 0.5, 1.0 - 2.0**-53])
def test_it_is_the_published_one(u):
    assert int(np.uint64(seeded(u))) == slow(u)


def test_neighbours_have_nothing_in_common():
    bits = [slow(0.3 + k * 2.0**-53) ^ slow(0.3 + (k + 1) * 2.0**-53) for k in range(200)]
    flipped = [each.bit_count() for each in bits]
    assert 28 < np.mean(flipped) < 36 and min(flipped) > 10
