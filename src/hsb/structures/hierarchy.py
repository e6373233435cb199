"""The user's own hierarchy: any nodes, regions and child groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import BudgetError, InputError
from ..kernels.header import TABLES
from ..spaces import Space
from ..state import Member, make_graph
from ..types import Ints
from .base import Cost, Structure, check_cells, no_stop, plain_code, use_space

MOST_EDGES = 20_000_000


class Hierarchy(Structure):
    """Nodes by name, each with the leaves of its region and its child groups; each group must partition its parent's region.

    `nodes` maps a name to {"leaves": [...], "groups": [[name, ...], ...]}; "groups" may be left out. The first node is the root unless
    `root` says otherwise; its leaves must be 0 .. N-1. A node may be the child of several others, and a group may have one child.
    A round costs as many nodes and groups as contain the leaf.

    >>> Hierarchy({
    ...     "all": {"leaves": [0, 1, 2], "groups": [["young", "old"]]},
    ...     "young": {"leaves": [0]},
    ...     "old": {"leaves": [1, 2]},
    ... }).cost
    Cost(nodes=2, groups=1)
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
                f"Hierarchy needs at least one node; nodes are given by name, {{name: {{'leaves': [...], 'groups': [...]}}}}; given {nodes!r}."
            )
        self.nodes = {str(name): _node(str(name), node) for name, node in nodes.items()}
        self.root = next(iter(self.nodes)) if root is None else str(root)
        if self.root not in self.nodes:
            raise InputError(f"root {self.root!r} is not one of the nodes {list(self.nodes)[:8]}.")
        self.leaves = len(self.nodes[self.root]["leaves"])
        if set(self.nodes[self.root]["leaves"]) != set(range(self.leaves)):
            raise InputError(
                f"The root's leaves must be 0 .. N-1, each once; {self.root!r} has {self.nodes[self.root]['leaves'][:8]}."
            )
        self.space, self.features = use_space(space, features)
        check_cells("Hierarchy", self.leaves, self.space, self.features)
        self._order = self._parents_first()
        sizes = [len(group) for node in self.nodes.values() for group in node["groups"]]
        self.max_group = max(sizes, default=1)
        self.max_groups = max(len(node["groups"]) for node in self.nodes.values())
        edges = sum(len(node["groups"]) * len(node["leaves"]) for node in self.nodes.values())
        if edges > MOST_EDGES:
            raise BudgetError(f"This hierarchy needs tables of {edges:,} entries; the limit is {MOST_EDGES:,}.")
        self._tables = self._leaf_tables()

    def _parents_first(self) -> list[str]:
        """Every node after all of its parents, or an error that names what is wrong with a group."""
        state: dict[str, int] = {}
        finished: list[str] = []
        stack: list[tuple[str, int]] = [(self.root, 0)]
        while stack:
            name, step = stack.pop()
            if step == 1:
                state[name] = 2
                finished.append(name)
                continue
            if state.get(name) == 2:
                continue
            state[name] = 1
            stack.append((name, 1))
            for group in self.nodes[name]["groups"]:
                self._check_group(name, group)
                for child in group:
                    if state.get(child) == 1:
                        raise InputError(
                            f"Node {child!r} is below itself, by way of {name!r}. Child groups must not form a circle."
                        )
                    if state.get(child) is None:
                        stack.append((child, 0))
        unreached = [name for name in self.nodes if name not in state]
        if unreached:
            raise InputError(f"No group leads to {unreached[:8]}. Remove these nodes, or name them in a group.")
        return finished[::-1]

    def _check_group(self, name: str, group: Sequence[str]) -> None:
        region = self.nodes[name]["leaves"]
        seen: dict[int, str] = {}
        for child in group:
            if child not in self.nodes:
                raise InputError(f"Node {name!r} has a group with {child!r}, which is not a node. Add it, or mend the name.")
            for leaf in self.nodes[child]["leaves"]:
                if leaf in seen:
                    raise InputError(
                        f"Group {list(group)} of {name!r} is no partition: leaf {leaf} is in {seen[leaf]!r} and in {child!r}."
                    )
                seen[leaf] = child
        if seen.keys() != set(region):
            missing = sorted(set(region) - seen.keys())
            extra = sorted(seen.keys() - set(region))
            raise InputError(
                f"Group {list(group)} of {name!r} is no partition of its leaves: missing {missing[:8]}, not its own {extra[:8]}."
            )

    def _leaf_tables(self) -> list[tuple[list[int], list[int], list[int]]]:
        number = {name: i for i, name in enumerate(self._order)}
        holds = [{name for name, node in self.nodes.items() if leaf in node["leaves"]} for leaf in range(self.leaves)]
        tables = []
        for leaf in range(self.leaves):
            names = [name for name in self._order if name in holds[leaf]]
            place = {name: i for i, name in enumerate(names)}
            starts, edges = [0], []
            for name in names:
                for group in self.nodes[name]["groups"]:
                    edges.append(next(place[child] for child in group if child in holds[leaf]))
                starts.append(len(edges))
            tables.append(([number[name] for name in names], starts, edges))
        return tables

    @property
    def cost(self) -> Cost:
        """The most nodes and groups that contain one leaf."""
        return Cost(max(len(names) for names, _, _ in self._tables), max(len(edges) for _, _, edges in self._tables))

    def splits(self, regions: int, arms: int) -> int:
        """An upper bound on A_R: the fewest splits that go all the way down."""
        if regions == 1:
            return 0
        need: dict[str, int] = {}
        for name in reversed(self._order):
            groups = self.nodes[name]["groups"]
            need[name] = min((1 + sum(need[child] for child in group) for group in groups), default=0)
        return need[self.root]

    def members(self, arms: int, stop: float | None) -> list[Member]:
        """All nodes, and for each leaf the list of those that contain it."""
        no_stop(self, stop)
        spec: list[int] = [0] * self.leaves
        for leaf, (names, starts, edges) in enumerate(self._tables):
            spec[leaf] = len(spec)
            spec += [len(names), *names, *starts, *edges]
        counts = np.array([1 + len(self.nodes[name]["groups"]) for name in self._order])
        return [make_graph(TABLES, spec, counts, self.cost.nodes, self.cost.groups, arms)]

    def codes(self) -> list[Ints]:
        """Equal cells, numbered."""
        return [plain_code(self.leaves, self.features)]

    def parameters(self) -> dict[str, Any]:
        """nodes and root."""
        return {"nodes": self.nodes, "root": self.root}


def _node(name: str, node: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(node, Mapping) or "leaves" not in node or set(node) - {"leaves", "groups"}:
        raise InputError(f"Node {name!r} must be {{'leaves': [...], 'groups': [[...], ...]}}; given {node!r}.")
    leaves = _list(name, "leaves", node["leaves"])
    if not leaves or not all(isinstance(leaf, int | np.integer) and not isinstance(leaf, bool) for leaf in leaves):
        raise InputError(f"Node {name!r} needs its leaves as whole numbers; given {node['leaves']!r}.")
    if len(set(leaves)) != len(leaves):
        raise InputError(f"Node {name!r} needs its leaves, each once; given {leaves[:8]}.")
    groups = [
        [str(child) for child in _list(name, "each of its groups", group)]
        for group in _list(name, "groups", node.get("groups", []))
    ]
    if any(not group for group in groups):
        raise InputError(f"Node {name!r} has an empty group. Leave it out.")
    return {"leaves": [int(leaf) for leaf in leaves], "groups": groups}


def _list(name: str, what: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"Node {name!r}: {what} must be a list; given {values!r}.")
    return list(values)
