"""Arms with features: a new one begins with what similar ones taught, and without them nothing changes."""

import pickle

import numpy as np
import pytest
from naive import arms as naive_arms

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import ensemble as p
from hsb.errors import FileError, InputError
from hsb.features.arms import ArmFeatures
from hsb.files.policy_file import pack, unpack

KINDS = ["shoes", "hats", "coats", "bags"]
ARMS = [f"{kind}{k}" for kind in KINDS for k in range(2)]  # two of each kind
CENTRES = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])  # of the contexts that a kind is for; bags are for none


def kind_of(arm):
    return KINDS.index(arm[:-1])


def probability(x, arm):
    """Of losing: arms of a kind differ by 0.04 at most, kinds by 0.8."""
    kind = kind_of(arm)
    good = 0.5 + 0.4 * float(CENTRES[kind] @ x) if kind < 3 else 0.05
    return 1.0 - np.clip(good - 0.02 * int(arm[-1]), 0.05, 0.95)


def features_of(arm, shift=0):
    """What an arm says of itself; with a shift, that it is of another kind."""
    return {"kind": KINDS[(kind_of(arm) + shift) % 4], "price": 20.0 + 10.0 * kind_of(arm) * (shift == 0) + int(arm[-1])}


def members_of(policy):
    return policy.learner.mixture.state.members


def played(policy, rng, rounds):
    """Play on; the arms, what they would lose on average, and what the best would."""
    arms, lost, least = [], [], []
    for _ in range(rounds):
        turn = rng.uniform(0, 2 * np.pi)
        x = np.array([np.cos(turn), np.sin(turn)])
        decision = policy.decide({"x": float(x[0]), "y": float(x[1])})
        probabilities = {arm: probability(x, arm) for arm in policy.active_arms}
        policy.learn(decision, loss=float(rng.random() < probabilities[decision.arm]))
        arms.append(decision.arm)
        lost.append(probabilities[decision.arm])
        least.append(min(probabilities.values()))
    return arms, np.array(lost), np.array(least)


def world(seed, shift=None):
    """A policy after 1000 rounds, and the world's numbers; `shift` None: arms without features."""
    given = None if shift is None else {arm: features_of(arm, shift) for arm in ARMS}
    policy, rng = hsb.HSB(arms=ARMS, arm_features=given, seed=seed), np.random.default_rng([seed, 11])
    played(policy, rng, 1000)
    return policy, rng


def after(seed, arm, gone, shift):
    """Average regret, and plays of a new arm, in 150 rounds after it came and others went."""
    policy, rng = world(seed, shift)
    policy.add_arm(arm, features=None if shift is None else features_of(arm))
    for old in gone:
        policy.remove_arm(old)
    arms, lost, least = played(policy, rng, 150)
    return float((lost - least).mean()), arms.count(arm)


def everything(policy):
    """What a file would hold, its date left out."""
    return str(policy.settings()), policy.arms[:], {name: array.tobytes() for name, array in policy.to_arrays().items()}


SEEDS = range(500, 512)


def test_what_is_like_a_good_arm_is_played_well_sooner_and_what_is_like_bad_ones_less():
    regrets = {
        shift: np.mean([after(seed, "shoes2", ["shoes0", "shoes1"], shift)[0] for seed in SEEDS]) for shift in (None, 0, 1)
    }
    assert regrets[0] < 0.75 * regrets[None]  # seeds 500..511
    assert regrets[0] < 0.75 * regrets[1]  # negative control: the others say that they are of another kind
    plays = {shift: np.mean([after(seed, "bags2", [], shift)[1] for seed in SEEDS]) for shift in (None, 0)}
    assert plays[0] < 0.5 * plays[None]


@pytest.mark.parametrize("rounds", [0, 40, 300])
def test_without_features_nothing_changes(rounds):
    plain, told = (hsb.HSB(arms=ARMS[:3], arm_features=given, seed=5) for given in (None, {"shoes0": {"price": 3}}))
    for policy in (plain, told):
        rng = np.random.default_rng(3)
        played(policy, rng, rounds)
        policy.add_arm("hats1")
        played(policy, rng, 60)
    assert plain.learner.mixture.state.digest() == told.learner.mixture.state.digest()
    assert "arms.features" not in plain.to_arrays() and "arm_features" not in plain.settings()
    changed = [name for name, array in plain.to_arrays().items() if array.tobytes() != told.to_arrays()[name].tobytes()]
    assert changed == []


