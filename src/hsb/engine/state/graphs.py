"""Hierarchies whose nodes and child groups can be listed (`engine/kernels/graph.py`)."""

from collections.abc import Sequence

import numpy as np

from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import graph as graph_words
from .member import Kind, Layout, Member, Walk, arm_block, fill_blocks, flatten_blocks, flatten_options
from .sound import take_blocks, take_options
from .views import GraphView


def make_graph(shape: int, spec: Sequence[int] | Ints, option_counts: Ints, visits: int, edges: int, arms: int) -> Member:
    """Make a graph of nodes 0, 1, ... with option_counts[i] options each (0: no such node); for shape and spec see `kernels/locate.py`."""
    layout = Layout(h.GRAPH, arms, visits)
    layout.header[graph_words.SHAPE] = shape
    layout.floats(graph_words.REACH, visits)
    layout.floats(graph_words.RATIO, visits)
    layout.ints(graph_words.LIST, visits)
    layout.ints(graph_words.START, visits + 1)
    layout.ints(graph_words.EDGE, edges)
    layout.ints(graph_words.SPEC, len(spec))
    layout.ints(graph_words.NODE0, len(option_counts))
    sizes = np.where(option_counts > 0, 1 + 2 * option_counts + arm_block(arms)[2] + arms, 0)
    first = layout.f
    layout.f += int(sizes.sum())
    layout.afford(arms)
    member = layout.make()
    graph = GraphView(member)
    graph.spec[:] = spec
    graph.nodes[:] = rows = first + np.concatenate(([0], np.cumsum(sizes)[:-1]))
    for k in np.unique(option_counts[option_counts > 0]):
        some = rows[option_counts == k]
        member.F[some[:, None] + 1 + np.arange(k)] = 1.0 / k
    fill_blocks(member)
    if shape == graph_words.BOXES:
        from ..kernels import locate

        locate.box_edges(member.I)
    return member


class Graph(Kind):
    """Graphs: rows of different lengths, each a node's options and then its arm block."""

    def blocks(self, member: Member) -> Ints:
        return np.asarray(np.append(_rows(member)[1:], len(member.F)) - _block_words(member))

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        graph = GraphView(member)
        return [*super().scratch(member), (graph.reach_at, member.visits), (graph.ratio_at, member.visits)]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        """Return also the nodes that contain the leaf, and their edges."""
        graph = GraphView(member)
        return [*super().scratch_ints(member), (graph.list_at, graph.spec_at - graph.list_at)]

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        """Return whether the finder's data and the offsets of rows are those of the structure."""
        if not super().fits(F, I, fresh):
            return False
        theirs, ours = GraphView(Member(F, I)), GraphView(fresh)
        return np.array_equal(theirs.spec, ours.spec) and np.array_equal(theirs.nodes, ours.nodes)

    def take(self, own: Member, F: Floats) -> bool:
        """Take options and arms of every node; START and EDGE, like all of I, are the new member's."""
        rows = _rows(own)
        options = (np.diff(np.append(rows, len(own.F))) - 1 - _block_words(own)) // 2
        for n in np.unique(options).tolist():
            some = rows[options == n]
            if not take_options(own, F, some, n) or take_blocks(own, F, some + 1 + 2 * n) is None:
                return False
        return True

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        assert walk is not None, "a graph is walked by its structure's layers"
        nodes = GraphView(member).nodes
        H = np.zeros(len(nodes) + 1)  # the last: no child
        for layer in walk():
            rows, n = nodes[layer.nodes], layer.children.shape[1] + 1
            own = flatten_blocks(member, rows + 1 + 2 * n, r)
            each = np.concatenate([own[:, None], H[layer.children].sum(axis=-1)], axis=1)
            H[layer.nodes] = flatten_options(member, rows, np.full(n, 1.0 / n), r, each)
            top = H[layer.nodes[-1]]
        return float(top)  # the last layer is the root

    def widened(self, member: Member) -> Member:
        graph = GraphView(member)
        sizes = np.diff(np.append(graph.nodes, len(member.F)))
        options = np.where(sizes > 0, (sizes - 1 - _block_words(member)) // 2, 0)
        edges = graph.spec_at - graph.edge_at
        return make_graph(graph.shape, graph.spec, options, member.visits, edges, member.arms + 1)

    def ahead(self, member: Member, blocks: Ints) -> Ints:
        return blocks - _rows(member)


def _rows(member: Member) -> Ints:
    """Return the offset of each node's row."""
    rows = GraphView(member).nodes
    return np.unique(rows[rows < len(member.F)])


def _block_words(member: Member) -> int:
    """Return the words of an arm block with its logarithms."""
    return member.width + member.arms


Graph(h.GRAPH)
