"""Arms so bad that no double shows them are still there: they count where the better ones are not available, and they come back."""

import numpy as np
import pytest
from naive import mixture as naive
from support.hard_cases import ARMS, CLOSE, Oracle, agree, check, told
from support.structure_cases import EXAMPLES, Case, arbitrary, binary, each_example, grid, lexicographic, line, over, position

import hsb


def told_masked(policy: hsb.HSB, oracle: Oracle, case: Case, leaf: int, arm: int, x: float, available: list[int]) -> None:
    decision = hsb.Decision(context=case.middles[leaf], arm=arm, propensity=min(1.0, 1 / x), available=available)
    policy.learn(decision, loss=min(1.0, x))
    oracle.learn_masked(leaf, arm, x, available)


@each_example
@pytest.mark.parametrize(("step", "steps"), [(100.0, 15), (300.0, 5), (1500.0, 1)])
def test_a_lost_arm_comes_back_beside_the_best_one(case: Case, step: float, steps: int) -> None:
    """Two arms are 1000 behind in every leaf. Only the best and one of them are available, and now the best one loses 1500."""
    policy, oracle = case.policy(ARMS, learning_rate=1.0), Oracle(case)
    for leaf in range(case.shape.leaves):
        for arm in (1, 2):
            told(policy, oracle, case, leaf, arm, 1000.0)
    check(case, policy, oracle)
    for leaf in range(case.shape.leaves):
        for _ in range(steps):
            told_masked(policy, oracle, case, leaf, 0, step, [0, 1])
    for leaf, context in enumerate(case.middles):
        agree(policy.probabilities(context, available=[0, 1]), oracle.probabilities(leaf, [0, 1]), CLOSE)
        assert policy.probabilities(context, available=[0, 1])[1] > 0.99
    check(case, policy, oracle)


@pytest.mark.parametrize(
    "case",
    [binary(1), binary(1, compressed=True), lexicographic(2), position([1]), arbitrary(2)],
    ids=["dense", "compressed", "lexicographic", "position", "arbitrary"],
)
@pytest.mark.parametrize("behind", range(300, 900, 20))
def test_at_the_edge_of_what_is_shown(case: Case, behind: int) -> None:
    """Two arms far behind in one leaf, and a root that knows one of them to be better: wherever the edge is, both must count."""
    policy, oracle = case.policy(ARMS, learning_rate=1.0), Oracle(case)
    for leaf, penalties in enumerate([[218.0, 218.0 + behind, 218.0 + behind], [500.0, 0.0, 1.0]]):
        for arm, x in enumerate(penalties):
            for _ in range(10):  # in small steps: a large one puts every weight in order
                if x > 0:
                    told(policy, oracle, case, leaf, arm, x / 10)
    check(case, policy, oracle)


def test_structures_that_never_saw_the_context_add_up() -> None:
    """A tree on each of three features. The first is right; the others are far behind, and this context is new to both."""
    cube, cells = hsb.Box.unit(3), grid([2, 2, 2])
    whole = ((0.0, 1.0),)
    shapes = [over(naive.binary_tree(1), [(*whole * j, *side, *whole * (2 - j)) for side in line(2)], cells) for j in range(3)]
    first, second, third = (hsb.BinaryTree(depth=1, space=cube, features=[j]) for j in range(3))
    shape = naive.one_of(shapes[0], naive.one_of(shapes[1], shapes[2]))
    case = Case(hsb.OneOf(first, hsb.OneOf(second, third)), shape, cells)
    policy, oracle = case.policy(ARMS, learning_rate=1.0), Oracle(case)
    for leaf, arms in ((0, (1, 2)), (4, (0, 2))):  # the low halves of the second and third feature
        for arm in arms:
            for _ in range(10):
                told(policy, oracle, case, leaf, arm, 50.0)
    for leaf in (3, 7):  # the high halves
        context = case.middles[leaf]
        agree(policy.probabilities(context), oracle.probabilities(leaf), CLOSE)
        agree(policy.probabilities(context, available=[1, 2]), oracle.probabilities(leaf, [1, 2]), CLOSE)
        agree(policy.probabilities(context, available=[0, 2]), oracle.probabilities(leaf, [0, 2]), CLOSE)


@each_example
@pytest.mark.parametrize("scale", [20.0, 150.0, 1000.0])
@pytest.mark.parametrize("masked", [False, True])
def test_any_rounds(case: Case, scale: float, masked: bool) -> None:
    """Steps of all sizes, some rounds with some of the arms, a leaf and a choice of arms looked at after each."""
    policy, oracle = case.policy(4, learning_rate=1.0), Oracle(case, 4)
    rng = np.random.default_rng(0)
    for t in range(120):
        leaf, arm = int(rng.integers(case.shape.leaves)), int(rng.integers(4))
        x = float(rng.exponential(scale)) if t % 2 else float(rng.random())
        if t % 3 or not masked:
            told(policy, oracle, case, leaf, arm, x)
        else:
            told_masked(policy, oracle, case, leaf, arm, x, sorted({arm, *rng.integers(4, size=2).tolist()}))
        look = int(rng.integers(case.shape.leaves))
        available = sorted(set(rng.integers(4, size=3).tolist()))
        agree(policy.probabilities(case.middles[look]), oracle.probabilities(look), CLOSE)
        agree(policy.probabilities(case.middles[look], available=available), oracle.probabilities(look, available), CLOSE)


@each_example
@pytest.mark.parametrize("propensity", [1e-15, 1e-18, 1e-25, 1e-35, 1e-300])
def test_steps_beyond_measure(case: Case, propensity: float) -> None:
    """The first leaf is told that only the second arm will do, the last that only the first will: so be it, at any size."""
    policy = case.policy(2, learning_rate=1.0)
    last = case.shape.leaves - 1
    for leaf, arm in ((0, 0), (last, 1)):
        policy.learn(hsb.Decision(context=case.middles[leaf], arm=arm, propensity=propensity), loss=1.0)
    for leaf, arm in ((0, 1), (last, 0)):
        p = policy.probabilities(case.middles[leaf])
        assert p[arm] == pytest.approx(1.0, abs=1e-12)
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        for available in ([0], [1]):
            assert policy.probabilities(case.middles[leaf], available=available).sum() == pytest.approx(1.0, abs=1e-12)


def test_the_oracle_here_is_the_recursion() -> None:
    """Its way to learn a round that offers some arms, and to leave arms out, against the plain recursion."""
    case = EXAMPLES["lexicographic"]
    oracle, recursion = Oracle(case), naive.Recursion(case.shape, ARMS)
    rng = np.random.default_rng(0)
    for t in range(100):
        leaf, arm, x = int(rng.integers(case.shape.leaves)), int(rng.integers(ARMS)), float(rng.exponential())
        available = sorted({arm, int(rng.integers(ARMS))})
        assert np.abs(oracle.probabilities(leaf, available) - recursion.probabilities(leaf, available)).max() < 1e-11
        if t % 2:
            oracle.learn_masked(leaf, arm, x, available)
            recursion.learn(leaf, arm, x, available)
        else:
            oracle.learn(leaf, arm, x)
            recursion.learn(leaf, arm, x)
    for leaf in range(case.shape.leaves):
        np.testing.assert_allclose(oracle.probabilities(leaf), recursion.probabilities(leaf), rtol=1e-9)
