"""Binary and K-ary trees, dense or path-compressed: see `kernels/tree.py` for the layout.

A row stands for a chain of k links, nodes of successive levels that have seen the same rounds (k = 1 in a dense tree). Given that the
chain is reached, its stop mass is spread over its links: with q the stop prior, link i has the share (1-q)^(i-1) q / (1 - (1-q)^k),
or, in a chain that ends in a leaf, (1-q)^(i-1) q and the leaf (1-q)^(k-1). Passing a link leaves the k-ary node's other children
behind, at their prior. Shares fall with i and a prior's V is never above 0, so of the stops only that at the first link can
be best, then that at a leaf; between them and going below lies the choice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..kernels import header as h
from ..members import Floats, Ints, Member, blocks
from ..structures import Structure
from .boxes import Box, tree_box
from .pieces import Best, Piece, unseen
from .weights import TIE, best_arms, log_of


class _Chains(NamedTuple):
    """The rows of a tree: levels of the first and the last link, rows of the children (-1: none), a key that passed through."""

    top: Ints
    bottom: Ints
    children: Ints
    keys: Ints


def solve(structure: Structure, member: Member, q: float) -> Best:
    """The most probable mapping of a tree. O(rows), whatever the depth; parts never learned from are one piece each."""
    I = member.I
    k, depth, arms = int(I[h.FANOUT]), int(I[h.DEPTH]), int(I[h.ARMS])
    features = len(structure.features)

    def boxes(level: int, number: int) -> tuple[Box]:
        return (tree_box(number, level, k, features),)

    prior = _prior(k, depth, arms, q)
    if I[h.ROWS] == 0:
        return Best(float(prior[0]), [unseen(boxes(0, 0), arms)], structure)
    chains = _dense(I) if I[h.KIND] == h.DENSE else _compressed(I)
    best = best_arms(member, blocks(member))
    stay, go = _values(member, chains, best.log_share, prior, q)
    stays = stay >= np.maximum(stay, go) - TIE * np.maximum(1.0, np.abs(np.maximum(stay, go)))

    pieces = []
    todo = [(0, 0)]  # row, and the number within its level of the chain's first node
    while todo:
        row, number = todo.pop()
        level, bottom = int(chains.top[row]), int(chains.bottom[row])
        piece = Piece((), int(best.arm[row]), math.exp(best.log_share[row]), True)
        if not best.seen[row]:
            pieces.append(unseen(boxes(level, number), arms))
        elif stays[row]:
            pieces.append(piece._replace(boxes=boxes(level, number)))
        else:
            while level < bottom:
                digit = _digit(I, chains.keys[row], level)
                level += 1
                pieces += [unseen(boxes(level, number * k + c), arms) for c in range(k) if c != digit]
                number = number * k + digit
            if level == depth:
                pieces.append(piece._replace(boxes=boxes(level, number)))
                continue
            for c, child in enumerate(chains.children[row].tolist()):
                if child < 0:
                    pieces.append(unseen(boxes(level + 1, number * k + c), arms))
                else:
                    todo.append((child, number * k + c))
    return Best(float(max(stay[0], go[0])), pieces, structure)


def _prior(k: int, depth: int, arms: int, q: float) -> Floats:
    """V of a node at its prior, by level."""
    value = np.full(depth + 1, -math.log(arms))
    log_q = float(log_of(q))
    for level in range(depth - 1, -1, -1):
        value[level] = max(log_q - math.log(arms), math.log1p(-q) + k * value[level + 1])
    return value


def _values(member: Member, chains: _Chains, log_share: Floats, prior: Floats, q: float) -> tuple[Floats, Floats]:
    """For every row, the best that begins with stopping at its first link, and the best that passes all its links.

    Children begin at lower levels than their parents, so the rows are taken level by level, the lowest first.
    """
    F, I = member
    k, depth = int(I[h.FANOUT]), int(I[h.DEPTH])
    rows = I[h.ROW0] + I[h.STRIDE] * np.arange(len(chains.top))
    count = F[rows + 2]
    log_stop = log_of(F[rows]) - np.maximum(count, 0.0) * h.LOG_BASE
    log_go = log_of(F[rows + 1]) + np.minimum(count, 0.0) * h.LOG_BASE
    ends = chains.bottom == depth
    links = chains.bottom - chains.top + 1

    whole = -np.expm1(links * math.log1p(-q))  # prior of stopping at one of the links
    first = np.where(ends, q, np.divide(q, whole, out=np.zeros(len(whole)), where=whole > 0.0))
    first[ends & (links == 1)] = 1.0
    stay = log_stop + log_of(first) + log_share

    # What the other children of the links weigh, from level top + 1 to level bottom.
    beside = np.zeros((depth + 1, depth + 1))
    for top in range(depth):
        beside[top, top + 1 :] = (k - 1) * np.cumsum(prior[top + 1 :])
    left = beside[chains.top, chains.bottom]
    go = np.where(ends, (links - 1) * math.log1p(-q) + left + log_share, log_go + left)

    value = np.empty(len(rows))
    for top in range(depth, -1, -1):
        at = np.flatnonzero(chains.top == top)
        branching = at[~ends[at]]
        children = chains.children[branching]
        known = np.where(children >= 0, value[children], prior[np.minimum(chains.bottom[branching] + 1, depth)][:, None])
        go[branching] += known.sum(axis=1)
        value[at] = np.maximum(stay[at], go[at])
    return stay, go


def _dense(I: Ints) -> _Chains:
    """Every node with a row, a chain of one link."""
    k, depth = int(I[h.FANOUT]), int(I[h.DEPTH])
    sizes = [k**level for level in range(depth + 1)]
    rows = I[I[h.LINKS] : I[h.LINKS] + sum(sizes)]
    heap = np.flatnonzero(rows >= 0)
    heap = heap[np.argsort(rows[heap])]
    level = np.repeat(np.arange(depth + 1), sizes)[heap]
    below = np.minimum(heap[:, None] * k + 1 + np.arange(k), len(rows) - 1)
    children = np.where(level[:, None] < depth, rows[below], -1)
    return _Chains(level, level, children, np.zeros((len(heap), 0), dtype=np.int64))


def _compressed(I: Ints) -> _Chains:
    k = int(I[h.FANOUT])
    links = I[I[h.LINKS] : I[h.LINKS] + I[h.ROWS] * I[h.LINK_STRIDE]].reshape(I[h.ROWS], I[h.LINK_STRIDE])
    return _Chains(links[:, 1], links[:, 0], links[:, 2 : 2 + k], links[:, 2 + k :])


def _digit(I: Ints, key: Ints, level: int) -> int:
    per, bits = int(I[h.PER_WORD]), int(I[h.BITS])
    return int(key[level // per]) >> (bits * (per - 1 - level % per)) & ((1 << bits) - 1)
