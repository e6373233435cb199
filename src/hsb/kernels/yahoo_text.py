"""Columns to lines of Yahoo!'s Today Module logs: the inverse of `yahoo.py`."""

from typing import NamedTuple

import numpy as np

from .jit import kernel
from .yahoo import COLON, MINUS, POINT, SPACE, ZERO

USER = (124, 117, 115, 101, 114)  # "|user"


class Rows(NamedTuple):
    """The columns of a batch: times and clicks as whole numbers, articles and pools by their place."""

    time: np.ndarray
    shown: np.ndarray
    click: np.ndarray
    contexts: np.ndarray
    pool: np.ndarray


class Words(NamedTuple):
    """Texts one after the other: text k is text[starts[k] : starts[k + 1]]."""

    text: np.ndarray
    starts: np.ndarray


@kernel
def _put_words(to, at, words, k):
    first = words.starts[k]
    n = words.starts[k + 1] - first
    text, place = words.text[first : first + n], to[at : at + n]
    for j in range(n):
        place[j] = text[j]
    return at + n


@kernel
def _put_whole(to, at, value, digits):
    """Write a number with at least `digits` digits."""
    n, rest = 1, value // 10
    while rest > 0:
        n += 1
        rest //= 10
    n = max(n, digits)
    for j in range(n - 1, -1, -1):
        to[at + j] = ZERO + value % 10
        value //= 10
    return at + n


@kernel
def _put_millionths(to, at, x):
    """Write a number with six decimals."""
    units = int(np.rint(abs(x) * 1e6))
    if x < 0.0 and units > 0:
        to[at] = MINUS
        at += 1
    at = _put_whole(to, at, units // 1000000, 1)
    to[at] = POINT
    return _put_whole(to, at + 1, units % 1000000, 6)


@kernel
def _put_features(to, at, row, is_r6a):
    d = len(row)
    for k in range(d):
        f = (k + 1) % d if is_r6a else k  # R6A has the constant last
        if is_r6a or row[f] != 0.0:
            to[at] = SPACE
            at = _put_whole(to, at + 1, f + 1, 1)
            if is_r6a:
                to[at] = COLON
                at = _put_millionths(to, at + 1, row[f])
    return at


@kernel
def put(to, start, rows, names, pools, is_r6a, most):
    """Write rows start, start + 1, ... while `most` bytes are left for one; the next row and the end of the text.

    `names` are the articles' names, `pools` the pools' text with the newline.
    """
    at, t = 0, start
    while t < len(rows.time):
        size = pools.starts[rows.pool[t] + 1] - pools.starts[rows.pool[t]]
        if at + most + size > len(to):
            break
        at = _put_whole(to, at, rows.time[t], 1)
        to[at] = SPACE
        at = _put_words(to, at + 1, names, rows.shown[t])
        to[at] = SPACE
        to[at + 1] = ZERO + rows.click[t]
        to[at + 2] = SPACE
        at += 3
        for byte in USER:
            to[at] = byte
            at += 1
        at = _put_features(to, at, rows.contexts[t], is_r6a)
        at = _put_words(to, at, pools, rows.pool[t])
        t += 1
    return t, at


@kernel
def first_not_binary(contexts):
    """The first row with a feature that is neither 0 nor 1, or with none that is 1; -1 where there is no such row."""
    for t in range(len(contexts)):
        row = contexts[t]
        zeros = ones = 0
        for f in range(len(row)):
            zeros += row[f] == 0.0
            ones += row[f] == 1.0
        if ones == 0 or zeros + ones < len(row):
            return t
    return -1
