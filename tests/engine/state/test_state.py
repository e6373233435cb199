"""A state is a value: verbs, copies, fingerprints, arrays; advisors are members of it, as many as one likes."""

import math

import numpy as np
import pytest
from naive import mixture as naive
from support.structure_cases import EXAMPLES, each_example

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import advisor as advisor_words
from hsb.engine.state import State, depth_for, hang, make_advisor, make_head
from hsb.theory.anytime import anytime_schedule
from hsb.theory.schedule import Constant, Falling

TREE = hsb.BinaryTree(depth=3)


def state(arms: int = 2, structure: hsb.Structure = TREE) -> State:
    return State(structure.members(arms, None), structure.key_words())


def advised(advisors: int, prior: list[float], arms: int = 3) -> State:
    """A tree with advisors of different depths beside it."""
    beside = [hang([make_advisor(depth, arms)], option=depth, offset=0)[0] for depth in range(1, advisors + 1)]
    members = hang(TREE.members(arms, None), option=0, offset=1 + advisors)
    return State([make_head(prior, arms), *beside, *members], [0, *[1] * advisors, 1])


def key_of(leaf: int, advisors: int) -> np.ndarray:
    return np.array([*(leaf >> (3 - depth) for depth in range(1, advisors + 1)), leaf << (62 - 3)])


def p_of(of: State, key: np.ndarray, arms: int = 3) -> np.ndarray:
    p = np.empty(arms)
    of.fill(key, None, p)
    return p


def spread_of(of: State) -> np.ndarray:
    """What each advisor gave each arm in the last round decided."""
    members = [member for member in of.members if member.I[h.KIND] == h.ADVISOR]
    return np.array([F[I[I[h.BASES]] : I[I[h.BASES]] + I[h.ARMS]] for F, I in members])


# -- a value ---------------------------------------------------------------------------------------------------------


