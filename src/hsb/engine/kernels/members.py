"""The parts of a state's arrays that belong to each member."""

from .header import KIND, OPTION, PARENT
from .jit import inner
from .words.state import COUNT, DIRECTORY, ENTRY, F0, F1, I0, I1, K0, K1


@inner
def arrays(F, I, k):
    """Return F and I of member k."""
    d = DIRECTORY + k * ENTRY
    return F[I[d + F0] : I[d + F1]], I[I[d + I0] : I[d + I1]]


@inner
def own(F, I, k, key):
    """Return F and I of member k, and its part of a key."""
    d = DIRECTORY + k * ENTRY
    return F[I[d + F0] : I[d + F1]], I[I[d + I0] : I[d + I1]], key[I[d + K0] : I[d + K1]]


@inner
def kind(I, k):
    """Return the kind of member k."""
    return I[I[DIRECTORY + k * ENTRY + I0] + KIND]


@inner
def count(I, k):
    """Return how many nodes of member k were just visited."""
    return I[DIRECTORY + k * ENTRY + COUNT]


@inner
def offset(I, i, word):
    """Return the offset in F of the parent's entry for member i in the table `word` (CHILD_REACH, CHILD_RATIO)."""
    d = DIRECTORY + i[PARENT] * ENTRY
    return I[d + F0] + I[I[d + I0] + word] + i[OPTION]
