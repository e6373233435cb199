"""Where in a state's arrays each member's own are."""

from .header import OPTION, PARENT
from .jit import inner
from .words.state import COUNT, DIRECTORY, ENTRY, F0, F1, I0, I1, K0, K1


@inner
def arrays(F, I, k):
    """F and I of member k."""
    d = DIRECTORY + k * ENTRY
    return F[I[d + F0] : I[d + F1]], I[I[d + I0] : I[d + I1]]


@inner
def own(F, I, k, key):
    """F and I of member k, and its part of a key."""
    d = DIRECTORY + k * ENTRY
    return F[I[d + F0] : I[d + F1]], I[I[d + I0] : I[d + I1]], key[I[d + K0] : I[d + K1]]


@inner
def count(I, k):
    """How many nodes of member k were just visited."""
    return I[DIRECTORY + k * ENTRY + COUNT]


@inner
def place(I, i, word):
    """Where in F the parent of member i keeps what `word` says (CHILD_REACH, CHILD_RATIO) of it."""
    d = DIRECTORY + i[PARENT] * ENTRY
    return I[d + F0] + I[I[d + I0] + word] + i[OPTION]
