"""The gain of a tree's mappings, ln(posterior / prior): the largest of all.

The inequality behind every certificate (`docs/proofs.md`, 1) bounds the regret against a mapping by its gain over the rate, plus a term that
does not depend on the mapping. A gain is at most ln(1/prior), since no posterior is above 1. So the largest gain bounds the regret against
**any** mapping, also one with little posterior so far.

The recursion of `trees.py` finds it, with gains in place of posteriors. Nodes never visited are at their prior: their gain is 0.
Each mapping counts as split no further than needed: a node whose parts would all have one arm stops.
"""

from __future__ import annotations

import numpy as np

from ..engine.state import Member
from ..engine.state.views import TreeView
from ..structures.walk import log_of
from ..types import Floats, Ints
from .pieces import log_shares
from .trees import Chains, chains_of, log_odds


def largest_gain(member: Member, arm_costs: Floats, *, prices: float = 0.0) -> float:
    """Return the largest gain + `prices` * ln(1/prior) over all mappings. O(rows in use * arms).

    `arm_costs`: ln(1/prior) of each arm, ln M, and more for one that was added later, whose gain began later.

    >>> from hsb.engine.state import make_tree
    >>> largest_gain(make_tree(2, 5, 2, 0.5), np.log([2.0, 2.0]))
    0.0
    """
    tree = TreeView(member)
    depth = tree.depth
    to_stop = -float(log_of(tree.stay[1])) if depth else 0.0  # ln(1/prior) of stopping at an inner node
    unseen = prices * (float(arm_costs.min()) + np.where(np.arange(depth + 2) < depth, to_stop, 0.0))
    if tree.used == 0:
        return float(unseen[0])
    chains = chains_of(member)
    ends, links = chains.bottom == depth, chains.bottom - chains.top + 1
    one_arm, go = _gains(member, chains, arm_costs, prices)
    one_arm += prices * np.where(ends & (links == 1), 0.0, to_stop)[:, None]
    below = np.concatenate([[0.0], np.cumsum(unseen[1 : depth + 1])])  # of one subtree on each level
    go += (tree.fanout - 1) * (below[chains.bottom] - below[chains.top])

    split = np.full(len(links), -np.inf)
    for top in range(depth, -1, -1):
        rows = np.flatnonzero((chains.top == top) & ~ends)
        if len(rows):
            unvisited = unseen[chains.bottom[rows] + 1]
            split[rows] = go[rows] + _of_parts(chains.children[rows], one_arm, split, unvisited)
    return float(max(one_arm[0].max(), split[0]))


def largest_gain_of_cuts(member: Member, arm_costs: Floats, *, levels: int) -> float:
    """The largest gain of a mapping of a binary tree that has one arm before some cut and one behind it, or the same everywhere.

    The cut may lie between any two nodes of level `levels`. O(rows in use * arms).

    >>> from hsb.engine.state import make_tree
    >>> largest_gain_of_cuts(make_tree(2, 5, 2, 0.5), np.log([2.0, 2.0]), levels=3)
    0.0
    """
    if TreeView(member).used == 0:
        return 0.0
    chains = chains_of(member)
    one_arm, go = _gains(member, chains, arm_costs, 0.0)
    best, arms = float(one_arm[0].max()), one_arm.shape[1]
    padded = np.vstack([one_arm, np.zeros(arms)])  # the last one: a child never visited
    path, before, behind = np.zeros(len(go)), np.zeros_like(one_arm), np.zeros_like(one_arm)
    for row in np.argsort(chains.top, kind="stable").tolist():
        if chains.bottom[row] >= levels:
            continue
        left, right = chains.children[row].tolist()
        here = float(path[row] + go[row])
        first, second = before[row] + padded[left], behind[row] + padded[right]
        best = max(best, here + _of_two_arms(first, second))
        if left >= 0:
            path[left], before[left], behind[left] = here, before[row], second
        if right >= 0:
            path[right], before[right], behind[right] = here, first, behind[row]
    return best


def _gains(member: Member, chains: Chains, arm_costs: Floats, prices: float) -> tuple[Floats, Floats]:
    """Return each row's gain of stopping at its first link, by arm, and of passing all its links, plus `prices` times their ln(1/prior)."""
    tree, depth = TreeView(member), TreeView(member).depth
    log_stop, log_go = log_odds(member)
    ends, inner = chains.bottom == depth, np.minimum(chains.bottom - chains.top + 1, depth)
    stop = np.where(ends, 0.0, log_stop - np.where(ends, 0.0, log_of(tree.stay[inner])))
    one_arm = stop[:, None] + log_shares(member, member.kind.blocks(member)) + (1.0 + prices) * arm_costs
    return one_arm, np.where(ends, -np.inf, log_go - (1.0 + prices) * log_of(tree.go[inner]))


def _of_two_arms(first: Floats, second: Floats) -> float:
    """Return the largest sum of two different arms' entries, one of each array; -inf if there is one arm."""
    a, b = int(first.argmax()), int(second.argmax())
    if a != b:
        return float(first[a] + second[b])
    others = np.arange(len(first)) != a
    return float(max(first[a] + second[others].max(initial=-np.inf), first[others].max(initial=-np.inf) + second[b]))


def _of_parts(children: Ints, one_arm: Floats, split: Floats, unvisited: Floats) -> Floats:
    """Return the best sums over the children of nodes, a row each, without those in which all visited children have one arm and no split."""
    visited = children >= 0
    arms = np.where(visited[:, :, None], one_arm[children], 0.0)  # node, child, arm
    deeper = np.where(visited, split[children], -np.inf)
    best_arm = arms.argmax(axis=2)
    free = np.maximum(arms.max(axis=2), deeper)
    total = np.where(visited, free, unvisited[:, None]).sum(axis=1)

    first = visited.argmax(axis=1)
    common = np.take_along_axis(best_arm, first[:, None], axis=1)
    same = (~visited | ((best_arm == common) & (arms.max(axis=2) > deeper))).all(axis=1)
    others = arms.copy()
    np.put_along_axis(others, np.broadcast_to(common[:, :, None], (*common.shape[:1], arms.shape[1], 1)), -np.inf, axis=2)
    second = np.maximum(others.max(axis=2), deeper)
    second = np.where(visited.sum(axis=1, keepdims=True) == 1, deeper, second)
    least = np.where(visited, free - second, np.inf).min(axis=1)
    return np.asarray(np.where(same, total - least, total))
