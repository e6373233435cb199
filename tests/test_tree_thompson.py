"""The context tree with Thompson sampling: its evidence, its draws, its propensities, and that it learns."""

import copy
import math
import pickle
import sys
from typing import Any

import naive_bayes
import numpy as np
import pytest
from numba import njit

import hsb
from hsb.kernels import beta, header, thompson
from hsb.members import room
from hsb.policies.tree_thompson import TreeThompson

TREE = hsb.BinaryTree(depth=3)
NONE = np.zeros(0, dtype=np.uint8)


def state(policy: TreeThompson) -> dict[str, Any]:
    """All that a policy is, byte for byte, scratch apart."""
    arrays = policy._arrays()
    ints = arrays["ints"].copy()
    ints[header.WHOLE] = 0
    ints[ints[header.PATH] : ints[header.LINKS]] = 0
    return {
        "floats": arrays["floats"][arrays["ints"][header.GO] :].tobytes(),
        "ints": ints.tobytes(),
        "counters": (policy.rounds, policy.clipped, policy._ledger.issued, bytes(policy._ledger.bits).rstrip(b"\0")),
        "settings": (policy._settings(), policy.arms, policy._removed, policy.loss_range),
        "random": repr(policy._rng.bit_generator.state),
    }


def taught(policy: TreeThompson, leaf: int, arm: int, loss: float) -> float:
    """Learn at a leaf through the kernels; what probability the tree gave the loss."""
    policy._locate((leaf + 0.5) / policy.structure.leaves, count=False)
    policy._tree = room(policy._tree)
    F, I = policy._tree
    key = policy._keys[0][0]
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
    """Teacher-forced; contexts come in clusters, so that chains are long and are split anywhere."""
    rng = np.random.default_rng(depth)
    slow = naive_bayes.Prunings(k, depth, 3, stop, prior)
    policy = TreeThompson(hsb.KaryTree(k=k, depth=depth), arms=3, stop=stop, prior=prior)
    leaves = policy.structure.leaves
    for t in range(60):
        leaf = int(rng.integers(min(leaves, 1 + t // 5)) * 5 % leaves)
        arm, loss = int(rng.integers(3)), float(rng.integers(2)) if whole_losses else float(rng.random())
        assert taught(policy, leaf, arm, loss) == pytest.approx(slow.learn(leaf, arm, loss), rel=1e-12)
        if t % 6 == 0:
            for other in range(leaves):
                found = policy.probabilities(middle(policy, other))
                assert found == pytest.approx(slow.probabilities(other), abs=2e-7)


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
    assert policy._tree.I[header.ROWS] <= 2 * len(leaves) - 1
    for leaf in [*leaves, leaves[0] ^ 4, leaves[0] ^ 2**30, 12345]:
        assert policy.probabilities((leaf + 0.5) / 2**40) == pytest.approx(slow.probabilities(leaf), abs=2e-7)


# -- draws -------------------------------------------------------------------------------------------------------------


@njit
def many(kind, good, bad, n):
    out = np.empty(n)
    state = beta.seeded(0.123)
    for i in range(n):
        if kind == 0:
            out[i], state = beta.uniform(state)
        elif kind == 1:
            out[i], state = beta.normal(state)
        elif kind == 2:
            out[i], state = beta.gamma(bad, state)
        else:
            out[i], state = beta.draw(good, bad, state)
    return out


def off(sample, expected):
    """How many standard errors the mean of a sample is away from what it should be."""
    return abs(sample.mean() - expected) / (sample.std() / math.sqrt(len(sample)))


def test_uniform_and_normal_numbers():
    u, z = many(0, 1.0, 1.0, 10**6), many(1, 1.0, 1.0, 10**6)
    assert u.min() > 0.0 and u.max() < 1.0
    assert off(u, 1 / 2) < 4 and off(u**2, 1 / 3) < 4 and off(u[1:] * u[:-1], 1 / 4) < 4
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15), (8, 105)):
        assert off(z**power, moment) < 4, power
    for end in (0.5, 1.0, 2.0, 3.0, 3.442619855899, 4.0):  # the ziggurat's rim and beyond
        assert off((z > end).astype(float), 0.5 * math.erfc(end / math.sqrt(2))) < 4, end
    assert off((z * 1.005) ** 2, 1) > 4  # the test would see an error of half a percent


@pytest.mark.parametrize("shape", [1.0, 1.5, 4.0, 100.0, 1e6])
def test_gamma_numbers(shape):
    x = many(2, 1.0, shape, 400_000)
    assert off(x, shape) < 4 and off((x - shape) ** 2, shape) < 4 and off((x - shape) ** 3, 2 * shape) < 4
    assert off(np.log(x), naive_digamma(shape)) < 4
    assert off(x, shape * (1 + 0.02 / math.sqrt(shape))) > 4


def naive_digamma(x: float) -> float:
    """Shift upwards, then the asymptotic series."""
    below = 0.0
    while x < 20:
        below -= 1 / x
        x += 1
    return below + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)


