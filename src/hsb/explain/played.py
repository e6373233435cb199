"""What a policy plays, in rules, whatever it is made of: found by asking it.

One column of numbers is asked for its intervals, cells that can be counted are asked one by one, and otherwise a tree is grown on
contexts that are drawn (`growing.py`) until it agrees with the most probable arm, as measured on contexts drawn afresh; or until more rules
say no more; or there are as many as were asked for; or the work is done (`effort.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..types import Floats, Ints
from .columns import Column, Part, Play, coded
from .effort import Effort, question
from .growing import Growing
from .joining import joined
from .lines import intervals
from .measures import MOST_ASKED, measured
from .result import TOP, Explanation, Region, ordered
from .samplers import World, described, world_of

GOAL = 0.99  # agreement at which a tree is large enough
CAREFUL = 0.4  # of the error allowed: a tree seems better on the contexts that it was grown on
GAIN = 0.01  # agreement that twice as many rules must add, or twice as many again
RULES = 12  # unless told otherwise
FRESH = 4096  # contexts that it begins with, and that agreement is measured on
MEASURED, WEIGHED = (
    0.15,
    0.35,
)  # of the effort, at most: for contexts to measure agreement on, and for seeing which columns matter
MOST_LEAVES = 1 << 14  # where it ends at the latest: borders that are linear in several features take thousands
EVERYWHERE = 1 << 12  # leaves, where contexts may lie anywhere: more of them say no more there
FEW_CELLS, MOST_CELLS = 4096, 1 << 16  # cells for an exact answer in several columns, and cells that are asked one by one

Found = list[tuple[Part, int]]  # parts, and the numbers of their arms


def played(
    columns: Sequence[Column],
    play: Play,
    labels: Sequence[Hashable],
    *,
    sample: Floats | None = None,
    edges: Sequence[Floats] | None = None,
    read: Callable[[Any], ArrayLike] | None = None,
    rules: int | None = RULES,
    top: int | None = TOP,
    work: Effort | None = None,
    seed: int = 0,
) -> Explanation:
    """The rules of whatever `play` plays.

    - `columns` say what a context consists of; `play` takes contexts as rows of numbers, one a column (`explain/columns.py`), and gives
      the probability of each arm, a row each.
    - `sample`: contexts as they come, rows like those of `play`. Without it contexts may lie anywhere between the ends of the columns.
    - `edges`: for each column the ends of the cells within which nothing changes, where there are such cells.
    - `read` turns a context as the user has it into a row.
    - `rules`: the most rules there may be, however often they are wrong; None: as many as are worth it.
    - `work`: how much may be done; None: an effort of 1.

    >>> age = Column("age", low=18.0, high=90.0)
    >>> young = lambda rows: np.where(rows < 36.0, [[0.9, 0.1]], [[0.2, 0.8]])
    >>> print(played([age], young, ["tea", "coffee"]))
    18 <= age < 36: play 'tea' (sure 0.90)
    36 <= age <= 90: play 'coffee' (sure 0.80)
    """
    rng, columns = np.random.default_rng(seed), described(columns, sample)
    world, most = world_of(columns, sample), rules if rules is not None else EVERYWHERE if sample is None else MOST_LEAVES
    work = Effort(1.0, question=question(0, len(labels)), columns=len(columns)) if work is None else work
    agreement: float | None = None
    cells = math.inf if edges is None else math.prod(len(each) - 1 for each in edges)
    found: Found = []
    if len(columns) == 1 and columns[0].kind == "number":
        sides = intervals(columns[0], play, world, None if edges is None else edges[0], rng)
        found = [((side,), arm) for side, arm in sides]
        agreement = None if edges is None else 1.0
    if found and (rules is None or len(found) <= rules):
        pass
    elif edges is not None and cells <= (MOST_CELLS if sample is None else FEW_CELLS):
        error = 0.0 if cells <= FEW_CELLS else 1.0 - GOAL
        found, agreement = _cell_by_cell(columns, play, edges, error, MOST_CELLS if rules is None else rules)
        agreement = agreement if sample is None or agreement == 1.0 else None  # of cells that all count the same
    else:
        found, agreement = _grown(columns, play, world, edges, rng, most, work), None
    regions = [
        Region((part,), labels[arm], 1.0)
        for arm in sorted({arm for _, arm in found})
        for part, _ in joined([part for part, other in found if other == arm])
    ]
    bare = Explanation(tuple(regions), None, tuple(labels), columns=columns, top=top, read=read)
    rows, asked = work.questions(MEASURED, FRESH), work.questions(WEIGHED, MOST_ASKED)
    found_out = measured(bare, play, world, rng, rows, asked=asked, ask_how_sure=True, agreement=agreement)
    work.tell(1.0)
    return replace(found_out, regions=ordered(columns, found_out.regions))


def _cell_by_cell(
    columns: Sequence[Column], play: Play, edges: Sequence[Floats], error: float, most: int
) -> tuple[Found, float]:
    """A tree grown on every cell there is, each weighing what it fills of the space: nothing is drawn, and agreement is known."""
    middles = [(each[:-1] + each[1:]) / 2.0 for each in edges]
    middles = [np.floor(each) if column.whole else each for column, each in zip(columns, middles, strict=True)]
    widths = [np.diff(each) / (each[-1] - each[0]) for each in edges]
    points, weights = (
        np.stack([side.ravel() for side in np.meshgrid(*each, indexing="ij")], axis=1) for each in (middles, widths)
    )
    tree = Growing(columns, edges, points, np.argmax(play(points), axis=1), weights.prod(axis=1))
    tree.grow(error, most)
    return tree.found(), 1.0 - tree.wrong


def _grown(
    columns: Sequence[Column],
    play: Play,
    world: World,
    edges: Sequence[Floats] | None,
    rng: np.random.Generator,
    most: int,
    work: Effort,
) -> Found:
    """A tree grown on contexts drawn, more and more of them, until enough of fresh ones agree, or no more of them do than with fewer rules."""
    drawn = 0

    def arms_of(points: Floats, parts: int = 1) -> tuple[Floats, Ints]:
        nonlocal drawn
        drawn += len(points)
        work.asked(len(points), parts)
        return coded(columns, points), np.argmax(play(points), axis=1)

    def ask(wanted: Sequence[tuple[Part, int]]) -> list[tuple[Floats, Ints]]:
        X, y = arms_of(np.concatenate([world.within(part, n, rng) for part, n in wanted]), len(wanted))
        places = np.cumsum([n for _, n in wanted])[:-1]
        return list(zip(np.split(X, places), np.split(y, places), strict=True))

    rows = work.questions(MEASURED, FRESH)
    fresh, right = arms_of(world.fresh(rows, rng))
    X, y = arms_of(world.draw(rows, rng))
    tree = Growing(columns, [None] * len(columns) if edges is None else edges, X, y, np.full(len(y), 1.0 / len(y)), work)
    stages: list[tuple[float, Found]] = []
    aim = min(RULES, most)
    while True:
        tree.grow(CAREFUL * (1.0 - GOAL), aim, ask)
        stages.append((float(np.mean(tree.arms(fresh) == right)), tree.found()))
        if stages[-1][0] >= GOAL or len(tree.leaves) >= most or work.over or _is_idle([each for each, _ in stages]):
            break
        aim = min(2 * aim, most) if len(tree.leaves) >= aim else aim
        tree.add(*arms_of(world.draw(max(rows, drawn // 2), rng)))
    enough = max(agreement for agreement, _ in stages) - GAIN
    return next(found for agreement, found in stages if agreement >= enough)


def _is_idle(agreements: Sequence[float]) -> bool:
    """Did the last two steps add too little?"""
    return len(agreements) > 2 and max(agreements[-2:]) < agreements[-3] + GAIN
