"""The nodes of a structure, listed from its `groups`, and the one walk over them: children first.

Explanations take the best of a node's options (`explain/graphs.py`), prior costs their sum (`log_beta`), and counts of splits the fewest
(`Structure.splits`). Nodes have their numbers in the state; similar nodes form a `Layer`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import BudgetError, InputError, quoted
from ..types import Floats, Ints

if TYPE_CHECKING:
    from .base import Structure

MOST_EDGES = 20_000_000

Node = Any  # a small value that stands for a node: a name, a number, a tuple
Group = tuple[Node, ...]


class Layer(NamedTuple):
    """Nodes with the same number of groups, all of whose children are in earlier layers."""

    nodes: Ints
    children: Ints  # (nodes, groups in the order of the state's options, most children of a group); -1: no child
    leaves: Ints  # (nodes, leaves of each) of nodes without groups; (nodes, 0) of others


class Listing(NamedTuple):
    """Every node of a structure, parents first: a node's index is its number."""

    numbers: dict[Node, int]
    layers: list[Layer]
    options: Ints  # of each node, stopping included
    spec: list[int]  # for the TABLES finder of `engine/kernels/locate.py`
    most_nodes: int  # around one leaf
    most_groups: int


def climb(
    structure: Structure, weights: Callable[[Layer], tuple[Floats, Floats | float]], total: Callable[[Floats], Floats]
) -> Floats:
    """Return V of every node: the total of stopping and, for each group, its weight plus the sum of V over its children. O(nodes + groups).

    `weights(layer)`: the ln weights of stopping, by node, and of the groups, by node and group. `total`: `log_sum` or the maximum, over the
    last axis.
    """
    value = np.zeros(structure.inputs + 1)  # the last: no child
    for layer in structure.layers():
        stop, groups = weights(layer)
        below = groups + value[layer.children].sum(axis=-1)
        value[layer.nodes] = total(np.concatenate([stop[:, None], below], axis=1))
    return value


def log_sum(terms: Floats) -> Floats:
    """Return ln of the sum of exp over the last axis, which is not empty."""
    most = terms.max(axis=-1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0.0)
    return np.asarray(most[..., 0] + log_of(np.exp(terms - most).sum(axis=-1)))


def log_of(values: ArrayLike) -> Floats:
    """Return ln, with ln 0 = -inf."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values), dtype=np.float64)


def log_beta(structure: Structure, symbols: Ints, values: Floats) -> float:
    """Return ln beta at the root under the uniform prior (`Structure.log_prior`)."""
    one = np.empty(structure.inputs, dtype=np.int64)  # the symbol of a node if it is constant, else -1

    def weights(layer: Layer) -> tuple[Floats, float]:
        count = layer.children.shape[1]
        if count:
            first = layer.children[:, 0]
            inside = one[np.where(first < 0, first[:, :1], first)]
        else:
            inside = symbols[layer.leaves]
        own = one[layer.nodes] = np.where((inside == inside[:, :1]).all(axis=1), inside[:, 0], -1)
        each = -math.log(count + 1)
        return np.where(own >= 0, values[own], -np.inf) + each, each

    return float(climb(structure, weights, log_sum)[structure.number(structure.root)])


def listing(structure: Structure) -> Listing:
    """List all nodes below the root. Raises `InputError` unless every group partitions its node and no node is below itself."""
    leaves = {structure.root: list(structure.leaves_of(structure.root))}
    if sorted(leaves[structure.root]) != list(range(structure.leaves)):
        raise InputError(
            f"The root's leaves must be 0 .. N-1, each once; {quoted(structure.root)} has {leaves[structure.root][:8]} of {structure.leaves}."
        )
    groups: dict[Node, list[Group]] = {}
    numbers = {node: i for i, node in enumerate(_parents_first(structure, groups, leaves))}
    # By leaf: the nodes that contain it, and for each the child that contains it in every group.
    around: list[dict[int, list[int]]] = [{} for _ in range(structure.leaves)]
    layers = []
    for node, number in numbers.items():
        homes = [{leaf: numbers[child] for child in group for leaf in leaves[child]} for group in groups[node]]
        for leaf in leaves[node]:
            around[leaf][number] = [home[leaf] for home in homes]
        children = np.full((1, len(groups[node]), max(map(len, groups[node]), default=0)), -1)
        for o, group in enumerate(groups[node]):
            children[0, o, : len(group)] = [numbers[child] for child in group]
        layers.append(Layer(np.array([number]), children, np.array([() if groups[node] else leaves[node]], dtype=np.int64)))
    spec = [0] * structure.leaves
    for leaf, nodes in enumerate(around):
        spec[leaf] = len(spec)
        index = {number: i for i, number in enumerate(nodes)}
        spec += [len(nodes), *nodes, *accumulate(map(len, nodes.values()), initial=0)]
        spec += [index[child] for children in nodes.values() for child in children]
    options = np.array([1 + len(groups[node]) for node in numbers])
    most_groups = max(sum(map(len, nodes.values())) for nodes in around)
    return Listing(numbers, layers[::-1], options, spec, max(map(len, around)), most_groups)


def _parents_first(structure: Structure, groups: dict[Node, list[Group]], leaves: dict[Node, list[int]]) -> list[Node]:
    """List every node after all of its parents, and fill `groups` and `leaves`. Raises `InputError` for a wrong group."""
    finished: dict[Node, bool] = {}
    order: list[Node] = []
    stack: list[tuple[Node, bool]] = [(structure.root, False)]
    edges = 0
    while stack:
        node, done = stack.pop()
        if done:
            finished[node] = True
            order.append(node)
            continue
        if finished.get(node):
            continue
        finished[node] = False
        stack.append((node, True))
        groups[node] = [tuple(group) for group in structure.groups(node)]
        edges += len(groups[node]) * len(leaves[node])
        if edges > MOST_EDGES:
            raise BudgetError(f"This hierarchy needs tables of more than {MOST_EDGES:,} entries. Use fewer nodes or groups.")
        for group in groups[node]:
            for child in group:
                if child not in leaves:
                    leaves[child] = list(structure.leaves_of(child))
            _check_group(node, group, leaves)
            for child in group:
                if finished.get(child) is False:
                    raise InputError(
                        f"Node {quoted(child)} is below itself, through {quoted(node)}. Child groups must not form a cycle."
                    )
                if child not in finished:
                    stack.append((child, False))
    return order[::-1]


def _check_group(node: Node, group: Group, leaves: dict[Node, list[int]]) -> None:
    home: dict[int, Node] = {}
    for child in group:
        for leaf in leaves[child]:
            if leaf in home:
                raise InputError(
                    f"Group {list(group)} of {quoted(node)} is not a partition: leaf {leaf} is in {quoted(home[leaf])} and in {quoted(child)}."
                )
            home[leaf] = child
    if home.keys() != set(leaves[node]):
        missing, extra = sorted(set(leaves[node]) - home.keys()), sorted(home.keys() - set(leaves[node]))
        raise InputError(
            f"Group {list(group)} of {quoted(node)} is not a partition of its leaves: missing {missing[:8]}, foreign {extra[:8]}."
        )
