"""The quantiser of Section V: the cell of a context.

N = 2^D cells over n features: the first D mod n features are halved once more than the others, and level l of the hierarchy
halves feature l mod n. The same with K parts instead of two. The upper end of a feature's range belongs to the last cell.
"""

from functools import lru_cache

import numpy as np

from ..types import Floats, Ints

WORD = 62  # bits used in a word of a key


def halvings(levels: int, features: int) -> list[int]:
    """Return the number of divisions of each feature after `levels` divisions in turn.

    >>> halvings(10, 3)
    [4, 3, 3]
    """
    return [levels // features + (j < levels % features) for j in range(features)]


def cells(coordinates: Floats, counts: Ints) -> Ints:
    """Return the cell number of each coordinate in [0, 1], with counts[j] equal cells of feature j; shape (T, n) in and out."""
    return np.minimum((coordinates * counts).astype(np.int64), counts - 1)


@lru_cache(256)
def digit_bits(k: int) -> int:
    """Return the number of bits of one digit of a key with k parts per level."""
    return max(1, (k - 1).bit_length())


def key_words(k: int, depth: int) -> int:
    """Return the number of words of a key of `depth` digits."""
    per_word = WORD // digit_bits(k)
    return max(1, -(-depth // per_word))


def leaf_numbers(coordinates: Floats, k: int, depth: int) -> Ints:
    """Return the tree's leaf number of each point: its key as one number in base k."""
    rounds, features = coordinates.shape
    parts = halvings(depth, features)
    index = cells(coordinates, np.array([k**p for p in parts], dtype=np.int64))
    leaf = np.zeros(rounds, dtype=np.int64)
    for level in range(depth):
        j, turn = level % features, level // features
        leaf = leaf * k + index[:, j] // k ** (parts[j] - 1 - turn) % k
    return leaf
