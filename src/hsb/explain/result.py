"""An explanation as the user holds it: regions, each with an arm and how sure the policy is of it."""

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
from .joining import joined, position, union
from .lookup import Lookup
from .pieces import called

TOP = 12  # rules that are printed, unless told otherwise


@dataclass(frozen=True)
class Region:
    """A part of all contexts and the arm to play there: one rule of an `Explanation`.

    >>> Region(boxes=(((0.5, 0.75),),), arm="b", probability=0.97, seen=True).bounds
    ((0.5, 0.75),)
    """

    boxes: Parts
    """The boxes that make up the region: each has for every number (low, high), in the units of the contexts, and for every category a set of
    codes (`Column.label`)."""
    arm: Hashable
    """The arm."""
    probability: float
    """The mean probability with which the arm is played there; in the most probable mapping of a structure, the arm's share of the weight that
    the region's node gives to all arms."""
    seen: bool = True
    """False where nothing was ever learned: `arm` is then only the first of equals."""
    name: str | None = None
    """The name of the node of a `Hierarchy` that has this region, or the names of several that make it up; None where there are none."""
    share: float = 0.0
    """The share of contexts that fall into it."""
    conditions: tuple[str, ...] = ()
    """What `boxes` say, in words."""
    earned: Earned | None = None
    """What the arm earns there, by a log (`explain(log=...)`); None where no log was given or the log does not say."""

    @property
    def sure(self) -> float:
        """How surely the arm is played: `probability`, in [0, 1]."""
        return self.probability

    @property
    def where(self) -> str:
        """Where it is, in words: its name, or its conditions."""
        return self.name or " and ".join(self.conditions) or "everywhere"

    @property
    def bounds(self) -> Part:
        """The region's box, or the smallest box around all of its boxes."""
        return tuple(_around(sides) for sides in zip(*self.boxes, strict=True))

    def to_dict(self, columns: Sequence[Column] | None = None) -> dict[str, Any]:
        """A dict of plain data, for JSON; with `columns`, categories by their labels."""
        named = {} if self.name is None else {"name": self.name}
        return {
            "boxes": [plain(box, columns) for box in self.boxes],
            "conditions": list(self.conditions),
            "arm": self.arm,
            "probability": self.probability,
            "share": self.share,
            "seen": self.seen,
            **named,
            **({} if self.earned is None else {"earned": self.earned.to_dict()}),
        }


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a policy plays, as rules: regions that divide all contexts, an arm for each. `policy.explain()` makes it.

    `print` shows the rules, `.plot()` draws them. In the most probable mapping of a structure neighbours with the same arm may be different
    regions; they are joined in print.

    >>> from hsb.structures import BinaryTree
    >>> tree = BinaryTree(depth=2)
    >>> left = Region(boxes=(((0.0, 0.5),),), arm="a", probability=0.9)
    >>> middle = Region(boxes=(((0.5, 0.75),),), arm="a", probability=0.8)
    >>> right = Region(boxes=(((0.75, 1.0),),), arm="a", probability=0.5, seen=False)
    >>> rules = Explanation((left, middle, right), log_probability=-1.2, arms=("a", "b"), structure=tree, chosen=tree)
    >>> print(rules)
    0 <= x < 0.75: play 'a' (sure 0.80)
    0.75 <= x <= 1: never seen
    >>> rules.arm_at(0.6), rules
    ('a', Explanation(3 regions, 2 arms))
    """

    regions: tuple[Region, ...]
    """The regions, each with its arm."""
    log_probability: float | None
    """Of the most probable mapping, the logarithm of its probability, among all ways of splitting and all arms for the parts; else None."""
    arms: tuple[Hashable, ...]
    """All arms."""
    structure: Structure | None = None
    """The policy's structure; None where it has none."""
    chosen: Structure | None = None
    """The structure that the regions come from: under `OneOf` the one that won, otherwise `structure` itself."""
    columns: tuple[Column, ...] = ()
    """What contexts consist of."""
    agreement: float | None = None
    """The share of contexts for which the rule's arm is the one that the policy plays most; None where it was not measured."""
    importance: dict[str, float] = field(default_factory=dict)
    """By column, the share of contexts for which the arm played most changes when that column is drawn anew."""
    top: int | None = TOP
    """How many rules are printed, the largest; None: all."""
    read: Callable[[Any], ArrayLike] | None = field(default=None, compare=False)
    """What turns a context into a number for each column; None where contexts are such numbers."""

    def __post_init__(self) -> None:
        if self.top is not None and (not isinstance(self.top, int | np.integer) or isinstance(self.top, bool) or self.top < 1):
            raise InputError(f"top must be how many rules are printed, at least 1, or None for all; given {quoted(self.top)}.")
        if not self.columns and self.structure is not None:
            object.__setattr__(self, "columns", columns_of(self.structure.space))
        said = words.conditions(self.columns, [region.boxes for region in self.regions])
        told = (replace(region, conditions=each) for region, each in zip(self.regions, said, strict=True))
        object.__setattr__(self, "regions", tuple(told))

    def __iter__(self) -> Iterator[Region]:
        return iter(self.regions)

    def __len__(self) -> int:
        return len(self.regions)

    def __repr__(self) -> str:
        agreement = "" if self.agreement is None else f", agreement {self.agreement:.2f}"
        return f"Explanation({len(self)} region{'s' * (len(self) != 1)}, {len(self.arms)} arms{agreement})"

    def __str__(self) -> str:
        return words.told(self)

    def _repr_html_(self) -> str:
        from .html import page

        return page(self)

    @cached_property
    def rules(self) -> tuple[Region, ...]:
        """The regions as they are printed, neighbours with one arm joined: along one number in its order, else the largest first."""
        return self.merged().regions

    def region_at(self, context: Any) -> Region:
        """The region that contains a context. `InputError` where none does. O(regions)."""
        bare = self.read is None and self.structure is not None  # numbers, which may be given as they are or in a list
        rows = numbers("Contexts", context).reshape(1, -1) if bare else self._rows([context])
        return self.regions[int(self._places(rows, context)[0])]

    def arm_at(self, context: Any) -> Hashable:
        """The arm of the region that contains a context."""
        return self.region_at(context).arm

    def arms_at(self, contexts: Any) -> list[Hashable]:
        """A list of the arms for a whole table of contexts. O(rows * regions), in NumPy.

        >>> import hsb
        >>> hsb.HSB(hsb.BinaryTree(depth=2), arms=2).explain().arms_at([0.2, 0.7])
        [0, 0]
        """
        return [self.regions[i].arm for i in self._places(self._rows(contexts), contexts)]

    def find(self, rows: Floats) -> Ints:
        """Which region each row of numbers lies in, a column for each of `columns`; -1 where none holds it."""
        return self._lookup.find(coded(self.columns, rows))

    def _rows(self, contexts: Any) -> Floats:
        if self.read is None:
            return np.asarray(contexts, dtype=np.float64)
        rows = [self.read(context) for context in contexts]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.columns))

    def _places(self, rows: Floats, given: Any) -> Ints:
        """Which region each row lies in."""
        if self.structure is not None and self.read is None:
            rows, _ = self.structure.space.check(rows)
        places = self.find(rows)
        if (places < 0).any():
            raise InputError(f"No region contains {quoted(given)}; the regions of this explanation do not cover every context.")
        return places

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.columns, [region.boxes for region in self.regions])

    def merged(self) -> Explanation:
        """The same rules with neighbours of one arm joined where that is no more complicated, each as sure as its least sure part.

        Printing does so by itself.
        """
        by_arm: dict[tuple[Hashable, bool], list[Region]] = {}
        for region in self.regions:
            by_arm.setdefault((region.arm, region.seen), []).append(region)
        regions = [region for group in by_arm.values() for region in _joined(group)]
        if self.chosen is not None:
            names = called(self.chosen, [region.boxes for region in regions])
            regions = [replace(region, name=name) for region, name in zip(regions, names, strict=True)]
        return replace(self, regions=ordered(self.columns, regions))

    def to_dict(self) -> dict[str, Any]:
        """A dict of plain data."""
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
        """A pandas data frame with a row for each rule as they are printed: where, arm, how sure, share; what it earns, where a log says."""
        rows = [(each.where, each.arm, each.sure, each.share, each.seen, *(each.earned or (None,) * 4)) for each in self.rules]
        return data_frame(rows, ["where", "arm", "sure", "share", "seen", "earned", "earned_low", "earned_high", "earned_rows"])

    def plot(self, ax: Any = None) -> Any:
        """Draw with matplotlib and return the axes: one or two numbers as a map, more columns as what matters and the largest rules.

        `ax`: matplotlib's axes to draw into; None makes new ones.
        """
        from ..plotting.explanations import plot_explanation

        return plot_explanation(self, ax)

    def plot_importance(self, ax: Any = None) -> Any:
        """Draw how much each column matters, as bars, and return the axes. `ax` as in `plot`."""
        from ..plotting.explanations import plot_importance

        return plot_importance(self, ax)


def ordered(columns: Sequence[Column], regions: Iterable[Region]) -> tuple[Region, ...]:
    """The largest first, equals by position; along one number by position."""
    along = len(columns) == 1 and columns[0].kind == "number"
    by_position = sorted(regions, key=lambda region: [position(box) for box in region.boxes])
    return tuple(sorted(by_position, key=lambda region: 0.0 if along else -round(region.share, 3)))


def _joined(regions: list[Region]) -> list[Region]:
    """Regions of one arm: single boxes joined to boxes; those of several boxes wherever the union has no more of them."""
    single = [region for region in regions if len(region.boxes) == 1]
    result = [
        _together([single[i] for i in members], (part,)) for part, members in joined([region.boxes[0] for region in single])
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
    share = sum(region.share for region in regions)
    sure, earned = min(region.probability for region in regions), regions[0].earned if len(regions) == 1 else None
    return replace(regions[0], boxes=boxes, probability=sure, share=share, earned=earned)


def _around(sides: tuple[Side, ...]) -> Side:
    """The least side around all of them."""
    sets = [side for side in sides if isinstance(side, frozenset)]
    if sets:
        return frozenset().union(*sets)
    return (min(side[0] for side in sides), max(side[1] for side in sides))  # type: ignore[index]
