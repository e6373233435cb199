"""A root whose options are whole structures."""

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .. import reproducible_math
from ..engine.state import Member, Walk, hang, make_one_of
from ..errors import InputError, quoted
from ..types import Floats, Ints
from .base import Cost, Structure, code, no_stop
from .spaces import Space
from .walk import log_sum


class OneOf(Structure):
    """One arm everywhere, or one of several structures over the same space; the policy learns which.

    A group with a single child that covers its parent is legal in Section IV, so this is a hierarchical structure too: the price of not
    knowing which of K `structures` is right is ln(K+1) / rate in regret. Each structure has a separate state; a round costs the sum of
    their costs. The leaves are those of the first structure with the most leaves.

    >>> from hsb import BinaryTree, Box
    >>> box = Box.unit(2)
    >>> OneOf(BinaryTree(depth=6, space=box, features=[0]), BinaryTree(depth=6, space=box, features=[1])).max_groups
    2
    """

    def __init__(self, *structures: Structure) -> None:
        if not structures or not all(isinstance(s, Structure) for s in structures):
            raise InputError(
                f"OneOf needs structures, e.g. OneOf(BinaryTree(depth=8), Lexicographic(leaves=32)); given {quoted(structures)}."
            )
        for other in structures[1:]:
            if other.space.to_dict() != structures[0].space.to_dict():
                raise InputError(
                    f"OneOf needs structures over one space; given {quoted(structures[0].space)} and {quoted(other.space)}. "
                    "Give all of them the same space=, and features=[...] to those that look at some features only."
                )
        self.structures = structures
        self.space = structures[0].space
        self.features = tuple(range(self.space.features))
        self._finest = max(structures, key=lambda s: s.leaves)
        self.leaves = self._finest.leaves
        self.takes_stop = any(s.takes_stop for s in structures)  # the others keep their own prior
        self.max_group = max(s.max_group for s in structures)
        self.max_groups = max(len(structures), *(s.max_groups for s in structures))

    @property
    def cost(self) -> Cost:
        costs = [s.cost for s in self.structures]
        return Cost(1 + sum(c.nodes for c in costs), len(costs) + sum(c.groups for c in costs))

    def splits(self, regions: int, arms: int) -> int:
        """Return one more than the fewest splits among the finest structures: only they can represent every mapping."""
        fine = [s for s in self.structures if s.leaves == self.leaves and s.features == self._finest.features]
        return 0 if regions == 1 else 1 + min(s.splits(regions, arms) for s in fine)

    @property
    def finest(self) -> Structure:
        """The first structure with the most leaves."""
        return self._finest.finest

    def log_prior(self, symbols: Ints, values: Floats, stop: float | None, source: Structure | None = None) -> float:
        """Return ln beta over one symbol everywhere and each structure that can represent the symbols, with weight 1 / (K + 1) each."""
        terms = [part.log_prior(symbols, values, stop, source or self.finest) for part in self.structures]
        terms.append(float(values[symbols[0]]) if (symbols == symbols[0]).all() else -math.inf)
        return float(log_sum(np.array(terms, dtype=np.float64))) - reproducible_math.ln(len(terms))

    def prior_bound(self, regions: int, arms: int, stop: float | None) -> float:
        """Return Theorem 2's bound; with a stop prior, ln(K + 1) plus the least bound of the finest structures."""
        if stop is None:
            return super().prior_bound(regions, arms, stop)
        options = reproducible_math.ln(len(self.structures) + 1)
        if regions == 1:
            return options + reproducible_math.ln(arms)
        fine = [s for s in self.structures if s.leaves == self.leaves and s.finest.features == self.finest.features]
        return options + min(s.prior_bound(regions, arms, stop if s.takes_stop else None) for s in fine)

    def worst_cost(self, regions: int, arm_cost: float, arms: int, stop: float | None) -> float:
        """Return the bound ln(K + 1) plus the least cost of the structures with the finest one's leaf numbers."""
        no_stop(self, stop)
        options = reproducible_math.ln(len(self.structures) + 1)
        if regions == 1:
            return options + arm_cost
        number = self.leaf_code()
        fine = [s for s in self.structures if s.leaves == self.leaves and np.array_equal(s.leaf_code(), number)]
        return options + min(s.worst_cost(regions, arm_cost, arms, stop if s.takes_stop else None) for s in fine)

    def diagonal(self) -> float:
        """The largest diagonal of all: any structure may need the fewest splits."""
        return max(part.diagonal() for part in self.structures)

    def members(self, arms: int, stop: float | None) -> list[Member]:
        no_stop(self, stop)
        members = [make_one_of(len(self.structures) + 1, arms)]
        for option, structure in enumerate(self.structures, start=1):
            members += hang(structure.members(arms, stop if structure.takes_stop else None), option, offset=len(members))
        return members

    def codes(self) -> list[Ints]:
        from ..engine.kernels.keys import NOTHING

        return [code(NOTHING, ())] + [each for s in self.structures for each in s.codes()]

    def key_words(self) -> list[int]:
        return [1] + [words for s in self.structures for words in s.key_words()]

    def walks(self) -> list[Walk | None]:
        return [None] + [each for s in self.structures for each in s.walks()]

    def parameters(self) -> dict[str, Any]:
        return {"structures": [s.to_dict() for s in self.structures]}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], space: Space, features: Sequence[int]) -> Self:
        """Return the structure of these parameters; the alternatives contain their spaces."""
        return cls(*(Structure.from_dict(part) for part in parameters["structures"]))

    def __repr__(self) -> str:
        return f"OneOf({', '.join(map(repr, self.structures))})"
