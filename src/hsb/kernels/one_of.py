"""The node at the head of `OneOf`: its options are whole structures, each with a state of its own.

Its row is laid out as a graph's: options (`options.py`), then an arm block.
"""

from . import arms, options
from .header import BASES, CHILD_RATIO, CHILD_REACH, NODE, OPTIONS, REST, TOP, TOP_SIZE, VISITS, WEIGHT
from .jit import inner


@inner
def visit(F, I, reach):
    """Reach pass: the node itself, and the reach of each option's member."""
    row, k = I[NODE], I[OPTIONS]
    b = row + 1 + 2 * k
    inv = 1.0 / arms.total(F, b, I[TOP], I[TOP_SIZE])
    F[I[WEIGHT]] = reach * options.weight(F, row, k, 0) * inv
    F[I[WEIGHT] + I[VISITS]] = inv
    I[I[BASES]] = b
    for o in range(1, k):
        F[I[CHILD_REACH] + o] = reach * options.weight(F, row, k, o)
    F[REST] = 0.0
    return 1


@inner
def log_visit(F, I, reach):
    """The same in logarithms."""
    row, k = I[NODE], I[OPTIONS]
    F[I[WEIGHT]] = reach + options.log_weight(F, row, k, 0)
    for o in range(1, k):
        F[I[CHILD_REACH] + o] = reach + options.log_weight(F, row, k, o)


@inner
def ratio(F, I, arm, x, f, offered, g):
    """Ratio pass, after that of every member below it. x <= STEP."""
    row, k = I[NODE], I[OPTIONS]
    b = row + 1 + 2 * k
    now = arms.update(F, I, b, arm, x, f, offered, g)
    F[row + 1] *= now * F[I[WEIGHT] + I[VISITS]]
    arms.keep_in_range(F, I, b, now)
    for o in range(1, k):
        F[row + 1 + o] *= F[I[CHILD_RATIO] + o]
    return options.settle(F, row, k)


@inner
def ratio_log(F, I, arm, x, offered, log_g):
    """The same in logarithms; the members' ratios are logarithms too."""
    row, k = I[NODE], I[OPTIONS]
    options.multiply_log(F, row, k, 0, arms.shrink_log(F, I, row + 1 + 2 * k, arm, x, offered, log_g))
    for o in range(1, k):
        options.multiply_log(F, row, k, o, F[I[CHILD_RATIO] + o])
    return options.settle_log(F, row, k)
