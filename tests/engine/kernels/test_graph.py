"""One round on a listed hierarchy: the passes in logarithms are the plain ones, and options follow their children."""

import math

import numpy as np
import pytest
from support.kernel_cases import EVERY, INTERPRETED, distribution, step

import hsb
from hsb.engine.kernels import graph
from hsb.engine.kernels import header as h

pytestmark = INTERPRETED
STRUCTURES = [hsb.PositionSplits(bits=[2, 1]), hsb.ArbitrarySplits(leaves=4)]
each_structure = pytest.mark.parametrize("structure", STRUCTURES, ids=["boxes", "subsets"])


def member_of(structure):
    """Return the graph after a few rounds."""
    (member,) = structure.members(3, None)
    for leaf, arm in ((0, 1), (3, 2), (1, 1)):
        step(member, np.array([leaf]), arm, 1.2)
    return member


@each_structure
def test_weights_in_logarithms_are_those_of_the_visit(structure):
    F, I = member_of(structure)
    count = graph.visit(F, I, np.array([2]), 0.25)
    weights = F[I[h.WEIGHT] : I[h.WEIGHT] + count].copy()
    masses = weights * [F[b : b + 3].sum() for b in I[I[h.BASES] : I[h.BASES] + count].tolist()]
    assert masses.sum() == pytest.approx(0.25, rel=1e-13) and F[h.REST] == 0.0
    graph.log_visit(F, I, count, math.log(0.25))
    assert F[I[h.WEIGHT] : I[h.WEIGHT] + count] == pytest.approx(np.log(masses), rel=1e-12)


@each_structure
def test_the_ratio_pass_in_logarithms_is_the_plain_one(structure):
    one, other = member_of(structure), member_of(structure)
    plain = step(one, np.array([3]), 0, 2.5)
    count = graph.visit(*other, np.array([3]), 1.0)
    assert graph.ratio_log(*other, count, 0, 2.5, EVERY, 0.0) == pytest.approx(math.log(plain), rel=1e-12)
    for leaf in range(4):
        assert distribution(one, np.array([leaf])) == pytest.approx(distribution(other, np.array([leaf])), rel=1e-11)


def test_a_leaf_of_its_own_shares_nothing_with_the_others_but_the_nodes_above():
    """In boxes of one bit the root and a cell are the nodes. The root stops with 1/2 at first."""
    (member,) = hsb.PositionSplits(bits=[1]).members(2, None)
    ratio = step(member, np.array([0]), 0, 1.0)
    own = (1.0 + math.exp(-1.0)) / 2.0
    assert ratio == pytest.approx(own, rel=1e-14)
    assert distribution(member, np.array([0])) == pytest.approx(
        np.array([math.exp(-1.0), 1.0]) / (1.0 + math.exp(-1.0)), rel=1e-13
    )
    # In the other cell, half of the weight is the root's, which learned, and half a leaf's, which did not.
    root = np.array([math.exp(-1.0), 1.0]) / (1.0 + math.exp(-1.0))
    assert distribution(member, np.array([1])) == pytest.approx(0.5 * root + 0.25, rel=1e-13)
