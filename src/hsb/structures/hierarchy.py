"""User-defined hierarchies: any nodes, regions and child groups."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, quoted
from .base import Structure
from .boxes import Boxes
from .spaces import Cells, Space
from .walk import Group


class Hierarchy(Structure):
    """Nodes by name, each with the leaves of its region and its child groups; each group must partition its parent's region.

    `nodes` maps a name to {"leaves": [...], "groups": [[name, ...], ...]}; "groups" may be left out. `root` is the name of
    the root, by default the first node; its leaves must be 0 .. N-1. A node may be the child of several others, and a group may have one child.
    A round costs as many nodes and groups as contain the leaf. Contexts are leaf numbers; with `space` or `features` (as in `hsb.Structure`)
    leaves are equal cells of them. Explanations use the names of nodes for their regions. Nodes that do not fit together raise `InputError`.

    >>> ages = Hierarchy({
    ...     "all": {"leaves": [0, 1, 2], "groups": [["young", "old"]]},
    ...     "young": {"leaves": [0]},
    ...     "old": {"leaves": [1, 2]},
    ... })
    >>> ages.space, ages.leaf_of(1), ages.cost
    (Cells(3), 1, Cost(nodes=2, groups=1))
    """

    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Any]],
        *,
        root: str | None = None,
        space: Space | None = None,
        features: Sequence[int] | None = None,
    ) -> None:
        if not isinstance(nodes, Mapping) or not nodes:
            raise InputError(
                f"Hierarchy needs at least one node; nodes are given by name, {{name: {{'leaves': [...], 'groups': [...]}}}}; "
                f"given {quoted(nodes)}."
            )
        self.nodes = {str(name): _node(str(name), node) for name, node in nodes.items()}
        self.root = next(iter(self.nodes)) if root is None else str(root)
        if self.root not in self.nodes:
            raise InputError(f"root {quoted(self.root)} is not one of the nodes {list(self.nodes)[:8]}. Name one of them.")
        leaves = self.leaves_of(self.root)
        for name, node in self.nodes.items():
            for child in (child for group in node["groups"] for child in group if child not in self.nodes):
                raise InputError(
                    f"Node {quoted(name)} has a group with {quoted(child)}, which is not a node. Add it, or fix the name."
                )
        usual = Cells(len(leaves)) if space is None and features is None else space
        super().__init__(leaves=len(leaves), space=usual, features=features)
        unreached = [name for name in self.nodes if name not in self.listing.numbers]
        if unreached:
            raise InputError(f"No group leads to {unreached[:8]}. Remove these nodes, or name them in a group.")

    def groups(self, node: str) -> list[Group]:
        return [tuple(group) for group in self.nodes[node]["groups"]]

    def leaves_of(self, node: str) -> list[int]:
        return list(self.nodes[node]["leaves"])

    def names(self) -> dict[Boxes, str]:
        """Return the names of the nodes by region; the first of several nodes with one region."""
        return {self.boxes(node): node for node in reversed(self.listing.numbers)}

    def _usual_space(self) -> Space:
        return Cells(self.leaves)

    def parameters(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "root": self.root}


def _node(name: str, node: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(node, Mapping) or "leaves" not in node or set(node) - {"leaves", "groups"}:
        raise InputError(f"Node {quoted(name)} must be {{'leaves': [...], 'groups': [[...], ...]}}; given {quoted(node)}.")
    leaves = _list(name, "leaves", node["leaves"])
    if not leaves or not all(isinstance(leaf, int | np.integer) and not isinstance(leaf, bool) for leaf in leaves):
        raise InputError(f"Node {quoted(name)} needs its leaves as whole numbers; given {node['leaves']!r}.")
    if len(set(leaves)) != len(leaves):
        raise InputError(f"Node {quoted(name)} needs its leaves, each once; given {leaves[:8]}.")
    groups = [
        [str(child) for child in _list(name, "each of its groups", group)]
        for group in _list(name, "groups", node.get("groups", []))
    ]
    if any(not group for group in groups):
        raise InputError(f"Node {quoted(name)} has an empty group. Leave it out.")
    return {"leaves": [int(leaf) for leaf in leaves], "groups": groups}


def _list(name: str, what: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"Node {quoted(name)}: {what} must be a list; given {quoted(values)}.")
    return list(values)
