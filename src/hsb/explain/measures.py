"""What is measured of rules: how large they are, how surely they are played, how often they are right, and which columns matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..types import Floats, Ints
from .columns import Column, Play, coded
from .lookup import Lookup
from .result import Explanation
from .samplers import World

FEW = 16  # contexts below which more are drawn within a region, to see how surely its arm is played
MOST_ASKED = 1 << 16  # contexts that are asked to see which columns matter, all columns together
LEAST_ROWS = 32  # and for each of them


def measured(
    explanation: Explanation,
    play: Play,
    world: World,
    rng: np.random.Generator,
    rows: int,
    *,
    asked: int = MOST_ASKED,
    ask_how_sure: bool = False,
    agreement: float | None = None,
) -> Explanation:
    """The same rules with their shares, importance and, unless it is known, agreement; if wished also how surely each is played.

    On `rows` contexts; `asked` contexts tell which columns matter.
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
    most, where = np.argmax(probabilities, axis=1), lookup.find(coded(columns, points))
    shares = world.shares(boxes)
    regions = tuple(replace(region, share=float(share)) for region, share in zip(regions, shares, strict=True))
    if ask_how_sure:
        thin = np.flatnonzero(np.bincount(where, minlength=len(regions)) < FEW)
        more = [world.within(regions[i].boxes[0], FEW, rng) for i in thin]
        if more:
            probabilities, where = (
                np.concatenate([probabilities, play(np.concatenate(more))]),
                np.append(where, np.repeat(thin, FEW)),
            )
        sure = np.bincount(where, probabilities[np.arange(len(where)), arm[where]]) / np.bincount(where)
        regions = tuple(replace(region, probability=float(each)) for region, each in zip(regions, sure, strict=True))
    matters = importance(columns, play, points, most[: len(points)], rng, asked)
    return replace(explanation, regions=regions, agreement=agreement, importance=matters)


def importance(
    columns: Sequence[Column], play: Play, points: Floats, most: Ints, rng: np.random.Generator, asked: int = MOST_ASKED
) -> dict[str, float]:
    """For each column, the share of contexts whose most probable arm changes when the column's value is another context's.

    >>> x, y = Column("x", low=0.0, high=1.0), Column("y", low=0.0, high=1.0)
    >>> points, above = np.random.default_rng(0).random((1000, 2)), lambda rows: np.stack([rows[:, 0] < 0.5, rows[:, 0] >= 0.5], axis=1)
    >>> {name: round(share, 1) for name, share in importance((x, y), above, points, above(points)[:, 1], np.random.default_rng(0)).items()}
    {'x': 0.5, 'y': 0.0}
    """
    n = min(len(points), max(LEAST_ROWS, asked // len(columns)))
    found = {}
    for j, column in enumerate(columns):
        others = points[:n].copy()
        others[:, j] = rng.permutation(points[:, j])[:n]
        other = np.flatnonzero(~((others[:, j] == points[:n, j]) | (np.isnan(others[:, j]) & np.isnan(points[:n, j]))))
        changed = np.argmax(play(others[other]), axis=1) != most[other] if len(other) else np.zeros(0)
        found[column.name] = float(np.sum(changed)) / n
    return found
