"""Parser of Yahoo!'s Today Module logs, from bytes to columns.

    R6B: <time> id-<shown> <click> |user 1 11 13 ... |id-<a> |id-<b> ...
    R6A: <time> <shown> <click> |user 2:f 3:f ... 1:1.000000 |<a> 2:f ... 1:1.000000 |<b> ...

Every line that `parse` reads ends in a newline, so no loop checks for the end of the text. The pool of a line is mostly byte for byte that of
the line before: one comparison then recognises it, and it is not read again.
"""

from typing import NamedTuple

import numpy as np

from ....engine.kernels.jit import kernel

# Words of `state`.
ROWS, LINES, POOLS, MEMBERS, ARMS, SECTION, NOW = 0, 1, 2, 3, 4, 5, 6
STATE = 7

# Reasons that `parse` stops: more text is needed, the batch is full, the table of labels is full, or an error in a line.
MORE, FULL, LABELS = 0, 1, 2
EMPTY, TIME, SHOWN, CLICK, USER, FEATURE, TWICE, BARE, CANDIDATE, ARTICLE, NONE, MANY, REPEATED, ABSENT = range(10, 24)

SPACE, NEWLINE, RETURN, BAR, COLON, POINT, MINUS, ZERO = 32, 10, 13, 124, 58, 46, 45, 48
DIGITS = 18  # the most digits of a number
EXACT = 1 << 53  # whole numbers below it are doubles
RECENT = 8  # a pool is compared with this many pools before it
MULTIPLIER = 0x5851F42D  # of the hash


class YahooColumns(NamedTuple):
    """A batch under construction: columns, and its distinct pools (arm indices of pool k: members[starts[k] : starts[k + 1]], in order)."""

    time: np.ndarray
    shown: np.ndarray
    click: np.ndarray
    contexts: np.ndarray
    pool: np.ndarray
    starts: np.ndarray
    members: np.ndarray


class Labels(NamedTuple):
    """Articles by number, in order of appearance, and a hash table of their indices; its length is a power of two."""

    keys: np.ndarray
    slots: np.ndarray


class Scratch(NamedTuple):
    """The candidates' text and numbers of the last line read in full, and the pool in which each arm was last seen."""

    section: np.ndarray
    keys: np.ndarray
    stamp: np.ndarray


@kernel
def _digit(buf, i):
    return int(buf[i]) - ZERO


@kernel
def _past_spaces(buf, i):
    while buf[i] == SPACE:
        i += 1
    return i


@kernel
def _ends(buf, i):
    """Return whether the rest of the line is empty."""
    return buf[i] == NEWLINE or (buf[i] == RETURN and buf[i + 1] == NEWLINE)


@kernel
def _is_over(buf, i):
    """Return whether a word ends here."""
    return buf[i] == SPACE or _ends(buf, i)


@kernel
def _whole(buf, i):
    """Read the number at i, without sign or leading zeros; return it and its end, which is i if there is no number."""
    value, j = 0, i
    while 0 <= _digit(buf, j) <= 9:
        value = value * 10 + _digit(buf, j)
        j += 1
        if j - i > DIGITS:
            return 0, i
    if j - i > 1 and buf[i] == ZERO:
        return 0, i
    return value, j


@kernel
def _decimal(buf, i):
    """Read the decimal number at i; return it, correctly rounded, and its end, which is i without a number or beyond 2^53 units."""
    j = i
    negative = buf[j] == MINUS
    if negative:
        j += 1
    value, digits, behind, scale = 0, 0, False, 1.0
    while True:
        d = _digit(buf, j)
        if 0 <= d <= 9:
            value = value * 10 + d
            digits += 1
            if behind:
                scale *= 10.0
            if digits > DIGITS:
                return 0.0, i
        elif buf[j] == POINT and not behind and digits > 0:
            behind = True
        else:
            break
        j += 1
    if digits == 0 or value >= EXACT or buf[j - 1] == POINT:
        return 0.0, i
    x = float(value) / scale
    return (-x if negative else x), j


