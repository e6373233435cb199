"""The context tree with Thompson sampling: its evidence, its decisions, and that it learns."""

import sys
from typing import Any

import numpy as np
import pytest
from naive import bayes as naive_bayes
from support.thompson_cases import TREE, state, trained

import hsb
from hsb.engine.kernels import header, thompson
from hsb.engine.kernels.words import tree as tree_words
from hsb.policies.tree_thompson import TreeThompson

NONE = np.zeros(0, dtype=np.uint8)


def taught(policy: TreeThompson, leaf: int, arm: int, loss: float) -> float:
    """Learn at a leaf through the kernels; what probability the tree gave the loss."""
    learner = policy.learner
    learner._grow()
    F, I = learner.tree
    key, _ = learner.read((leaf + 0.5) / policy.structure.leaves)
    n = thompson.extend(F, I, key, thompson.visit(F, I, key))
    keep = 1.0 if policy.forgetting is None else policy.forgetting
    return thompson.learn(F, I, n, arm, loss, *policy.prior, keep, len(policy.arms))


def middle(policy: TreeThompson, leaf: int) -> float:
    return (leaf + 0.5) / policy.structure.leaves


# -- the evidence ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole_losses", [True, False])
@pytest.mark.parametrize(
    ("k", "depth", "stop", "prior"),
    [
        (2, 0, 0.5, (1, 1)),
        (2, 1, 0.5, (1, 1)),
        (2, 3, 0.5, (1, 1)),
        (2, 3, 0.9, (0.5, 2)),
        (2, 3, 0.0, (1, 1)),
        (3, 2, 0.3, (2, 1)),
    ],
)
def test_evidence_is_the_sum_over_all_prunings(k, depth, stop, prior, whole_losses):
    """Teacher-forced; neighbours come first, so that chains above a branch are long and are split later."""
    rng = np.random.default_rng(depth)
    slow = naive_bayes.Prunings(k, depth, 3, stop, prior)
    policy = TreeThompson(hsb.KaryTree(k=k, depth=depth), arms=3, stop=stop, prior=prior)
    leaves = policy.structure.leaves
    for t in range(60):
        leaf = int(rng.integers(min(leaves, 1 + t // 5)))
        arm, loss = int(rng.integers(3)), float(rng.integers(2)) if whole_losses else float(rng.random())
        assert taught(policy, leaf, arm, loss) == pytest.approx(slow.learn(leaf, arm, loss), rel=1e-12)
        if t % 6 == 0:
            for other in range(leaves):
                result = policy.probabilities(middle(policy, other))
                assert result == pytest.approx(slow.probabilities(other), abs=2e-7)


@pytest.mark.nojit
def test_the_first_rounds_by_hand():
    policy = TreeThompson(hsb.BinaryTree(depth=1), arms=2)
    assert taught(policy, 0, 0, 1.0) == pytest.approx(1 / 2)
    assert taught(policy, 0, 0, 1.0) == pytest.approx(2 / 3)  # root and leaf agree
    assert taught(policy, 1, 0, 0.0) == pytest.approx((1 / 4 + 1 / 2) / 2)  # the root says 1/4, the other leaf 1/2
    assert taught(policy, 1, 0, 0.0) == pytest.approx(1 / 3 * 2 / 5 + 2 / 3 * 2 / 3)  # the odds are now 1 : 2


@pytest.mark.parametrize("forgetting", [None, 0.9, 0.99])
@pytest.mark.parametrize(("k", "depth", "stop"), [(2, 4, 0.5), (3, 2, 0.2), (2, 3, 0.0)])
def test_forgetting_node_by_node(k, depth, stop, forgetting):
    """Leaves first come in the order of reversed digits, so that no chain of several nodes stands above a branch."""
    rng = np.random.default_rng(7)
    slow = naive_bayes.FadingTree(k, depth, 3, stop, (1.0, 1.0), forgetting)
    policy = TreeThompson(hsb.KaryTree(k=k, depth=depth), arms=3, stop=stop, forgetting=forgetting)
    leaves = k**depth
    first = [sum((i // k**d) % k * k ** (depth - 1 - d) for d in range(depth)) for i in range(leaves)]
    for t in range(200):
        leaf = first[t] if t < leaves else int(rng.integers(leaves))
        arm, loss = int(rng.integers(3)), float(rng.random() if t % 3 else rng.integers(2))
        assert taught(policy, leaf, arm, loss) == pytest.approx(slow.learn(leaf, arm, loss), rel=1e-10)
    for leaf in range(leaves):
        assert policy.probabilities(middle(policy, leaf)) == pytest.approx(slow.probabilities(leaf), abs=2e-7)


def test_path_compression_changes_nothing():
    """Depth 40: the kernel keeps a row for each chain, its twin one for each node."""
    rng = np.random.default_rng(3)
    slow = naive_bayes.FadingTree(2, 40, 2, 0.3, (1.0, 1.0))
    policy = TreeThompson(hsb.BinaryTree(depth=40), arms=2, stop=0.3)
    leaves = [int(v) for v in rng.integers(2**40, size=12)]
    leaves += [leaves[0] ^ 1, leaves[0] ^ 2**20, leaves[1] ^ 2**5]
    for _ in range(300):
        leaf, arm = leaves[rng.integers(len(leaves))], int(rng.integers(2))
        loss = float(rng.random() < (0.2 + 0.6 * (leaf % 2)))
        assert taught(policy, leaf, arm, loss) == pytest.approx(slow.learn(leaf, arm, loss), rel=1e-11)
    assert policy.learner.tree.I[tree_words.ROWS] <= 2 * len(leaves) - 1
    for leaf in [*leaves, leaves[0] ^ 4, leaves[0] ^ 2**30, 12345]:
        assert policy.probabilities((leaf + 0.5) / 2**40) == pytest.approx(slow.probabilities(leaf), abs=2e-7)


# -- decisions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("available", [None, [0, 2], [1]])
@pytest.mark.parametrize(("depth", "stop"), [(6, 0.5), (52, 0.2)])
def test_frequencies_are_the_probabilities(depth, stop, available):
    policy = trained(60, structure=hsb.BinaryTree(depth=depth), stop=stop)
    n = 40_000
    rng = np.random.default_rng(2)
    F, I = policy.learner.tree
    for context in (0.1, 0.55):
        p = policy.probabilities(context, available=available)
        assert depth == 6 or 0.1 < F[header.REST] < 0.7  # where nothing was seen yet, arms are equal
        key, mask = policy.learner.read(context)[0], NONE if available is None else policy.arm_set.mask(available)
        arms = [thompson.choose(F, I, key, mask, *policy.prior, 3, u) for u in rng.random(n)]
        frequency = np.bincount(arms, minlength=3) / n
        assert (np.abs(frequency - p) <= 4 * np.sqrt(p * (1 - p) / n)).all()
        wrong = np.roll(p, 1)
        assert (np.abs(frequency - wrong) > 4 * np.sqrt(wrong * (1 - wrong) / n)).any()


def test_a_decision_is_a_pure_function():
    policy = trained()
    before = state(policy)
    for u in (0.0, 1e-300, 0.25, 1 - 2**-53):
        first = policy.decide(0.3, u=u)
        assert policy.decide(0.3, u=u).arm == first.arm
        assert first.propensity == policy.probabilities(0.3)[first.arm] == first.probabilities[first.arm]
    after = state(policy)
    assert before.pop("counters") != after.pop("counters") and before == after  # only decisions were issued
    assert policy.decide(0.3, available=[2]).propensity == 1.0


def test_an_arm_of_no_probability_still_has_a_propensity():
    policy = TreeThompson(hsb.BinaryTree(depth=0), arms=2)
    for _ in range(2000):
        policy.learn(hsb.Decision(context=0.5, arm=0, propensity=0.5), loss=0.0)
        policy.learn(hsb.Decision(context=0.5, arm=1, propensity=0.5), loss=1.0)
    p = policy.probabilities(0.5)
    assert p.tolist() == pytest.approx([1.0, 0.0], abs=1e-9)
    policy.learner._kernels = type(
        "Rare", (), {"choose": lambda *_: 1, "probabilities": thompson.probabilities, "update": thompson.update}
    )
    decision = policy.decide(0.5)
    assert decision.arm == 1 and decision.propensity == 1e-12
    policy.learn(decision, loss=1.0)


@pytest.mark.parametrize("forgetting", [None, 0.99])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    "structure",
    [TREE, hsb.BinaryTree(depth=52), hsb.KaryTree(k=5, depth=20, space=hsb.Box.unit(3)), hsb.BinaryTree(depth=0)],
    ids=["small", "deep", "5-ary", "no split"],
)
def test_simulate_is_decide_and_learn(structure, masked, forgetting, monkeypatch):
    monkeypatch.setattr(sys.modules["hsb.play.tables"], "CHUNK", 64)
    rng = np.random.default_rng(0)
    contexts, losses = rng.random((200, structure.space.features)), rng.random((200, 4))
    masks = rng.random((200, 4)) < 0.6
    masks[:, 1] |= ~masks.any(axis=1)
    one, other = (TreeThompson(structure, arms=["a", "b", "c", "d"], seed=3, forgetting=forgetting) for _ in range(2))
    run = hsb.simulate(one, contexts, losses, available=masks if masked else None)
    for t in range(200):
        context = contexts[t] if len(contexts[t]) > 1 else contexts[t, 0]
        decision = other.decide(context, available=[one.arms[m] for m in range(4) if masks[t, m]] if masked else None)
        assert decision.arm == run.arms[t]
        other.learn(decision, loss=losses[t, one.arms.index(decision.arm)])
    mine, theirs = state(one), state(other)
    assert mine.pop("counters")[:2] == theirs.pop("counters")[:2] and mine == theirs
    assert np.isnan(run.propensities).all()


def test_learning_does_not_look_at_the_propensity_nor_at_what_was_available():
    one, other = trained(), trained()
    one.learn(hsb.Decision(context=0.2, arm=1, propensity=0.9), loss=0.3)
    other.learn(hsb.Decision(context=0.2, arm=1, propensity=1e-9, available=[1, 2]), loss=0.3)
    assert state(one) == state(other)


def test_spaces():
    cells = TreeThompson(hsb.BinaryTree(depth=3, space=hsb.Cells(8)), arms=2, seed=0)
    for cell in range(8):
        cells.learn(cells.decide(cell), loss=0.0)
    box = TreeThompson(hsb.BinaryTree(depth=8, space=hsb.Box([18, 0], [90, 1], outside="clip")), arms=2, seed=0)
    box.learn(box.decide([17, 0.5]), reward=1.0)
    assert (cells.rounds, box.rounds, box.clipped) == (8, 1, 1)


# -- arms that come and go -----------------------------------------------------------------------------------------------


def test_a_new_arm_is_at_its_prior():
    policy = trained(prior=(2.0, 1.0))
    rows = int(policy.learner.tree.I[tree_words.ROWS])
    odds = {x: policy.probabilities(x, available=[0, 1, 2]) for x in (0.1, 0.9)}
    policy.add_arm("new")
    assert policy.arms == [0, 1, 2, "new"] and policy.learner.tree.I[tree_words.ROWS] == rows
    for x, p in odds.items():
        assert policy.probabilities(x, available=[0, 1, 2])[:3] == pytest.approx(p, abs=1e-14)
        assert 0.0 < policy.probabilities(x)[3] < 1.0
    fresh = TreeThompson(TREE, arms=2)
    fresh.add_arm(2)
    assert fresh.probabilities(0.5) == pytest.approx([1 / 3] * 3)
    for arm in range(4, 12):  # rows of several cache lines
        policy.add_arm(arm)
        policy.learn(policy.decide(0.4), loss=1.0)
    assert policy.probabilities(0.4).sum() == pytest.approx(1.0)
    policy.remove_arm("new")
    assert policy.probabilities(0.4)[3] == 0.0


def test_an_arm_added_is_an_arm_never_played():
    """The same rounds with the arm there from the start, never offered, give the same state."""
    one, other = TreeThompson(TREE, arms=2), TreeThompson(TREE, arms=3)
    rng = np.random.default_rng(0)
    for t in range(100):
        decision = {"context": float(rng.random()), "arm": int(rng.integers(2)), "propensity": 0.5}
        loss = float(rng.random())
        for policy in (one, other):
            policy.learn(hsb.Decision(**decision), loss=loss)
        if t == 50:
            one.add_arm(2)
    assert [state(one)[part] for part in ("floats", "ints")] == [state(other)[part] for part in ("floats", "ints")]


# -- long runs and learning ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forgetting", [None, 0.999])
def test_a_million_rounds(forgetting):
    """Evidence far beyond the range of a double for a split in the middle, then, for as long, against the split above it."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    contexts = rng.random(n)
    right = (contexts > 0.5).astype(float)
    losses = np.column_stack([right, 1.0 - right])
    policy = TreeThompson(hsb.BinaryTree(depth=10), arms=2, seed=0, forgetting=forgetting)
    run = hsb.simulate(policy, contexts, losses)
    assert run.losses[-n // 2 :].mean() < (1e-4 if forgetting is None else 0.01)
    rows = policy.to_arrays()["floats"][policy.learner.tree.I[tree_words.ROW0] :]
    assert np.isfinite(rows).all()
    for x in (0.1, 0.499, 0.501, 0.9):
        p = policy.probabilities(x)
        assert p.sum() == pytest.approx(1.0) and p[int(x > 0.5)] > 0.99
    hsb.simulate(
        policy, contexts[:200_000], rng.random((200_000, 2))
    )  # now nothing matters: the odds move back and stay numbers
    p = policy.probabilities(0.3)
    assert np.isfinite(p).all() and p.sum() == pytest.approx(1.0)


def test_odds_do_not_stick():
    """The root's evidence ratio reaches its limit and comes back from it."""
    policy = TreeThompson(hsb.BinaryTree(depth=1), arms=1)
    contexts = np.array([0.25, 0.75] * 2000)
    hsb.simulate(policy, contexts, (contexts > 0.5)[:, None].astype(float))
    root = int(policy.learner.tree.I[tree_words.ROW0])
    assert policy.learner.tree.F[root] == 1 / thompson.FLOOR
    hsb.simulate(policy, contexts, np.full((4000, 1), 1.0))
    assert policy.learner.tree.F[root] < 1 / thompson.FLOOR


def problem(change: bool, seed: int, rounds: int = 100_000) -> tuple[np.ndarray, np.ndarray]:
    """Sections VI-A and VI-B of the paper."""
    rng = np.random.default_rng(seed)
    s = rng.random(rounds)
    probability = np.column_stack([0.5 + 0.5 * np.sin(2 * np.pi * s), np.sin(np.pi * s), s])
    if change:
        probability[rounds // 4 :] = probability[rounds // 4 :][:, [1, 2, 0]]
    return s, (rng.random((rounds, 3)) < probability).astype(float)


def average(change: bool, depth: int, **settings: Any) -> float:
    """Over three seeds; its standard error is 0.0008, and knowing the model loses 0.1957."""
    runs = []
    for seed in range(3):
        policy = TreeThompson(hsb.BinaryTree(depth=depth), arms=3, seed=seed, **settings)
        runs.append(hsb.simulate(policy, *problem(change, seed)).average_loss)
    return float(np.mean(runs))


@pytest.mark.parametrize("depth", [5, 10, 20])
def test_it_learns_the_stationary_problem(depth):
    assert average(False, depth) < 0.202
    assert average(False, depth, forgetting=0.997) < 0.206


def test_forgetting_follows_a_sudden_change():
    assert average(True, 5, forgetting=0.997) < 0.211
    assert average(True, 10, forgetting=0.997) < 0.214
    assert average(True, 10) > 0.24  # without it


def test_forgetting_finds_an_arm_that_became_better():
    """After a long time in which it was bad and hardly played."""
    rng = np.random.default_rng(0)
    n, change = 300_000, 250_000
    probability = np.tile([0.3, 0.6, 0.9], (n, 1))
    probability[change:, 2] = 0.1
    losses = (rng.random((n, 3)) < probability).astype(float)
    for forgetting, low, high in ((0.997, 0.09, 0.13), (None, 0.25, 0.35)):
        policy = TreeThompson(hsb.BinaryTree(depth=5), arms=3, seed=0, forgetting=forgetting)
        run = hsb.simulate(policy, rng.random(n), losses)
        assert low < run.losses[-20_000:].mean() < high


def test_memory_grows_with_what_was_visited():
    policy = TreeThompson(hsb.BinaryTree(depth=52), arms=3, seed=0)
    empty = policy.nbytes
    rng = np.random.default_rng(0)
    sizes = []
    for _ in range(2):
        hsb.simulate(policy, rng.random(1000), np.zeros((1000, 3)))
        sizes.append(policy.nbytes - empty)
    row = 8 * int(policy.learner.tree.I[tree_words.STRIDE] + policy.learner.tree.I[tree_words.LINK_STRIDE])
    assert sizes == [1999 * row, 3999 * row]
    hsb.simulate(policy, np.full(1000, 0.5), np.zeros((1000, 3)))
    assert policy.nbytes - empty <= 4001 * row
