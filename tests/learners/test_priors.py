"""Priors of mixtures: their cost, their state, and the depth of an advisor."""

import math

import numpy as np
import pytest

import hsb
from hsb import theory
from hsb.learners.priors import CellsPrior, StructurePrior
from hsb.structures.leaves import Leaves
from hsb.theory.schedule import Constant, Falling

TREE = hsb.BinaryTree(depth=4)


def prior_of(structure=TREE, arms=3, regions=None, drift=None):
    return StructurePrior.of(structure, arms, regions=regions, drift=drift, stop=None)


def test_cells_cost_the_logarithm_of_the_arms_each():
    assert CellsPrior(Leaves(5)).bound(3) == pytest.approx(5 * math.log(3)) and CellsPrior().bound(3) == pytest.approx(
        math.log(3)
    )
    assert CellsPrior().keys().read("anything")[0].tolist() == [0] and CellsPrior().settings() == {}


@pytest.mark.parametrize("prior", [CellsPrior(Leaves(4)), prior_of(), prior_of(drift=0.01), prior_of(drift="auto")])
def test_a_fresh_state_is_uniform_over_the_arms(prior):
    p = np.empty(3)
    prior.fresh(3).fill(prior.keys().read(0.3)[0], None, p)
    assert p == pytest.approx([1 / 3] * 3, rel=1e-13)


def test_a_structure_costs_its_bound_for_as_many_regions_as_arms():
    assert prior_of().bound(3) == theory.prior_bound(TREE, arms=3, regions=3)
    assert prior_of(regions=2).bound(3) == theory.prior_bound(TREE, arms=3, regions=2) < prior_of().bound(3)
    with pytest.raises(hsb.InputError, match="regions"):
        prior_of(regions=0)


def test_a_rate_makes_the_schedule_constant():
    assert isinstance(prior_of().schedule(3, None), Falling) and isinstance(prior_of().schedule(3, 0.2), Constant)
    assert prior_of(drift="auto").schedule(3, None).head and not prior_of(drift=0.1).schedule(3, None).head


def test_only_the_default_has_an_advisor_of_models_if_there_are_several_features():
    square = hsb.BinaryTree(depth=4, space=hsb.Box.unit(2))
    assert prior_of(square, drift="auto").ensemble and not prior_of(drift="auto").ensemble and not prior_of(square).ensemble
    assert prior_of(drift="auto").advisor_parts() == [16]
    state = prior_of(square, drift="auto").fresh(2)
    assert [member.parent for member in state.members] == [-1, 0, 0] and sum(state.words) == prior_of(
        square, drift="auto"
    ).keys().words


def test_an_advisor_of_a_file_keeps_its_depth():
    prior, ints = prior_of(drift="auto"), np.zeros(32, dtype=np.int64)
    ints[12] = 2
    assert prior.of_file({"1.ints": ints}).depth == 2 and prior.depth == 4
    ints[12] = 9
    with pytest.raises(ValueError, match="does not fit its structure"):
        prior.of_file({"1.ints": ints})