@each_example
def test_a_state_goes_to_arrays_and_back(case):
    policy = case.policy(3, learning_rate=0.3, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        policy.learn(policy.decide(case.context(int(rng.integers(case.shape.leaves)), rng)), loss=float(rng.random()))
    told, twin = policy.learner.mixture.state, policy.copy().learner.mixture.state
    again = case.policy(3, learning_rate=0.3).learner.mixture.state.from_arrays(told.to_arrays())
    assert told.digest() == twin.digest() == again.digest()
    policy.probabilities(case.middles[0])  # asking leaves no trace
    assert told.digest() == twin.digest()
    twin.update(policy.learner.read(case.middles[0])[0], None, 0, 1.0, 0.5)
    assert told.digest() == again.digest() != twin.digest()


def test_a_state_grows_by_itself_and_forgets_nothing():
    tree = hsb.BinaryTree(depth=30)
    one, other = state(2, tree), state(2, tree)
    other.grow(10_000)
    keys = np.random.default_rng(0).integers(0, 1 << 30, size=(500, 1)) << 32
    for key in keys:
        one.update(key, None, 0, 1.0, 1.0)
        other.update(key, None, 0, 1.0, 1.0)
    assert one.digest() == other.digest()
    assert one.nbytes == other.nbytes


def test_where_a_double_cannot_tell_logarithms_do():
    one, key = state(), np.array([0])
    for _ in range(3):
        one.update(key, None, 0, 1.0, 1e-3)
    assert p_of(one, key, 2)[0] == 0.0  # a double cannot tell it from 0
    p = np.empty(2)
    one.fill(key, np.array([1, 0], dtype=np.uint8), p)
    assert p.tolist() == [1.0, 0.0]
    one.update(key, None, 1, 1.0, 1 / 3000.0)  # both arms have lost the same
    assert p_of(one, key, 2) == pytest.approx([0.5, 0.5])


def test_decide_and_update_have_no_hidden_state():
    """What was decided last changes nothing that is learned."""
    one, other = hsb.HSB(TREE, arms=3, seed=0), hsb.HSB(TREE, arms=3, seed=0)
    rng = np.random.default_rng(1)
    for x in rng.random(200).tolist():
        mine = hsb.Decision(context=x, arm=int(rng.integers(3)), propensity=0.3)
        theirs = hsb.Decision(context=x, arm=mine.arm, propensity=0.3)
        one.decide(x, u=0.5)
        other.decide(0.9, u=0.1)
        other.probabilities(x, available=[0, 1])
        loss = float(rng.random())
        one.learn(mine, loss=loss)
        other.learn(theirs, loss=loss)
    assert one.learner.mixture.state.digest() == other.learner.mixture.state.digest()


# -- advisors are members --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("advisors", [1, 2, 3])
def test_several_advisors_are_experts_of_the_head(advisors):
    """Teacher-forced: p is the head's mixture of the recursion and of each advice, and its weights are those of Bayes."""
    prior = [0.1, *[0.9 / advisors] * advisors]
    told, mixture, weights = advised(advisors, prior), naive.Recursion(EXAMPLES["binary"].shape, 3, 0.0), np.array(prior)
    rng = np.random.default_rng(advisors)
    for _ in range(200):
        leaf, arm, x = int(rng.integers(8)), int(rng.integers(3)), float(rng.choice([0.0, 0.3, 2.0]))
        key = key_of(leaf, advisors)
        p = p_of(told, key)
        one_hot = spread_of(told)
        raw = mixture.probabilities(leaf)
        assert p == pytest.approx(weights[0] * raw + weights[1:] @ one_hot, abs=1e-12)
        assert told.head == pytest.approx(weights, abs=1e-12)
        told.update(key, None, arm, min(x, 1.0), min(x, 1.0) / x if x else 1.0)
        factor = np.exp(-x * (np.arange(3) == arm))
        weights *= [raw @ factor, *(one_hot @ factor)]
        weights /= weights.sum()
        mixture.multiply(leaf, factor)


def test_a_wrong_prior_would_be_noticed():
    told = advised(1, [0.5, 0.5])
    assert told.head.tolist() == [0.5, 0.5] != list(anytime_schedule(arms=3).head)


def test_the_weights_that_the_theory_charges_for_are_the_kernels():
    mixture = hsb.HSB(TREE, arms=3).learner.mixture
    assert tuple(mixture.state.head) == mixture.rates.schedule.head
    assert mixture.rates.schedule.head_cost == -math.log(mixture.state.head[0])


def test_an_advisor_looks_as_closely_as_it_can_afford():
    assert depth_for(1 << 20, 3) == 10 > depth_for(1 << 20, 4096) >= 0
    assert depth_for(1, 3) == 0


def test_arms_added_past_what_an_advisor_can_afford_are_saved_too(tmp_path):
    policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=500, seed=0)
    depth = int(policy.learner.mixture.state.members[1].I[advisor_words.DEPTH])
    while depth_for(1024, len(policy.arms)) == depth:
        policy.add_arm(f"arm {len(policy.arms)}")
    policy.learn(policy.decide(0.3), loss=1.0)
    policy.save(tmp_path / "wide.hsb")
    assert hsb.load(tmp_path / "wide.hsb").learner.mixture.state.digest() == policy.learner.mixture.state.digest()


# -- schedules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schedule",
    [
        Constant(0.1),
        Constant(0.1, 0.01),
        Falling(3.0, arms=3),
        Falling(3.0, arms=3, first=7, drift=1e-3),
        anytime_schedule(arms=3),
        anytime_schedule(arms=3, rate=0.1),
    ],
)
def test_a_phase_has_an_end(schedule):
    rounds = 0
    for _ in range(6):
        phase = schedule.phase(rounds)
        assert phase.until > rounds
        assert schedule.phase(min(phase.until, rounds + 10_000) - 1) == phase
        after = schedule.phase(min(phase.until, 10**9))
        assert after.rate <= phase.rate  # a rate never rises
        rounds = min(phase.until, 10**9)


def test_a_bound_is_never_more_than_can_be_lost():
    assert Constant(1e-6).bound(5.0, arms=2, horizon=100) == 100.0
    assert anytime_schedule(arms=50).bound(1000.0, arms=50, horizon=1e5) == 1e5
    assert Falling(1.0, arms=2).bound(0.7, arms=2, horizon=1e4) < 600
    assert Constant(0.01).bound(2.0, arms=2, horizon=1000, implicit=True) == pytest.approx(220.0)
