"""One round on all intervals: tables follow from the masses, and the passes in logarithms are the plain ones."""

import math

import numpy as np
import pytest
from support.kernel_cases import EVERY, INTERPRETED, distribution, step

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels import intervals
from hsb.engine.state.views import IntervalsView

pytestmark = INTERPRETED
STRUCTURES = [hsb.Lexicographic(leaves=6), hsb.GroupedLexicographic(leaves=6, groups=3)]
each_structure = pytest.mark.parametrize("structure", STRUCTURES, ids=["pairs", "three parts"])
LEAF = np.array([2])


def member_of(structure, rounds=((0, 1), (5, 2), (2, 1), (3, 0))):
    """Return the intervals after a few rounds."""
    (member,) = structure.members(3, None)
    for leaf, arm in rounds:
        step(member, np.array([leaf]), arm, 1.2)
    return member


def indices_of(member):
    first, last = np.triu_indices(6)
    return first * 6 + last


@each_structure
def test_a_visit_finds_the_intervals_that_contain_the_leaf(structure):
    F, I = member_of(structure)
    count = intervals.visit(F, I, LEAF, 0.5)
    assert count == 3 * 4
    weights = F[I[h.WEIGHT] : I[h.WEIGHT] + count]
    blocks = I[I[h.BASES] : I[h.BASES] + count].tolist()
    assert len(set(blocks)) == count and (weights * [F[b : b + 3].sum() for b in blocks]).sum() == pytest.approx(0.5, rel=1e-12)


@each_structure
def test_tables_follow_from_the_masses(structure):
    member = member_of(structure)
    before = IntervalsView(member).tables.copy()
    intervals.refill(*member)
    np.testing.assert_allclose(IntervalsView(member).tables, before, rtol=1e-13)
    logs, indices = np.empty(21), indices_of(member)
    intervals.log_masses(*member, indices, logs)
    intervals.set_masses(*member, indices, logs + math.log(2.0))  # every mass twice as large: that of a leaf is fixed
    masses = np.empty(21)
    intervals.log_masses(*member, indices, masses)
    np.testing.assert_allclose(masses, logs + math.log(2.0), rtol=1e-12)


def test_of_two_leaves_the_whole_is_its_own_mass_and_the_product_of_the_leaves():
    (member,) = hsb.Lexicographic(leaves=2).members(4, None)
    view = IntervalsView(member)
    assert view.unit == 0.5 and view.whole == pytest.approx((0.25 + 0.5 * 0.5) / 2, rel=1e-14)  # stop or split, 1/2 each


@pytest.mark.parametrize("log", [-10.0, -900.0, -5000.0])
def test_a_mass_is_kept_however_small(log):
    member, index = member_of(STRUCTURES[0]), np.array([5])
    intervals.set_masses(*member, index, np.array([log]))
    mass = np.empty(1)
    intervals.log_masses(*member, index, mass)
    assert mass[0] == pytest.approx(log, rel=1e-12)
    assert (IntervalsView(member).sigma_e[5] > 0.0) == (log < math.log(intervals.SIGMA_TINY))


@each_structure
def test_the_passes_in_logarithms_are_the_plain_ones(structure):
    one, other = member_of(structure), member_of(structure)
    F, I = other
    count = intervals.visit(F, I, LEAF, 0.25)
    weights = F[I[h.WEIGHT] : I[h.WEIGHT] + count].copy()
    masses = weights * [F[b : b + 3].sum() for b in I[I[h.BASES] : I[h.BASES] + count].tolist()]
    intervals.log_visit(F, I, LEAF, count, math.log(0.25))
    with np.errstate(divide="ignore"):  # an interval too short for three parts cannot be reached by two cuts
        assert F[I[h.WEIGHT] : I[h.WEIGHT] + count] == pytest.approx(np.log(masses), rel=1e-11)
    plain = step(one, LEAF, 0, 2.5)
    intervals.visit(F, I, LEAF, 1.0)
    assert intervals.ratio_log(F, I, LEAF, 0, 2.5, EVERY, 0.0) == pytest.approx(math.log(plain), rel=1e-11)
    for leaf in range(6):
        assert distribution(one, np.array([leaf])) == pytest.approx(distribution(other, np.array([leaf])), rel=1e-10)
