"""One round on a binary or K-ary tree: the nodes that contain a context are a path.

Row of a node in F: stop, go, count, then its arm block. stop + go = 1 where count = 0; count > 0 means that stop is
`stop * BASE**-count` (and go = 1), count < 0 the same of go. A leaf has stop = 1, go = 0.

DENSE trees number their nodes in heap order and keep the row of each, or -1 where it was never visited.

COMPRESSED trees keep one row for a chain of links all of whose visits went one way: from level `top` to level `bottom`, where it
branches (bottom < DEPTH) or ends (bottom = DEPTH). All links of a chain have seen the same rounds, so their arm weights are
equal, and k links that stop with prior q each are one node that stops with prior 1 - (1-q)^k: `STAY[k]` and `GO[k]`. An
ended chain is a leaf, whatever its length. When a context leaves a chain, `_split_odds` gives both parts their exact odds.
Link of a row in I: bottom, top, K children (-1: none), the words of a key that passed through it.

A key is the path: one digit of BITS bits per level, the first split most significant, PER_WORD digits in a word.
"""

import math

from numba import njit

from . import arms
from .header import (
    BASE,
    BASES,
    BITS,
    CAPACITY,
    COMPRESSED,
    DENSE,
    DEPTH,
    FANOUT,
    GO,
    KIND,
    LINK_STRIDE,
    LINKS,
    LOG_BASE,
    OPTION_TINY,
    PATH,
    PER_WORD,
    REST,
    ROW0,
    ROWS,
    STAY,
    STRIDE,
    TOP,
    TOP_SIZE,
    VISITS,
    WEIGHT,
    WIDTH,
    WORDS,
)