def test_the_mixture_treats_it_as_any_other():
    told, plain = world(1, 0)[0], world(1, None)[0]
    told.add_arm("hats2", features=features_of("hats2"))
    plain.add_arm("hats2")
    for k, (ours, theirs) in enumerate(zip(members_of(told), members_of(plain), strict=True)):
        assert k == 1 or (ours.kind.trimmed(ours).F[8:].tobytes() == theirs.kind.trimmed(theirs).F[8:].tobytes())
    assert told.regret_bound(1000) == plain.regret_bound(1000)


@pytest.mark.parametrize(("rounds", "seed"), [(3, 0), (60, 1), (800, 2)])
def test_naive_twin(rounds, seed):
    given = {arm: features_of(arm) for arm in ARMS[1:]}  # nothing is known of the first
    policy, rng = hsb.HSB(arms=ARMS, arm_features=given, seed=seed), np.random.default_rng([seed, 4])
    played(policy, rng, rounds)
    bare = policy.copy()
    bare.add_arm("hats2")
    policy.add_arm("hats2", features=features_of("hats2"))
    kinds = [kind_of(arm) for arm in [*ARMS[1:], "hats2"]]
    prices = np.array([features_of(arm)["price"] for arm in [*ARMS[1:], "hats2"]])
    encoded = np.column_stack([np.eye(4)[kinds], (prices - prices.mean()) / prices.std()])
    similar = [0.0, *naive_arms.similarity(encoded, len(ARMS) - 1)]
    assert np.allclose(policy.learner.arm_features.similarity(len(ARMS)), similar)
    F, I = members_of(bare)[1]
    stack, new = F[int(I[p.STACK]) :], len(ARMS)
    worth = naive_arms.shares(stack[p.MEMORIES + 3 :: 4][: new + 1], similar)
    average = (stack[p.LOST] + 1) / (stack[p.ROUNDS] + 2)
    before, after = naive_arms.parts(members_of(bare)[1]), naive_arms.parts(members_of(policy)[1])
    for (weights, covariances, precision), (mine, spread, _) in zip(before[0], after[0], strict=True):
        w, P = naive_arms.regression(weights, covariances, precision, worth, average)
        assert np.allclose(mine[new], w, atol=1e-8) and np.allclose(spread[new], P, atol=1e-8)
        assert np.array_equal(mine[:new], weights[:new]) and np.array_equal(spread[:new], covariances[:new])
        assert np.linalg.eigvalsh(spread[new]).min() > 0 and (np.diag(spread[new]) <= 1 / precision + 1e-9).all()
    roots = [float(before[1][0, p.COUNTS + 2 * b : p.COUNTS + 2 * b + 2].sum()) for b in range(new + 1)]
    right = p.WATCH + 2 * int(I[h.ARMS])
    for old, now, starts in ((before[1], after[1], [p.COUNTS]), (before[2], after[2], [p.WATCH, right])):
        own = [start + 2 * new + k for start in starts for k in range(2)]
        counted = np.hstack([naive_arms.counts(old, start, new, worth, roots) for start in starts])
        assert np.allclose(now[:, own], counted)
        assert np.array_equal(np.delete(now, own, axis=1), np.delete(old, own, axis=1))
    assert after[1][0, p.COUNTS + 2 * new : p.COUNTS + 2 * new + 2].sum() == pytest.approx(sum(worth.values()))
    assert sum(worth.values()) <= 30 + 1e-9


def test_own_experience_outweighs_it():
    """A new hat that always loses is hardly played after 30 plays, though hats are good; seed 8, shares of the last 200 of 600 rounds."""
    policy, rng = world(8, 0)
    policy.add_arm("hats2", features=features_of("hats2"))
    mean = []
    for _ in range(600):
        x = float(rng.uniform(-1, 1))
        decision = policy.decide({"x": x, "y": 1.0})
        lost = 1.0 if decision.arm == "hats2" else probability(np.array([x, 1.0]), decision.arm)
        policy.learn(decision, loss=float(rng.random() < lost))
        mean.append(decision.arm == "hats2")
    assert np.mean(mean[-200:]) < 0.05


def test_files_and_copies_go_on_the_same():
    policy, rng = world(2, 0)
    policy.add_arm("hats2", features=features_of("hats2"))
    played(policy, rng, 50)
    twins = [unpack(pack(policy), {}), policy.copy(), pickle.loads(pickle.dumps(policy))]
    for twin in twins:
        assert twin.settings() == policy.settings()
        assert twin.learner.arm_features.raw.tobytes() == policy.learner.arm_features.raw.tobytes()
    for each in (*twins, policy):
        each.add_arm("bags3", features={"kind": "rucksacks", "price": 31, "made": ["by hand"]})
        each.add_arm("coats2", features=features_of("coats2"))
        played(each, np.random.default_rng(6), 60)
    assert len({each.learner.mixture.state.digest() for each in (*twins, policy)}) == 1
    one, other = policy.copy(), policy.copy()
    one.add_arm("shoes2", features=features_of("shoes2"))
    assert len(other.learner.arm_features.raw) == len(other.arms) == len(one.arms) - 1


