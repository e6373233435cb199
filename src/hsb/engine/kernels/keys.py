"""Keys of contexts: Section V's quantiser, compiled. `structures/quantise.py` does the same in NumPy.

A code is [how, n, the n features, then by `how`]:

- PATH: k, depth, bits of a digit, digits in a word. Features divided in turn into k parts; the key is the path from the root.
- NUMBER: k, depth. The same, but the key is the leaf's number.
- CELLS: leaves. One feature in equal cells.
- GRID: the bits of each feature. Row-major cell number, the first feature counting most.
- NOTHING: no key is needed.
- NUMBERS: words. The columns of an ensemble (`ensemble.py`), as bits: 1, then each feature's distance from the middle in standard deviations
  of a uniform one, then 0s.
"""

import math

import numpy as np

from .jit import inner, kernel

PATH, NUMBER, CELLS, GRID, NOTHING, NUMBERS = 1, 2, 3, 4, 5, 6
SPREAD = math.sqrt(12.0)


@kernel("L1 D1 D1 D2 L2 l l", "L1 D1 D1 D2* L2 l l")
def encode(code, low, high, points, keys, offset, words):
    """Write the keys of a batch of contexts inside [low, high] to words `offset`, `offset + 1`, ... of each row."""
    for t in range(len(points)):
        _encode_one(code, low, high, points[t], keys[t, offset : offset + words])


@kernel("L1 D1 D1 D1 L1 l l")
def locate(code, low, high, point, key, offset, words):
    """Write the key of one context. Return False, and write nothing, if it is not inside [low, high]."""
    for j in range(len(low)):
        if not low[j] <= point[j] <= high[j]:
            return False
    _encode_one(code, low, high, point, key[offset : offset + words])
    return True


@inner
def _cell(code, j, low, high, point, count):
    """Return which of `count` equal cells the j-th chosen feature falls into; the upper end belongs to the last."""
    f = code[2 + j]
    u = (point[f] - low[f]) / (high[f] - low[f])
    return min(int(u * count), count - 1)


@inner
def _encode_one(code, low, high, point, key):
    how, n = code[0], code[1]
    rest = 2 + n
    if how == PATH and n == 1 and code[rest] == 2:  # the commonest case: one shift
        depth, per = code[rest + 1], code[rest + 3]
        key[0] = _cell(code, 0, low, high, point, 1 << depth) << (per - depth)
    elif how == PATH or how == NUMBER:
        k, depth = code[rest], code[rest + 1]
        for w in range(len(key)):
            key[w] = 0
        for j in range(n):
            turns = depth // n + (1 if j < depth % n else 0)
            count = 1
            for _ in range(turns):
                count *= k
            cell = _cell(code, j, low, high, point, count)
            for turn in range(turns - 1, -1, -1):
                above = cell >> 1 if k == 2 else cell // k
                digit = cell - above * k
                cell = above
                level = turn * n + j
                if how == PATH:
                    bits, per = code[rest + 2], code[rest + 3]
                    word = level // per if level >= per else 0
                    key[word] |= digit << (bits * (per - 1 - (level - word * per)))
                else:
                    for _ in range(depth - 1 - level):
                        digit *= k
                    key[0] += digit
    elif how == NUMBERS:
        z = key.view(np.float64)
        z[0] = 1.0
        for j in range(n):
            f = code[2 + j]
            z[1 + j] = ((point[f] - low[f]) / (high[f] - low[f]) - 0.5) * SPREAD
        for j in range(1 + n, len(z)):
            z[j] = 0.0
    elif how == CELLS:
        key[0] = _cell(code, 0, low, high, point, code[rest])
    elif how == GRID:
        number = 0
        for j in range(n):
            bits = code[rest + j]
            number = (number << bits) | _cell(code, j, low, high, point, 1 << bits)
        key[0] = number
