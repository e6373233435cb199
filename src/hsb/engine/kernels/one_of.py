"""A node whose options are whole members: the root of `OneOf`, and the head of a mixture with advisors beside it.

Its row has the layout of a graph's: options (`options.py`), then an arm block. The root's first option is to stop at its arm block. The head
never stops: it has no arm block, and each option has a prior weight at `PRIOR`. An advisor's advice may change from round to round: Theorem 1
requires only that it is fixed before the arm is drawn.
"""

from . import arms, options
from .header import BASES, KIND, ONE_OF, REST, TOP, TOP_SIZE, VISITS, WEIGHT
from .jit import inner
from .words.one_of import CHILD_RATIO, CHILD_REACH, NODE, OPTIONS, PRIOR


@inner
def visit(F, I, reach):
    """Run the reach pass: the reach of each option's member, and the root itself. Return the number of nodes visited here, 0 or 1."""
    row, k = I[NODE], I[OPTIONS]
    own = 1 if I[KIND] == ONE_OF else 0
    if own == 1:
        b = row + 1 + 2 * k
        inv = 1.0 / arms.total(F, b, I[TOP], I[TOP_SIZE])
        F[I[WEIGHT]] = reach * options.weight(F, row, k, 0) * inv
        F[I[WEIGHT] + I[VISITS]] = inv
        I[I[BASES]] = b
    for o in range(own, k):
        F[I[CHILD_REACH] + o] = reach * options.weight(F, row, k, o)
    F[REST] = 0.0
    return own


@inner
def log_visit(F, I, reach):
    """Run the reach pass in logarithms."""
    row, k = I[NODE], I[OPTIONS]
    own = 1 if I[KIND] == ONE_OF else 0
    if own == 1:
        F[I[WEIGHT]] = reach + options.log_weight(F, row, k, 0)
    for o in range(own, k):
        F[I[CHILD_REACH] + o] = reach + options.log_weight(F, row, k, o)


@inner
def ratio(F, I, arm, x, f, available, g):
    """Run the ratio pass, after that of every member below. x <= STEP."""
    row, k = I[NODE], I[OPTIONS]
    own = 1 if I[KIND] == ONE_OF else 0
    if own == 1:
        b = row + 1 + 2 * k
        now = arms.update(F, I, b, arm, x, f, available, g)
        F[row + 1] *= now * F[I[WEIGHT] + I[VISITS]]
        arms.keep_in_range(F, I, b, now)
    for o in range(own, k):
        F[row + 1 + o] *= F[I[CHILD_RATIO] + o]
    return options.settle(F, row, k)


@inner
def ratio_log(F, I, arm, x, available, log_g):
    """Run the ratio pass in logarithms; the members' ratios are logarithms too."""
    row, k = I[NODE], I[OPTIONS]
    own = 1 if I[KIND] == ONE_OF else 0
    if own == 1:
        options.multiply_log(F, row, k, 0, arms.shrink_log(F, I, row + 1 + 2 * k, arm, x, available, log_g))
    for o in range(own, k):
        options.multiply_log(F, row, k, o, F[I[CHILD_RATIO] + o])
    return options.settle_log(F, row, k)


@inner
def share(F, I, drift):
    """Apply fixed share at the head: every option gives the part `drift` of its weight, and the sum is shared by the prior."""
    row, n = I[NODE], I[OPTIONS]
    for o in range(n):
        F[row + 1 + o] = (1.0 - drift) * options.weight(F, row, n, o) + drift * F[I[PRIOR] + o]
        F[row + 1 + n + o] = 0.0
    F[row] = 0.0