def test_what_was_pickled_still_sees_contexts():
    """Also in the middle of a round, the decision being pickled with it."""
    policy = world(2, None)[0]
    decision = policy.decide({"x": 0.0, "y": 1.0})
    twin, same = pickle.loads(pickle.dumps((policy, decision)))
    for each, result in ((policy, decision), (twin, same)):
        each.learn(result, loss=0.0)
        played(each, np.random.default_rng(6), 40)
    assert twin.learner.mixture.state.digest() == policy.learner.mixture.state.digest()
    seen = [twin.probabilities({"x": x, "y": 0.0}).argmax() for x in (1.0, -1.0)]
    assert seen[0] != seen[1]


def test_files_that_do_not_fit_are_refused(tmp_path):
    policy = world(2, 0)[0]
    for change in (lambda raw: raw[1:], lambda raw: raw[:, :1], lambda raw: raw.astype(np.int64), lambda raw: raw + np.inf):
        data = policy.to_arrays()
        data["arms.features"] = change(data["arms.features"])
        policy.learner.to_arrays = lambda data=data: data
        policy.save(tmp_path / "policy.hsb")
        del policy.learner.to_arrays
        with pytest.raises(FileError):
            hsb.load(tmp_path / "policy.hsb")


def test_some_arms_have_none():
    policy = world(3, 0)[0]
    before = policy.copy()
    policy.add_arm("new", features={})  # says nothing
    before.add_arm("new")
    assert policy.learner.mixture.state.digest() == before.learner.mixture.state.digest()
    policy.add_arm("strange", features={"weight": 3.0})
    policy.remove_arm("hats0")
    policy.add_arm("hats0", features={"kind": "hats", "price": 99})  # back, with what it learned
    assert policy.learner.arm_features.raw[ARMS.index("hats0"), 1] == 99
    policy.remove_arm("hats0")
    state = policy.learner.mixture.state.digest()
    policy.add_arm("hats0")
    assert policy.learner.mixture.state.digest() == state and policy.learner.arm_features.raw[ARMS.index("hats0"), 1] == 99
    policy.probabilities({"x": 0.0, "y": 1.0})


def test_what_cannot_be_taken_is_refused_and_nothing_changes():
    policy = world(4, 0)[0]
    before = everything(policy)
    for arm, features, words in [
        ("d", {"price": "cheap"}, "arm 'd'.*price"),
        ("d", {"kind": {"deep": 1}}, "arm 'd'.*kind"),
        ("d", {3: 4}, "arm 'd'"),
        ("d", [1, 2], "dict.*arm 'd'"),
        ("shoes0", {"kind": "hats"}, "already"),
        (["d"], {"kind": "hats"}, "hashable"),
    ]:
        with pytest.raises(InputError, match=words):
            policy.add_arm(arm, features=features)
        assert everything(policy) == before
    with pytest.raises(InputError, match="no arm"):
        hsb.HSB(arms=["a"], arm_features={"b": {"price": 1}})
    with pytest.raises(InputError, match=r"arm 'b'.*price"):
        hsb.HSB(arms=["a", "b"], arm_features={"a": {"price": 1}, "b": {"price": "x"}})
    with pytest.raises(InputError, match="must be a dict"):
        hsb.HSB(arms=["a"], arm_features=[1])
    with pytest.raises(InputError, match="a structure or arm_features, not both"):
        hsb.HSB(hsb.BinaryTree(depth=3), arms=["a"], arm_features={"a": {"price": 1}})


@pytest.mark.parametrize(
    "make", [lambda: hsb.HSB(hsb.BinaryTree(depth=3), arms=2), lambda: hsb.Uniform(arms=2), lambda: hsb.Exp3(arms=2)]
)
def test_other_policies_make_no_use_of_them(make):
    policy = make()
    with pytest.raises(InputError, match="no use of features of arms"):
        policy.add_arm("d", features={"price": 1})
    assert len(policy.arms) == 2


def test_similarity():
    arms = ArmFeatures.of([0, 1, 2], {0: {"a": 1.0}, 1: {"a": 1.0}, 2: {"a": 1.0}})
    assert arms.similarity(0).tolist() == [0.0, 1.0, 1.0]  # all alike
    tags = ArmFeatures.of([0, 1, 2], {0: {"t": ["x"]}, 1: {"t": ["x"]}, 2: {"t": ["y"], "u": True}})
    result = tags.similarity(0)
    assert result[1] > 0.9 > 0.1 > result[2]
