"""Bounds for a learner with a tree over each input: it is never much worse than the best rule on any one feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import reproducible_math, theory
from ..engine.kernels.inputs import BITS
from ..engine.state.views import OptionsView
from ..explain.gain import largest_gain, largest_gain_of_cuts
from ..explain.pieces import log_options
from ..features.reader import DEPTH
from ..policy.certificate import Certificate
from ..structures import BinaryTree
from ..types import Floats
from .feature_state import CONSTANT, ENSEMBLE, FIXED_CUTS, MIXTURE
from .featured import Featured

_ln = reproducible_math.ln
AGAINST = (
    "the best rule on one feature (by category, rank or one fixed cut, as far as it tells values apart), or the best single arm"
)


def regret_bound(
    learner: Featured,
    horizon: float | None,
    *,
    regions: int | None = None,
    cuts: int | None = None,
    delay: float = 0.0,
    floor: float,
) -> float:
    """Return a bound against every rule on one feature: an arm for each category, and `regions` parts of a number by rank.

    `regions` defaults to the number of arms. With `cuts`, the bound is against every rule that cuts a number at
    `cuts` fixed values, distinguished by the leading bits that its tree looks at.
    """
    mixture, reader = learner.mixture, learner.reader
    regions = mixture.arms if regions is None else regions
    if cuts is None:
        costs = [
            _tree_name_cost(learner, k) + _rule_cost(learner, k, regions)
            for k, (kind, _) in enumerate(reader.shapes)
            if kind != "bits"
        ]
        cost = max(costs, default=_ln(2.0) + _tree_cost(learner, regions) - _ln(1.0 - FIXED_CUTS))
    else:
        costs = [_tree_name_cost(learner, k) for k, (kind, _) in enumerate(reader.shapes) if kind == "bits"]
        cost = max(costs, default=_ln(2.0) - _ln(FIXED_CUTS))
        cost += theory.cuts_cost(cuts, bits=BITS, arms=mixture.arms, dearer=_dearer(learner))
    return learner.bound(cost, horizon, floor=floor, delay=delay)


def certificate(
    learner: Featured, delta: float | None, *, arms: list[Any], units: str, who: str, groups: bool = False
) -> Certificate:
    """Return the certificate against every rule on one feature and every single arm, and against the advice of the ensemble.

    `groups`: its arms are groups of arms.
    """
    mixture, head = learner.mixture, OptionsView(learner.mixture.state.members[0])
    confidence, prices = mixture.confidence_cost(delta, who), 0.0 if delta is None else 1.0
    log_prior = np.log(head.prior)
    gains = log_options(head.F, np.array([head.row]), head.options)[0] - (1.0 + prices) * log_prior
    rules = gains[CONSTANT:] + _rule_gains(learner, prices)
    cost, advice = float(rules.max()) + confidence, float(gains[ENSEMBLE]) + confidence
    return mixture.certificate(
        cost,
        delta,
        against=AGAINST.replace("single arm", "single group of arms") if groups else AGAINST,
        units=units,
        shifted=learner.baseline.ever,
        advice=advice,
    )


def _rule_gains(learner: Featured, prices: float) -> Floats:
    """For the single arms, and for the rules of each tree, the largest gain + `prices` * price, whatever their weights in the head.

    Rules on a number's leading bits: those with one cut. With any number of cuts some rule loses nothing by its own estimates.
    """
    costs, reader = learner.mixture.arm_costs(), learner.reader
    _, _, single, *members = learner.mixture.state.members
    later = (1.0 + prices) * float(costs.max())  # the arm that a rule counts as having played before its feature came
    gains: Floats = np.zeros(1 + len(members))
    gains[0] = largest_gain(single, costs, prices=prices)
    of_a_cut = BITS * _ln(2.0) + 2.0 * float(
        costs.max()
    )  # ln of how many cuts there are, and of two arms: all of them may hold at once
    for k, (member, raw_input, (kind, size)) in enumerate(
        zip(members, reader.tree_inputs, reader.shapes, strict=True), start=1
    ):
        if kind == "bits":
            levels = size - int(reader.coarse[raw_input])
            gains[k] = largest_gain_of_cuts(member, costs, levels=levels) + prices * of_a_cut
        else:
            gains[k] = largest_gain(member, costs, prices=prices)
        gains[k] += later if raw_input >= learner.first else 0.0
    return gains


def _tree_name_cost(learner: Featured, tree: int) -> float:
    """Return the prior cost ln(1/weight) of a tree within MIXTURE; if its input appeared later, plus that of the arm before."""
    prior = OptionsView(learner.mixture.state.members[0]).prior
    cost = -_ln(float(prior[CONSTANT + 1 + tree]) / MIXTURE)
    return cost + (float(learner.mixture.arm_costs().max()) if learner.reader.tree_inputs[tree] >= learner.first else 0.0)


def _rule_cost(learner: Featured, tree: int, regions: int) -> float:
    """At most ln(1/beta) of the rules of a tree: an arm for each category and for those missing or unseen, or parts of a number."""
    reader = learner.reader
    if reader.shapes[tree][0] != "kary":
        return _tree_cost(learner, regions)
    known = len(reader.knowledge.raw_input_columns[reader.tree_inputs[tree]].codes) + 2
    return _ln(2.0) + known * float(learner.mixture.arm_costs().max())


def _tree_cost(learner: Featured, regions: int) -> float:
    return theory.worst_cost(BinaryTree(depth=DEPTH), arms=learner.mixture.arms, regions=regions, dearer=_dearer(learner))


def _dearer(learner: Featured) -> float:
    """Return the cost beyond ln M of the most costly arm, one that was added."""
    return float(learner.mixture.arm_costs().max()) - _ln(learner.mixture.arms)
