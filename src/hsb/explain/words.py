"""Rules in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .columns import Column, Part, Parts

if TYPE_CHECKING:
    from .result import Explanation, Region

FEWEST, MOST = 6, 17  # significant digits of a bound: the fewest that keep different bounds different
CLEAR = 0.995  # agreement above which nothing is said of it
MATTER = 5  # columns that are named when it is said what matters
LITTLE = 0.005  # importance that is not worth naming


def conditions(columns: Sequence[Column], regions: Sequence[Parts]) -> list[tuple[str, ...]]:
    """For each region its conditions: one for each column that it narrows; of a region of several boxes one that says all of it.

    >>> age, spend = Column("age", low=18.0, high=90.0), Column("spend", low=0.0, high=1.0)
    >>> conditions([age], [(((18.0, 36.0),),), (((36.0, 90.0),),)])
    [('18 <= age < 36',), ('36 <= age <= 90',)]
    >>> conditions([age, spend], [(((18.0, 36.0), (0.0, 1.0)),), (((36.0, 90.0), (0.5, 1.0)),)])
    [('age < 36',), ('age >= 36', 'spend >= 0.5')]
    """
    digits = [_digits({end for boxes in regions for box in boxes for end in _ends(box, j)}) for j in range(len(columns))]

    def of(box: Part) -> tuple[str, ...]:
        said = (column.says(side, n, short=len(columns) > 1) for column, side, n in zip(columns, box, digits, strict=True))
        return tuple(each for each in said if each)

    result = []
    for boxes in regions:
        parts = [of(box) for box in boxes]
        each = [f"({' and '.join(part)})" if len(part) > 1 else "".join(part) for part in parts]
        result.append(parts[0] if len(parts) == 1 else (" or ".join(each),))
    return result


def _ends(box: Part, j: int) -> tuple[float, ...]:
    side = box[j]
    return () if isinstance(side, frozenset) else side


def _digits(bounds: set[float]) -> int:
    enough = (n for n in range(FEWEST, MOST) if len({f"{bound:.{n}g}" for bound in bounds}) == len(bounds))
    return next(enough, MOST)


def told(explanation: Explanation, how: str = "explain(top=None)") -> str:
    """The first rules, what was left out and how to see it, what matters, and how often the rules are right."""
    shares = len(explanation.columns) > 1
    shown, rest = divided(explanation)
    lines = [f"{region.where}: {verdict(region, share=shares)}" for region in shown]
    return "\n".join([*lines, *([left_out(rest, how)] if rest else []), *notes(explanation)])


def divided(explanation: Explanation) -> tuple[list[Region], list[Region]]:
    """The rules that are shown, the `top` largest in their order, and the rest."""
    rules = list(explanation.rules)
    if explanation.top is None or len(rules) <= explanation.top:
        return rules, []
    largest = set(sorted(range(len(rules)), key=lambda i: (-rules[i].share, i))[: explanation.top])
    return [rules[i] for i in sorted(largest)], [region for i, region in enumerate(rules) if i not in largest]


def left_out(rest: Sequence[Region], how: str) -> str:
    """One line for the rules that are not shown."""
    share = percent(sum(region.share for region in rest))
    return f"... and {len(rest)} smaller one{'s' * (len(rest) > 1)}, {share} of contexts: {how}"


def notes(explanation: Explanation) -> list[str]:
    """What matters, where there are more than two columns; and the agreement, where it is not nearly perfect."""
    lines = []
    if len(explanation.columns) > 2 and explanation.importance:
        lines.append(what_matters(explanation.importance))
    if explanation.agreement is not None and explanation.agreement < CLEAR:
        lines.append(f"These rules name the arm played most in {percent(explanation.agreement)} of contexts.")
    return lines


def what_matters(importance: dict[str, float]) -> str:
    """The columns that change most, the first ones.

    >>> what_matters({"hour": 0.22, "country": 0.31, "noise": 0.0})
    'matters most: country 0.31, hour 0.22'
    """
    order = sorted(importance, key=lambda name: -importance[name])
    worth = [name for name in order if importance[name] >= LITTLE]
    more = ", ..." if len(worth) > MATTER else ""
    said = ", ".join(f"{name} {importance[name]:.2f}" for name in worth[:MATTER])
    return f"matters most: {said}{more}" if worth else "no column changes the arm that is played"


def percent(share: float) -> str:
    """A share as people write it.

    >>> percent(0.0831), percent(0.004), percent(0.0)
    ('8 %', '0.4 %', '0 %')
    """
    return f"{100.0 * share:.1f} %" if 0.0005 < share < 0.0095 or 0.985 < share < 0.9995 else f"{100.0 * share:.0f} %"


def verdict(region: Region, *, share: bool = False) -> str:
    """What a rule says of its region.

    >>> from .result import Region
    >>> verdict(Region(boxes=(((0.0, 1.0),),), arm=2, probability=0.987, share=0.5), share=True)
    'play 2 (sure 0.99, share 0.50)'
    """
    more = f", share {region.share:.2f}" if share else ""
    earned = "" if region.earned is None else f", {region.earned}"
    return f"play {region.arm!r} (sure {region.probability:.2f}{more}){earned}" if region.seen else "never seen"
