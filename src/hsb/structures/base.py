"""The base class of structures: their properties, and their interface to the engine."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import reproducible_math
from ..checks import is_scalar, whole
from ..engine.kernels.words.graph import TABLES
from ..engine.state import Member, Walk, make_graph
from ..errors import InputError, quoted
from ..types import Floats, Ints
from . import walk
from .boxes import Boxes, merge, tree_box
from .carry import carried, parts
from .quantise import halvings, leaf_numbers
from .spaces import Box, Cells, Space, numbers, space_from_dict
from .walk import Group, Layer, Node


class Cost(NamedTuple):
    """The largest cost of a round: the nodes that contain a context, and the groups of children of those nodes.

    >>> import hsb
    >>> hsb.BinaryTree(depth=10).cost
    Cost(nodes=11, groups=10)
    """

    nodes: int
    """The number of nodes that a round visits."""
    groups: int
    """The number of groups that a round visits."""


class Structure(ABC):
    """A hierarchical structure of Section IV: nodes with regions, each with groups of children that partition it.

    A region is a part of the contexts; the root's region has all of them. A group is one way to split a node: its children together. A leaf
    does not split. A structure is immutable; the state that a policy learns is stored elsewhere. In one dimension leaf k of N is the k-th
    equal cell; in several dimensions leaves are numbered by the divisions that lead to them.

    - `leaves`: N, the number of leaves; a power of two if the structure uses several features.
    - `space`: the space of contexts, an `hsb.Box` or `hsb.Cells`; None is the unit interval, `hsb.Box.unit()`.
    - `features`: the indices of the features that the structure uses; None: all of them.

    The paper's letters: Psi = `max_group`, H_S = `max_groups`, A_R = `splits(R, M)` for R regions and M arms. A structure that is too large
    raises `BudgetError`.

    Your own structure defines `root`, the ways to split a node (`groups`), the leaves of a node (`leaves_of`) and the constructor's arguments
    (`parameters`); a node is any small value. The rest follows, in time and memory O(N * nodes that contain a leaf). The structures of the
    paper have faster methods.

    >>> class Ladder(Structure, listed=False):  # without listed=False, `from_dict` and files know it too
    ...     root = 0
    ...     def groups(self, node):
    ...         return [(-node - 1, node + 1)] if 0 <= node < self.leaves - 1 else []
    ...     def leaves_of(self, node):
    ...         return range(node, self.leaves) if node >= 0 else [-node - 1]
    ...     def parameters(self):
    ...         return {"leaves": self.leaves}
    >>> Ladder(leaves=5).cost
    Cost(nodes=5, groups=4)
    """

    kinds: ClassVar[dict[str, type[Structure]]] = {}  # filled as classes are defined; `from_dict` looks here

    space: Space
    features: tuple[int, ...]  # the features of a context that the structure uses
    leaves: int  # N
    root: Node
    takes_stop: bool = False  # can a prior probability of stopping be set?
    structures: tuple[Structure, ...] = ()  # the alternatives of `OneOf`

    def __init_subclass__(cls, *, listed: bool = True) -> None:
        super().__init_subclass__()
        if listed and Structure.kinds.get(cls.__name__, cls).__module__ == cls.__module__:  # a user's KaryTree is not hsb's
            Structure.kinds[cls.__name__] = cls

    def __init__(self, *, leaves: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        self.leaves = leaves = whole("leaves", leaves, 1)
        self.space, self.features = use_space(space, features)
        check_cells(self)
        if len(self.features) > 1 and leaves & (leaves - 1):
            raise InputError(
                f"{type(self).__name__} over {len(self.features)} features needs leaves to be a power of two (Section V halves the "
                f"features in turn); given {leaves}. Use {1 << leaves.bit_length()}, or features=[j] to look at one feature."
            )

    def groups(self, node: Node) -> Sequence[Group]:
        """Return the groups of a node, a list of tuples of nodes; empty for a leaf. `explain` takes the first of equally probable ones."""
        raise InputError(
            f"{type(self).__name__} does not define how its nodes split. Define root, groups(node) and leaves_of(node)."
        )

    def leaves_of(self, node: Node) -> Sequence[int]:
        """Return the numbers, from 0 to N - 1, of the leaves in a node's region."""
        raise InputError(f"{type(self).__name__} does not define the leaves of its nodes. Define leaves_of(node).")

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return a dict of the constructor's arguments other than `space` and `features`, as plain data."""

    @cached_property
    def listing(self) -> walk.Listing:
        """All nodes and groups, numbered."""
        return walk.listing(self)

    def boxes(self, node: Node) -> Boxes:
        """Return a node's region as boxes of fractions of its features: intervals in one dimension, a few boxes in several."""
        return merge(tuple(self.region(leaf)) for leaf in self.leaves_of(node))

    def names(self) -> dict[Boxes, str]:
        """Return the names of regions that have one."""
        return {}

    def options(self, node: Node) -> Sequence[Group]:
        """Return the groups of a node in the order of its state."""
        return self.groups(node)

    def number(self, node: Node) -> int:
        """Return the index of a node in the state."""
        return self.listing.numbers[node]

    @cached_property
    def inputs(self) -> int:
        """An upper bound on the results of `number`, at least the number of nodes."""
        return len(self.listing.numbers)

    def layers(self) -> Iterable[Layer]:
        """Yield every node once, children first."""
        return self.listing.layers

    @cached_property
    def max_group(self) -> int:
        """Psi, the most children in a group."""
        return max(1, *(int(layer.children.shape[2]) for layer in self.layers()))

    @cached_property
    def max_groups(self) -> int:
        """H_S, the most groups of a node."""
        return max(int(layer.children.shape[1]) for layer in self.layers())

    @cached_property
    def resolves(self) -> bool:
        """Whether the structure can represent every mapping of the leaves: each node with several leaves has groups."""
        return all(layer.leaves.shape[1] <= 1 for layer in self.layers())

    @property
    def cost(self) -> Cost:
        """The largest cost of a round, an `hsb.structures.Cost`."""
        return Cost(self.listing.most_nodes, self.listing.most_groups)

    def splits(self, regions: int, arms: int) -> int:
        """Return A_R, an upper bound on the splits of an optimal partition into `regions` regions with `arms` arms.

        Here: the fewest splits that reach the leaves; 0 for one region.
        """
        if regions == 1:
            return 0

        def going_down(layer: Layer) -> tuple[Floats, float]:
            return np.full(len(layer.nodes), -np.inf if layer.children.shape[1] else 0.0), -1.0

        return -int(walk.climb(self, going_down, lambda ways: ways.max(axis=-1))[self.number(self.root)])

    def log_prior(self, symbols: Ints, values: Floats, stop: float | None, source: Structure | None = None) -> float:
        """Return ln beta at the root. Each leaf of `source`, by default of the structure, has a symbol in 0 .. len(values)-1.

        A node may stop if all its leaves have one symbol k; `values[k]` is the ln of its weight, without the stop prior. For a mapping the
        symbols are arms with value -ln M; `theory.tracking_cost` uses others.
        """
        no_stop(self, stop)
        own = symbols if source is None or source is self else carried(symbols, source, self)
        return -math.inf if own is None else self.log_beta(own, values, stop)

    def log_beta(self, symbols: Ints, values: Floats, stop: float | None) -> float:
        """Return the same for symbols of the structure's leaves, by a walk over all nodes; subclasses have faster versions."""
        return walk.log_beta(self, symbols, values)

    def prior_bound(self, regions: int, arms: int, stop: float | None) -> float:
        """Return Theorem 2's upper bound on ln(1/beta): Psi (A_R + 1) ln((H_S + 1) M)."""
        no_stop(self, stop)
        return self.max_group * (self.splits(regions, arms) + 1) * reproducible_math.ln((self.max_groups + 1) * arms)

    def worst_cost(self, regions: int, arm_cost: float, arms: int, stop: float | None) -> float:
        """Return the largest ln(1/beta) of mappings of `regions` regions, or a bound on it; an arm costs `arm_cost`.

        Here, the smaller of two bounds: A splits leave A (Psi - 1) + 1 parts, each of which stops and names an arm; or all parts are leaves.
        """
        no_stop(self, stop)
        options = reproducible_math.ln(self.max_groups + 1)
        if regions == 1:
            return options + arm_cost
        splits = self.splits(regions, arms)
        parts = splits * (self.max_group - 1) + 1
        return min((splits + parts) * options + parts * arm_cost, self.leaves * arm_cost - self.log_full)

    @cached_property
    def log_full(self) -> float:
        """Return ln of the total weight of all ways of splitting down to the leaves."""

        def going_down(layer: Layer) -> tuple[Floats, float]:
            count = layer.children.shape[1]
            return np.full(len(layer.nodes), -np.inf if count else 0.0), -reproducible_math.ln(count + 1.0)

        return float(walk.climb(self, going_down, walk.log_sum)[self.number(self.root)])

    def example(self, arms: int, regions: int) -> tuple[float, float, bool]:
        """Return C of the first and of the last line of its Example in the paper, and whether the step between holds (`theory/examples.py`)."""
        raise InputError(
            f"The paper's examples are six structures; given {type(self).__name__}, which is not one of them. Use hierarchy_bound."
        )

    def diagonal(self) -> float:
        """The diameter of a cell, with features scaled to [0, 1]; an unused feature counts 1. Undefined for numbered cells."""
        if isinstance(self.space, Cells):
            return 0.0
        if not self.resolves:  # no mapping distinguishes some leaves
            return math.sqrt(self.space.features)
        return math.sqrt(sum(1.0 / count**2 for count in parts(self)))

    def members(self, arms: int, stop: float | None) -> list[Member]:
        """Return a new state for `arms` arms. `stop`: a tree's prior of stopping at a node; None: the paper's uniform prior.

        Here: all nodes, and for each leaf the list of nodes that contain it.
        """
        no_stop(self, stop)
        listing = self.listing
        return [make_graph(TABLES, listing.spec, listing.options, listing.most_nodes, listing.most_groups, arms)]

    @property
    def finest(self) -> Structure:
        """The structure whose leaves are numbered: itself, or for `OneOf` one of its structures."""
        return self

    def codes(self) -> list[Ints]:
        """Return for each member the code that turns a context into its key (`engine/kernels/keys.py`)."""
        return [self.leaf_code()]

    def key_words(self) -> list[int]:
        """Return for each member the number of words of a key."""
        return [1]

    def walks(self) -> list[Walk | None]:
        """Return for each member the links between its nodes, if it is a graph."""
        return [self.layers]

    def leaf_code(self) -> Ints:
        """Return the code that turns a context into its leaf's number (`engine/kernels/keys.py`)."""
        from ..engine.kernels.keys import CELLS, NUMBER

        if self.finest is not self:
            return self.finest.leaf_code()
        one = len(self.features) == 1
        return code(CELLS, self.features, self.leaves) if one else code(NUMBER, self.features, *self._division())

    def leaf(self, points: Floats) -> Ints:
        """Return the leaf numbers of a batch of points of the unit cube."""
        if self.finest is not self:
            return self.finest.leaf(points)
        if self.leaves > 2**62:
            raise InputError(f"{self.leaves} leaves are too many to number; use a depth of at most 62 bits for this.")
        return leaf_numbers(points[:, list(self.features)], *self._division())

    def leaf_of(self, context: ArrayLike) -> int:
        """Return the number of the leaf that contains a context. Raises `InputError` if the context is outside the space.

        >>> import hsb
        >>> hsb.BinaryTree(depth=2).leaf_of(0.6)
        2
        """
        points, _ = self.space.check(numbers("Contexts", context).reshape(1, -1))
        return int(self.leaf(self.space.to_unit(points))[0])

    def divisions(self) -> list[int]:
        """Return for each used feature the number of its equal parts."""
        k, depth = self._division()
        return [k**turns for turns in halvings(depth, len(self.features))]

    def region(self, leaf: int) -> list[tuple[float, float]]:
        """Return the bounds of a leaf as fractions of the used features: [(start, end), ...]."""
        if self.finest is not self:
            return self.finest.region(leaf)
        k, depth = self._division()
        return list(tree_box(leaf, depth, k, len(self.features)))

    def _division(self) -> tuple[int, int]:
        """Return the number of parts of a division, and the number of divisions: one for a single feature, else as in Section V."""
        return (self.leaves, 1) if len(self.features) == 1 else (2, self.leaves.bit_length() - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data, which `hsb.structures.from_dict` reads."""
        return {
            "structure": type(self).__name__,
            **self.parameters(),
            "space": self.space.to_dict(),
            "features": list(self.features),
        }

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], space: Space, features: Sequence[int]) -> Self:
        """Return the structure of this class with these `parameters()`."""
        return cls(**parameters, space=space, features=features)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Structure:
        """Return the structure that `to_dict` wrote; the same as `hsb.structures.from_dict`. Raises `InputError` for any other `data`.

        >>> import hsb
        >>> hsb.structures.from_dict(hsb.BinaryTree(depth=3).to_dict())
        BinaryTree(depth=3)
        """
        if not isinstance(data, Mapping):
            raise InputError(f"A structure is described by a dict; given {quoted(data)}.")
        data = dict(data)
        name = data.pop("structure", None)
        kind = Structure.kinds.get(str(name))
        if kind is None:
            raise InputError(f"structure must be one of {sorted(Structure.kinds)}; given {quoted(name)}.")
        try:
            space, features = space_from_dict(data.pop("space")), data.pop("features")
            return kind.from_parameters(data, space, features)
        except (KeyError, TypeError) as error:
            raise InputError(
                f"The description of a {name} has missing or unknown entries: {error}. Use the dict that {name}.to_dict() returns."
            ) from error

    def to_json(self) -> str:
        """Return `to_dict` as JSON text, which `hsb.structures.from_json` reads."""
        return json.dumps(self.to_dict())

    def _usual_space(self) -> Space:
        return Box.unit(self.space.features)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "listing"}  # it can be computed again

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        if self.space != self._usual_space():
            inside += f", space={self.space!r}"
        if self.features != tuple(range(self.space.features)):
            inside += f", features={list(self.features)}"
        return f"{type(self).__name__}({inside})"


def use_space(space: Space | None, features: Sequence[int] | None, default: int = 1) -> tuple[Space, tuple[int, ...]]:
    """Return the checked space, by default the unit cube of `default` features, and the checked features."""
    space = Box.unit(default) if space is None else space
    if not isinstance(space, Box | Cells):
        raise InputError(f"space must be an hsb.Box or hsb.Cells; given {quoted(space)}.")
    if features is None:
        return space, tuple(range(space.features))
    several = isinstance(features, Iterable) and not is_scalar(features)
    chosen = list(islice(features, space.features + 1)) if several else []
    fits = all(isinstance(j, int | np.integer) and not isinstance(j, bool) and 0 <= j < space.features for j in chosen)
    if not chosen or not fits or len(set(chosen)) != len(chosen):
        raise InputError(
            f"features must be different numbers in 0 .. {space.features - 1}, in a list; given {quoted(features)}."
        )
    return space, tuple(int(j) for j in chosen)


def code(how: int, features: Sequence[int], *rest: int) -> Ints:
    """Return a code of `engine/kernels/keys.py`."""
    return np.array([how, len(features), *features, *rest], dtype=np.int64)


def spelled(number: int) -> str:
    """Write a number of any size for a message."""
    return f"{number:,}" if number < 10**15 else f"about 2^{number.bit_length() - 1}"


def check_cells(structure: Structure) -> None:
    """Raise `InputError` if numbered cells are not the leaves."""
    name, leaves, space = type(structure).__name__, structure.leaves, structure.space
    if isinstance(space, Cells) and space.n != leaves:
        raise InputError(f"{name} has {leaves} leaves but space=Cells({space.n}). Give both the same number.")


def no_stop(structure: Structure, stop: float | None) -> None:
    """Raise `InputError` for a stop prior if the structure has none."""
    if stop is not None and not structure.takes_stop:
        raise InputError(
            f"stop= sets a tree's prior for stopping at a node; {type(structure).__name__} keeps the paper's uniform prior. "
            "Leave stop out, or use hsb.BinaryTree or hsb.KaryTree."
        )
