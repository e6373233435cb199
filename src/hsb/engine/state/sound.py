"""Reading of a member from a file: what can be derived is derived, and numbers are checked to be ones that rounds can lead to.

Kernels check nothing. They rely on these invariants. Arm weights are positive, or 0 with a separate logarithm; their totals are within the
kernels' range, and every sum is the sum of its eight. The odds of a node add to 1; a hidden one is a positive number with a whole count.
"""

import numpy as np

from ...types import Flags, Floats, Ints
from ..kernels import header as h
from .member import Member

CLOSE = 1e-12  # tolerance of sums that are 1: where kernels made them they are off by 1e-15
LEAST_TOTAL, MOST_TOTAL = 1e-130, 1e130  # of an arm block: kernels hold it between ARM_LOW and ARM_HIGH
MOST_LOG, LEAST_LOG = 300.0, -1e290  # of a weight that is stored as its logarithm
HIDDEN = 1e230  # a hidden number lies between this and its inverse: kernels hold it between BASE and OPTION_TINY
MOST_COUNT = 1e280  # of its scalings
PART = 1 << 16  # words per step


def take_blocks(own: Member, F: Floats, offsets: Ints) -> Floats | None:
    """Take the weights of the arm blocks at these offsets from F, and recompute their sums. Return each total; None if impossible."""
    M, width, logs = own.arms, own.width, own.logs
    totals, arms = np.empty(len(offsets)), np.arange(M)
    step = max(1, PART // width)
    for start in range(0, len(offsets), step):
        some = offsets[start : start + step, None]
        weights, aside = F[some + arms], F[some + logs + arms]
        seen = (weights >= 0.5 * h.ARM_TINY) & (weights <= MOST_TOTAL)
        if not (seen | (weights == 0.0)).all() or not ((aside >= LEAST_LOG) & (aside <= MOST_LOG)).all():
            return None
        block, size = with_sums(weights)
        total = block[:, width - size :].sum(axis=1)
        if not ((total >= LEAST_TOTAL) & (total <= MOST_TOTAL)).all():
            return None
        own.F[some + np.arange(width)] = block
        own.F[some + logs + arms] = aside
        totals[start : start + step] = total
    return totals


def with_sums(weights: Floats) -> tuple[Floats, int]:
    """Return arm blocks, a row each, from weights: level by level the sums of each eight, as in `arms.eight`; and the top level's length."""
    levels = [weights]
    while levels[-1].shape[1] > h.BLOCK:
        below = levels[-1]
        below = np.concatenate([below, np.zeros((len(below), -below.shape[1] % h.BLOCK))], axis=1)
        levels[-1] = below
        x = below.reshape(len(below), -1, h.BLOCK)
        left = (x[..., 0] + x[..., 1]) + (x[..., 2] + x[..., 3])
        levels.append(left + ((x[..., 4] + x[..., 5]) + (x[..., 6] + x[..., 7])))
    return np.concatenate(levels, axis=1), levels[-1].shape[1]


def take_options(own: Member, F: Floats, rows: Ints, n: int) -> bool:
    """Take the n options of the nodes with rows at these offsets from F (`engine/kernels/options.py`), and derive the flag.

    An option whose prior, in the fresh member, is 0 stays 0.
    """
    step = max(1, PART // n)
    for start in range(0, len(rows), step):
        some = rows[start : start + step, None]
        options = some + 1 + np.arange(n)
        weights, counts = F[options], F[options + n]
        hidden = counts > 0.0
        never = own.F[options] == 0.0
        seen = np.where(never, weights == 0.0, (weights >= 0.5 * h.OPTION_TINY) & (weights <= 1.0 + CLOSE))
        if not (are_counts(counts) & np.where(hidden, ~never & are_hidden(weights), seen)).all():
            return False
        if not (np.abs(np.where(hidden, 0.0, weights).sum(axis=1) - 1.0) <= CLOSE).all():
            return False
        own.F[options], own.F[options + n], own.F[some[:, 0]] = weights, counts, hidden.any(axis=1)
    return True


def take_rows(own: Member, F: Floats, rows: Ints, leaf: Flags, forbidden: bool) -> bool:
    """Take the rows of a tree from F (`kernels/rows.py`). `leaf`: mask of leaves. `forbidden`: the prior never stops above the leaves."""
    if not len(rows):
        return True
    totals = take_blocks(own, F, rows + 2)
    if totals is None:
        return False
    rate, go, logs = F[rows], F[rows + 1], rows + own.logs
    aside, count = F[logs], F[logs + 1]
    stop, seen = rate * totals, np.abs(rate * totals + go - 1.0) <= CLOSE
    small = np.where(rate == 0.0, aside * totals, aside)
    both = (count == 0.0) & (rate > 0.0) & (go > 0.0) & (aside >= 0.0) & (aside <= 1.0 / h.ARM_TINY)
    one = (count > 0.0) & are_counts(count) & ((rate == 0.0) != (go == 0.0)) & are_hidden(small)
    never = (count == np.inf) & (rate == 0.0) & (aside > 0.0) & np.isfinite(aside)
    ended = (count == 0.0) & (go == 0.0) & (aside >= 0.0) & (aside <= 1.0 / h.ARM_TINY)
    possible = np.where(leaf, ended, never if forbidden else both | one)
    if not (possible & seen & (rate >= 0.0) & (go >= 0.0) & (stop >= 0.0)).all():
        return False
    own.F[rows], own.F[rows + 1], own.F[logs], own.F[logs + 1] = rate, go, aside, count
    return True


def are_counts(values: Floats) -> Flags:
    """Return a mask of whole numbers from 0 to MOST_COUNT."""
    return np.asarray((values >= 0.0) & (values <= MOST_COUNT) & (values == np.floor(values)))


def are_hidden(values: Floats) -> Flags:
    """Return a mask of possible hidden weights before scaling."""
    return np.asarray((values >= 1.0 / HIDDEN) & (values <= HIDDEN))