@pytest.mark.parametrize(("good", "bad"), [(1, 1), (0.5, 0.5), (3, 0.2), (0.05, 2), (30, 70), (1, 500), (0.001, 0.001)])
def test_beta_numbers(good, bad):
    """In log-odds the mean and variance are those of two log-gammas."""
    y = many(3, float(good), float(bad), 400_000)
    assert np.isfinite(y).all()
    assert off(y, naive_digamma(bad) - naive_digamma(good)) < 4
    loss = 1 / (1 + np.exp(-np.clip(y, -700, 700)))
    mean = bad / (good + bad)
    assert off(loss, mean) < 4 and off((loss - mean) ** 2, mean * (1 - mean) / (good + bad + 1)) < 4


# -- the probability of being the least ---------------------------------------------------------------------------------


def integrated(counts, prior=(1e-3, 1e-3), offered=NONE):
    table = np.array(counts, dtype=float) - prior
    p = np.zeros(len(counts))
    beta.add_least(table.ravel(), offered, *prior, 1.0, p, np.empty((len(counts), beta.COLUMNS)))
    return p


def test_integrals_against_exact_rationals():
    rng = np.random.default_rng(0)
    assert naive_bayes.exact_least([(1, 1)] * 3) == pytest.approx([1 / 3] * 3, abs=1e-15)
    for top in (4, 12, 30) * 25:
        counts = [(int(a), int(b)) for a, b in rng.integers(1, top, size=(rng.integers(2, 5), 2))]
        exact = naive_bayes.exact_least(counts)
        assert integrated(counts) == pytest.approx(exact, abs=1e-9)
        assert naive_bayes.least(np.array(counts, dtype=float)) == pytest.approx(exact, abs=1e-7)
    nearly = [(3.0, 2.0 + 1e-7), (2.0, 2.0)]
    assert (
        np.abs(integrated(nearly) - naive_bayes.exact_least([(3, 2), (2, 2)])).max() > 1e-9
    )  # the tolerance sees one part in 1e7


def two(good1: int, bad1: int, good2: int, bad2: int) -> float:
    """P(loss 1 < loss 2), a finite sum for whole counts."""

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    return math.fsum(
        math.exp(log_beta(bad1 + i, good1 + good2) - math.log(good2 + i) - log_beta(1 + i, good2) - log_beta(bad1, good1))
        for i in range(bad2)
    )


@pytest.mark.parametrize(
    "counts",
    [(1000, 300, 800, 260), (1, 1, 9000, 3000), (9000, 3000, 1, 1), (1, 1, 20, 5000), (5000, 20, 5000, 22), (2, 900, 1, 1)],
)
def test_integrals_with_many_counts(counts):
    assert integrated([counts[:2], counts[2:]])[0] == pytest.approx(two(*counts), abs=1e-9)


@pytest.mark.parametrize("n", [1e5, 1e7, 1e9, 1e12, 1e15])
def test_integrals_with_huge_counts(n):
    """Two arms with normal posteriors, z standard deviations apart."""
    for z in (0.0, 0.5, 2.0):
        spread = math.sqrt(2 * 0.25 * 0.75 / n)
        counts = [(0.75 * n, 0.25 * n), ((0.75 - z * spread) * n, (0.25 + z * spread) * n)]
        assert integrated(counts)[0] == pytest.approx(
            0.5 * math.erfc(-z / math.sqrt(2)), abs=2.0 / math.sqrt(n) + 1e-7 * (z > 0) + 1e-9
        )
    three = integrated([(n, n / 3)] * 3)
    assert three == pytest.approx([1 / 3] * 3, abs=1e-9) and three.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    "counts",
    [
        [(0.001, 0.001), (0.001, 0.001), (3.001, 1.001)],
        [(0.05, 2), (0.5, 0.5), (2, 9)],
        [(0.3, 40), (0.2, 0.001), (5, 5), (80, 300)],
    ],
)
def test_integrals_with_small_counts(counts):
    """Against 400,000 draws of each arm: four standard errors."""
    n = 400_000
    rng = np.random.default_rng(0)
    y = [many(3, float(good), float(bad), n)[rng.permutation(n)] for good, bad in counts]
    frequency = np.bincount(np.argmin(y, axis=0), minlength=len(counts)) / n
    p = integrated(counts)
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    assert (np.abs(frequency - p) <= 4 * np.sqrt(p * (1 - p) / n) + 1e-9).all()


