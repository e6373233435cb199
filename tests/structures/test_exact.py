"""Every structure equals the paper's recursion and the mixture of all mappings, told the same rounds."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixture as naive
from support.exact_cases import EXACT
from support.structure_cases import EXAMPLES, FAMILIES, STOPS, Array, Case, as_hierarchy, binary, each_example, kary

import hsb

TOTAL = 500.0  # the oracles keep plain floats: exp(-700) is their end
Oracles = Sequence[naive.Recursion | naive.Mixture]


def off(p: Array, q: Array) -> float:
    """Largest relative difference. What is below 1e-140 of everything counts as 0."""
    seen = q > 1e-140
    assert abs(p.sum() - 1) < 1e-12
    assert (p >= 0).all() and (p[~seen] < 1e-139).all()
    return float(np.abs(p[seen] / q[seen] - 1).max())


def gap(
    case: Case,
    policy: hsb.HSB,
    oracles: Oracles,
    rounds: int = 100,
    *,
    seed: int = 0,
    masking: float = 0.0,
    jolt: bool = False,
    arrival: int | None = None,
    told: Callable[[float], float] = lambda loss: loss,
) -> float:
    """Largest difference in p while policy and oracles learn the same rounds, as from the log of a policy that explores.

    `masking` is the probability that a round does not offer every arm, `jolt` puts in one step of 250, `arrival` is the round before
    which an arm is added, `told` changes what the policy hears of a loss.
    """
    rng = np.random.default_rng(seed)
    rate, left, worst = policy.learner.mixture.rates.learning_rate or 0.0, TOTAL, 0.0
    for t in range(rounds):
        if t == arrival:
            policy.add_arm("late")
            for oracle in oracles:
                assert isinstance(oracle, naive.Recursion)
                oracle.add_arm()
        arms = len(policy.arms)
        leaf = int(rng.integers(case.shape.leaves))
        context = case.context(leaf, rng)
        available = sorted(rng.permutation(arms)[: rng.integers(1, arms + 1)].tolist()) if rng.random() < masking else None
        labels = None if available is None else [policy.arms[m] for m in available]
        p = policy.probabilities(context, available=labels)
        worst = max(worst, *(off(p, oracle.probabilities(leaf, available)) for oracle in oracles))
        among = np.isin(np.arange(arms), range(arms) if available is None else available)
        q = 0.9 * p / p.sum() + 0.1 * among / among.sum()
        arm = int(rng.choice(arms, p=q))
        loss = float(rng.choice([0.0, 1.0, rng.random(), 1e-9]))
        propensity = float(q[arm])
        if jolt and t == rounds // 2:
            loss, propensity = 1.0, rate / 250
        if rate * loss / propensity > left:
            loss = 0.0
        left -= rate * loss / propensity
        decision = hsb.Decision(context=context, arm=policy.arms[arm], propensity=propensity, available=labels)
        policy.learn(decision, loss=told(loss))
        for oracle in oracles:
            oracle.learn(leaf, arm, rate * loss / propensity, available)
    for leaf, context in enumerate(case.middles):
        worst = max(worst, *(off(policy.probabilities(context), oracle.probabilities(leaf)) for oracle in oracles))
    return worst


def oracles_of(case: Case, arms: int, most: int = 800) -> Oracles:
    recursion = naive.Recursion(case.shape, arms)
    if arms**case.shape.leaves > most:
        return [recursion]
    return [recursion, naive.Mixture(case.shape, arms)]


@pytest.mark.parametrize("kind", FAMILIES, ids=lambda kind: kind.__name__)
@settings(deadline=None, derandomize=True, max_examples=30, database=None)
@given(data=st.data())
def test_equals_both_oracles(kind: type[hsb.Structure], data: st.DataObject) -> None:
    case = data.draw(FAMILIES[kind])
    assert type(case.structure) is kind
    arms = data.draw(st.sampled_from([1, 2, 3, 4, 9, 17]))
    policy = case.policy(arms, learning_rate=data.draw(st.floats(0.01, 2.0)))
    result = gap(
        case,
        policy,
        oracles_of(case, arms),
        data.draw(st.integers(1, 250)),
        seed=data.draw(st.integers(0, 2**32)),
        masking=data.draw(st.sampled_from([0.0, 0.3, 1.0])),
        jolt=data.draw(st.booleans()),
    )
    assert result < EXACT


@pytest.mark.nojit
@each_example
def test_examples_equal_both_oracles(case: Case) -> None:
    for masking in (0.0, 0.5):
        policy = case.policy(2, learning_rate=0.3)
        assert gap(case, policy, oracles_of(case, 2), 40, masking=masking, jolt=True) < EXACT


@each_example
@pytest.mark.parametrize("drift", [1e-9, 1e-3, 0.3])
def test_drift_equals_the_recursion_that_shares(case: Case, drift: float) -> None:
    policy = case.policy(3, learning_rate=0.3, drift=drift)
    assert gap(case, policy, [naive.Recursion(case.shape, 3, drift)], masking=0.3, jolt=True) < EXACT
    plain = case.policy(3, learning_rate=0.3)
    assert gap(case, plain, [naive.Recursion(case.shape, 3, 1e-3)], masking=0.3) > 1e3 * EXACT  # control


def test_no_structure_is_forgotten() -> None:
    """A new structure fails here until it has a family and an example."""
    kinds = {kind for kind in hsb.Structure.kinds.values() if kind.__module__.startswith("hsb.")}
    assert set(FAMILIES) == kinds
    assert {type(case.structure) for case in EXAMPLES.values()} == kinds


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("features", [1, 2])
def test_trees_with_every_prior(stop: float | None, compressed: bool, features: int) -> None:
    for case in (binary(5, stop, features, compressed), kary(3, 2, stop, features, compressed)):
        assert gap(case, case.policy(3, learning_rate=0.2), [naive.Recursion(case.shape, 3)], 200, masking=0.2) < EXACT


@pytest.mark.parametrize("arms", [9, 17, 70])
@each_example
def test_many_arms(case: Case, arms: int) -> None:
    """Two and three levels of the sum tree; beyond 16 arms decisions are walks."""
    policy = case.policy(arms, learning_rate=0.05)
    assert gap(case, policy, [naive.Recursion(case.shape, arms)], 60, masking=0.3, jolt=True) < EXACT


@pytest.mark.parametrize("arms", [1, 3, 8, 64])
@pytest.mark.nojit
@each_example
def test_an_arm_added_while_running(case: Case, arms: int) -> None:
    """Also where the sum tree gets another level: from 8 to 9 and from 64 to 65."""
    policy = case.policy(arms, learning_rate=0.2)
    assert gap(case, policy, [naive.Recursion(case.shape, arms)], 30, arrival=15, masking=0.2, jolt=True) < EXACT
    assert policy.arms[-1] == "late"


@pytest.mark.parametrize(
    "structure",
    [
        hsb.BinaryTree(depth=0),
        hsb.KaryTree(k=3, depth=0),
        hsb.Lexicographic(leaves=1),
        hsb.GroupedLexicographic(leaves=1, groups=3),
        hsb.PositionSplits(bits=[0]),
        hsb.ArbitrarySplits(leaves=1),
        hsb.Hierarchy({"all": {"leaves": [0]}}, space=hsb.Box.unit()),
        hsb.OneOf(hsb.BinaryTree(depth=0), hsb.Lexicographic(leaves=1)),
    ],
    ids=lambda structure: type(structure).__name__,
)
def test_one_leaf_is_exp3(structure: hsb.Structure) -> None:
    policy = hsb.HSB(structure, arms=4, learning_rate=0.3)
    rng = np.random.default_rng(0)
    penalties = np.zeros(4)
    for context in rng.random(300):
        p = policy.probabilities(context)
        assert np.abs(p - naive.exp3(penalties)).max() < EXACT
        arm, loss = int(rng.integers(4)), float(rng.random())
        propensity = 0.8 * p[arm] + 0.05
        policy.learn(hsb.Decision(context=context, arm=arm, propensity=propensity), loss=loss)
        penalties[arm] += 0.3 * loss / propensity


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("case", [binary(4, 0.0), binary(4, 0.0, features=2), kary(3, 2, 0.0)], ids=["1d", "2d", "3-ary"])
def test_never_stopping_is_s_exp3(case: Case, compressed: bool) -> None:
    case = replace(case, compressed=compressed)
    policy = case.policy(3, learning_rate=0.3)
    rng = np.random.default_rng(1)
    penalties = np.zeros((case.shape.leaves, 3))
    for _ in range(300):
        leaf, arm, loss = int(rng.integers(case.shape.leaves)), int(rng.integers(3)), float(rng.random())
        assert np.abs(policy.probabilities(case.context(leaf, rng)) - naive.exp3(penalties[leaf])).max() < EXACT
        policy.learn(hsb.Decision(context=case.context(leaf, rng), arm=arm, propensity=0.25), loss=loss)
        penalties[leaf, arm] += 0.3 * loss / 0.25
    result = np.array([policy.probabilities(context) for context in case.middles])
    assert np.abs(result - naive.s_exp3(penalties)).max() < EXACT


@pytest.mark.nojit
@pytest.mark.parametrize(
    "structures",
    [
        [hsb.BinaryTree(depth=3), hsb.KaryTree(k=2, depth=3), hsb.PositionSplits(bits=[3]), as_hierarchy(naive.binary_tree(3))],
        [hsb.Lexicographic(leaves=6), hsb.GroupedLexicographic(leaves=6, groups=2), as_hierarchy(naive.lexicographic(6))],
        [
            hsb.KaryTree(k=5, depth=1),
            hsb.GroupedLexicographic(leaves=5, groups=5),
            hsb.GroupedLexicographic(leaves=5, groups=9),
        ],
        [hsb.ArbitrarySplits(leaves=2), hsb.BinaryTree(depth=1), hsb.Lexicographic(leaves=2), hsb.PositionSplits(bits=[1])],
        [hsb.ArbitrarySplits(leaves=4), as_hierarchy(naive.arbitrary_splits(4))],
    ],
    ids=["trees", "intervals", "one split", "two leaves", "sets"],
)
def test_structures_that_are_the_same(structures: list[hsb.Structure]) -> None:
    policies = [hsb.HSB(structure, arms=3, learning_rate=0.4) for structure in structures]
    rng = np.random.default_rng(2)
    for _ in range(60):
        context, arm, propensity, loss = rng.random(), int(rng.integers(3)), rng.uniform(0.1, 1.0), rng.random()
        first, *others = (policy.probabilities(context) for policy in policies)
        assert all(off(p, first) < 1e-12 for p in others)
        for policy in policies:
            policy.learn(hsb.Decision(context=context, arm=arm, propensity=propensity), loss=loss)


def visited_paths(paths: Sequence[tuple[int, ...]], k: int, stop: float | None) -> tuple[naive.Hierarchy, list[int]]:
    """The k-ary tree whose parts off these paths are one leaf each, and the leaf at the end of each path.

    What was never visited has w = 1 at every node, so one leaf stands for all of it.
    """
    nodes = {path[:level] for path in paths for level in range(len(path))}
    groups: dict[naive.Node, list[naive.Group]] = {node: [tuple((*node, digit) for digit in range(k))] for node in nodes}
    ends = sorted({child for (group,) in groups.values() for child in group} - nodes)
    regions: dict[naive.Node, frozenset[int]] = {}
    for leaf, end in enumerate(ends):
        groups[end] = []
        for level in range(len(end) + 1):
            regions[end[:level]] = regions.get(end[:level], frozenset()) | {leaf}
    return naive.with_stop(naive.Hierarchy((), regions, groups, len(ends)), stop), [ends.index(path) for path in paths]


def digits(number: int, k: int, depth: int) -> tuple[int, ...]:
    return tuple(number // k ** (depth - 1 - level) % k for level in range(depth))


def close_numbers(rng: np.random.Generator, k: int, depth: int) -> list[int]:
    """Numbers below k**depth that part ways at the first division, at the last, and in between."""
    start = int(rng.integers(k**depth))
    later = [start // k**n * k**n + (start + k ** (n - 1)) % k**n for n in (1, 2, 7, depth // 2, depth - 1)]
    return [start, *later, *rng.integers(k**depth, size=3).tolist()]


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize(("k", "depth", "features"), [(2, 52, 1), (3, 32, 1), (2, 104, 2), (5, 22, 1)])
def test_deepest_trees(k: int, depth: int, features: int, stop: float | None) -> None:
    """Every bit of a double. Path-compressed, it is still the whole tree: 53 nodes on a path, or 105."""
    rng = np.random.default_rng(depth)
    parts = depth // features
    numbers = np.array([close_numbers(rng, k, parts) for _ in range(features)]).T
    numbers = np.concatenate([numbers, rng.permuted(numbers, axis=0)[:2]])  # other pairs of the same coordinates
    paths = [tuple(np.ravel([digits(n, k, parts) for n in row.tolist()], order="F").tolist()) for row in numbers]
    shape, leaves = visited_paths(paths, k, stop)
    contexts = ((numbers + 0.5 * (k > 2)) / k**parts).tolist()
    policy = hsb.HSB(hsb.KaryTree(k=k, depth=depth, space=hsb.Box.unit(features)), arms=3, stop=stop, learning_rate=0.5)
    oracle = naive.Recursion(shape, 3)
    for t in range(40):
        for at in rng.integers(len(paths), size=2):  # one of them only looked at
            p, q = policy.probabilities(contexts[at]), oracle.probabilities(leaves[at])
            assert off(p, q) < EXACT
        arm, loss = int(rng.integers(3)), float(rng.random())
        available = None if t % 3 else sorted({arm, int(rng.integers(3))})
        policy.learn(hsb.Decision(context=contexts[at], arm=arm, propensity=0.2, available=available), loss=loss)
        oracle.learn(leaves[at], arm, 0.5 * loss / 0.2, available)
    assert policy.nbytes < 50_000


@pytest.mark.parametrize("case", [binary(3), binary(3, compressed=True), kary(3, 1)], ids=["dense", "compressed", "3-ary"])
def test_errors_are_noticed(case: Case) -> None:
    """Negative control: another prior, another structure or a changed loss is far outside the tolerance."""

    def found(shape: naive.Hierarchy, told: Callable[[float], float] = lambda loss: loss, masking: float = 0.0) -> float:
        return gap(case, case.policy(3, learning_rate=0.3), [naive.Recursion(shape, 3)], 60, told=told, masking=masking)

    assert found(case.shape) < EXACT
    assert found(naive.with_stop(case.shape, 0.5001)) > 1e-6
    assert found(naive.lexicographic(case.shape.leaves)) > 1e-3
    assert found(case.shape, told=lambda loss: loss * (1 - 1e-6)) > 1e-8
    assert found(case.shape, told=lambda loss: 0.0 if loss < 1e-8 else loss) > 1e-10  # losses of 1e-9, forgotten

    class WithoutC(naive.Recursion):
        def learn(self, leaf: int, arm: int, x: float, available: naive.Available = None) -> None:
            super().learn(leaf, arm, x)

    assert gap(case, case.policy(3, learning_rate=0.3), [WithoutC(case.shape, 3)], 60, masking=1.0) > 1e-3
