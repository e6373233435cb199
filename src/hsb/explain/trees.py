"""Binary and K-ary trees, dense or path-compressed: see `engine/kernels/tree.py` for the layout.

A row stands for a chain of k links, nodes of successive levels that have seen the same rounds (k = 1 in a dense tree). The links
share the chain's stop mass. With q the stop prior, link i has (1-q)^(i-1) q / (1 - (1-q)^k) of it; in a chain that ends in a leaf,
link i has (1-q)^(i-1) q and the leaf (1-q)^(k-1). Passing a link leaves the other children of that node at their prior. The shares
fall with i, and V of a prior is at most 0. So only the stop at the first link, or at a leaf, can be the best stop: a row either
stops at its first link or passes all of them.
"""

import math
from typing import NamedTuple

import numpy as np

from ..engine.kernels import header as h
from ..engine.state import Member
from ..engine.state.views import TreeView
from ..structures import Structure
from ..structures.walk import log_of
from ..types import Floats, Ints
from .pieces import TIE, Best, BestArms, best_arms, piece, unseen


class Chains(NamedTuple):
    """The rows in use, the root first. `children` has row numbers; -1: never visited."""

    top: Ints  # level of the first link
    bottom: Ints  # level of the last
    children: Ints
    keys: Ints  # of a context that passed through


def solve(structure: Structure, member: Member, q: float) -> Best:
    """Return the most probable mapping of a tree. O(rows in use), whatever the depth; a subtree never visited is one piece."""
    tree, arms = TreeView(member), member.arms
    k, depth = tree.fanout, tree.depth
    prior = _prior(k, depth, arms, q)
    if tree.used == 0:
        return Best(float(prior[0]), [unseen(structure.boxes((0, 0)), arms)], structure)
    chains = chains_of(member)
    best = best_arms(member, member.kind.blocks(member))
    stay, go = _values(member, tree, chains, best, prior, q)
    value = np.maximum(stay, go)
    stays = stay >= value - TIE * np.maximum(1.0, np.abs(value))

    pieces = []
    todo = [(0, 0)]  # row, and the number within its level of the chain's first node
    while todo:
        row, number = todo.pop()
        level, bottom = int(chains.top[row]), int(chains.bottom[row])
        stops = stays[row] or not best.seen[row]
        if not stops:
            while level < bottom:
                digit = _digit(tree, chains.keys[row], level)
                level += 1
                pieces += [unseen(structure.boxes((level, number * k + c)), arms) for c in range(k) if c != digit]
                number = number * k + digit
        if stops or level == depth:
            pieces.append(piece(structure.boxes((level, number)), best, row, arms))
            continue
        for c, child in enumerate(chains.children[row].tolist()):
            if child < 0:
                pieces.append(unseen(structure.boxes((level + 1, number * k + c)), arms))
            else:
                todo.append((child, number * k + c))
    return Best(float(value[0]), pieces, structure)


def _prior(k: int, depth: int, arms: int, q: float) -> Floats:
    """Return V of a node at its prior, by level."""
    value = np.full(depth + 1, -math.log(arms))
    log_q = float(log_of(q))
    for level in range(depth - 1, -1, -1):
        value[level] = max(log_q - math.log(arms), math.log1p(-q) + k * value[level + 1])
    return value


def _values(member: Member, tree: TreeView, chains: Chains, best: BestArms, prior: Floats, q: float) -> tuple[Floats, Floats]:
    """Return for every row the best value of stopping at its first link, and that of passing all its links.

    Children lie below their parents, so the rows are visited level by level, the lowest first.
    """
    k, depth = tree.fanout, tree.depth
    log_stop, log_go = log_odds(member)
    ends = chains.bottom == depth
    links = chains.bottom - chains.top + 1

    whole = -np.expm1(links * math.log1p(-q))  # prior of stopping at one of the links
    first = np.divide(q, whole, out=np.zeros(len(whole)), where=whole > 0.0)
    first = np.where(ends, np.where(links == 1, 1.0, q), first)
    stay = np.where(ends, 0.0, log_stop) + log_of(first) + best.log_share

    beside = np.zeros((depth + 1, depth + 1))  # V of the links' siblings, from level top + 1 to level bottom
    for top in range(depth):
        beside[top, top + 1 :] = (k - 1) * np.cumsum(prior[top + 1 :])
    go = np.where(ends, (links - 1) * math.log1p(-q) + best.log_share, log_go) + beside[chains.top, chains.bottom]

    value = np.zeros(len(links))
    for top in range(depth, -1, -1):
        rows = np.flatnonzero(chains.top == top)
        branching = rows[~ends[rows]]
        children = chains.children[branching]
        never = prior[chains.bottom[branching] + 1]
        go[branching] += np.where(children >= 0, value[children], never[:, None]).sum(axis=1)
        value[rows] = np.maximum(stay[rows], go[rows])
    return stay, go


def chains_of(member: Member) -> Chains:
    """Return the rows in use of a tree that was visited."""
    tree = TreeView(member)
    return _dense(member, tree) if tree.dense else _compressed(tree)


def log_odds(member: Member) -> tuple[Floats, Floats]:
    """Return ln of stop and of go of every row in use, also if they underflow a double."""
    from ..engine.kernels.rows import ARMS_AT  # loads Numba: on first use

    blocks = member.kind.blocks(member)
    log_total = best_arms(member, blocks).log_total
    rows = blocks - ARMS_AT
    rate, go = (member.F[rows + i] for i in range(2))
    hidden, count = (member.F[rows + member.logs + i] for i in range(2))
    log_hidden = log_of(np.where(count > 0.0, hidden, 1.0)) - count * h.LOG_BASE
    log_rate = np.where((rate == 0.0) & (count > 0.0), log_hidden, log_of(rate))
    return log_rate + log_total, np.where((go == 0.0) & (count > 0.0), log_hidden, log_of(go))


def _dense(member: Member, tree: TreeView) -> Chains:
    """Return a chain of one link for every visited node."""
    k, depth = tree.fanout, tree.depth
    begins = np.cumsum([0] + [k**level for level in range(depth + 1)])
    heap = (member.kind.blocks(member) - tree.row0) // tree.stride
    level = np.searchsorted(begins, heap, side="right") - 1
    index = np.full(begins[-1], -1)
    index[heap] = np.arange(len(heap))
    children = np.full((len(heap), k), -1)
    above = level < depth
    children[above] = index[heap[above, None] * k + 1 + np.arange(k)]
    return Chains(level, level, children, np.zeros((len(heap), 0), dtype=np.int64))


def _compressed(tree: TreeView) -> Chains:
    links, k = tree.links, tree.fanout
    return Chains(links[:, 0] >> 12, links[:, 0] & 4095, links[:, 1 : 1 + k], links[:, 1 + k :])


def _digit(tree: TreeView, key: Ints, level: int) -> int:
    """Return the number of the child of a key at a level."""
    per, bits = tree.per_word, tree.bits
    return int(key[level // per]) >> (bits * (per - 1 - level % per)) & ((1 << bits) - 1)