def test_arms_that_are_not_offered_do_not_count():
    counts = [(3, 1), (1, 2), (4, 4), (9, 1)]
    found = integrated(counts, offered=np.array([1, 0, 1, 0], dtype=np.uint8))
    assert found[[0, 2]] == pytest.approx(naive_bayes.exact_least([(3, 1), (4, 4)]), abs=1e-9) and found[1] == found[3] == 0.0


# -- decisions -----------------------------------------------------------------------------------------------------------


def trained(rounds: int = 300, **settings: Any) -> TreeThompson:
    policy = TreeThompson(**({"structure": hsb.BinaryTree(depth=6), "arms": 3, "seed": 1} | settings))
    rng = np.random.default_rng(5)
    features = policy.structure.space.features
    contexts = rng.random((rounds, features))
    losses = (rng.random((rounds, len(policy.arms))) < 0.3 + 0.4 * contexts[:, :1]).astype(float)
    hsb.simulate(policy, contexts, losses)
    return policy


@pytest.mark.parametrize("available", [None, [0, 2], [1]])
def test_frequencies_are_the_probabilities(available):
    policy = trained(60)
    n = 40_000
    rng = np.random.default_rng(2)
    for context in (0.1, 0.55):
        p = policy.probabilities(context, available=available)
        policy._locate(context, count=False)
        mask = NONE if available is None else policy._mask(available)
        F, I = policy._tree
        arms = [thompson.choose(F, I, policy._keys[0][0], mask, *policy.prior, 3, u) for u in rng.random(n)]
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
    policy._kernels = type(
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
    monkeypatch.setattr(sys.modules["hsb.simulate"], "CHUNK", 64)
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


def test_learning_does_not_look_at_the_propensity_nor_at_what_was_offered():
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
    rows = int(policy._tree.I[header.ROWS])
    odds = {x: policy.probabilities(x, available=[0, 1, 2]) for x in (0.1, 0.9)}
    policy.add_arm("new")
    assert policy.arms == [0, 1, 2, "new"] and policy._tree.I[header.ROWS] == rows
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


# -- files and copies ----------------------------------------------------------------------------------------------------


def saved(policy: TreeThompson, folder: Any) -> TreeThompson:
    policy.save(folder / "policy.hsb")
    found = hsb.load(folder / "policy.hsb")
    assert isinstance(found, TreeThompson)
    return found


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"forgetting": 0.99, "stop": 0.2, "prior": (0.5, 2.0), "loss_range": (-1.0, 3.0)},
        {"stop": 0.0, "structure": hsb.BinaryTree(depth=52)},
        {"structure": hsb.KaryTree(k=7, depth=9, space=hsb.Box([0, 0], [1, 1]), features=[1, 0])},
    ],
    ids=["plain", "all settings", "deep", "7-ary"],
)
@pytest.mark.parametrize("how", ["save", "copy", "pickle", "deepcopy"])
def test_copies_go_on_bit_for_bit(how, settings, tmp_path):
    policy = trained(**settings)
    policy.add_arm("x")
    policy.remove_arm(1)
    policy.decide([0.3] * policy.structure.space.features)
    twin = {
        "save": lambda: saved(policy, tmp_path),
        "copy": policy.copy,
        "pickle": lambda: pickle.loads(pickle.dumps(policy)),
        "deepcopy": lambda: copy.deepcopy(policy),
    }[how]()
    assert state(policy) == state(twin) and repr(policy) == repr(twin)
    rng = np.random.default_rng(9)
    for _ in range(50):
        context = rng.random(policy.structure.space.features).tolist()
        one, other = policy.decide(context), twin.decide(context)
        assert (one.arm, one.propensity) == (other.arm, other.propensity)
        policy.learn(one, loss=0.75)
        twin.learn(other, loss=0.75)
    assert state(policy)["floats"] == state(twin)["floats"]
    before = state(twin)
    policy.learn(policy.decide(context), loss=0.0)
    assert state(twin) == before  # they share nothing


def test_damaged_state_is_refused():
    fresh = TreeThompson(hsb.BinaryTree(depth=6), arms=3)
    arrays = trained()._arrays()
    row = int(arrays["ints"][header.ROW0])
    for at, value in (
        (row, 0.0),
        (row, 1e300),
        (row, -1.0),
        (row, math.nan),
        (row + 1, -1.0),
        (row + 2, math.inf),
        (row + 3, 1e16),
    ):
        floats = arrays["floats"].copy()
        floats[at] = value
        with pytest.raises(ValueError, match=r"its (counts|state)"):
            fresh._set_arrays({"floats": floats, "ints": arrays["ints"]})
    links = int(arrays["ints"][header.LINKS])
    for at, value in ((header.ROWS, 10**6), (header.STRIDE, 16), (links + 1, 10**6), (links, 7 << 12)):
        ints = arrays["ints"].copy()
        ints[at] = value
        with pytest.raises(ValueError, match="its state"):
            fresh._set_arrays({"floats": arrays["floats"], "ints": ints})
    with pytest.raises(ValueError, match="its state"):
        TreeThompson(hsb.BinaryTree(depth=7), arms=3)._set_arrays(arrays)
    with pytest.raises(ValueError, match="stop prior"):
        TreeThompson(hsb.BinaryTree(depth=6), arms=3, stop=0.1)._set_arrays(arrays)
    fresh._set_arrays(arrays)