@kernel
def _label(buf, i, is_r6a):
    """Read the article named at i; return its number and the end of the name, which is i if there is no name."""
    j = i
    if not is_r6a:
        if not (buf[i] == 105 and buf[i + 1] == 100 and buf[i + 2] == MINUS):  # "id-"
            return 0, i
        j = i + 3
    key, end = _whole(buf, j)
    if end == j or not _is_over(buf, end):
        return 0, i
    return key, end


@kernel
def _slot(labels, key):
    """Return the slot of a key in the hash table, or the slot it would have."""
    mask = len(labels.slots) - 1
    slot = ((key & 0xFFFFFFFF) * MULTIPLIER >> 12) & mask
    while labels.slots[slot] >= 0 and labels.keys[labels.slots[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@kernel("Labels(L1 L1) l")
def refill(labels, arms):
    """Rebuild the hash table of the first `arms` labels."""
    for slot in range(len(labels.slots)):
        labels.slots[slot] = -1
    for a in range(arms):
        labels.slots[_slot(labels, labels.keys[a])] = a


@kernel
def _features(buf, i, is_r6a, row):
    """Read the user's features into a row of contexts, 0 if not named; return their end, and the error or 0."""
    nothing = np.nan if is_r6a else 0.0
    for f in range(len(row)):
        row[f] = nothing
    n = 0
    while True:
        i = _past_spaces(buf, i)
        if buf[i] == BAR or _ends(buf, i):
            for f in range(len(row)):
                if np.isnan(row[f]):
                    row[f] = 0.0
            return i, (0 if n > 0 else BARE)
        f, j = _whole(buf, i)
        if j == i or f < 1 or f > len(row):
            return i, FEATURE
        value = 1.0
        if is_r6a:
            if buf[j] != COLON:
                return i, FEATURE
            value, end = _decimal(buf, j + 1)
            if end == j + 1:
                return i, FEATURE
            if not np.isnan(row[f - 1]):
                return i, TWICE
            j = end
        if not _is_over(buf, j):
            return i, FEATURE
        row[f - 1] = value
        n += 1
        i = j


@kernel
def _candidates(buf, i, is_r6a, keys):
    """Read the candidates' numbers; return their count, the end of the line, and the error or 0."""
    n = 0
    while buf[i] == BAR:
        key, j = _label(buf, i + 1, is_r6a)
        if j == i + 1:
            return n, i, CANDIDATE
        i = _past_spaces(buf, j)
        while is_r6a and not (buf[i] == BAR or _ends(buf, i)):  # skip the article's features
            _, j = _whole(buf, i)
            if j == i or buf[j] != COLON:
                return n, i, ARTICLE
            _, end = _decimal(buf, j + 1)
            if end == j + 1 or not _is_over(buf, end):
                return n, i, ARTICLE
            i = _past_spaces(buf, end)
        if n == len(keys):
            return n, i, MANY
        for k in range(n):
            if keys[k] == key:
                return n, i, REPEATED
        keys[n] = key
        n += 1
    if not _ends(buf, i):
        return n, i, CANDIDATE
    return n, i, (0 if n > 0 else NONE)


@kernel
def _new_pool(state, out, labels, stamp, keys, n):
    """Give every candidate its arm index, and find or add their pool.

    Return 0, or FULL or LABELS, with nothing changed, if there is no room.
    """
    if state[ARMS] + n > len(labels.keys):
        return LABELS
    pools, first = state[POOLS], state[MEMBERS]
    if pools == len(out.starts) - 1 or first + n > len(out.members):
        return FULL
    for k in range(n):
        slot = _slot(labels, keys[k])
        if labels.slots[slot] < 0:
            labels.slots[slot] = state[ARMS]
            labels.keys[state[ARMS]] = keys[k]
            state[ARMS] += 1
        arm = labels.slots[slot]
        j = first + k
        while j > first and out.members[j - 1] > arm:
            out.members[j] = out.members[j - 1]
            j -= 1
        out.members[j] = arm
    pool = pools
    for k in range(pools - 1, max(pools - RECENT, 0) - 1, -1):
        if out.starts[k + 1] - out.starts[k] == n:
            same = True
            for j in range(n):
                same = same and out.members[out.starts[k] + j] == out.members[first + j]
            if same:
                pool = k
                break
    if pool == pools:
        state[POOLS] += 1
        state[MEMBERS] += n
        out.starts[state[POOLS]] = state[MEMBERS]
    for j in range(out.starts[pool], out.starts[pool] + n):
        stamp[out.members[j]] = pool
    state[NOW] = pool
    return 0


@kernel
def _repeats(buf, i, stop, section, n):
    """Return whether the n bytes of `section` stand at i."""
    if n == 0 or i + n > stop:
        return False
    differ = 0
    for k in range(n):  # no early exit: the loop becomes a few vector instructions
        differ += buf[i + k] != section[k]
    return differ == 0


@kernel
def _line(buf, i, stop, is_r6a, state, out, labels, scratch):
    """Read the line at i into the next row; return the error or 0, and the start of the next line (if 0)."""
    row = state[ROWS]
    i = _past_spaces(buf, i)
    if _ends(buf, i):
        return EMPTY, i
    time, j = _whole(buf, i)
    if j == i or buf[j] != SPACE:
        return TIME, i
    i = _past_spaces(buf, j)
    shown, j = _label(buf, i, is_r6a)
    if j == i:
        return SHOWN, i
    i = _past_spaces(buf, j)
    click = _digit(buf, i)
    if click < 0 or click > 1 or not _is_over(buf, i + 1):
        return CLICK, i
    i = _past_spaces(buf, i + 1)
    if not (buf[i] == BAR and buf[i + 1] == 117 and buf[i + 2] == 115 and buf[i + 3] == 101 and buf[i + 4] == 114):  # "user"
        return USER, i
    if not _is_over(buf, i + 5):
        return USER, i
    i, wrong = _features(buf, i + 5, is_r6a, out.contexts[row])
    if wrong > 0:
        return wrong, i
    if _repeats(buf, i, stop, scratch.section, state[SECTION]):
        i += state[SECTION]
    else:
        first = i
        n, i, wrong = _candidates(buf, i, is_r6a, scratch.keys)
        if wrong > 0:
            return wrong, i
        available = False
        for k in range(n):
            available = available or scratch.keys[k] == shown
        if not available:
            return ABSENT, i
        wrong = _new_pool(state, out, labels, scratch.stamp, scratch.keys, n)
        if wrong > 0:
            return wrong, i
        i += 1 + (buf[i] == RETURN)
        state[SECTION] = 0
        if i - first <= len(scratch.section):
            state[SECTION] = i - first
            for k in range(i - first):
                scratch.section[k] = buf[first + k]
    arm = labels.slots[_slot(labels, shown)]
    if arm < 0 or scratch.stamp[arm] != state[NOW]:
        return ABSENT, i
    out.time[row] = time
    out.shown[row] = arm
    out.click[row] = click
    out.pool[row] = state[NOW]
    state[ROWS] += 1
    return 0, i


@kernel("C1 l l b L1 YahooColumns(D1 L1 D1 D2 L1 L1 L1) Labels(L1 L1) Scratch(C1 L1 L1)", free=True)
def parse(buf, start, stop, is_r6a, state, out, labels, scratch):
    """Read the lines of buf[start:stop], which ends in a newline, into rows; return the reason to stop, and the offset.

    After a wrong line, the offset is that of the next line, which may be read at once.
    """
    i = start
    while i < stop:
        if state[ROWS] == len(out.time):
            return FULL, i
        wrong, after = _line(buf, i, stop, is_r6a, state, out, labels, scratch)
        if wrong == FULL or wrong == LABELS:
            return wrong, i
        state[LINES] += 1
        if wrong > 0:
            while buf[i] != NEWLINE:
                i += 1
            return wrong, i + 1
        i = after
    return MORE, i
