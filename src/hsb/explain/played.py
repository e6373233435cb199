"""What a policy plays, in rules, whatever it is made of: found by asking it.

One column of numbers is asked for its intervals, cells that can be counted are asked one by one, and otherwise a tree is grown on
contexts that are drawn (`growing.py`) until it agrees with the most probable arm, as measured on contexts drawn afresh.
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
from .growing import Growing
from .joining import joined
from .lines import intervals
from .measures import measured
from .result import TOP, Explanation, Region, ordered
from .samplers import World, described, world_of

GOAL = 0.99  # agreement at which a tree is large enough
CAREFUL = 0.4  # of the error allowed: a tree seems better on the contexts that it was grown on
FRESH = 4096  # contexts that it begins with, and that agreement is measured on
MOST_LEAVES, MOST_ASKED = (
    1 << 14,
    1 << 20,
)  # where it ends at the latest: borders that are linear in several features take thousands
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
    rules: int | None = None,
    top: int | None = TOP,
    seed: int = 0,
) -> Explanation:
    """The rules of whatever `play` plays.

    - `columns` say what a context consists of; `play` takes contexts as rows of numbers, one a column (`explain/columns.py`), and gives
      the probability of each arm, a row each.
    - `sample`: contexts as they come, rows like those of `play`. Without it contexts may lie anywhere between the ends of the columns.
    - `edges`: for each column the ends of the cells within which nothing changes, where there are such cells.
    - `read` turns a context as the user has it into a row.
    - `rules`: the most rules there may be, however often they are wrong.

    >>> age = Column("age", low=18.0, high=90.0)
    >>> young = lambda rows: np.where(rows < 36.0, [[0.9, 0.1]], [[0.2, 0.8]])
    >>> print(played([age], young, ["tea", "coffee"]))
    18 <= age < 36: play 'tea' (sure 0.90)
    36 <= age <= 90: play 'coffee' (sure 0.80)
    """
    rng, columns = np.random.default_rng(seed), described(columns, sample)
    world, most = world_of(columns, sample), rules if rules is not None else EVERYWHERE if sample is None else MOST_LEAVES
    agreement: float | None = None
    cells = math.inf if edges is None else math.prod(len(each) - 1 for each in edges)
    if rules is None and len(columns) == 1 and columns[0].kind == "number":
        sides = intervals(columns[0], play, world, None if edges is None else edges[0], rng)
        found: Found = [((side,), arm) for side, arm in sides]
        agreement = None if edges is None else 1.0
    elif edges is not None and cells <= (MOST_CELLS if sample is None else FEW_CELLS):
        error = 0.0 if cells <= FEW_CELLS else 1.0 - GOAL
        found, agreement = _cell_by_cell(columns, play, edges, error, MOST_CELLS if rules is None else rules)
        agreement = agreement if sample is None or agreement == 1.0 else None  # of cells that all count the same
    else:
        found = _grown(columns, play, world, edges, rng, most)
    regions = [
        Region((part,), labels[arm], 1.0)
        for arm in sorted({arm for _, arm in found})
        for part, _ in joined([part for part, other in found if other == arm])
    ]
    bare = Explanation(tuple(regions), None, tuple(labels), columns=columns, top=top, read=read)
    found_out = measured(bare, play, world, rng, FRESH, ask_how_sure=True, agreement=agreement)
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
    columns: Sequence[Column], play: Play, world: World, edges: Sequence[Floats] | None, rng: np.random.Generator, most: int
) -> Found:
    """A tree grown on contexts drawn, more and more of them, until enough of fresh ones agree."""
    asked = 0

    def arms_of(points: Floats) -> tuple[Floats, Ints]:
        nonlocal asked
        asked += len(points)
        return coded(columns, points), np.argmax(play(points), axis=1)

    def ask(wanted: Sequence[tuple[Part, int]]) -> list[tuple[Floats, Ints]]:
        X, y = arms_of(np.concatenate([world.within(part, n, rng) for part, n in wanted]))
        places = np.cumsum([n for _, n in wanted])[:-1]
        return list(zip(np.split(X, places), np.split(y, places), strict=True))

    X, y = arms_of(world.draw(FRESH, rng))
    tree = Growing(columns, [None] * len(columns) if edges is None else edges, X, y, np.full(len(y), 1.0 / len(y)))
    while True:
        tree.grow(CAREFUL * (1.0 - GOAL), most, ask)
        X, y = arms_of(world.fresh(FRESH, rng))
        enough = np.mean(tree.arms(X) == y) >= GOAL
        if enough or len(tree.leaves) >= most or asked >= MOST_ASKED:
            return tree.found()
        tree.add(*arms_of(world.draw(max(FRESH, asked // 4), rng)))
