"""A structure from outside the package, a dozen lines: everything works, and exactly."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from naive import mixture as naive
from naive.hierarchies import _grow
from support.exact_cases import EXACT
from support.mapping_cases import anywhere, teach

import hsb
from hsb import theory
from hsb.structures import from_dict, from_json

ARMS = 2
LABELS = ["a", "b"]


def ladder() -> type[hsb.Structure]:
    class Ladder(hsb.Structure):
        """The leaves from one on: the first of them and the rest, or the first two and the rest."""

        @property
        def root(self) -> Any:  # type: ignore[override]
            return 0, self.leaves

        def groups(self, node: Any) -> list[Any]:
            first, end = node
            return [((first, cut), (cut, end)) for cut in range(first + 1, min(first + 3, end))]

        def leaves_of(self, node: Any) -> range:
            return range(*node)

        def parameters(self) -> dict[str, Any]:
            return {"leaves": self.leaves}

    return Ladder


def quarters() -> type[hsb.Structure]:
    class Quarters(hsb.Structure):
        """Squares that divide into four."""

        def __init__(self, *, leaves: int, space: Any = None, features: Any = None) -> None:
            super().__init__(leaves=leaves, space=space or hsb.Box.unit(2), features=features)
            self.root = (0, leaves)

        def groups(self, node: Any) -> list[Any]:
            first, size = node
            return [tuple((first + k * size // 4, size // 4) for k in range(4))] if size > 1 else []

        def leaves_of(self, node: Any) -> range:
            return range(node[0], sum(node))

        def parameters(self) -> dict[str, Any]:
            return {"leaves": self.leaves}

    return Quarters


def naive_ladder(leaves: int) -> naive.Hierarchy:
    """By its own words: some leaves split after one of them or two."""

    def split(node: tuple[int, ...]) -> list[Any]:
        return [(node[:cut], node[cut:]) for cut in (1, 2) if cut < len(node)]

    return _grow(tuple(range(leaves)), leaves, lambda node: node, split)


def naive_quarters(leaves: int) -> naive.Hierarchy:
    return naive.kary_tree(4, round(math.log(leaves, 4)))


@pytest.fixture(params=["ladder", "quarters"])
def own(request: pytest.FixtureRequest) -> Iterator[tuple[hsb.Structure, naive.Hierarchy]]:
    """The structure, known by its name while the test lasts, and its slow twin."""
    if request.param == "ladder":
        kind, sizes, twin = ladder(), {"leaves": 6}, naive_ladder(6)
    else:
        kind, sizes, twin = quarters(), {"leaves": 4}, naive_quarters(4)
    yield kind(**sizes), twin
    del hsb.Structure.kinds[kind.__name__]


def taught(structure: hsb.Structure, rounds: int = 60, **settings: Any) -> hsb.HSB:
    """After rounds in which arm b is the better in the first half of the leaves."""
    policy = hsb.HSB(structure, arms=LABELS, seed=3, **settings)
    contexts = anywhere(structure, rounds)
    losses = [
        [float(2 * structure.leaf_of(x) < structure.leaves), float(2 * structure.leaf_of(x) >= structure.leaves)]
        for x in contexts
    ]
    hsb.simulate(policy, contexts, losses)
    return policy


@pytest.mark.nojit
def test_a_round_is_exact(own):
    """Equal to the recursion of the paper, and to all mappings one by one; another structure is not."""
    structure, shape = own
    policy, oracle = hsb.HSB(structure, arms=ARMS, learning_rate=0.3), naive.Recursion(shape, ARMS)
    rng = np.random.default_rng(0)
    for context in anywhere(structure, 60):
        leaf, arm, loss = structure.leaf_of(context), int(rng.integers(ARMS)), float(rng.random())
        assert np.abs(policy.probabilities(context) - oracle.probabilities(leaf)).max() < EXACT
        policy.learn(hsb.Decision(context=context, arm=arm, propensity=0.25), loss=loss)
        oracle.learn(leaf, arm, 0.3 * loss / 0.25)
    slow = hsb.MixtureOfMappings(structure, arms=ARMS, prior="complexity", learning_rate=0.3)
    rounds = anywhere(structure, 60)
    assert teach(slow, hsb.HSB(structure, arms=ARMS, learning_rate=0.3), rounds, masking=0.3) < EXACT
    other = hsb.Lexicographic(leaves=structure.leaves, space=structure.space)
    slow = hsb.MixtureOfMappings(structure, arms=ARMS, prior="complexity", learning_rate=0.3)
    assert teach(slow, hsb.HSB(other, arms=ARMS, learning_rate=0.3), rounds) > 1e-3


def test_decisions_one_by_one_are_those_in_bulk(own):
    structure, _ = own
    contexts = anywhere(structure, 50)
    losses = np.random.default_rng(1).random((50, ARMS))
    for settings in ({"learning_rate": 0.2}, {"horizon": 50}, {}):
        one, bulk = (hsb.HSB(structure, arms=ARMS, seed=5, **settings) for _ in range(2))
        run = hsb.simulate(bulk, contexts, losses)
        for t, context in enumerate(contexts):
            decision = one.decide(context)
            assert (decision.arm, decision.propensity) == (run.arms[t], run.propensities[t])
            one.learn(decision, loss=losses[t, decision.arm])


@pytest.mark.nojit
def test_the_prior_cost_of_every_mapping(own):
    structure, shape = own
    costs = []
    for mapping in product(range(ARMS), repeat=structure.leaves):
        costs.append(theory.prior_cost(structure, mapping, arms=ARMS))
        assert costs[-1] == pytest.approx(-math.log(naive.mapping_prior(shape, ARMS, mapping)), rel=1e-12)
    assert math.fsum(math.exp(-cost) for cost in costs) == pytest.approx(1.0, rel=1e-12)
    with pytest.raises(hsb.InputError, match="uniform prior"):
        theory.prior_cost(structure, [0] * structure.leaves, arms=ARMS, stop=0.5)


@pytest.mark.nojit
def test_the_constants_and_the_bound(own):
    """Counted on the slow twin; the bound is that of Corollary 1."""
    structure, shape = own
    assert structure.max_group == max(len(group) for groups in shape.groups.values() for group in groups)
    assert structure.max_groups == max(map(len, shape.groups.values()))
    around = [shape.containing(leaf) for leaf in range(shape.leaves)]
    assert structure.cost == (max(map(len, around)), max(sum(len(shape.groups[i]) for i in nodes) for nodes in around))
    A = structure.max_group * (structure.splits(3, ARMS) + 1) * math.log((structure.max_groups + 1) * ARMS)
    assert theory.regret_bound(structure, arms=ARMS, horizon=100, regions=3) == pytest.approx(math.sqrt(2 * A * ARMS * 100))
    assert hsb.HSB(structure, arms=ARMS, horizon=100).regret_bound() < math.inf
    dearest = max(theory.prior_cost(structure, mapping, arms=ARMS) for mapping in product(range(ARMS), repeat=structure.leaves))
    assert dearest <= A
    with pytest.raises(hsb.InputError, match="not one of them"):
        theory.example_bound(structure, arms=2, horizon=10, learning_rate=0.1)
    assert theory.policy_bound(structure, arms=2, horizon=10, lipschitz=1.0) > theory.regret_bound(
        structure, arms=2, horizon=10
    )


def test_it_is_explained(own):
    """The most probable mapping of the slow search, in words of the space."""
    structure, shape = own
    policy = hsb.HSB(structure, arms=LABELS, learning_rate=1.0)
    penalties = np.zeros((structure.leaves, ARMS))
    rng = np.random.default_rng(2)
    for context in anywhere(structure, 80):
        leaf, arm, loss = structure.leaf_of(context), int(rng.integers(ARMS)), float(rng.random())
        policy.learn(hsb.Decision(context=context, arm=LABELS[arm], propensity=0.5), loss=loss)
        penalties[leaf, arm] += loss / 0.5
    explanation = policy.explain()
    pieces, _ = naive.most_probable(shape, penalties)
    arm_of = {leaf: LABELS[arm] for leaves, arm in pieces for leaf in leaves}
    assert len(explanation) == len(pieces)
    for context in anywhere(structure, 80, seed=9):
        assert explanation.arm_at(context) == arm_of[structure.leaf_of(context)]
    assert policy.certificate().cost >= 0.0
    told = taught(structure, 400, learning_rate=1.0).explain()
    lines = {"Ladder": "0 <= x < 0.5: play", "Quarters": "x0 < 0.5: play"}
    assert lines[type(structure).__name__] in str(told)


def test_it_is_saved_and_read(own, tmp_path):
    structure, _ = own
    data = structure.to_dict()
    for again in (from_dict(data), from_json(structure.to_json()), eval(repr(structure), vars(hsb) | hsb.Structure.kinds)):
        assert again == structure and type(again) is type(structure) and again.to_dict() == data
    for settings in ({"learning_rate": 0.2}, {}):
        policy = taught(structure, **settings)
        policy.save(tmp_path / "own.hsb")
        twin = hsb.load(tmp_path / "own.hsb")
        for context in anywhere(structure, 20, seed=4):
            assert twin.decide(context).propensity == policy.decide(context).propensity
    widened = taught(structure, learning_rate=0.2)
    widened.add_arm("c")
    assert widened.probabilities(anywhere(structure, 1)[0]).sum() == pytest.approx(1.0)


def test_it_is_one_of_several(own):
    """Beside a tree on the same cells."""
    structure, shape = own
    lines = hsb.Lexicographic(leaves=structure.leaves, space=structure.space)
    both, twin = hsb.OneOf(structure, lines), naive.one_of(shape, naive.lexicographic(structure.leaves))
    for mapping in product(range(ARMS), repeat=structure.leaves):
        slow = -math.log(naive.mapping_prior(twin, ARMS, mapping))
        assert theory.prior_cost(both, mapping, arms=ARMS) == pytest.approx(slow, rel=1e-12)
    assert from_dict(both.to_dict()) == both
    policy = taught(both, 200, learning_rate=1.0)
    assert policy.explain().chosen in (structure, lines, both)


class Broken(hsb.Structure, listed=False):
    """Node 0 is the root of three leaves; its only group is given."""

    root = 0

    def __init__(self, group: tuple[int, ...], leaves: dict[int, list[int]]) -> None:
        super().__init__(leaves=3)
        self.group, self.own = group, leaves

    def groups(self, node: int) -> list[tuple[int, ...]]:
        return [self.group] if node in (0, 1) else []

    def leaves_of(self, node: int) -> list[int]:
        return self.own[node]

    def parameters(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(
    ("group", "leaves", "words"),
    [
        ((1, 2), {0: [0, 1, 2], 1: [0], 2: [1]}, "Group [1, 2] of 0 is not a partition of its leaves: missing [2]"),
        ((1, 2), {0: [0, 1, 2], 1: [0, 1], 2: [1, 2]}, "leaf 1 is in 1 and in 2"),
        ((1,), {0: [0, 1, 2], 1: [0, 1, 2]}, "Node 1 is below itself, through 1"),
        ((1, 2), {0: [0, 1], 1: [0], 2: [1]}, "The root's leaves must be 0 .. N-1"),
    ],
)
def test_what_is_no_structure_is_refused(group, leaves, words):
    with pytest.raises(hsb.InputError) as error:
        hsb.HSB(Broken(group, leaves), arms=2, learning_rate=0.1)
    assert words in str(error.value)


def test_a_structure_that_does_not_split_says_what_it_lacks():
    class Silent(hsb.Structure, listed=False):
        root = 0

        def leaves_of(self, node: int) -> range:
            return range(self.leaves)

        def parameters(self) -> dict[str, Any]:
            return {}

    with pytest.raises(hsb.InputError, match=r"Silent does not define how its nodes split. Define root, groups\(node\)"):
        hsb.HSB(Silent(leaves=2), arms=2)
