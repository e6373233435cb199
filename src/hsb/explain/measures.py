"""Measurements of rules: coverage, probability, agreement with what is played, and the importance of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..types import Floats, Ints
from .columns import Column, Play, coded
from .lookup import Lookup
from .result import Explanation
from .samplers import World

FEW = 16  # a region with fewer contexts gets more, to measure its arm's probability
MOST_QUERIES = 1 << 16  # for the importance of all columns together
LEAST_ROWS = 32  # contexts for each of them


def measure(
    explanation: Explanation,
    play: Play,
    world: World,
    rng: np.random.Generator,
    rows: int,
    *,
    queries: int = MOST_QUERIES,
    with_probability: bool = False,
    agreement: float | None = None,
) -> Explanation:
    """Measure the rules' coverage, the columns' importance and, unless it is passed, `agreement`, on `rows` contexts.

    `with_probability=True` also measures each rule's probability. Importance takes at most `queries` contexts.
    """
    columns, regions = explanation.columns, explanation.regions
    boxes = [region.boxes for region in regions]
    lookup = Lookup(columns, boxes)
    number = {arm: i for i, arm in enumerate(explanation.arms)}
    arm = np.array([number[region.arm] for region in regions])
    if agreement is None:
        fresh = world.fresh(rows, rng)
        agreement = float(np.mean(arm[lookup.find(coded(columns, fresh))] == np.argmax(play(fresh), axis=1)))
    points = world.likely(rows, rng)
    probabilities = play(points)
    most, region_of = np.argmax(probabilities, axis=1), lookup.find(coded(columns, points))
    shares = world.shares(boxes)
    regions = tuple(replace(region, coverage=float(share)) for region, share in zip(regions, shares, strict=True))
    if with_probability:
        thin = np.flatnonzero(np.bincount(region_of, minlength=len(regions)) < FEW)
        more = [world.within(regions[i].boxes[0], FEW, rng) for i in thin]
        if more:
            probabilities, region_of = (
                np.concatenate([probabilities, play(np.concatenate(more))]),
                np.append(region_of, np.repeat(thin, FEW)),
            )
        totals = np.bincount(region_of, probabilities[np.arange(len(region_of)), arm[region_of]])
        means = totals / np.bincount(region_of)
        regions = tuple(replace(region, probability=float(mean)) for region, mean in zip(regions, means, strict=True))
    matters = importance(columns, play, points, most[: len(points)], rng, queries)
    return replace(explanation, regions=regions, agreement=agreement, importance=matters)


def importance(
    columns: Sequence[Column], play: Play, points: Floats, most: Ints, rng: np.random.Generator, queries: int = MOST_QUERIES
) -> dict[str, float]:
    """Return for each column the share of contexts whose most probable arm changes if the column takes another context's value.

    >>> x, y = Column("x", low=0.0, high=1.0), Column("y", low=0.0, high=1.0)
    >>> points, above = np.random.default_rng(0).random((1000, 2)), lambda rows: np.stack([rows[:, 0] < 0.5, rows[:, 0] >= 0.5], axis=1)
    >>> {name: round(share, 1) for name, share in importance((x, y), above, points, above(points)[:, 1], np.random.default_rng(0)).items()}
    {'x': 0.5, 'y': 0.0}
    """
    n = min(len(points), max(LEAST_ROWS, queries // len(columns)))
    importances = {}
    for j, column in enumerate(columns):
        others = points[:n].copy()
        others[:, j] = rng.permutation(points[:, j])[:n]
        other = np.flatnonzero(~((others[:, j] == points[:n, j]) | (np.isnan(others[:, j]) & np.isnan(points[:n, j]))))
        changed = np.argmax(play(others[other]), axis=1) != most[other] if len(other) else np.zeros(0)
        importances[column.name] = float(np.sum(changed)) / n
    return importances
