"""The node at the head of a mixture with advisors beside it: its options are whole members, and it never stops itself.

Its row has options only (`options.py`), as many as members hang from it, each with a prior of its own at `PRIOR`. What an advisor advises
may change from round to round: Theorem 1 asks only that it is fixed before the arm is drawn.
"""

from . import options
from .header import CHILD_RATIO, CHILD_REACH, NODE, OPTIONS, PRIOR, REST
from .jit import inner


@inner
def visit(F, I, reach):
    """Reach pass: the reach of each member below. No node of its own."""
    row, n = I[NODE], I[OPTIONS]
    for o in range(n):
        F[I[CHILD_REACH] + o] = reach * options.weight(F, row, n, o)
    F[REST] = 0.0
    return 0


@inner
def log_visit(F, I, reach):
    """The same in logarithms."""
    row, n = I[NODE], I[OPTIONS]
    for o in range(n):
        F[I[CHILD_REACH] + o] = reach + options.log_weight(F, row, n, o)


@inner
def ratio(F, I):
    """Ratio pass, after that of every member below it."""
    row, n = I[NODE], I[OPTIONS]
    for o in range(n):
        F[row + 1 + o] *= F[I[CHILD_RATIO] + o]
    return options.settle(F, row, n)


@inner
def ratio_log(F, I):
    """The same in logarithms; the members' ratios are logarithms too."""
    row, n = I[NODE], I[OPTIONS]
    for o in range(n):
        options.multiply_log(F, row, n, o, F[I[CHILD_RATIO] + o])
    return options.settle_log(F, row, n)


@inner
def share(F, I, drift):
    """Fixed share: every option gives the part `drift` of its weight, which is dealt out anew by the prior."""
    row, n = I[NODE], I[OPTIONS]
    for o in range(n):
        F[row + 1 + o] = (1.0 - drift) * options.weight(F, row, n, o) + drift * F[I[PRIOR] + o]
        F[row + 1 + n + o] = 0.0
    F[row] = 0.0
