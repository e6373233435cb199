"""The result of `explain`: regions, each with an arm and the probability with which the policy plays it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data_frame import data_frame
from ..errors import InputError, quoted
from ..structures import Structure
from ..structures.spaces import numbers
from ..types import Floats, Ints
from . import words
from .columns import Column, Part, Parts, Side, coded, columns_of, plain
from .earned import Earned
from .joining import join, position, union
from .lookup import Lookup
from .pieces import region_names

TOP = 12  # rules that are printed by default


@dataclass(frozen=True)
class Region:
    """A part of all contexts and the arm that is played there: one rule of an `Explanation`.

    >>> Region(boxes=(((0.5, 0.75),),), arm="b", probability=0.97, seen=True).bounds
    ((0.5, 0.75),)
    """

    boxes: Parts
    """The boxes that make up the region. A box has (low, high) for every number, in the units of the contexts, and a set of codes for every
    category (`Column.label`)."""
    arm: Hashable
    """The arm."""
    probability: float
    """The mean probability with which the policy plays the arm there. In the most probable mapping of a structure: the arm's share of the
    weights of the region's node."""
    seen: bool = True
    """False without any update there: `arm` is then the first of equally good arms."""
    name: str | None = None
    """The name of the `Hierarchy` node with this region, or of several nodes that make it up; None without such nodes."""
    coverage: float = 0.0
    """The share of contexts in the region."""
    conditions: tuple[str, ...] = ()
    """The conditions of `boxes`, in words."""
    earned: Earned | None = None
    """The arm's mean reward there, estimated from a log (`explain(log=...)`); None without a log, or if the log has too little of it."""

    @property
    def where(self) -> str:
        """The region in words: its name, or its conditions."""
        return self.name or " and ".join(self.conditions) or "everywhere"

    @property
    def bounds(self) -> Part:
        """The region's box, or the smallest box around all of its boxes."""
        return tuple(_around(sides) for sides in zip(*self.boxes, strict=True))

    def to_dict(self, columns: Sequence[Column] | None = None) -> dict[str, Any]:
        """Return a dict of plain data, for JSON; with `columns`, categories by their labels."""
        name = {} if self.name is None else {"name": self.name}
        return {
            "boxes": [plain(box, columns) for box in self.boxes],
            "conditions": list(self.conditions),
            "arm": self.arm,
            "probability": self.probability,
            "coverage": self.coverage,
            "seen": self.seen,
            **name,
            **({} if self.earned is None else {"earned": self.earned.to_dict()}),
        }


