"""Path compression: one row for a chain of links if all their visits went the same way.

A chain goes from level `top` to level `bottom`. It branches there (bottom < DEPTH) or ends (bottom = DEPTH). All its links have seen the
same rounds, so their arm weights are equal. k links that each stop with prior q are one node that stops with prior 1 - (1-q)^k: `STAY[k]` and
`GO[k]`. An ended chain is a leaf, whatever its length. When a context leaves a chain, `split_odds` gives both parts their exact odds.

Link of a row in I: bottom + top * 4096, K children (-1: no child), then the words of a key that went through it. A key is the path:
one digit of BITS bits per level, the first split most significant, PER_WORD digits in a word.
"""

import math

from . import rows
from .jit import inner
from .words.tree import BITS, DEPTH, FANOUT, GO, LINK_STRIDE, LINKS, PATH, PER_WORD, ROW0, ROWS, STAY, STRIDE, WORDS


@inner
def digit(I, key, level):
    per, bits = I[PER_WORD], I[BITS]
    if level < per:
        return (key[0] >> (bits * (per - 1 - level))) & ((1 << bits) - 1)
    return (key[level // per] >> (bits * (per - 1 - level % per))) & ((1 << bits) - 1)


@inner
def agree(I, link, key, level):
    """Return whether the key and the link's key have the same first `level` digits."""
    offset = link + 1 + I[FANOUT]
    per, bits = I[PER_WORD], I[BITS]
    word = 0
    while level >= per:
        if key[word] != I[offset + word]:
            return False
        word += 1
        level -= per
    return level == 0 or (key[word] ^ I[offset + word]) >> (bits * (per - level)) == 0


@inner
def leaves_at(I, link, key):
    """Return the level at which a key that does not agree with a chain leaves it."""
    level = I[link] >> 12
    while agree(I, link, key, level + 1):
        level += 1
    return level


@inner
def split_odds(F, I, row, links, above):
    """Return the odds of the upper `above` links and of the lower ones of a chain of `links`: two pairs.

    With S the chain's arm mass and P the weight below it: stop = STAY[k] S, go = GO[k] P, and the lower part weighs
    STAY[k-j] S + GO[k-j] P.
    """
    below = links - above
    stop, go, e = rows.odds(F, I, row)
    forbidden = F[I[STAY] + 1] == 0.0
    if go == 0.0:  # an ended chain: the lower part is a leaf and weighs S
        if forbidden:
            return 1.0, 1.0, math.inf, 1.0, 0.0, 0.0
        return F[I[STAY] + above], F[I[GO] + above], 0.0, 1.0, 0.0, 0.0
    if forbidden:
        return 1.0, 1.0, math.inf, 1.0, 1.0, math.inf
    S = stop / F[I[STAY] + links]
    P = go / F[I[GO] + links]
    low_stop, low_go = F[I[STAY] + below] * S, F[I[GO] + below] * P
    w = (low_stop if e <= 0.0 else 0.0) + (low_go if e >= 0.0 else 0.0)
    up_stop, up_go, up_e = rows.balanced(F[I[STAY] + above] * S, F[I[GO] + above] * w, e if e > 0.0 else 0.0)
    low_stop, low_go, low_e = rows.balanced(low_stop, low_go, e)
    return up_stop, up_go, up_e, low_stop, low_go, low_e


@inner
def new_link(I, key, top):
    """Add a row, and link it as a chain from level `top` down to a leaf; return its number."""
    number = I[ROWS]
    I[ROWS] += 1
    link = I[LINKS] + number * I[LINK_STRIDE]
    I[link] = I[DEPTH] + (top << 12)
    k = I[FANOUT]
    for c in range(k):
        I[link + 1 + c] = -1
    for w in range(I[WORDS]):
        I[link + 1 + k + w] = key[w]
    return number


@inner
def cut(F, I, number, level):
    """Cut the chain of row `number` below a level: the row keeps the links above, and a copy gets those below; return the copy's number."""
    k = I[FANOUT]
    link = I[LINKS] + number * I[LINK_STRIDE]
    row = I[ROW0] + number * I[STRIDE]
    bottom, top = I[link] & 4095, I[link] >> 12
    low = I[ROWS]
    I[ROWS] += 1
    low_row = I[ROW0] + low * I[STRIDE]
    low_link = I[LINKS] + low * I[LINK_STRIDE]
    for i in range(I[STRIDE]):
        F[low_row + i] = F[row + i]
    for i in range(I[LINK_STRIDE]):
        I[low_link + i] = I[link + i]
    I[low_link] = bottom + ((level + 1) << 12)
    I[link] = level + (top << 12)
    for c in range(k):
        I[link + 1 + c] = -1
    I[link + 1 + digit(I, I[link + 1 + k : link + 1 + k + I[WORDS]], level)] = low
    return low


@inner
def grow(F, I, key, n):
    """Link one more row, a leaf for the key, after a visit of n rows that was not whole. The caller fills the row's words.

    If the key leaves the chain of the last row visited, that row keeps the links above and a copy gets those below. Return the copy's number,
    else -1.
    """
    low = -1
    level = -1
    link = 0
    if n > 0:
        number = (I[I[PATH] + n - 1] - I[ROW0]) // I[STRIDE]
        link = I[LINKS] + number * I[LINK_STRIDE]
        level = I[link] & 4095
        if not agree(I, link, key, level):
            level = leaves_at(I, link, key)
            low = cut(F, I, number, level)
    leaf = new_link(I, key, level + 1)
    if n > 0:
        I[link + 1 + digit(I, key, level)] = leaf
    I[I[PATH] + n] = I[ROW0] + leaf * I[STRIDE]
    return low


@inner
def length(I, row):
    """Return the number of links of a row's chain; the row is given by its offset in F."""
    link = I[LINKS] + (row - I[ROW0]) // I[STRIDE] * I[LINK_STRIDE]
    return (I[link] & 4095) - (I[link] >> 12) + 1
