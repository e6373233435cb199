"""The operations of a member, whatever its kind."""

import numpy as np

from . import advice, advisor, arms, ensemble, graph, intervals, one_of, rows, tree
from .header import ADVISOR, BASES, COMPRESSED, DENSE, ENSEMBLE, GIVEN, GRAPH, HEAD, INTERVALS, KIND
from .jit import inlined, inner
from .words.tree import PATH


@inner
def visit(F, I, key, available, reach):
    """Run the reach pass; return how many nodes have rows. Their weights and arm blocks stand at WEIGHT and BASES."""
    kind = I[KIND]
    if kind == DENSE:
        return tree.visit_dense(F, I, key, reach)
    if kind == COMPRESSED:
        return tree.visit(F, I, key, reach)
    if kind == INTERVALS:
        return intervals.visit(F, I, key, reach)
    if kind == GRAPH:
        return graph.visit(F, I, key, reach)
    if kind == ENSEMBLE:
        return ensemble.visit(F, I, key.view(np.float64), available, reach)
    if kind == ADVISOR:
        return advisor.visit(F, I, key[0], available, reach)
    if kind == GIVEN:
        return advice.put_given(F, I, key[0], reach)
    return one_of.visit(F, I, reach)


@inner
def extend(F, I, key, n):
    """Give the other nodes that contain the key rows; return the number of nodes now."""
    if I[KIND] == DENSE:
        return tree.extend_dense(F, I, key, n)
    if I[KIND] == COMPRESSED:
        return tree.extend(F, I, key, n)
    return n


@inner
def ratio(F, I, key, n, step, available):
    """Run the ratio pass over the n nodes just visited, for `step` = (arm, x, exp(-x), g) with x <= STEP; return the member's ratio."""
    arm, x, f, g = step
    kind = I[KIND]
    if kind == DENSE or kind == COMPRESSED:
        return tree.ratio(F, I, n, arm, x, f, available, g)
    if kind == INTERVALS:
        return intervals.ratio(F, I, key, arm, x, f, available, g)
    if kind == GRAPH:
        return graph.ratio(F, I, n, arm, x, f, available, g)
    if advice.is_advisor(kind):
        return advice.ratio(F, I, arm, f)
    return one_of.ratio(F, I, arm, x, f, available, g)


@inlined
def share(F, I, n, drift):
    """Apply fixed share in the n nodes just updated; `drift` is a pair, for nodes and for the head."""
    kind = I[KIND]
    own, head = drift
    if advice.is_advisor(kind):
        return
    if kind == HEAD:
        if head > 0.0:
            one_of.share(F, I, head)
        return
    if own == 0.0:
        return
    word, skip = BASES, 0
    if kind == DENSE or kind == COMPRESSED:
        word, skip = PATH, rows.ARMS_AT
    for i in range(n):
        arms.share(F, I, I[I[word] + i] + skip, own)
