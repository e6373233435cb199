"""The passes of every kind of member keep the books: no mass is lost, and a round multiplies the weights as Bayes' rule has it."""

import numpy as np
import pytest
from naive import mixture as naive
from support.kernel_cases import EVERY, INTERPRETED, distribution, step
from support.structure_cases import EXAMPLES, Case

from hsb.engine.kernels import header as h
from hsb.engine.kernels import kinds

pytestmark = INTERPRETED
SINGLE = {name: case for name, case in EXAMPLES.items() if not name.startswith("one of")}
each_kind = pytest.mark.parametrize("case", SINGLE.values(), ids=SINGLE)


def member_and_keys(case: Case, arms: int = 3):
    """Return the only member of a state, with room for some rounds, and the key of each cell."""
    learner = case.policy(arms, learning_rate=0.3).learner
    state = learner.mixture.state
    state.grow(50)
    (member,) = state.members
    return member, [learner.read(context)[0] for context in case.middles]


def test_every_kind_is_among_the_cases():
    numbers = {member_and_keys(case)[0].number for case in SINGLE.values()}
    assert numbers == {h.DENSE, h.COMPRESSED, h.INTERVALS, h.GRAPH}


@each_kind
def test_the_mass_that_comes_in_is_all_on_nodes_or_on_the_rest(case):
    member, keys = member_and_keys(case)
    for key in keys:
        assert distribution(member, key, 0.625) == pytest.approx([0.625 / 3] * 3, rel=1e-13)
    for key in keys:
        step(member, key, 1, 0.8)
    for key in keys:
        assert distribution(member, key, 0.625).sum() == pytest.approx(0.625, rel=1e-13)


@each_kind
def test_the_ratio_is_the_weight_that_is_left_and_the_rest_follows_bayes(case):
    member, keys = member_and_keys(case)
    twin, rng = naive.Recursion(case.shape, 3), np.random.default_rng(0)
    for _ in range(20):
        leaf, arm, x = int(rng.integers(len(keys))), int(rng.integers(3)), float(rng.exponential())
        p = distribution(member, keys[leaf])
        factor = np.where(np.arange(3) == arm, np.exp(-x), 1.0)
        assert step(member, keys[leaf], arm, x) == pytest.approx((p * factor).sum(), rel=1e-12)
        assert distribution(member, keys[leaf]) == pytest.approx(p * factor / (p * factor).sum(), rel=1e-11)
        twin.learn(leaf, arm, x)
    for leaf, key in enumerate(keys):
        assert distribution(member, key) == pytest.approx(twin.probabilities(leaf), rel=1e-10)


@each_kind
def test_arms_that_are_not_available_are_multiplied_by_their_own_factor(case):
    member, keys = member_and_keys(case)
    step(member, keys[0], 0, 1.0)
    p, available = distribution(member, keys[-1]), np.array([1, 0, 1], dtype=np.uint8)
    factor = np.array([np.exp(-0.5), 0.75, 1.0])
    assert step(member, keys[-1], 0, 0.5, available, np.log(0.75)) == pytest.approx((p * factor).sum(), rel=1e-12)
    assert distribution(member, keys[-1]) == pytest.approx(p * factor / (p * factor).sum(), rel=1e-11)


@each_kind
def test_fixed_share_keeps_totals_and_moves_arms_towards_equal_ones(case):
    member, keys = member_and_keys(case)
    step(member, keys[0], 0, 2.0)
    F, I = member
    count = kinds.visit(F, I, keys[0], EVERY, 1.0)
    before = distribution(member, keys[0])
    kinds.share(F, I, count, (0.25, 0.9))  # the second is for heads alone
    after = distribution(member, keys[0])
    assert after == pytest.approx(0.75 * before + 0.25 / 3, rel=1e-10)
