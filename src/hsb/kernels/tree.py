"""One round on a binary or K-ary tree: the nodes that contain a context are a path.

Row of a node in F: rate, go, then its arm block (at `ARMS_AT`). The node stops with probability rate * (total of its arms) and
goes on to its child with probability go; the two add to 1. So the probability that the node plays arm m is rate * weight[m], and
a round divides once a node: with `now` the new total and `below` the child's ratio, the node's ratio is
s = rate * now + go * below, and then rate /= s, go *= below / s. A leaf has go = 0. A row of zeros was never visited.

One of rate and go may be too small to be seen beside the other. It is then 0, and `LOGS` words behind the row stand v and e: the
true value is v * BASE**-e (e = inf: the prior forbids stopping; e = 0: nothing is hidden). Next come the arms' logarithms.

DENSE trees have a row for every node, in heap order.

COMPRESSED trees keep one row for a chain of links all of whose visits went one way: from level `top` to level `bottom`, where it
branches (bottom < DEPTH) or ends (bottom = DEPTH). All links of a chain have seen the same rounds, so their arm weights are
equal, and k links that stop with prior q each are one node that stops with prior 1 - (1-q)^k: `STAY[k]` and `GO[k]`. An
ended chain is a leaf, whatever its length. When a context leaves a chain, `_split_odds` gives both parts their exact odds.
Link of a row in I: bottom and top (one word: bottom + top * 4096), K children (-1: none), the words of a key that went through it.

A key is the path: one digit of BITS bits per level, the first split most significant, PER_WORD digits in a word.
"""

import math

from numba import njit

from . import arms
from .header import (
    ARM_LOW,
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
    LOGS,
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
    WEIGHT,
    WHOLE,
    WORDS,
)

ARMS_AT = 2  # where a row's arm block begins


