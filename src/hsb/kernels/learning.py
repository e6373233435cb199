"""Learning logged decisions, one after the other: the arm and its propensity come from the log, nothing is drawn."""

from . import advised, advisor, rounds
from .jit import kernel


@kernel
def learn(Fs, Is, Ks, counts, masks, pool, p, arm, losses, chances, rates, drift, start):
    """Learn rows start, start+1, ...; return the first row not learned (a tree may be short of rows)."""
    none = masks[0][:0]
    for t in range(start, len(arm)):
        mask = masks[pool[t]]
        offered = none if rounds.full(mask) else mask
        x = rates[t] * losses[t] / chances[t]
        if not rounds.update(Fs, Is, Ks, t, counts, offered, p, arm[t], x, drift, False):
            return t
    return len(arm)


@kernel
def learn_advised(Fs, Is, Ks, counts, masks, pool, p, arm, losses, chances, rate, drift, A, B, cells, start, end):
    """The same for a mixture with an advisor beside it, up to row end - 1."""
    none = masks[0][:0]
    for t in range(start, end):
        mask = masks[pool[t]]
        offered = none if rounds.full(mask) else mask
        x = rate * losses[t] / chances[t]
        cell = cells[t, 0]
        advice = advisor.advise(A, B, cell, offered)
        if not advised._learn(Fs, Is, Ks, t, counts, offered, p, arm[t], losses[t], x, drift, False, A, B, cell, advice):
            return t
    return end
