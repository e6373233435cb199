"""Graphs (`engine/kernels/graph.py`): V of every node, children first, then down from the root along the best options."""

import numpy as np

from ..engine.state import Member
from ..engine.state.views import GraphView
from ..structures import Structure
from ..structures.walk import Layer, climb
from ..types import Floats
from .pieces import Best, best_arms, first_best, highest, log_options, piece


def solve(structure: Structure, member: Member) -> Best:
    """Return the most probable mapping of any structure whose nodes are listed. O(nodes + groups)."""
    F, nodes = member.F, GraphView(member).nodes

    def weights(layer: Layer) -> tuple[Floats, Floats]:
        n = layer.children.shape[1] + 1
        rows = nodes[layer.nodes]
        logs = log_options(F, rows, n)
        return logs[:, 0] + best_arms(member, rows + 1 + 2 * n).log_share, logs[:, 1:]

    value = climb(structure, weights, highest)
    pieces = []
    todo = [structure.root]
    while todo:
        node = todo.pop()
        options = structure.options(node)
        n = len(options) + 1
        row = int(nodes[structure.number(node)])
        best = best_arms(member, np.array([row + 1 + 2 * n]))
        logs = log_options(F, np.array([row]), n)[0]
        groups = structure.groups(node)
        index = {group: o for o, group in enumerate(options, start=1)}
        below = [logs[index[group]] + sum(value[structure.number(child)] for child in group) for group in groups]
        choice = first_best([logs[0] + best.log_share[0], *below])
        if choice == 0 or not best.seen[0]:
            pieces.append(piece(structure.boxes(node), best, 0, member.arms))
        else:
            todo += groups[choice - 1]
    return Best(float(value[structure.number(structure.root)]), pieces, structure)
