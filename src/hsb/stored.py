"""A member's arrays on their way to a file and back: without what is not in use, and checked before kernels trust them."""

from __future__ import annotations

import numpy as np

from .errors import FileError
from .kernels import header as h
from .members import Member, aligned_zeros, scratch


def trimmed(member: Member) -> Member:
    """Without the rows not in use."""
    F, I = member
    if I[h.KIND] != h.COMPRESSED:
        return member
    I = I[: I[h.LINKS] + I[h.ROWS] * I[h.LINK_STRIDE]].copy()
    I[h.CAPACITY] = I[h.ROWS]
    return Member(F[: I[h.ROW0] + I[h.ROWS] * I[h.STRIDE]], I)


def checked(F: np.ndarray, I: np.ndarray, fresh: Member) -> Member:
    """The arrays, if kernels that check nothing can be trusted with them: every place they name lies inside them."""
    free = [h.ROWS, h.CAPACITY, h.WHOLE] if fresh.I[h.KIND] in (h.DENSE, h.COMPRESSED) else []
    ours, theirs = fresh.I[: h.HEADER].copy(), I[: h.HEADER].copy()
    ours[free], theirs[free] = 0, 0
    if len(theirs) != h.HEADER or not np.array_equal(ours, theirs):
        raise FileError("its state does not fit its structure.")
    kind, rows = I[h.KIND], int(I[h.ROWS]) if free else 0
    if kind == h.DENSE:
        fits = len(I) == len(fresh.I) and len(F) == len(fresh.F) and I[h.CAPACITY] == fresh.I[h.CAPACITY]
    elif kind == h.COMPRESSED:
        links = I[I[h.LINKS] :]
        fits = rows >= 0 and len(links) == rows * I[h.LINK_STRIDE] and len(F) == I[h.ROW0] + rows * I[h.STRIDE]
        fits = fits and I[h.CAPACITY] == rows and _links_fit(links.reshape(rows, int(I[h.LINK_STRIDE])), I, rows)
    else:
        # Only a graph keeps tables after its header: what the finder needs, and where each node's row begins.
        tables = slice(int(I[h.SPEC]), None) if kind == h.GRAPH else slice(0, 0)
        fits = len(I) == len(fresh.I) and len(F) == len(fresh.F) and np.array_equal(I[tables], fresh.I[tables])
    if not fits:
        raise FileError("its state does not fit its structure.")
    if not _finite(F, I):
        raise FileError("its state holds numbers that are not finite.")
    if kind in (h.DENSE, h.COMPRESSED):  # the prior must be the header's
        for at in (h.GO, h.STAY):
            table = slice(int(I[at]), int(I[at] + I[h.DEPTH] + 1))
            if not np.array_equal(F[table], fresh.F[table]):
                raise FileError("its state does not fit its stop prior.")
    room = aligned_zeros(len(F))
    room[:] = F
    return Member(room, I)


def _finite(F: np.ndarray, I: np.ndarray) -> bool:
    """Every number, scratch apart; where the prior forbids stopping, a tree's rows count it as infinitely small."""
    finite = np.isfinite(F)
    for part in scratch(Member(F, I)):
        finite[part] = True
    if I[h.KIND] in (h.DENSE, h.COMPRESSED) and I[h.DEPTH] > 0 and F[I[h.STAY] + 1] == 0.0:
        hidden = I[h.ROW0] + I[h.STRIDE] * np.arange(I[h.CAPACITY]) + I[h.LOGS] + 1
        finite[hidden] |= F[hidden] == np.inf
    return bool(finite.all())


def _links_fit(links: np.ndarray, I: np.ndarray, rows: int) -> bool:
    bottom, top = links[:, 0] & 4095, links[:, 0] >> 12
    children = links[:, 1 : 1 + I[h.FANOUT]]
    bits, per_word = int(I[h.BITS]), int(I[h.PER_WORD])
    keys = links[:, 1 + I[h.FANOUT] :]
    digits = keys[:, :, None] >> (bits * np.arange(per_word)) & ((1 << bits) - 1)
    return bool(
        np.all(digits < I[h.FANOUT])
        and np.all(keys >> (bits * per_word) == 0)
        and np.all((top >= 0) & (top <= bottom) & (bottom <= I[h.DEPTH]))
        and np.all((children >= -1) & (children < rows))
        and np.all(children[children >= 0] > 0)
        and len(np.unique(children[children >= 0])) == max(rows - 1, 0)
        and np.all((children < 0) | (top[np.maximum(children, 0)] == bottom[:, None] + 1))
    )
