"""Explanations of a policy over a structure: its probabilities at sampled contexts become rules."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import whole
from ..policy import Policy, tables
from ..policy.learner import LoggedRows
from ..structures import Structure
from ..structures.carry import parts
from ..structures.spaces import Cells
from ..types import Floats
from .columns import Column, Play, columns_of
from .effort import Effort, Progress, query_cost
from .measures import measure
from .played import MOST_CELLS, RULES, extract_rules
from .result import TOP, Explanation, Region
from .samplers import world_of

AT_ONCE = 1 << 15  # contexts
ROWS = 1024  # contexts on which a mapping is compared with what is played


def player(policy: Policy, *, raw: bool = False) -> Play:
    """Return a function from a table of contexts to the policy's probabilities of its default arms, a row each.

    `raw=True`: the rows of the table are as the policy stores them, not as a user passes them.

    >>> import hsb
    >>> player(hsb.HSB(hsb.BinaryTree(depth=2), arms=2, learning_rate=0.1))(np.array([[0.3], [0.8]]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    mask = policy.arm_set.default_mask
    masks = np.ones((1, len(policy.arms)), dtype=np.uint8) if mask is None else mask[None, :]

    def play(points: Floats) -> Floats:
        probabilities = np.empty((len(points), len(policy.arms)))
        for start in range(0, len(points), AT_ONCE):
            some = points[start : start + AT_ONCE] if raw else tables.check(policy, points[start : start + AT_ONCE])[0]
            nothing = np.zeros(len(some), dtype=np.int64)
            rows = LoggedRows(some, masks, nothing, nothing, np.zeros(len(some)))
            probabilities[start : start + AT_ONCE] = tables.distributions(policy, rows)
        return probabilities

    return play


def edges_of(structure: Structure, advisor: Sequence[int] = ()) -> list[Floats] | None:
    """Return for each feature the ends of its cells, in the user's units: within a cell all contexts are the same to structure and advisor.

    `advisor`: the number of equal parts into which an advisor divides each feature. Returns None if a feature has too many cells.

    >>> import hsb
    >>> edges_of(hsb.BinaryTree(depth=1, space=hsb.Box(18, 90)), advisor=[3])
    [array([18., 42., 54., 66., 90.])]
    """
    space = structure.space
    if isinstance(space, Cells):
        return [np.arange(space.n + 1.0)] if space.n <= MOST_CELLS else None
    divisions = [parts(component) for component in _components(structure)] + ([list(advisor)] if advisor else [])
    counts = [sorted(set(of_one)) for of_one in zip(*divisions, strict=True)]
    if any(sum(of_one) > 2 * MOST_CELLS for of_one in counts):
        return None
    fractions = [np.unique(np.concatenate([np.arange(count + 1) / count for count in of_one])) for of_one in counts]
    low, high = space.ends()
    edges = [low[j] + cuts * (high[j] - low[j]) for j, cuts in enumerate(fractions)]
    return edges if math.prod(len(ends) - 1 for ends in edges) < math.inf else None


def _components(structure: Structure) -> list[Structure]:
    """Return the structures that a structure combines, itself if it combines none."""
    return [leaf for part in structure.structures for leaf in _components(part)] if structure.structures else [structure]


def explain_played(
    policy: Policy,
    structure: Structure,
    *,
    edges: Sequence[Floats] | None,
    names: Sequence[str] | None = None,
    contexts: Any = None,
    rules: int | None = RULES,
    top: int | None = TOP,
    design_columns: int = 0,
    effort: float = 1.0,
    progress: Progress | None = None,
) -> Explanation:
    """Return the rules that a policy over a structure's space plays; a single rule before the first update.

    `design_columns`: the number of columns that its models see.
    """
    columns = columns_of(structure.space, names)
    bare = Explanation((), None, tuple(policy.arms), structure, structure, columns, top=top)  # raises if `top` is invalid
    check_rules(rules)
    if policy.rounds == 0:
        return replace(bare, regions=prior_rule(columns, policy.arms))
    sample = None if contexts is None else tables.check(policy, contexts)[0]
    work = Effort(effort, query_cost=query_cost(design_columns, len(policy.arms)), columns=len(columns), progress=progress)
    explanation = extract_rules(columns, player(policy), policy.arms, sample=sample, edges=edges, rules=rules, work=work)
    return replace(explanation, structure=structure, chosen=structure, top=top)


def check_rules(rules: int | None) -> None:
    """Raise `InputError` unless `rules` is None or a whole number of at least 1."""
    if rules is not None:
        whole("rules", rules, 1)


def prior_rule(columns: Sequence[Column], arms: Sequence[Hashable]) -> tuple[Region]:
    """Return the only rule of a policy without updates."""
    everything = tuple(column.everything for column in columns)
    return (Region((everything,), arms[0], 1.0 / len(arms), seen=False, coverage=1.0),)


def explain_mapping(
    policy: Policy, mapping: Explanation, *, names: Sequence[str] | None = None, contexts: Any = None, top: int | None = TOP
) -> Explanation:
    """Add to a mapping its coverage, its agreement with what is played, and the importance of each feature."""
    assert mapping.structure is not None
    renamed = replace(mapping, columns=columns_of(mapping.structure.space, names), top=top)
    sample = None if contexts is None else tables.check(policy, contexts)[0]
    return measure(renamed, player(policy), world_of(renamed.columns, sample), np.random.default_rng(0), ROWS)
