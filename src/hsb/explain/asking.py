"""How a policy over a structure is asked what it plays."""

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
from .effort import Effort, Progress, question
from .measures import measured
from .played import MOST_CELLS, RULES, played
from .result import TOP, Explanation, Region
from .samplers import world_of

AT_ONCE = 1 << 15  # contexts
ROWS = 1024  # contexts on which a mapping is compared with what is played


def player(policy: Policy, *, raw: bool = False) -> Play:
    """What a policy plays on a table of contexts, a row each, of the arms that it offers now. Raw: the rows are as it keeps them.

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
    """For each feature, the ends of the cells within which no structure and no advisor tells contexts apart, in the user's units.

    `advisor`: into how many equal parts an advisor divides each feature of the space. None where there are too many cells in a feature.

    >>> import hsb
    >>> edges_of(hsb.BinaryTree(depth=1, space=hsb.Box(18, 90)), advisor=[3])
    [array([18., 42., 54., 66., 90.])]
    """
    space = structure.space
    if isinstance(space, Cells):
        return [np.arange(space.n + 1.0)] if space.n <= MOST_CELLS else None
    divisions = [parts(each) for each in _each(structure)] + ([list(advisor)] if advisor else [])
    counts = [sorted(set(of_one)) for of_one in zip(*divisions, strict=True)]
    if any(sum(of_one) > 2 * MOST_CELLS for of_one in counts):
        return None
    cuts = [np.unique(np.concatenate([np.arange(count + 1) / count for count in of_one])) for of_one in counts]
    low, high = space.ends()
    edges = [low[j] + each * (high[j] - low[j]) for j, each in enumerate(cuts)]
    return edges if math.prod(len(each) - 1 for each in edges) < math.inf else None


def _each(structure: Structure) -> list[Structure]:
    """The structures that it is made of."""
    return [one for each in structure.structures for one in _each(each)] if structure.structures else [structure]


def explain_played(
    policy: Policy,
    structure: Structure,
    *,
    edges: Sequence[Floats] | None,
    names: Sequence[str] | None = None,
    contexts: Any = None,
    rules: int | None = RULES,
    top: int | None = TOP,
    places: int = 0,
    effort: float = 1.0,
    progress: Progress | None = None,
) -> Explanation:
    """The rules that a policy over a structure's space plays; before anything was learned there is one. `places`: numbers its models see."""
    columns = columns_of(structure.space, names)
    bare = Explanation((), None, tuple(policy.arms), structure, structure, columns, top=top)  # refuses a bad `top` at once
    most_rules(rules)
    if policy.rounds == 0:
        return replace(bare, regions=nothing_learned(columns, policy.arms))
    sample = None if contexts is None else tables.check(policy, contexts)[0]
    work = Effort(effort, question=question(places, len(policy.arms)), columns=len(columns), progress=progress)
    found = played(columns, player(policy), policy.arms, sample=sample, edges=edges, rules=rules, work=work)
    return replace(found, structure=structure, chosen=structure, top=top)


def most_rules(rules: int | None) -> None:
    """Check how many rules are asked for."""
    if rules is not None:
        whole("rules", rules, 1)


def nothing_learned(columns: Sequence[Column], arms: Sequence[Hashable]) -> tuple[Region]:
    """The one region there is before the first round."""
    everything = tuple(column.everything for column in columns)
    return (Region((everything,), arms[0], 1.0 / len(arms), seen=False, share=1.0),)


def explain_mapping(
    policy: Policy, mapping: Explanation, *, names: Sequence[str] | None = None, contexts: Any = None, top: int | None = TOP
) -> Explanation:
    """A mapping found in a policy's state, with what can be measured of it: shares, agreement with what is played, which features matter."""
    assert mapping.structure is not None
    told = replace(mapping, columns=columns_of(mapping.structure.space, names), top=top)
    sample = None if contexts is None else tables.check(policy, contexts)[0]
    return measured(told, player(policy), world_of(told.columns, sample), np.random.default_rng(0), ROWS)