# -- bad input -----------------------------------------------------------------------------------------------------------

BAD: list[tuple[dict[str, Any], str]] = [
    ({"structure": hsb.Lexicographic(leaves=8)}, r"TreeThompson needs a tree, hsb.BinaryTree.*given Lexicographic.*hsb.HSB"),
    ({"structure": hsb.OneOf(TREE, TREE)}, r"needs a tree"),
    ({"structure": 5}, r"needs a tree.*given 5"),
    *(
        ({"forgetting": bad}, r"forgetting must be in \(0, 1\).*None.*given")
        for bad in (0, 1, 1.0, -0.5, 1.5, math.nan, "0.9", True)
    ),
    *(({"stop": bad}, r"stop must be in \[0, 1\).*given") for bad in (1, -0.1, math.nan, "half", True)),
    *(
        ({"prior": bad}, r"prior must be \(good, bad\).*given")
        for bad in (
            1,
            (1,),
            (1, 1, 1),
            (0, 1),
            (1, -1),
            (math.inf, 1),
            (math.nan, 1),
            "11",
            ("1", 1),
            None,
            (1e-4, 1),
            (1, 1e7),
        )
    ),
    ({"structure": hsb.BinaryTree(depth=40), "stop": 0.9999}, r"depth=40 with stop=0.9999.*smaller"),
    ({"arms": 0}, r"arms must be at least 1"),
    ({"loss_range": (1, 0)}, r"loss_range must be"),
    ({"seed": -1}, r"seed must be"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=str)
def test_bad_settings(settings, message):
    with pytest.raises(hsb.InputError, match=message):
        TreeThompson(**({"structure": TREE, "arms": 2} | settings))


def test_bad_rounds_change_nothing():
    policy = trained()
    before = state(policy)
    for context in (1.5, math.nan, "x", None, [0.1, 0.2]):
        with pytest.raises(hsb.InputError):
            policy.decide(context)
        with pytest.raises(hsb.InputError):
            policy.learn(hsb.Decision(context=context, arm=0, propensity=0.5), loss=0.5)
    for how in ({"loss": 2.0}, {"loss": math.nan}, {}, {"loss": 0.1, "reward": 0.1}):
        with pytest.raises(hsb.InputError):
            policy.learn(hsb.Decision(context=0.5, arm=0, propensity=0.5), **how)
    for arm, propensity in ((7, 0.5), (0, 0.0), (0, 1.5)):
        with pytest.raises(hsb.InputError):
            policy.learn(hsb.Decision(context=0.5, arm=arm, propensity=propensity), loss=0.5)
    with pytest.raises(hsb.InputError):
        policy.decide(0.5, available=[9])
    with pytest.raises(hsb.InputError):
        policy.decide(0.5, u=1.0)
    assert state(policy) == before


def test_it_promises_nothing():
    assert TreeThompson.guarantee.startswith("None") and "adversary" in TreeThompson.guarantee
    assert TreeThompson(TREE, arms=2).regret_bound(1000) == math.inf


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
    rows = policy._arrays()["floats"][policy._tree.I[header.ROW0] :]
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
    root = int(policy._tree.I[header.ROW0])
    assert policy._tree.F[root] == 1 / thompson.FLOOR
    hsb.simulate(policy, contexts, np.full((4000, 1), 1.0))
    assert policy._tree.F[root] < 1 / thompson.FLOOR


def problem(change: bool, seed: int, rounds: int = 100_000) -> tuple[np.ndarray, np.ndarray]:
    """Sections VI-A and VI-B of the paper."""
    rng = np.random.default_rng(seed)
    s = rng.random(rounds)
    chance = np.column_stack([0.5 + 0.5 * np.sin(2 * np.pi * s), np.sin(np.pi * s), s])
    if change:
        chance[rounds // 4 :] = chance[rounds // 4 :][:, [1, 2, 0]]
    return s, (rng.random((rounds, 3)) < chance).astype(float)


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
    chance = np.tile([0.3, 0.6, 0.9], (n, 1))
    chance[change:, 2] = 0.1
    losses = (rng.random((n, 3)) < chance).astype(float)
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
    row = 8 * int(policy._tree.I[header.STRIDE] + policy._tree.I[header.LINK_STRIDE])
    assert sizes == [1999 * row, 3999 * row]
    hsb.simulate(policy, np.full(1000, 0.5), np.zeros((1000, 3)))
    assert policy.nbytes - empty <= 4001 * row
