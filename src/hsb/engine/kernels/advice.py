"""Advice of every advisor: in the mixture an advisor is one node with all its weight on the arms it recommends, shared evenly if they tie."""

import math

from . import maths
from .arms import is_available, rebuild
from .header import ADVISOR, ARMS, BASES, ENSEMBLE, GIVEN, REST, WEIGHT
from .jit import inner
from .words.advice import ADVICE


@inner
def is_advisor(kind):
    """Return whether a member of this kind gives advice."""
    return kind == ADVISOR or kind == ENSEMBLE or kind == GIVEN


@inner
def put_given(F, I, arm, reach):
    """Put all weight on `arm`, the advice that the key names. Return 1, the number of nodes visited."""
    b = I[I[BASES]]
    for m in range(I[ARMS]):
        F[b + m] = 1.0 if m == arm else 0.0
    rebuild(F, I, b)
    F[I[WEIGHT]], F[REST] = reach, 0.0
    I[ADVICE] = arm
    return 1


@inner
def put(F, I, index, reach):
    """Share the advice evenly among the arms whose index is the least, that of ADVICE. Return 1, the number of nodes visited.

    If that index is NaN, so are F[REST] and every probability. No arm is drawn then, and the state reports that it is broken.
    """
    b, M = I[I[BASES]], I[ARMS]
    least, n = F[index + I[ADVICE]], 0
    for m in range(M):
        n += F[index + m] == least
    for m in range(M):
        F[b + m] = 1.0 / n if F[index + m] == least else 0.0
    rebuild(F, I, b)
    F[I[WEIGHT]] = reach
    F[REST] = 0.0 if n > 0 else math.nan
    return 1


@inner
def recall(F, I, available, arm, share):
    """Give `arm` the share `share` of the advice, and the rest to another available arm: which one makes no difference to `arm`'s ratio."""
    b, left = I[I[BASES]], 1.0 - share
    for m in range(I[ARMS]):
        F[b + m] = share if m == arm else 0.0
        if m != arm and is_available(available, m):
            F[b + m] = left
            left = 0.0
    rebuild(F, I, b)


@inner
def ratio(F, I, arm, f):
    """Return the part of the advisor's weight that is left after `arm` is multiplied by f."""
    share = F[I[I[BASES]] + arm]
    return f if share == 1.0 else (1.0 - share) + share * f


@inner
def log_ratio(F, I, arm, x):
    """Return ln of `ratio`, for f = exp(-x)."""
    share = F[I[I[BASES]] + arm]
    return -x if share == 1.0 else maths.log((1.0 - share) + share * maths.exp(-x))
