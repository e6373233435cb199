"""The distributions of a mixture over many contexts: what a policy would do, row by row. Nothing is learned."""

from . import advised, advisor, rounds
from .jit import kernel


@kernel
def fill(Fs, Is, Ks, counts, masks, pool, table):
    """Row t of the table: the probabilities at key t, among the arms of mask pool[t]. O(rows * nodes * arms)."""
    none = masks[0][:0]
    for t in range(len(table)):
        mask = masks[pool[t]]
        offered = none if rounds.full(mask) else mask
        rounds.visit(Fs, Is, Ks, t, counts)
        rounds.mix(Fs, Is, Ks, t, counts, offered, table[t])


@kernel
def fill_advised(Fs, Is, Ks, counts, masks, pool, table, A, B, cells):
    """The same for a mixture with an advisor beside it."""
    none = masks[0][:0]
    for t in range(len(table)):
        mask = masks[pool[t]]
        offered = none if rounds.full(mask) else mask
        rounds.visit(Fs, Is, Ks, t, counts)
        advised.mix(Fs, Is, Ks, t, counts, offered, table[t], A, advisor.advise(A, B, cells[t, 0], offered))
