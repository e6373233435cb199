"""splitmix64 (Steele, Lea, Flood 2014): all randomness of a decision comes from the 53 bits of its u."""

import numpy as np

from .jit import inner, kernel

STEP, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_11, _27, _30, _31 = (np.uint64(bits) for bits in (11, 27, 30, 31))


@inner
def mixed(z):
    """Scramble 64 bits."""
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@kernel("d")
def seeded(u):
    """Return the state for a number u in [0, 1); numbers 2^-53 apart give unrelated sequences."""
    return mixed(np.uint64(u * 2.0**53) + STEP)


@inner
def inside(bits):
    """Return a number inside (0, 1), from the highest 53 of 64 bits."""
    return (np.float64(bits >> _11) + 0.5) * 2.0**-53
