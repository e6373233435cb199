"""Rules extracted from any policy by querying its probabilities.

A single column of numbers is searched for intervals, and few enough cells are queried one by one. Otherwise a tree is grown on sampled
contexts (`growing.py`). It stops growing if it agrees with the most probable arm on fresh contexts, if further rules add too little, if it
has `rules` rules, or if the budget is spent (`effort.py`).
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
from .effort import Effort, query_cost
from .growing import Growing
from .joining import join
from .lines import intervals
from .measures import MOST_QUERIES, measure
from .result import TOP, Explanation, Region, ordered
from .samplers import World, describe_columns, world_of

GOAL = 0.99  # agreement at which a tree is large enough
CAREFUL = 0.4  # of the allowed error, on training contexts: a tree looks better on them than on fresh ones
GAIN = 0.01  # agreement that doubling the rules once or twice must add
RULES = 12  # by default
FRESH = 4096  # contexts of the first tree, and contexts to measure agreement on
MEASURED, WEIGHED = (0.15, 0.35)  # of the effort, at most: for measuring agreement, and for the importance of columns
MOST_LEAVES = 1 << 14  # at most: borders that are linear in several features take thousands
EVERYWHERE = 1 << 12  # leaves at most without a sample of contexts: more of them add nothing
FEW_CELLS, MOST_CELLS = 4096, 1 << 16  # cells for an exact answer in several columns, and cells that are queried one by one

PartsAndArms = list[tuple[Part, int]]  # with the index of each part's arm


def extract_rules(
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
    """Extract rules from the probabilities that `play` returns.

    - `columns`: the columns of a context. `play` takes contexts as rows of numbers (`explain/columns.py`) and returns the probability of
      each arm, a row each.
    - `sample`: typical contexts, rows like those of `play`. Default: contexts lie anywhere between the ends of the columns.
    - `edges`: for each column the ends of its cells; within a cell `play` is constant. None: no such cells.
    - `read`: turns a user's context into a row.
    - `rules`: the maximal number of rules, whatever their agreement; None: as many as add to the agreement.
    - `work`: the budget; None: an effort of 1.

    >>> age = Column("age", low=18.0, high=90.0)
    >>> young = lambda rows: np.where(rows < 36.0, [[0.9, 0.1]], [[0.2, 0.8]])
    >>> print(extract_rules([age], young, ["tea", "coffee"]))
    18 <= age < 36: play 'tea' (probability 0.90)
    36 <= age <= 90: play 'coffee' (probability 0.80)
    """
    rng, columns = np.random.default_rng(seed), describe_columns(columns, sample)
    world, most = world_of(columns, sample), rules if rules is not None else EVERYWHERE if sample is None else MOST_LEAVES
    work = Effort(1.0, query_cost=query_cost(0, len(labels)), columns=len(columns)) if work is None else work
    agreement: float | None = None
    cells = math.inf if edges is None else math.prod(len(ends) - 1 for ends in edges)
    parts_and_arms: PartsAndArms = []
    if len(columns) == 1 and columns[0].kind == "number":
        sides = intervals(columns[0], play, world, None if edges is None else edges[0], rng)
        parts_and_arms = [((side,), arm) for side, arm in sides]
        agreement = None if edges is None else 1.0
    if parts_and_arms and (rules is None or len(parts_and_arms) <= rules):
        pass
    elif edges is not None and cells <= (MOST_CELLS if sample is None else FEW_CELLS):
        error = 0.0 if cells <= FEW_CELLS else 1.0 - GOAL
        parts_and_arms, agreement = _rules_of_cells(columns, play, edges, error, MOST_CELLS if rules is None else rules)
        agreement = agreement if sample is None or agreement == 1.0 else None  # measured on equally weighted cells
    else:
        parts_and_arms, agreement = _rules_of_tree(columns, play, world, edges, rng, most, work), None
    regions = [
        Region((part,), labels[arm], 1.0)
        for arm in sorted({arm for _, arm in parts_and_arms})
        for part, _ in join([part for part, other in parts_and_arms if other == arm])
    ]
    bare = Explanation(tuple(regions), None, tuple(labels), columns=columns, top=top, read=read)
    rows, queries = work.affordable_queries(MEASURED, FRESH), work.affordable_queries(WEIGHED, MOST_QUERIES)
    explanation = measure(bare, play, world, rng, rows, queries=queries, with_probability=True, agreement=agreement)
    work.report(1.0)
    return replace(explanation, regions=ordered(columns, explanation.regions))


def _rules_of_cells(
    columns: Sequence[Column], play: Play, edges: Sequence[Floats], error: float, most: int
) -> tuple[PartsAndArms, float]:
    """Grow a tree on every cell, weighted by its share of the space: nothing is sampled, and the agreement is exact."""
    middles = [(ends[:-1] + ends[1:]) / 2.0 for ends in edges]
    middles = [np.floor(points) if column.whole else points for column, points in zip(columns, middles, strict=True)]
    widths = [np.diff(ends) / (ends[-1] - ends[0]) for ends in edges]
    points, weights = (
        np.stack([side.ravel() for side in np.meshgrid(*axes, indexing="ij")], axis=1) for axes in (middles, widths)
    )
    tree = Growing(columns, edges, points, np.argmax(play(points), axis=1), weights.prod(axis=1))
    tree.grow(error, most)
    return tree.arms_of_parts(), 1.0 - tree.wrong


def _rules_of_tree(
    columns: Sequence[Column],
    play: Play,
    world: World,
    edges: Sequence[Floats] | None,
    rng: np.random.Generator,
    most: int,
    work: Effort,
) -> PartsAndArms:
    """Grow a tree on more and more sampled contexts, until enough fresh ones agree or further rules add too little."""
    drawn = 0

    def arms_of(points: Floats, parts: int = 1) -> tuple[Floats, Ints]:
        nonlocal drawn
        drawn += len(points)
        work.charge_queries(len(points), parts)
        return coded(columns, points), np.argmax(play(points), axis=1)

    def query(wanted: Sequence[tuple[Part, int]]) -> list[tuple[Floats, Ints]]:
        X, y = arms_of(np.concatenate([world.within(part, n, rng) for part, n in wanted]), len(wanted))
        ends = np.cumsum([n for _, n in wanted])[:-1]
        return list(zip(np.split(X, ends), np.split(y, ends), strict=True))

    rows = work.affordable_queries(MEASURED, FRESH)
    fresh, right = arms_of(world.fresh(rows, rng))
    X, y = arms_of(world.draw(rows, rng))
    tree = Growing(columns, [None] * len(columns) if edges is None else edges, X, y, np.full(len(y), 1.0 / len(y)), work)
    stages: list[tuple[float, PartsAndArms]] = []
    aim = min(RULES, most)
    while True:
        tree.grow(CAREFUL * (1.0 - GOAL), aim, query)
        stages.append((float(np.mean(tree.arms(fresh) == right)), tree.arms_of_parts()))
        if stages[-1][0] >= GOAL or len(tree.leaves) >= most or work.over or _is_idle([agreement for agreement, _ in stages]):
            break
        aim = min(2 * aim, most) if len(tree.leaves) >= aim else aim
        tree.add(*arms_of(world.draw(max(rows, drawn // 2), rng)))
    enough = max(agreement for agreement, _ in stages) - GAIN
    return next(parts_and_arms for agreement, parts_and_arms in stages if agreement >= enough)


def _is_idle(agreements: Sequence[float]) -> bool:
    """Return whether the last two steps added too little."""
    return len(agreements) > 2 and max(agreements[-2:]) < agreements[-3] + GAIN