@njit(cache=True, error_model="numpy")
def _digit(I, key, level):
    per, bits = I[PER_WORD], I[BITS]
    if level < per:
        return (key[0] >> (bits * (per - 1 - level))) & ((1 << bits) - 1)
    return (key[level // per] >> (bits * (per - 1 - level % per))) & ((1 << bits) - 1)


@njit(cache=True, error_model="numpy")
def _agree(I, link, key, level):
    """Do the key and the link's key have the same first `level` digits?"""
    at = link + 2 + I[FANOUT]
    per, bits = I[PER_WORD], I[BITS]
    word = 0
    while level >= per:
        if key[word] != I[at + word]:
            return False
        word += 1
        level -= per
    return level == 0 or (key[word] ^ I[at + word]) >> (bits * (per - level)) == 0


@njit(cache=True, error_model="numpy")
def _leaves_at(I, link, key):
    """The level at which a key that does not agree with a chain leaves it."""
    level = I[link + 1]
    while _agree(I, link, key, level + 1):
        level += 1
    return level


@njit(cache=True, error_model="numpy")
def _split_odds(F, I, row, links, above):
    """Odds of the upper `above` links and of the lower ones of a chain of `links`: (stop, go, count) twice.

    With S the chain's arm mass and P the weight of what hangs below it: stop = STAY[k] S, go = GO[k] P, and the lower part
    weighs STAY[k-j] S + GO[k-j] P.
    """
    stop, go, e = F[row], F[row + 1], F[row + 2]
    below = links - above
    if go == 0.0:  # an ended chain: the lower part is a leaf and weighs S
        return F[I[STAY] + above], F[I[GO] + above], 0.0, 1.0, 0.0, 0.0
    S = stop / F[I[STAY] + links] if stop > 0.0 else 0.0
    P = go / F[I[GO] + links]
    low_stop = F[I[STAY] + below] * S
    low_go = F[I[GO] + below] * P
    if e > 0.0:
        w = low_go
    elif e < 0.0:
        w = low_stop
    else:
        w = low_stop + low_go
    up_stop = F[I[STAY] + above] * S
    up_go = F[I[GO] + above] * w
    up_stop, up_go, up_e = _balanced(up_stop, up_go, max(e, 0.0))
    low_stop, low_go, low_e = _balanced(low_stop, low_go, e)
    return up_stop, up_go, up_e, low_stop, low_go, low_e


@njit(cache=True, error_model="numpy")
def _balanced(stop, go, e):
    """Normalise a pair of odds, moving the smaller one to or from a count."""
    if e == 0.0:
        s = stop + go
        stop /= s
        go /= s
        if stop < OPTION_TINY and stop > 0.0:
            return stop * BASE, 1.0, 1.0
        if go < OPTION_TINY:
            return 1.0, go * BASE, -1.0
        return stop, go, 0.0
    if e > 0.0:
        stop /= go
        go = 1.0
        if stop > 1.0:
            stop /= BASE
            e -= 1.0
        elif stop < OPTION_TINY:
            stop *= BASE
            e += 1.0
    else:
        go /= stop
        stop = 1.0
        if go > 1.0:
            go /= BASE
            e += 1.0
        elif go < OPTION_TINY:
            go *= BASE
            e -= 1.0
    return stop, go, e


@njit(cache=True, error_model="numpy")
def _visit(F, I, n, row, reach, stop):
    b = row + 3
    inv = 1.0 / arms.total(F, b, I[TOP], I[TOP_SIZE])
    at = I[WEIGHT] + n
    F[at] = reach * stop * inv
    F[at + I[VISITS]] = inv
    I[I[BASES] + n] = b


@njit(cache=True, error_model="numpy")
def visit(F, I, key, reach):
    """Reach pass: write the weight and arm block of every visited node that contains the key; return how many.

    F[REST] is left with the mass on nodes at their prior. O(depth), or O(log rounds) compressed.
    """
    if I[KIND] == DENSE:
        return _visit_dense(F, I, key, reach)
    n = 0
    F[REST] = 0.0
    if I[ROWS] == 0:
        F[REST] = reach
        return 0
    at = 0
    while True:
        link = I[LINKS] + at * I[LINK_STRIDE]
        row = I[ROW0] + at * I[STRIDE]
        I[I[PATH] + n] = row
        bottom = I[link]
        if not _agree(I, link, key, bottom):
            top = I[link + 1]
            odds = _split_odds(F, I, row, bottom - top + 1, _leaves_at(I, link, key) - top + 1)
            _visit(F, I, n, row, reach, odds[0] if odds[2] <= 0.0 else 0.0)
            F[REST] = reach * odds[1] if odds[2] >= 0.0 else 0.0
            return n + 1
        e = F[row + 2]
        _visit(F, I, n, row, reach, F[row] if e <= 0.0 else 0.0)
        n += 1
        if bottom == I[DEPTH]:
            return n
        reach = reach * F[row + 1] if e >= 0.0 else 0.0
        at = I[link + 2 + _digit(I, key, bottom)]
        if at < 0:
            F[REST] = reach
            return n


@njit(cache=True, error_model="numpy")
def _visit_dense(F, I, key, reach):
    heap = 0
    k = I[FANOUT]
    depth = I[DEPTH]
    stride, row0, links, path = I[STRIDE], I[ROW0], I[LINKS], I[PATH]
    weight, inverse, bases = I[WEIGHT], I[WEIGHT] + I[VISITS], I[BASES]
    top, size = I[TOP], I[TOP_SIZE]
    F[REST] = 0.0
    for level in range(depth + 1):
        at = I[links + heap]
        if at < 0:
            F[REST] = reach
            return level
        row = row0 + at * stride
        stop = F[row]
        go = F[row + 1]
        e = F[row + 2]
        if e > 0.0:
            stop = 0.0
        elif e < 0.0:
            go = 0.0
        inv = 1.0 / arms.total(F, row + 3, top, size)
        F[weight + level] = reach * stop * inv
        F[inverse + level] = inv
        I[path + level] = row
        I[bases + level] = row + 3
        reach *= go
        heap = heap * k + 1 + _digit(I, key, level)
    return depth + 1


@njit(cache=True, error_model="numpy")
def log_visit(F, I, key, n, reach):
    """ln(reach * stop) of the n nodes just visited, in place of their weights; reach is ln too. Return ln of the rest."""
    for d in range(n):
        row = I[I[PATH] + d]
        stop, go, e = F[row], F[row + 1], F[row + 2]
        if I[KIND] == COMPRESSED:
            link = I[LINKS] + (row - I[ROW0]) // I[STRIDE] * I[LINK_STRIDE]
            bottom, top = I[link], I[link + 1]
            if not _agree(I, link, key, bottom):
                odds = _split_odds(F, I, row, bottom - top + 1, _leaves_at(I, link, key) - top + 1)
                stop, go, e = odds[0], odds[1], odds[2]
        F[I[WEIGHT] + d] = reach + (math.log(stop) if stop > 0.0 else -math.inf) - max(e, 0.0) * LOG_BASE
        reach += (math.log(go) if go > 0.0 else -math.inf) - max(-e, 0.0) * LOG_BASE
    return reach


@njit(cache=True, error_model="numpy")
def _new_row(F, I, stop, go):
    at = I[ROWS]
    I[ROWS] += 1
    row = I[ROW0] + at * I[STRIDE]
    F[row] = stop
    F[row + 1] = go
    F[row + 2] = 0.0
    arms.reset(F, I, row + 3)
    return at


@njit(cache=True, error_model="numpy")
def _new_leaf(F, I, key, top):
    at = _new_row(F, I, 1.0, 0.0)
    link = I[LINKS] + at * I[LINK_STRIDE]
    I[link] = I[DEPTH]
    I[link + 1] = top
    k = I[FANOUT]
    for c in range(k):
        I[link + 2 + c] = -1
    for w in range(I[WORDS]):
        I[link + 2 + k + w] = key[w]
    return at


@njit(cache=True, error_model="numpy")
def insert(F, I, key):
    """Give every node that contains the key a row. False, and nothing changed, where rows are short."""
    if I[KIND] == DENSE:
        return _insert_dense(F, I, key)
    if I[ROWS] + 2 > I[CAPACITY]:
        return False
    if I[ROWS] == 0:
        _new_leaf(F, I, key, 0)
        return True
    at = 0
    while True:
        link = I[LINKS] + at * I[LINK_STRIDE]
        bottom = I[link]
        if not _agree(I, link, key, bottom):
            _branch(F, I, at, key)
            return True
        if bottom == I[DEPTH]:
            return True
        child = link + 2 + _digit(I, key, bottom)
        if I[child] < 0:
            I[child] = _new_leaf(F, I, key, bottom + 1)
            return True
        at = I[child]


@njit(cache=True, error_model="numpy")
def _branch(F, I, at, key):
    """The key leaves the chain of row `at`: the row keeps the links above, a new row gets those below, a second the key."""
    k = I[FANOUT]
    link = I[LINKS] + at * I[LINK_STRIDE]
    row = I[ROW0] + at * I[STRIDE]
    bottom, top = I[link], I[link + 1]
    level = _leaves_at(I, link, key)
    odds = _split_odds(F, I, row, bottom - top + 1, level - top + 1)
    low = _new_row(F, I, odds[3], odds[4])
    low_row = I[ROW0] + low * I[STRIDE]
    low_link = I[LINKS] + low * I[LINK_STRIDE]
    F[low_row + 2] = odds[5]
    for i in range(I[WIDTH]):
        F[low_row + 3 + i] = F[row + 3 + i]
    for i in range(I[LINK_STRIDE]):
        I[low_link + i] = I[link + i]
    I[low_link + 1] = level + 1
    F[row] = odds[0]
    F[row + 1] = odds[1]
    F[row + 2] = odds[2]
    I[link] = level
    for c in range(k):
        I[link + 2 + c] = -1
    old = _digit(I, I[link + 2 + k : link + 2 + k + I[WORDS]], level)
    I[link + 2 + old] = low
    I[link + 2 + _digit(I, key, level)] = _new_leaf(F, I, key, level + 1)


@njit(cache=True, error_model="numpy")
def _insert_dense(F, I, key):
    depth = I[DEPTH]
    if I[ROWS] + depth + 1 > I[CAPACITY]:
        return False
    heap = 0
    for level in range(depth + 1):
        if I[I[LINKS] + heap] < 0:
            if level < depth:
                I[I[LINKS] + heap] = _new_row(F, I, F[I[STAY] + 1], F[I[GO] + 1])
            else:
                I[I[LINKS] + heap] = _new_row(F, I, 1.0, 0.0)
        heap = heap * I[FANOUT] + 1 + _digit(I, key, level)
    return True


@njit(cache=True, error_model="numpy")
def ratio(F, I, n, arm, x, f, offered, g):
    """Ratio pass over the n nodes just visited, all of which have rows; return the root's ratio. x <= STEP."""
    path = I[PATH]
    inverse = I[WEIGHT] + I[VISITS]
    masked = len(offered) > 0
    below = 1.0
    for d in range(n - 1, -1, -1):
        row = I[path + d]
        if masked:
            now = arms.shrink_masked(F, I, row + 3, arm, x, f, offered, g)
        else:
            now = arms.shrink(F, I, row + 3, arm, x, f)
        r = now * F[inverse + d]
        arms.keep_in_range(F, I, row + 3, now)
        if d == n - 1:  # a leaf
            below = r
            continue
        stop = F[row] * r
        go = F[row + 1] * below
        if F[row + 2] == 0.0:
            s = stop + go
            inv = 1.0 / s
            below = s
            stop *= inv
            go *= inv
            F[row] = stop
            F[row + 1] = go
            if min(stop, go) >= OPTION_TINY or stop == 0.0:
                continue
        elif F[row + 2] > 0.0:
            below = go
        else:
            below = stop
        F[row], F[row + 1], F[row + 2] = _balanced(stop, go, F[row + 2])
    return below


@njit(cache=True, error_model="numpy")
def ratio_log(F, I, n, arm, x, offered, log_g):
    """The same in logarithms, for any x; return ln of the root's ratio."""
    below = 0.0
    for d in range(n - 1, -1, -1):
        row = I[I[PATH] + d]
        r = arms.shrink_log(F, I, row + 3, arm, x, offered, log_g)
        if d == n - 1:
            below = r
            continue
        e = F[row + 2]
        go = math.log(F[row + 1]) + min(e, 0.0) * LOG_BASE + below
        if F[row] == 0.0:
            below = go
            continue
        stop = math.log(F[row]) - max(e, 0.0) * LOG_BASE + r
        high = max(stop, go)
        below = high + math.log(math.exp(stop - high) + math.exp(go - high))
        F[row], F[row + 1], F[row + 2] = _from_logs(stop - below, go - below)
    return below


@njit(cache=True, error_model="numpy")
def _from_logs(stop, go):
    limit = math.log(OPTION_TINY)
    if stop < limit:
        e = math.ceil(-stop / LOG_BASE)
        return math.exp(stop + e * LOG_BASE), 1.0, e
    if go < limit:
        e = math.ceil(-go / LOG_BASE)
        return 1.0, math.exp(go + e * LOG_BASE), -e
    return math.exp(stop), math.exp(go), 0.0
