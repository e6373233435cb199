"""The most probable mapping: equal to the naive search on every structure, and readable."""

import math
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from naive import mixture as naive
from support.explain_cases import ARMS, CASES, LABELS, SQUARE, Array, as_hierarchy, learn, middle, run, some_rounds

import hsb
from hsb.engine.state import trees as state
from hsb.explain import Explanation, Region, explain

each_case = pytest.mark.parametrize(("structure", "shape", "stop"), CASES.values(), ids=CASES)


@pytest.fixture(params=["dense", "compressed"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compressed":
        monkeypatch.setattr(state, "DENSE_WORDS", 0)
    return str(request.param)


def pieces_of(explanation: Explanation) -> dict[frozenset[int], Region]:
    """Each region by its leaves, read off its boxes."""
    structure = explanation.structure
    result: dict[int, list[int]] = {}
    for leaf in range(structure.leaves):
        context = middle(structure, leaf)
        boxes = [(i, box) for i, region in enumerate(explanation) for box in region.boxes]
        inside = [i for i, box in boxes if all(low <= x < high for x, (low, high) in zip(context, box, strict=True))]
        assert len(inside) == 1  # the boxes of all regions divide the space
        assert explanation.region_at(context) is explanation.regions[inside[0]]
        result.setdefault(inside[0], []).append(leaf)
    assert len(result) == len(explanation)
    return {frozenset(leaves): explanation.regions[i] for i, leaves in result.items()}


def log_w(shape: naive.Hierarchy, penalties: Array) -> float:
    recursion = naive.Recursion(shape, ARMS)
    for i, region in shape.regions.items():
        recursion.alpha[i] = np.exp(-penalties[sorted(region)].sum(axis=0))
    return math.log(recursion.w()[shape.root])


def worth(shape: naive.Hierarchy, penalties: Array, pieces: dict[frozenset[int], Region]) -> float:
    """Log posterior of these pieces: the naive search, allowed to stop only where they do.

    A part never learned from is one region although its prior may divide it: there, any stop with the first arm counts.
    """
    total = penalties - penalties.min(axis=1, keepdims=True)
    best: dict[naive.Node, float] = {}
    for i in shape.children_first:
        stop, splits = shape.options(i)
        best[i] = -math.inf
        for leaves, region in pieces.items():
            if leaves == shape.regions[i] or (not region.seen and shape.regions[i] <= leaves):
                arm = LABELS.index(str(region.arm))
                best[i] = naive._log(stop / ARMS) - total[sorted(shape.regions[i]), arm].sum()
        best[i] = max([best[i], *(naive._log(share) + sum(best[j] for j in group) for share, group in splits)])
    return best[shape.root] - log_w(shape, total)


def expected(shape: naive.Hierarchy, penalties: Array) -> tuple[dict[frozenset[int], str], float]:
    total = penalties - penalties.min(axis=1, keepdims=True)
    pieces, value = naive.most_probable(shape, total)
    return {leaves: LABELS[arm] for leaves, arm in pieces}, value - log_w(shape, total)


@each_case
@pytest.mark.parametrize("high", [1.0, 4.0, 16.0, 1e5])
def test_equals_the_naive_search(
    layout: str, structure: hsb.Structure, shape: naive.Hierarchy, stop: float | None, high: float
) -> None:
    """Same pieces and value at any size of the penalties: at 1e5 most weights are far below the range of a double.

    Two ways of splitting for the same arms can be tied; rounding at 1e5 unties them, so there the pieces may differ.
    """
    result, penalties = run(structure, stop, *some_rounds(structure.leaves, round(high), high))
    pieces, (wanted, value) = pieces_of(result), expected(shape, penalties)
    assert result.log_probability == pytest.approx(value, abs=1e-9)
    assert worth(shape, penalties, pieces) == pytest.approx(value, abs=1e-9)
    assert {leaves: region.arm for leaves, region in pieces.items()} == wanted or high == 1e5
    for leaves, region in pieces.items():
        assert region.seen
        assert region.probability == pytest.approx(naive.exp3(penalties[sorted(leaves)].sum(axis=0)).max(), rel=1e-9)


@each_case
@pytest.mark.parametrize("seed", range(4))
def test_parts_never_seen_keep_their_prior(
    layout: str, structure: hsb.Structure, shape: naive.Hierarchy, stop: float | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    visited = rng.permutation(structure.leaves)[: max(1, structure.leaves // 3)]
    count = (0, 1, 10, 40)[seed]
    leaves = rng.choice(visited, size=count)
    result, penalties = run(structure, stop, leaves, rng.integers(ARMS, size=count), rng.exponential(8.0, size=count))
    pieces = pieces_of(result)
    assert result.log_probability == pytest.approx(expected(shape, penalties)[1], abs=1e-9)
    assert worth(shape, penalties, pieces) == pytest.approx(result.log_probability, abs=1e-9)  # whatever is tied
    for part, region in pieces.items():
        assert region.seen == bool(part & set(leaves.tolist()))
        if not region.seen:
            assert (region.arm, region.probability) == ("a", pytest.approx(1 / ARMS))


@each_case
def test_the_comparison_notices_errors(structure: hsb.Structure, shape: naive.Hierarchy, stop: float | None) -> None:
    """Negative control: another arm somewhere, or a penalty more, is told from the truth."""
    result, penalties = run(structure, stop, *some_rounds(structure.leaves, 1))
    pieces = pieces_of(result)
    assert worth(shape, penalties, pieces) == pytest.approx(result.log_probability, abs=1e-9)
    for leaves, region in pieces.items():
        other = LABELS[(LABELS.index(str(region.arm)) + 1) % ARMS]
        assert worth(shape, penalties, {**pieces, leaves: replace(region, arm=other)}) < result.log_probability - 1e-9
    leaf = next(iter(next(iter(pieces))))
    penalties[leaf, LABELS.index(str(result.arm_at(middle(structure, leaf))))] += 1e-6
    assert worth(shape, penalties, pieces) != pytest.approx(result.log_probability, abs=1e-9)


@pytest.mark.parametrize("masked", [False, True])
def test_kinds_agree_also_after_an_arm_was_added(masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One tree kept in three ways, one set of intervals in two; some arms not available, one added late."""
    rng = np.random.default_rng(7)
    contexts, arms, xs = (rng.integers(8, size=60) + 0.5) / 8, rng.integers(ARMS, size=60), rng.exponential(1.0, size=60)
    masks = rng.random((60, ARMS)) < 0.7
    masks[np.arange(60), arms] = True

    def explained(structure: hsb.Structure) -> Explanation:
        members = learn(structure, structure.members(ARMS, None), contexts, arms, xs, masks if masked else None)
        members = [member.kind.add_arm(member) for member in members]
        members = learn(structure, members, contexts[:20], 3 - arms[:20], xs[:20])
        return explain(structure, members, [*LABELS, "d"], None)

    results = [explained(hsb.BinaryTree(depth=3)), explained(as_hierarchy(naive.binary_tree(3)))]
    monkeypatch.setattr(state, "DENSE_WORDS", 0)
    results.append(explained(hsb.BinaryTree(depth=3)))
    intervals = [explained(hsb.Lexicographic(leaves=8)), explained(as_hierarchy(naive.lexicographic(8)))]
    for first, *others in (results, intervals):
        for other in others:
            assert [(r.boxes, r.arm, r.seen) for r in first] == [(r.boxes, r.arm, r.seen) for r in other]
            assert other.log_probability == pytest.approx(first.log_probability, abs=1e-9)


def test_equals_are_taken_in_order() -> None:
    """Stopping first, then the lower arm, then the earlier group: what was never seen may go with either neighbour."""
    result, _ = run(hsb.Lexicographic(leaves=3), None, [0, 0, 2, 2], [1, 2, 0, 2], [9.0] * 4)
    assert [(r.bounds[0], r.arm) for r in result] == [((0.0, 1 / 3), "a"), ((1 / 3, 1.0), "b")]
    result, _ = run(hsb.ArbitrarySplits(leaves=3), None, [0, 0, 2, 2], [1, 2, 0, 2], [9.0] * 4)
    assert [r.arm for r in result] == ["a", "b"]
    assert result.regions[0].bounds == ((0.0, 1 / 3),)
    result, _ = run(hsb.PositionSplits(bits=[1, 1]), None, [0, 0, 3, 3], [1, 2, 0, 2], [9.0] * 4)
    assert [r.bounds[0] for r in result] == [(0.0, 0.5), (0.5, 1.0)]  # the first feature, though the second does as well
    result, _ = run(hsb.BinaryTree(depth=2), None, [0, 1, 2, 3], [2] * 4, [9.0] * 4)
    assert [(r.arm, round(r.probability, 3)) for r in result] == [("a", 0.5)]
    structure = hsb.BinaryTree(depth=1)  # one arm: stopping and splitting are equally probable
    members = learn(structure, structure.members(1, None), [0.1], [0], [1.0])
    assert len(explain(structure, members, ["only"], None)) == 1


@pytest.mark.parametrize("stop", [None, 0.9, 0.01])
def test_depth_52(stop: float | None) -> None:
    """Every bit of a double: quick, finite, and the regions divide the whole range without a gap."""
    tree = hsb.BinaryTree(depth=52)
    rng = np.random.default_rng(3)
    contexts = rng.random(3000)
    arms = rng.integers(ARMS, size=3000)
    xs = np.where(arms == np.minimum((contexts * 3).astype(int), 2), 0.01, 1.0)
    members = learn(tree, tree.members(ARMS, stop), contexts, arms, xs)
    start = time.process_time()
    result = explain(tree, members, LABELS, stop)
    assert time.process_time() - start < 2.0
    assert -math.inf < result.log_probability < 0
    sides = [region.bounds[0] for region in result]
    assert (sides[0][0], sides[-1][1]) == (0.0, 1.0)
    assert all(before[1] == after[0] for before, after in pairwise(sides))
    assert all(result.region_at(x).seen for x in contexts)
    if stop is None:
        assert [result.arm_at(x) for x in (0.1, 0.5, 0.9)] == LABELS
        assert [region.arm for region in result.merged() if region.seen] == LABELS


def test_two_contexts_a_bit_apart() -> None:
    """At the end of 51 shared bits: every subtree left behind is one region."""
    tree = hsb.BinaryTree(depth=52)
    low = math.floor(2**51 / 3) / 2**51
    high = low + 2.0**-52
    members = learn(tree, tree.members(2, None), [low, high], [0, 1], [500.0] * 2)
    result = explain(tree, members, ["a", "b"], None)
    assert (result.arm_at(low), result.arm_at(high)) == ("b", "a")
    assert len(result) == 53
    assert sum(region.seen for region in result) == 2
    (line,) = (line for line in str(result).splitlines() if "play 'b'" in line)
    start, end = line.split(":")[0].split(" <= x < ")
    assert float(start) < float(end)  # enough digits to tell them apart


@pytest.mark.parametrize(
    ("structure", "rounds", "seconds"),
    [
        (hsb.BinaryTree(depth=104, space=SQUARE), 20_000, 2.0),
        (hsb.Lexicographic(leaves=256), 40, 2.0),
        (hsb.GroupedLexicographic(leaves=256, groups=4), 40, 4.0),
        (hsb.ArbitrarySplits(leaves=13), 40, 5.0),
        (hsb.PositionSplits(bits=[1] * 11), 40, 5.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_large_structures_are_quick(structure: hsb.Structure, rounds: int, seconds: float) -> None:
    contexts = np.random.default_rng(0).random((rounds, structure.space.features))
    members = learn(structure, structure.members(2, None), contexts, contexts[:, 0] > 0.5, np.full(rounds, 9.0))
    start = time.process_time()
    result = explain(structure, members, ["a", "b"], None)
    assert time.process_time() - start < seconds
    assert [result.arm_at(np.full(structure.space.features, x)) for x in (0.01, 0.99)] == ["b", "a"]
    area = sum(math.prod(high - low for low, high in box) for region in result for box in region.boxes)
    assert area == pytest.approx(1.0)


def test_the_right_feature_is_found() -> None:
    structure = hsb.OneOf(*(hsb.BinaryTree(depth=6, space=SQUARE, features=[j]) for j in range(2)))
    rng = np.random.default_rng(0)
    contexts = rng.random((400, 2))
    members = learn(structure, structure.members(2, None), contexts, contexts[:, 1] < 0.5, np.full(400, 0.5))
    result = explain(structure, members, ["low", "high"], None)
    assert result.chosen == structure.structures[1]
    assert [region.bounds for region in result] == [((0.0, 1.0), (0.0, 0.5)), ((0.0, 1.0), (0.5, 1.0))]
    assert (
        str(result)
        == "x1 < 0.5: play 'low' (probability 1.00, coverage 0.50)\nx1 >= 0.5: play 'high' (probability 1.00, coverage 0.50)"
    )


def test_from_a_policy() -> None:
    policy = hsb.HSB(hsb.BinaryTree(depth=5, space=hsb.Box(18, 90)), arms=["tea", "coffee"], horizon=2000, seed=1)
    assert str(policy.explain()) == "everywhere: never seen"
    rng = np.random.default_rng(0)
    for age in rng.uniform(18, 90, size=2000):
        decision = policy.decide(age)
        policy.learn(decision, loss=float((decision.arm == "tea") == (age < 54)))
    assert (
        str(policy.explain()) == "18 <= x < 54: play 'coffee' (probability 1.00)\n54 <= x <= 90: play 'tea' (probability 1.00)"
    )
    assert policy.explain().arm_at(90) == "tea"
    with pytest.raises(hsb.InputError, match="outside"):
        policy.explain().arm_at(17)
