"""An explanation as the user holds it: regions, each with an arm and how sure the policy is of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from ..errors import InputError
from ..spaces import numbers
from ..structures import Structure
from ..structures.boxes import Box, Boxes
from .pieces import names
from .words import rules


@dataclass(frozen=True)
class Region:
    """A part of the space and the arm to play there.

    `boxes` make up the region, each a (low, high) per feature in the units of the space; in one dimension they are its
    intervals. `probability` is the share of the arm in the posterior of the region's node. Where `seen` is False nothing was
    ever learned: every arm has the same share there, and `arm` is only the first of them. `name` is that of the node of a
    `Hierarchy` with this very region, if there is one.

    >>> Region(boxes=(((0.5, 0.75),),), arm="b", probability=0.97, seen=True).bounds
    ((0.5, 0.75),)
    """

    boxes: Boxes
    arm: Hashable
    probability: float
    seen: bool
    name: str | None = None

    @property
    def bounds(self) -> Box:
        """The region's box, or the smallest box around all of them."""
        by_feature = zip(*self.boxes, strict=True)
        return tuple((min(low for low, _ in sides), max(high for _, high in sides)) for sides in by_feature)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        named = {} if self.name is None else {"name": self.name}
        return {
            "boxes": [[list(side) for side in box] for box in self.boxes],
            "arm": self.arm,
            "probability": self.probability,
            "seen": self.seen,
            **named,
        }


@dataclass(frozen=True)
class Explanation:
    """The most probable mapping of a policy: regions that divide the space, in order of position.

    `log_probability` is the logarithm of its posterior probability, among all ways of splitting and all arms for the parts;
    neighbours with the same arm may therefore be different regions (`merged` joins them). `arms` are the labels of all arms.
    `chosen` is the structure that the regions come from: under `OneOf` the one that won, otherwise `structure` itself.

    >>> from hsb.structures import BinaryTree
    >>> tree = BinaryTree(depth=2)
    >>> left = Region(boxes=(((0.0, 0.5),),), arm="a", probability=0.9, seen=True)
    >>> middle = Region(boxes=(((0.5, 0.75),),), arm="a", probability=0.8, seen=True)
    >>> right = Region(boxes=(((0.75, 1.0),),), arm="a", probability=0.5, seen=False)
    >>> rules = Explanation((left, middle, right), log_probability=-1.2, arms=("a", "b"), structure=tree, chosen=tree)
    >>> print(rules)
    0 <= x < 0.5: play 'a' (sure 0.90)
    0.5 <= x < 0.75: play 'a' (sure 0.80)
    0.75 <= x <= 1: never seen
    >>> print(rules.merged())
    0 <= x < 0.75: play 'a' (sure 0.80)
    0.75 <= x <= 1: never seen
    >>> rules.arm_at(0.6)
    'a'
    """

    regions: tuple[Region, ...]
    log_probability: float
    arms: tuple[Hashable, ...]
    structure: Structure
    chosen: Structure

    def __iter__(self) -> Iterator[Region]:
        return iter(self.regions)

    def __len__(self) -> int:
        return len(self.regions)

    def __str__(self) -> str:
        return rules(self.structure.space, [(region.name or region.boxes, verdict(region)) for region in self.regions])

    def region_at(self, context: ArrayLike) -> Region:
        """The region that contains a context. O(regions)."""
        space = self.structure.space
        points, _ = space.check(numbers("Contexts", context).reshape(1, -1))
        ranges = [space.bounds(j, 0.0, 1.0) for j in range(space.features)]
        point = [min(max(float(x), low), high) for x, (low, high) in zip(points[0], ranges, strict=True)]  # ends may be rounded
        for region in self.regions:
            for box in region.boxes:
                sides = zip(point, box, ranges, strict=True)
                if all(low <= x < high or x == high == whole[1] for x, (low, high), whole in sides):
                    return region
        raise InputError(f"No region contains {context!r}; the regions of this explanation do not cover {space!r}.")

    def arm_at(self, context: ArrayLike) -> Hashable:
        """The arm that the most probable mapping plays at a context."""
        return self.region_at(context).arm

    def merged(self) -> Explanation:
        """The same mapping with neighbours of one arm joined, each as sure as the least sure part of it. One feature only."""
        if self.structure.space.features != 1:
            raise InputError(
                f"merged() joins intervals and needs one feature; this space has {self.structure.space.features}. "
                "Use .regions as they are."
            )
        joined: list[Region] = []
        pieces = [replace(region, boxes=(box,)) for region in self.regions for box in region.boxes]
        for piece in sorted(pieces, key=lambda piece: piece.boxes):
            last = joined[-1] if joined else None
            if last is not None and (last.arm, last.seen) == (piece.arm, piece.seen):
                side = (last.boxes[0][0][0], piece.boxes[0][0][1])
                joined[-1] = replace(last, boxes=((side,),), probability=min(last.probability, piece.probability))
            else:
                joined.append(piece)
        called = names(self.chosen)
        return replace(self, regions=tuple(replace(region, name=called.get(region.boxes)) for region in joined))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "structure": self.structure.to_dict(),
            "chosen": self.chosen.to_dict(),
            "arms": list(self.arms),
            "log_probability": self.log_probability,
            "regions": [region.to_dict() for region in self.regions],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the regions with matplotlib and return the axes; one or two features (`hsb.plot`)."""
        from ..plot import plot_explanation

        return plot_explanation(self, ax)


def verdict(region: Region) -> str:
    """What a rule says of its region.

    >>> verdict(Region(boxes=(((0.0, 1.0),),), arm=2, probability=0.987, seen=True))
    'play 2 (sure 0.99)'
    """
    return f"play {region.arm!r} (sure {region.probability:.2f})" if region.seen else "never seen"
