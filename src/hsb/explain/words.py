"""Rules in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .columns import Column, Part, Parts

if TYPE_CHECKING:
    from .result import Explanation, Region

FEWEST, MOST = 6, 17  # significant digits of a bound: the fewest that keep different bounds different
CLEAR = 0.995  # a higher agreement is not printed
MATTER = 5  # columns that `what_matters` names
LITTLE = 0.005  # a smaller importance is not printed


def conditions(columns: Sequence[Column], regions: Sequence[Parts]) -> list[tuple[str, ...]]:
    """Write the conditions of each region: one for each column that it narrows; a single one for a region of several boxes.

    >>> age, spend = Column("age", low=18.0, high=90.0), Column("spend", low=0.0, high=1.0)
    >>> conditions([age], [(((18.0, 36.0),),), (((36.0, 90.0),),)])
    [('18 <= age < 36',), ('36 <= age <= 90',)]
    >>> conditions([age, spend], [(((18.0, 36.0), (0.0, 1.0)),), (((36.0, 90.0), (0.5, 1.0)),)])
    [('age < 36',), ('age >= 36', 'spend >= 0.5')]
    """
    digits = [_digits({end for boxes in regions for box in boxes for end in _ends(box, j)}) for j in range(len(columns))]

    def of(box: Part) -> tuple[str, ...]:
        texts = (
            column.condition(side, n, short=len(columns) > 1) for column, side, n in zip(columns, box, digits, strict=True)
        )
        return tuple(text for text in texts if text)

    result = []
    for boxes in regions:
        parts = [of(box) for box in boxes]
        alternatives = [f"({' and '.join(part)})" if len(part) > 1 else "".join(part) for part in parts]
        result.append(parts[0] if len(parts) == 1 else (" or ".join(alternatives),))
    return result


def _ends(box: Part, j: int) -> tuple[float, ...]:
    side = box[j]
    return () if isinstance(side, frozenset) else side


def _digits(bounds: set[float]) -> int:
    enough = (n for n in range(FEWEST, MOST) if len({f"{bound:.{n}g}" for bound in bounds}) == len(bounds))
    return next(enough, MOST)


def write_rules(explanation: Explanation, how: str = "explain(top=None)") -> str:
    """Write the largest rules, a line for the others with the call `how` that shows them, the importances, and the agreement."""
    coverage = len(explanation.columns) > 1
    shown, rest = split_shown(explanation)
    lines = [f"{region.where}: {verdict(region, coverage=coverage)}" for region in shown]
    return "\n".join([*lines, *([remainder_line(rest, how)] if rest else []), *notes(explanation)])


def split_shown(explanation: Explanation) -> tuple[list[Region], list[Region]]:
    """Return the `top` largest rules, in their order, and the others."""
    rules = list(explanation.rules)
    if explanation.top is None or len(rules) <= explanation.top:
        return rules, []
    largest = set(sorted(range(len(rules)), key=lambda i: (-rules[i].coverage, i))[: explanation.top])
    return [rules[i] for i in sorted(largest)], [region for i, region in enumerate(rules) if i not in largest]


def remainder_line(rest: Sequence[Region], how: str) -> str:
    """Write one line for the rules that are not shown."""
    coverage = percent(sum(region.coverage for region in rest))
    return f"... and {len(rest)} smaller one{'s' * (len(rest) > 1)}, {coverage} of contexts: {how}"


def notes(explanation: Explanation) -> list[str]:
    """Return a line with the importances if there are more than two columns, and one with the agreement unless it is nearly perfect."""
    lines = []
    if len(explanation.columns) > 2 and explanation.importance:
        lines.append(what_matters(explanation.importance))
    if explanation.agreement is not None and explanation.agreement < CLEAR:
        lines.append(f"In {percent(explanation.agreement)} of contexts the rule's arm is the policy's most probable one.")
    return lines


def what_matters(importance: dict[str, float]) -> str:
    """Name the most important columns with their importances.

    >>> what_matters({"hour": 0.22, "country": 0.31, "noise": 0.0})
    'matters most: country 0.31, hour 0.22'
    """
    order = sorted(importance, key=lambda name: -importance[name])
    worth = [name for name in order if importance[name] >= LITTLE]
    more = ", ..." if len(worth) > MATTER else ""
    text = ", ".join(f"{name} {importance[name]:.2f}" for name in worth[:MATTER])
    return f"matters most: {text}{more}" if worth else "no column changes the arm that is played"


def percent(share: float) -> str:
    """Write a share in percent.

    >>> percent(0.0831), percent(0.004), percent(0.0)
    ('8 %', '0.4 %', '0 %')
    """
    return f"{100.0 * share:.1f} %" if 0.0005 < share < 0.0095 or 0.985 < share < 0.9995 else f"{100.0 * share:.0f} %"


def verdict(region: Region, *, coverage: bool = False) -> str:
    """Write a rule's arm, its probability and, with `coverage=True`, its coverage.

    >>> from .result import Region
    >>> verdict(Region(boxes=(((0.0, 1.0),),), arm=2, probability=0.987, coverage=0.5), coverage=True)
    'play 2 (probability 0.99, coverage 0.50)'
    """
    more = f", coverage {region.coverage:.2f}" if coverage else ""
    earned = "" if region.earned is None else f", {region.earned}"
    return f"play {region.arm!r} (probability {region.probability:.2f}{more}){earned}" if region.seen else "never seen"