@njit(cache=True, error_model="numpy")
def _digit(I, key, level):
    per, bits = I[PER_WORD], I[BITS]
    if level < per:
        return (key[0] >> (bits * (per - 1 - level))) & ((1 << bits) - 1)
    return (key[level // per] >> (bits * (per - 1 - level % per))) & ((1 << bits) - 1)


@njit(cache=True, error_model="numpy")
def _agree(I, link, key, level):
    """Do the key and the link's key have the same first `level` digits?"""
    at = link + 1 + I[FANOUT]
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
    level = I[link] >> 12
    while _agree(I, link, key, level + 1):
        level += 1
    return level


@njit(cache=True, error_model="numpy")
def _balanced(stop, go, e):
    """Normalise a pair of odds that changed, hiding the smaller one from the sum or showing it again.

    A pair is (stop, go, e): e > 0 hides stop, the true value being stop * BASE**-e; e < 0 hides go likewise.
    """
    if e == math.inf:
        return 1.0, 1.0, e
    if e > 0.0:
        stop, e = _recounted(stop / go, e)
        return stop, 1.0, e
    if e < 0.0:
        go, e = _recounted(go / stop, -e)
        return 1.0, go, -e
    s = stop + go
    stop /= s
    go /= s
    if stop < OPTION_TINY:
        return stop * BASE, 1.0, 1.0
    if 0.0 < go < OPTION_TINY:
        return 1.0, go * BASE, -1.0
    return stop, go, 0.0


@njit(cache=True, error_model="numpy")
def _recounted(v, e):
    if v > 1.0:
        return v / BASE, e - 1.0
    if v < OPTION_TINY:
        return v * BASE, e + 1.0
    return v, e


@njit(cache=True, error_model="numpy")
def _odds(F, I, row):
    """The pair of odds of a row."""
    total = arms.total(F, row + ARMS_AT, I[TOP], I[TOP_SIZE])
    v, e = F[row + I[LOGS]], F[row + I[LOGS] + 1]
    if e == 0.0:
        return F[row] * total, F[row + 1], 0.0
    if F[row] == 0.0:
        return v * total, F[row + 1], e
    return F[row] * total, v, -e


@njit(cache=True, error_model="numpy")
def _store(F, I, row, stop, go, e):
    """Write a pair of odds to a row whose arms are in place."""
    rate = stop / arms.total(F, row + ARMS_AT, I[TOP], I[TOP_SIZE])
    F[row] = rate if e <= 0.0 else 0.0
    F[row + 1] = go if e >= 0.0 else 0.0
    F[row + I[LOGS]] = rate if e > 0.0 else go
    F[row + I[LOGS] + 1] = abs(e)


@njit(cache=True, error_model="numpy")
def _split_odds(F, I, row, links, above):
    """Odds of the upper `above` links and of the lower ones of a chain of `links`: two pairs.

    With S the chain's arm mass and P the weight of what hangs below it: stop = STAY[k] S, go = GO[k] P, and the lower part
    weighs STAY[k-j] S + GO[k-j] P.
    """
    below = links - above
    stop, go, e = _odds(F, I, row)
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
    up_stop, up_go, up_e = _balanced(F[I[STAY] + above] * S, F[I[GO] + above] * w, e if e > 0.0 else 0.0)
    low_stop, low_go, low_e = _balanced(low_stop, low_go, e)
    return up_stop, up_go, up_e, low_stop, low_go, low_e


@njit(cache=True, error_model="numpy")
def visit(F, I, key, reach):
    """Reach pass: write the weight and arm block of every visited node that contains the key; return how many.

    F[REST] is left with the mass on nodes at their prior. O(depth), or O(log rounds) compressed.
    """
    if I[KIND] == DENSE:
        return _visit_dense(F, I, key, reach)
    F[REST] = reach
    I[WHOLE] = 0
    if I[ROWS] == 0:
        return 0
    links, link_stride, row0, stride = I[LINKS], I[LINK_STRIDE], I[ROW0], I[STRIDE]
    path, weight, bases, depth = I[PATH], I[WEIGHT], I[BASES], I[DEPTH]
    n = 0
    at = 0
    while True:
        link = links + at * link_stride
        row = row0 + at * stride
        bottom = I[link] & 4095
        rate, go = F[row], F[row + 1]
        leaves = not _agree(I, link, key, bottom)
        if leaves:
            top = I[link] >> 12
            odds = _split_odds(F, I, row, bottom - top + 1, _leaves_at(I, link, key) - top + 1)
            rate = odds[0] / arms.total(F, row + ARMS_AT, I[TOP], I[TOP_SIZE]) if odds[2] <= 0.0 else 0.0
            go = odds[1] if odds[2] >= 0.0 else 0.0
        F[weight + n] = reach * rate
        I[path + n] = row
        I[bases + n] = row + ARMS_AT
        reach *= go
        n += 1
        if leaves:
            break
        if bottom == depth:
            I[WHOLE] = 1
            break
        at = I[link + 1 + _digit(I, key, bottom)]
        if at < 0:
            break
    F[REST] = reach
    return n


@njit(cache=True, error_model="numpy")
def _visit_dense(F, I, key, reach):
    heap = 0
    k = I[FANOUT]
    depth, stride, row0 = I[DEPTH], I[STRIDE], I[ROW0]
    path, weight, bases = I[PATH], I[WEIGHT], I[BASES]
    for level in range(depth + 1):
        row = row0 + heap * stride
        if F[row] + F[row + 1] == 0.0:
            F[REST] = reach
            I[WHOLE] = 0
            return level
        F[weight + level] = reach * F[row]
        I[path + level] = row
        I[bases + level] = row + ARMS_AT
        reach *= F[row + 1]
        if level < depth:
            heap = heap * k + 1 + _digit(I, key, level)
    F[REST] = 0.0
    I[WHOLE] = 1
    return depth + 1


@njit(cache=True, error_model="numpy")
def log_visit(F, I, key, n, reach):
    """ln(reach * stop) of the n nodes just visited, in place of their weights; reach is ln too. Return ln of the rest."""
    for d in range(n):
        row = I[I[PATH] + d]
        stop, go, e = _odds(F, I, row)
        if I[KIND] == COMPRESSED:
            link = I[LINKS] + (row - I[ROW0]) // I[STRIDE] * I[LINK_STRIDE]
            bottom, top = I[link] & 4095, I[link] >> 12
            if not _agree(I, link, key, bottom):
                odds = _split_odds(F, I, row, bottom - top + 1, _leaves_at(I, link, key) - top + 1)
                stop, go, e = odds[0], odds[1], odds[2]
        log_stop, log_go = _logs(stop, go, e)
        F[I[WEIGHT] + d] = reach + log_stop
        reach += log_go
    return reach


@njit(cache=True, error_model="numpy")
def _logs(stop, go, e):
    """Logarithms of a pair of odds."""
    log_stop = -math.inf if e == math.inf else math.log(stop) - (e * LOG_BASE if e > 0.0 else 0.0)
    log_go = -math.inf if go == 0.0 else math.log(go) + (e * LOG_BASE if e < 0.0 else 0.0)
    return log_stop, log_go


@njit(cache=True, error_model="numpy")
def _new_leaf(F, I, key, top):
    at = I[ROWS]
    I[ROWS] += 1
    row = I[ROW0] + at * I[STRIDE]
    arms.reset(F, I, row + ARMS_AT)
    _store(F, I, row, 1.0, 0.0, 0.0)
    link = I[LINKS] + at * I[LINK_STRIDE]
    I[link] = I[DEPTH] + (top << 12)
    k = I[FANOUT]
    for c in range(k):
        I[link + 1 + c] = -1
    for w in range(I[WORDS]):
        I[link + 1 + k + w] = key[w]
    return at


@njit(cache=True, error_model="numpy")
def is_full(I):
    """Is there no room for the rows that one more key may need?"""
    return I[KIND] == COMPRESSED and I[ROWS] + 2 > I[CAPACITY]


@njit(cache=True, error_model="numpy")
def extend(F, I, key, n):
    """After a visit of n nodes, give the other nodes that contain the key rows too; return how many there are on the path now."""
    if I[WHOLE] == 1:
        return n
    path = I[PATH]
    if I[KIND] == DENSE:
        return _extend_dense(F, I, key, n)
    if n == 0:
        leaf = _new_leaf(F, I, key, 0)
    else:
        at = (I[path + n - 1] - I[ROW0]) // I[STRIDE]
        link = I[LINKS] + at * I[LINK_STRIDE]
        bottom = I[link] & 4095
        if _agree(I, link, key, bottom):
            leaf = _new_leaf(F, I, key, bottom + 1)
            I[link + 1 + _digit(I, key, bottom)] = leaf
        else:
            leaf = _branch(F, I, at, key)
    I[path + n] = I[ROW0] + leaf * I[STRIDE]
    return n + 1


@njit(cache=True, error_model="numpy")
def _branch(F, I, at, key):
    """The key leaves the chain of row `at`: the row keeps the links above, a new one gets those below, a second, returned, the key."""
    k = I[FANOUT]
    link = I[LINKS] + at * I[LINK_STRIDE]
    row = I[ROW0] + at * I[STRIDE]
    bottom, top = I[link] & 4095, I[link] >> 12
    level = _leaves_at(I, link, key)
    odds = _split_odds(F, I, row, bottom - top + 1, level - top + 1)
    low = I[ROWS]
    I[ROWS] += 1
    low_row = I[ROW0] + low * I[STRIDE]
    low_link = I[LINKS] + low * I[LINK_STRIDE]
    for i in range(I[STRIDE]):
        F[low_row + i] = F[row + i]
    for i in range(I[LINK_STRIDE]):
        I[low_link + i] = I[link + i]
    _store(F, I, low_row, odds[3], odds[4], odds[5])
    I[low_link] = bottom + ((level + 1) << 12)
    _store(F, I, row, odds[0], odds[1], odds[2])
    I[link] = level + (top << 12)
    for c in range(k):
        I[link + 1 + c] = -1
    old = _digit(I, I[link + 1 + k : link + 1 + k + I[WORDS]], level)
    I[link + 1 + old] = low
    leaf = _new_leaf(F, I, key, level + 1)
    I[link + 1 + _digit(I, key, level)] = leaf
    return leaf


@njit(cache=True, error_model="numpy")
def _extend_dense(F, I, key, n):
    depth = I[DEPTH]
    stay, go = F[I[STAY] + 1], F[I[GO] + 1]
    heap = 0
    for level in range(depth + 1):
        if level >= n:
            row = I[ROW0] + heap * I[STRIDE]
            I[I[PATH] + level] = row
            I[ROWS] += 1
            arms.reset(F, I, row + ARMS_AT)
            if level == depth:
                _store(F, I, row, 1.0, 0.0, 0.0)
            elif stay == 0.0:
                _store(F, I, row, 1.0, 1.0, math.inf)
            else:
                _store(F, I, row, stay, go, 0.0)
        if level < depth:
            heap = heap * I[FANOUT] + 1 + _digit(I, key, level)
    return depth + 1


@njit(cache=True, error_model="numpy")
def ratio(F, I, n, arm, x, f, offered, g):
    """Ratio pass over the n nodes just visited, all of which have rows; return the root's ratio. x <= STEP."""
    path = I[PATH]
    masked = len(offered) > 0
    below = 0.0
    for d in range(n - 1, -1, -1):
        row = I[path + d]
        if masked:
            now = arms.shrink_masked(F, I, row + ARMS_AT, arm, x, f, offered, g)
        else:
            now = arms.shrink(F, I, row + ARMS_AT, arm, x, f)
        below = turn(F, I, row, now, below)
    return below


@njit(cache=True, error_model="numpy")
def turn(F, I, row, now, below):
    """A node whose arms have the new total `now` and whose child has the ratio `below`: set its odds, return its ratio."""
    rate = F[row]
    stop, go = rate * now, F[row + 1] * below
    s = stop + go
    if now >= ARM_LOW and min(stop, go) >= OPTION_TINY * s:
        inv = 1.0 / s
        F[row] = rate * inv
        F[row + 1] = go * inv
    else:
        rare_turn(F, I, row, now, below, s)
    return s


@njit(cache=True, error_model="numpy")
def rare_turn(F, I, row, now, below, s):
    """`turn` for a leaf, for a node with something hidden or about to be, and for arms to be rescaled."""
    hidden = row + I[LOGS]
    v, e = F[hidden], F[hidden + 1]
    rate, go = F[row], F[row + 1] * below
    if e == 0.0:
        stop = rate * now
        usual = go == 0.0
    elif rate == 0.0:
        stop = v * now
        usual = OPTION_TINY * s <= stop <= s or e == math.inf
    else:
        stop, go, v, e = rate * now, v * below, v * below, -e
        usual = OPTION_TINY * s <= go <= s
    if usual and now >= ARM_LOW:  # what is hidden stays hidden
        inv = 1.0 / s
        F[row] = rate * inv
        F[row + 1] = F[row + 1] * below * inv
        if e != math.inf:
            F[hidden] = v * inv
        return
    stop, go, e = _balanced(stop, go, e)
    arms.keep_in_range(F, I, row + ARMS_AT, now)
    _store(F, I, row, stop, go, e)


@njit(cache=True, error_model="numpy")
def ratio_log(F, I, n, arm, x, offered, log_g):
    """The same in logarithms, for any x; return ln of the root's ratio."""
    below = 0.0
    for d in range(n - 1, -1, -1):
        row = I[I[PATH] + d]
        b = row + ARMS_AT
        stop, go, e = _odds(F, I, row)
        stop, go = _logs(stop, go, e)
        stop += arms.shrink_log(F, I, b, arm, x, offered, log_g)
        go += below
        high = max(stop, go)
        below = high + math.log(math.exp(stop - high) + math.exp(go - high))
        stop -= below
        go -= below
        limit = math.log(OPTION_TINY)
        if stop == -math.inf:
            _store(F, I, row, 1.0, 1.0, math.inf)
        elif stop < limit:
            e = math.ceil(-stop / LOG_BASE)
            _store(F, I, row, math.exp(stop + e * LOG_BASE), 1.0, e)
        elif -math.inf < go < limit:
            e = math.ceil(-go / LOG_BASE)
            _store(F, I, row, 1.0, math.exp(go + e * LOG_BASE), -e)
        else:
            _store(F, I, row, math.exp(stop), math.exp(go), 0.0)
    return below
