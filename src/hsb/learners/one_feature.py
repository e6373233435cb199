"""What is proved of a learner with a tree over each input: it is never much worse than the best rule on any one feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import reproducible_math, theory
from ..engine.state.views import OptionsView
from ..policy.certificate import Certificate
from ..structures import BinaryTree, KaryTree
from ..structures.spaces import Cells
from .baseline import MOST
from .featured import CONSTANT, MIXTURE, Featured

AGAINST = "the best rule on one feature, or the best single arm"


def regret_bound(
    learner: Featured, horizon: float | None, *, regions: int | None = None, delay: float = 0.0, floor: float
) -> float:
    """A bound against every rule on one feature: `regions` parts of a number (None: as many as arms), an arm for each category."""
    mixture, reader = learner.mixture, learner.reader
    regions = mixture.arms if regions is None else regions
    costs = [_named(learner, slot) + _rule_cost(learner, slot, regions) for slot in range(reader.slots)]
    cost = max(costs, default=reproducible_math.ln(2.0) + _tree_cost(learner, regions))
    lean = 0.0 if mixture.implicit else MOST
    return mixture.rates.bound(cost, horizon, arms=mixture.arms, floor=floor, implicit=mixture.implicit, delay=delay, lean=lean)


def certificate(learner: Featured, delta: float | None, *, arms: list[Any], units: str, who: str) -> Certificate:
    """What the rounds learned prove against the rule on one feature that is most probable now, or a single arm."""
    cost = best_cost(learner, arms)
    return learner.mixture.certificate(cost, delta, against=AGAINST, units=units, who=who, shifted=learner.baseline.ever)


def best_cost(learner: Featured, arms: list[Any]) -> float:
    """ln(1/beta) of the rule on one feature that is most probable now, or of a single arm."""
    from ..explain import explain
    from ..explain.price import price

    state, costs = learner.mixture.state, learner.mixture.arm_costs()
    best = int(np.argmax(state.head[CONSTANT:]))
    named = _named(learner, best - 1)
    if best == 0:
        return named + float(costs.max())
    kind, size = learner.reader.shapes[best - 1]
    tree: KaryTree = (
        BinaryTree(depth=size, space=Cells(1 << size)) if kind == "binary" else KaryTree(k=size, depth=1, space=Cells(size))
    )
    return named + price(explain(tree, [state.members[2 + best]], arms, None), stop=None, arm_costs=costs)


def _named(learner: Featured, slot: int) -> float:
    """Prior cost of naming the tree of input `slot` (-1: the single arm) beside MIXTURE; if it appeared later, of the arm before too."""
    prior = OptionsView(learner.mixture.state.members[0]).prior
    named = -reproducible_math.ln(float(prior[CONSTANT + 1 + slot]) / MIXTURE)
    return named + (float(learner.mixture.arm_costs().max()) if slot >= learner.first else 0.0)


def _rule_cost(learner: Featured, slot: int, regions: int) -> float:
    """At most ln(1/beta) of rules on an input: an arm for each category and for those missing or unseen, or parts of a number."""
    reader = learner.reader
    if reader.shapes[slot][0] == "binary":
        return _tree_cost(learner, regions)
    known = len(reader.knowledge.slot_columns[slot].codes) + 2
    return reproducible_math.ln(2.0) + known * float(learner.mixture.arm_costs().max())


def _tree_cost(learner: Featured, regions: int) -> float:
    arms = learner.mixture.arms
    dearer = float(learner.mixture.arm_costs().max()) - reproducible_math.ln(arms)
    return theory.prior_bound(BinaryTree(depth=5), arms=arms, regions=regions, dearer=dearer)