@dataclass(frozen=True, repr=False)
class Explanation:
    """The rules that a policy plays: disjoint regions, an arm for each. `policy.explain()` returns it.

    `print` shows the rules, `.plot()` draws them. In the most probable mapping of a structure neighbouring regions may have the same arm;
    `print` joins them.

    >>> from hsb.structures import BinaryTree
    >>> tree = BinaryTree(depth=2)
    >>> left = Region(boxes=(((0.0, 0.5),),), arm="a", probability=0.9)
    >>> middle = Region(boxes=(((0.5, 0.75),),), arm="a", probability=0.8)
    >>> right = Region(boxes=(((0.75, 1.0),),), arm="a", probability=0.5, seen=False)
    >>> rules = Explanation((left, middle, right), log_probability=-1.2, arms=("a", "b"), structure=tree, chosen=tree)
    >>> print(rules)
    0 <= x < 0.75: play 'a' (probability 0.80)
    0.75 <= x <= 1: never seen
    >>> rules.arm_at(0.6), rules
    ('a', Explanation(3 regions, 2 arms))
    """

    regions: tuple[Region, ...]
    """The regions, each with its arm."""
    log_probability: float | None
    """The logarithm of the posterior probability of the most probable mapping; None for other explanations."""
    arms: tuple[Hashable, ...]
    """All arms."""
    structure: Structure | None = None
    """The policy's structure, or None."""
    chosen: Structure | None = None
    """The structure that the regions come from: under `OneOf` the one that won, otherwise `structure` itself."""
    columns: tuple[Column, ...] = ()
    """The columns of a context."""
    agreement: float | None = None
    """The share of contexts at which the rule's arm is the policy's most probable one; None if not measured."""
    importance: dict[str, float] = field(default_factory=dict)
    """By column, the share of contexts whose most probable arm changes if that column takes another context's value."""
    top: int | None = TOP
    """The number of rules that are printed, the largest ones; None: all."""
    read: Callable[[Any], ArrayLike] | None = field(default=None, compare=False)
    """The function that turns a context into a number for each column; None if contexts are such numbers."""

    def __post_init__(self) -> None:
        if self.top is not None and (not isinstance(self.top, int | np.integer) or isinstance(self.top, bool) or self.top < 1):
            raise InputError(
                f"top must be the number of rules to print, at least 1, or None for all; given {quoted(self.top)}."
            )
        if not self.columns and self.structure is not None:
            object.__setattr__(self, "columns", columns_of(self.structure.space))
        conditions = words.conditions(self.columns, [region.boxes for region in self.regions])
        regions = (replace(region, conditions=texts) for region, texts in zip(self.regions, conditions, strict=True))
        object.__setattr__(self, "regions", tuple(regions))

    def __iter__(self) -> Iterator[Region]:
        return iter(self.regions)

    def __len__(self) -> int:
        return len(self.regions)

    def __repr__(self) -> str:
        agreement = "" if self.agreement is None else f", agreement {self.agreement:.2f}"
        return f"Explanation({len(self)} region{'s' * (len(self) != 1)}, {len(self.arms)} arms{agreement})"

    def __str__(self) -> str:
        return words.write_rules(self)

    def _repr_html_(self) -> str:
        from .html import page

        return page(self)

    @cached_property
    def rules(self) -> tuple[Region, ...]:
        """The regions as printed, neighbours with one arm joined: in order along a single number, otherwise the largest first."""
        return self.merged().regions

    def region_at(self, context: Any) -> Region:
        """Return the region that contains a context. Raises `InputError` if no region does. O(regions)."""
        bare = self.read is None and self.structure is not None  # numbers, alone or in a list
        rows = numbers("Contexts", context).reshape(1, -1) if bare else self._rows([context])
        return self.regions[int(self._regions(rows, context)[0])]

    def arm_at(self, context: Any) -> Hashable:
        """Return the arm of the region that contains a context."""
        return self.region_at(context).arm

    def arms_at(self, contexts: Any) -> list[Hashable]:
        """Return a list of the arms for a table of contexts. O(rows * regions), in NumPy.

        >>> import hsb
        >>> hsb.HSB(hsb.BinaryTree(depth=2), arms=2).explain().arms_at([0.2, 0.7])
        [0, 0]
        """
        return [self.regions[i].arm for i in self._regions(self._rows(contexts), contexts)]

    def find(self, rows: Floats) -> Ints:
        """Return the index of each row's region, -1 if no region contains it; rows have a number for each of `columns`."""
        return self._lookup.find(coded(self.columns, rows))

    def _rows(self, contexts: Any) -> Floats:
        if self.read is None:
            return np.asarray(contexts, dtype=np.float64)
        rows = [self.read(context) for context in contexts]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.columns))

    def _regions(self, rows: Floats, contexts: Any) -> Ints:
        """Return the index of each row's region. Raises `InputError` if a row has no region."""
        if self.structure is not None and self.read is None:
            rows, _ = self.structure.space.check(rows)
        indices = self.find(rows)
        if (indices < 0).any():
            raise InputError(
                f"No region contains {quoted(contexts)}: these regions do not cover every context. Use one that they cover."
            )
        return indices

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.columns, [region.boxes for region in self.regions])

    def merged(self) -> Explanation:
        """Join neighbouring rules with one arm, unless the result is more complicated. The probability is the least of the parts.

        `print` does so by itself.
        """
        by_arm: dict[tuple[Hashable, bool], list[Region]] = {}
        for region in self.regions:
            by_arm.setdefault((region.arm, region.seen), []).append(region)
        regions = [region for group in by_arm.values() for region in _joined(group)]
        if self.chosen is not None:
            names = region_names(self.chosen, [region.boxes for region in regions])
            regions = [replace(region, name=name) for region, name in zip(regions, names, strict=True)]
        return replace(self, regions=ordered(self.columns, regions))

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data."""
        return {
            "structure": None if self.structure is None else self.structure.to_dict(),
            "chosen": None if self.chosen is None else self.chosen.to_dict(),
            "columns": [column.name for column in self.columns],
            "arms": list(self.arms),
            "log_probability": self.log_probability,
            "agreement": self.agreement,
            "importance": self.importance,
            "regions": [region.to_dict(self.columns) for region in self.regions],
        }

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each printed rule: where, arm, probability, coverage, and its reward by a log."""
        rows = [
            (rule.where, rule.arm, rule.probability, rule.coverage, rule.seen, *(rule.earned or (None,) * 4))
            for rule in self.rules
        ]
        return data_frame(
            rows, ["where", "arm", "probability", "coverage", "seen", "earned", "earned_low", "earned_high", "earned_rows"]
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw with matplotlib and return the axes: one or two numbers as a map, more columns as importances and the largest rules.

        `ax`: the matplotlib axes to draw into; default: new ones.
        """
        from ..plotting.explanations import plot_explanation

        return plot_explanation(self, ax)

    def plot_importance(self, ax: Any = None) -> Any:
        """Draw the importance of each column as bars, and return the axes. `ax` as in `plot`."""
        from ..plotting.explanations import plot_importance

        return plot_importance(self, ax)


def ordered(columns: Sequence[Column], regions: Iterable[Region]) -> tuple[Region, ...]:
    """Sort regions: the largest first, ties by position; along a single number all by position."""
    along = len(columns) == 1 and columns[0].kind == "number"
    by_position = sorted(regions, key=lambda region: [position(box) for box in region.boxes])
    return tuple(sorted(by_position, key=lambda region: 0.0 if along else -round(region.coverage, 3)))


def _joined(regions: list[Region]) -> list[Region]:
    """Join regions of one arm: single boxes if the union is a box, others if the union has at most as many boxes as the larger."""
    single = [region for region in regions if len(region.boxes) == 1]
    result = [
        _together([single[i] for i in members], (part,)) for part, members in join([region.boxes[0] for region in single])
    ]
    for region in (region for region in regions if len(region.boxes) > 1):
        for other in list(result):
            boxes = union(region.boxes + other.boxes)
            if len(boxes) <= max(len(region.boxes), len(other.boxes)):
                result.remove(other)
                region = _together([region, other], boxes)
        result.append(region)
    return result


def _together(regions: list[Region], boxes: Parts) -> Region:
    coverage = sum(region.coverage for region in regions)
    probability, earned = min(region.probability for region in regions), regions[0].earned if len(regions) == 1 else None
    return replace(regions[0], boxes=boxes, probability=probability, coverage=coverage, earned=earned)


def _around(sides: tuple[Side, ...]) -> Side:
    """Return the smallest side around all of them."""
    sets = [side for side in sides if isinstance(side, frozenset)]
    if sets:
        return frozenset().union(*sets)
    return (min(side[0] for side in sides), max(side[1] for side in sides))  # type: ignore[index]
