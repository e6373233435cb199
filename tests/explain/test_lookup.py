"""Which of many regions a context lies in."""

import numpy as np

import hsb
from hsb.explain.columns import Column
from hsb.explain.lookup import Lookup

COLUMNS = [Column("x", low=0.0, high=1.0), Column("y", low=0.0, high=1.0)]


def test_it_finds_what_looking_one_by_one_finds():
    rng = np.random.default_rng(0)
    regions = [(((0.0, 0.5), (0.0, 1.0)),), (((0.5, 1.0), (0.0, 0.3)), ((0.5, 1.0), (0.6, 1.0)))]
    rows = rng.random((500, 2))
    expected = [
        next(
            (
                k
                for k, parts in enumerate(regions)
                if any(all(a <= v < b for v, (a, b) in zip(row, part, strict=True)) for part in parts)
            ),
            -1,
        )
        for row in rows
    ]
    assert Lookup(COLUMNS, regions).find(rows).tolist() == expected


def test_an_explanation_uses_it():
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, learning_rate=0.3, seed=0)
    explanation = policy.explain()
    assert explanation.arms_at([0.1, 0.9]) == [explanation.arm_at(0.1), explanation.arm_at(0.9)]
