"""What every structure can say of itself, and what the engine asks of it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..quantise import cells, leaf_numbers
from ..spaces import Box, Cells, Space, numbers
from ..state import Member
from ..types import Floats, Ints


class Cost(NamedTuple):
    """What a round costs at most: nodes that contain a context, and child groups of those nodes."""

    nodes: int
    groups: int


class Structure(ABC):
    """A hierarchical structure of Section IV: nodes with regions, each with groups of children that partition it.

    A structure is a description and never changes; what a policy learns over it is kept elsewhere. Leaf k of N in one dimension is
    the k-th equal cell; in several dimensions leaves are numbered by the divisions that lead to them.
    """

    kinds: ClassVar[dict[str, type[Structure]]] = {}  # filled as classes are defined; `from_dict` looks here

    space: Space
    features: tuple[int, ...]  # which features of a context this structure looks at
    leaves: int  # N
    max_group: int  # Psi, the most children in a group
    max_groups: int  # H_S, the most groups of a node

    def __init_subclass__(cls, *, listed: bool = True) -> None:
        super().__init_subclass__()
        if listed:
            Structure.kinds[cls.__name__] = cls

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """What a round costs at most."""

    @property
    def takes_stop(self) -> bool:
        """Can a prior probability of stopping be set?"""
        return False

    @abstractmethod
    def splits(self, regions: int, arms: int) -> int:
        """A_R: an upper bound on the splits needed for an optimal partition into that many regions."""

    @abstractmethod
    def members(self, arms: int, stop: float | None) -> list[Member]:
        """A fresh state for so many arms; `stop` is a tree's prior for stopping at a node, None for the paper's uniform one."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments as plain data, the space apart."""

    @abstractmethod
    def codes(self) -> list[Ints]:
        """For each member, how a context becomes its key (`kernels/keys.py`)."""

    def key_words(self) -> list[int]:
        """For each member, the words of a key."""
        return [1]

    def keys(self, contexts: Floats) -> list[Ints]:
        """Keys of a batch of checked contexts, shape (T, features of the space): one array (T, words) per member."""
        from ..kernels.keys import encode

        found = []
        for code, words in zip(self.codes(), self.key_words(), strict=True):
            key = np.zeros((len(contexts), words), dtype=np.int64)
            encode(code, *self.space.ends(), contexts, key, 0, words)
            found.append(key)
        return found

    @property
    def finest(self) -> Structure:
        """The structure whose leaves are numbered: itself, unless there is a choice."""
        return self

    def leaf_code(self) -> Ints:
        """How a context becomes the number of its leaf (`kernels/keys.py`)."""
        return plain_code(self.leaves, self.features)

    def scalar_keys(self, point: float) -> list[int] | None:
        """The keys of one point of the unit interval, quickly; None where only `keys` can tell."""
        return [min(int(point * self.leaves), self.leaves - 1)] if self.space.features == 1 else None

    def leaf(self, points: Floats) -> Ints:
        """Leaf numbers of a batch of points of the unit cube."""
        chosen = points[:, list(self.features)]
        if len(self.features) == 1:
            return cells(chosen, np.array([self.leaves]))[:, 0]
        return leaf_numbers(chosen, 2, self.leaves.bit_length() - 1)

    def leaf_of(self, context: ArrayLike) -> int:
        """The leaf that contains one context.

        >>> import hsb
        >>> hsb.BinaryTree(depth=2).leaf_of(0.6)
        2
        """
        points, _ = self.space.check(numbers("Contexts", context).reshape(1, -1))
        return int(self.leaf(self.space.to_unit(points))[0])

    def region(self, leaf: int) -> list[tuple[float, float]]:
        """Bounds of a leaf as fractions of the features it looks at: [(start, end), ...]."""
        if len(self.features) == 1:
            return [(leaf / self.leaves, (leaf + 1) / self.leaves)]
        return list(tree_box(leaf, self.leaves.bit_length() - 1, 2, len(self.features)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `hsb.structures.from_dict` reads back."""
        return {
            "structure": type(self).__name__,
            **self.parameters(),
            "space": self.space.to_dict(),
            "features": list(self.features),
        }

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Structure:
        """The structure that `to_dict` described; the same as `hsb.structures.from_dict`."""
        from . import from_dict

        return from_dict(data)

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        if not (isinstance(self.space, Box) and self.space.to_dict() == Box.unit(self.space.features).to_dict()):
            inside += f", space={self.space!r}"
        if self.features != tuple(range(self.space.features)):
            inside += f", features={list(self.features)}"
        return f"{type(self).__name__}({inside})"


def tree_box(number: int, level: int, k: int, features: int) -> tuple[tuple[float, float], ...]:
    """The box of node `number` of a level of a k-ary tree that divides its features in turn.

    Fractions come from one division of whole numbers each, so that neighbours of any levels share their bounds exactly.

    >>> tree_box(5, 3, 2, 1), tree_box(5, 3, 2, 2)
    (((0.625, 0.75),), ((0.75, 1.0), (0.0, 0.5)))
    """
    index, parts = [0] * features, [1] * features
    for turn in range(level):
        j = turn % features
        index[j] = index[j] * k + number // k ** (level - 1 - turn) % k
        parts[j] *= k
    return tuple((i / n, (i + 1) / n) for i, n in zip(index, parts, strict=True))


def use_space(space: Space | None, features: Sequence[int] | None, default: int = 1) -> tuple[Space, tuple[int, ...]]:
    """The space, or the unit cube of `default` features, and the features to look at, checked."""
    space = Box.unit(default) if space is None else space
    if not isinstance(space, Box | Cells):
        raise InputError(f"space must be an hsb.Box or hsb.Cells; given {space!r}.")
    if features is None:
        return space, tuple(range(space.features))
    chosen = list(features) if isinstance(features, Iterable) else [features]
    fits = all(isinstance(j, int | np.integer) and not isinstance(j, bool) and 0 <= j < space.features for j in chosen)
    if not isinstance(features, Iterable) or not chosen or not fits or len(set(chosen)) != len(chosen):
        raise InputError(f"features must be different numbers in 0 .. {space.features - 1}, in a list; given {features!r}.")
    return space, tuple(int(j) for j in chosen)


def code(how: int, features: Sequence[int], *rest: int) -> Ints:
    """A code of `kernels/keys.py`."""
    return np.array([how, len(features), *features, *rest], dtype=np.int64)


def plain_code(leaves: int, features: Sequence[int]) -> Ints:
    """Equal cells of one feature; over several, Section V's cells by number."""
    from ..kernels import keys

    if len(features) == 1:
        return code(keys.CELLS, features, leaves)
    return code(keys.NUMBER, features, 2, leaves.bit_length() - 1)


def spelled(number: int) -> str:
    """A number for a message, however large."""
    return f"{number:,}" if number < 10**15 else f"about 2^{number.bit_length() - 1}"


def check_cells(name: str, leaves: int, space: Space, features: tuple[int, ...]) -> None:
    """Refuse leaf counts that Section V cannot lay over the features."""
    if isinstance(space, Cells) and space.n != leaves:
        raise InputError(f"{name} has {leaves} leaves but space=Cells({space.n}). Give both the same number.")
    if len(features) > 1 and leaves & (leaves - 1):
        raise InputError(
            f"{name} over {len(features)} features needs leaves to be a power of two (Section V halves the features in turn); "
            f"given {leaves}. Use {1 << leaves.bit_length()}, or features=[j] to look at one feature."
        )


def no_stop(structure: Structure, stop: float | None) -> None:
    """Refuse a stop prior where it has no meaning."""
    if stop is not None:
        raise InputError(
            f"stop= sets a tree's prior for stopping at a node; {type(structure).__name__} keeps the paper's uniform prior. "
            "Leave stop out, or use hsb.BinaryTree or hsb.KaryTree."
        )
