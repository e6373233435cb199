"""LinUCB: equal to ridge regressions solved anew, for any features and for a long time."""

import copy
import math
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from naive import bayes as naive_bayes

import hsb
from hsb.engine.kernels import lin_ucb as kernels
from hsb.policies.lin_ucb import LinUCB

BOX = hsb.Box([18, -1], [90, 1])
NONE = np.zeros(0, dtype=np.uint8)


def state(policy: LinUCB) -> dict[str, Any]:
    return {
        "arrays": [array.tobytes() for array in policy.to_arrays().values()],
        "counters": (policy.rounds, policy.clipped, policy.ledger.issued, bytes(policy.ledger.bits).rstrip(b"\0")),
        "settings": (policy.settings(), policy.arms, policy.arm_set.removed, policy.loss_range),
        "random": repr(policy.rng.bit_generator.state),
    }


def scores(policy: LinUCB, context: Any) -> np.ndarray:
    result, d = np.empty(len(policy.arms)), policy.state.shape[2]
    kernels.scores(policy.state, NONE, policy.alpha, policy.learner.read(context)[0], np.zeros((d + 2, d)), result)
    return result


def trained(rounds: int = 200, **settings: Any) -> LinUCB:
    policy = LinUCB(**({"features": 2, "arms": 3, "seed": 1} | settings))
    rng = np.random.default_rng(5)
    low, high = policy.space.ends() if policy.learner.scaled else (np.zeros(policy.features), np.ones(policy.features))
    contexts = rng.uniform(low, high, (rounds, policy.features))
    hsb.simulate(policy, contexts, rng.uniform(*policy.loss_range, (rounds, len(policy.arms))))
    return policy


# -- the regressions -----------------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("features", "arms", "alpha", "ridge", "intercept"),
    [(1, 2, 1.0, 1.0, True), (4, 3, 0.3, 0.1, True), (3, 2, 2.0, 10.0, False), (12, 2, 0.0, 1e-3, True)],
)
def test_equal_to_regressions_solved_anew(features, arms, alpha, ridge, intercept):
    """Teacher-forced: any arm, any loss."""
    rng = np.random.default_rng(features)
    policy = LinUCB(features, arms=arms, alpha=alpha, ridge=ridge, intercept=intercept)
    d = features + intercept
    slow = naive_bayes.Ridge(arms, d, alpha, ridge)
    for t in range(120):
        x = rng.normal(size=features) * (1 + 9 * (t % 3 == 0))
        z = np.append(x, 1.0) if intercept else x
        expected = slow.scores(z)
        assert scores(policy, x) == pytest.approx(expected, rel=1e-9, abs=1e-10)
        arm, loss = int(rng.integers(arms)), float(rng.random())
        policy.learn(hsb.Decision(context=x, arm=arm, propensity=0.5), loss=loss)
        slow.learn(z, arm, loss)
    assert policy.decide(x).arm == int(np.argmin(slow.scores(z)))
    Z = np.array([row for row, _ in slow.seen[0]])
    theta = np.linalg.solve(ridge * np.eye(d) + Z.T @ Z, Z.T @ np.array([loss for _, loss in slow.seen[0]]))
    assert policy.coefficients(0) == pytest.approx(theta, rel=1e-8, abs=1e-9)


def inverse_error(policy: LinUCB) -> float:
    """The largest entry of A times its inverse less one."""
    d = policy.state.shape[2]
    return max(float(np.abs(S[:d] @ S[d : 2 * d] - np.eye(d)).max()) for S in policy.state)


def test_a_million_rounds():
    """A has a condition number of 1e11; A times its kept inverse stays one to 1e-7, and the kept solution is the one solved anew."""
    rng = np.random.default_rng(0)
    n, d = 1_000_000, 5
    scale = np.array([1.0, 1e3, 1e-3, 1.0, 1.0])
    contexts = rng.normal(size=(n, d)) * scale
    contexts[:, 4] = contexts[:, 3] + 1e-3 * contexts[:, 4]  # nearly collinear
    losses = rng.random((n, 2))
    policy = LinUCB(d, arms=2, seed=0)
    hsb.simulate(policy, contexts, losses)
    S = policy.state
    assert np.isfinite(S).all() and inverse_error(policy) < 1e-7
    for m in range(2):
        solved = np.linalg.solve(S[m, : d + 1], S[m, 2 * (d + 1)])
        assert S[m, -1] == pytest.approx(solved, rel=1e-7, abs=0)
        assert np.array_equal(S[m, d + 1 : 2 * d + 2], S[m, d + 1 : 2 * d + 2].T)
    assert policy.updates.sum() == n


@pytest.mark.parametrize("size", [1e-100, 1e-8, 1e6, 1e9, 1e30, 1e100])
def test_features_of_any_size(size):
    rng = np.random.default_rng(1)
    policy = LinUCB(3, arms=2, seed=0)
    contexts = rng.uniform(-0.5, 0.5, size=(3000, 3)) * size
    contexts[:, 2] = contexts[:, 0] + contexts[:, 1]  # collinear: A is singular but for the ridge
    hsb.simulate(policy, contexts, rng.random((3000, 2)))
    assert np.isfinite(policy.state).all()
    assert np.isfinite(scores(policy, contexts[0])).all()


def test_one_large_context_does_not_spoil_the_inverse():
    """1 - 1e16 / (1 + 1e16) is 0 in doubles, and Sherman and Morrison alone would be left with it."""
    policy = LinUCB(1, arms=1, intercept=False)
    policy.learn(hsb.Decision(context=1e8, arm=0, propensity=1.0), loss=1.0)
    assert policy.state[0, 1, 0] == pytest.approx(1e-16, rel=1e-12, abs=0)
    assert policy.coefficients(0) == pytest.approx([1e-8], rel=1e-12, abs=0)
    assert 1.0 - 1e16 / (1.0 + 1e16) == 0.0  # the control


# -- decisions -----------------------------------------------------------------------------------------------------------


def test_ties_are_broken_uniformly():
    policy = LinUCB(2, arms=["a", "b", "c"])
    assert policy.probabilities([0.3, 0.4]) == pytest.approx([1 / 3] * 3)
    assert [policy.decide([1, 2], u=u).arm for u in (0.0, 0.33, 0.34, 0.66, 0.67, 1 - 2**-53)] == ["a", "a", "b", "b", "c", "c"]
    assert policy.decide([1, 2], available=["c", "b"], u=0.6).arm == "c"
    assert policy.decide([1, 2], available=["c", "b"]).propensity == 0.5
    policy.learn(policy.decide([1, 2], u=0.0), loss=1.0)
    assert policy.probabilities([1, 2]).tolist() == [0.0, 0.5, 0.5]
    policy.learn(policy.decide([1, 2], u=0.0), loss=0.5)
    decision = policy.decide([1, 2])
    assert (decision.arm, decision.propensity) == ("c", 1.0) and decision.probabilities.tolist() == [0.0, 0.0, 1.0]


def test_a_decision_is_a_pure_function():
    policy = trained()
    before = state(policy)
    for u in (0.0, 0.5, 1 - 2**-53):
        decision = policy.decide([0.3, 0.1], u=u)
        assert decision.propensity == decision.probabilities[decision.arm] == 1.0
    after = state(policy)
    assert before.pop("counters") != after.pop("counters") and before == after


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("features", [3, BOX, hsb.Cells(10), hsb.BinaryTree(depth=4)], ids=str)
def test_simulate_is_decide_and_learn(features, masked, monkeypatch):
    monkeypatch.setattr(sys.modules["hsb.play.tables"], "CHUNK", 100)
    rng = np.random.default_rng(0)
    one, other = (LinUCB(features, arms=["a", "b", "c"], seed=3) for _ in range(2))
    n = 900  # past the first time that an inverse is computed anew
    contexts = rng.random((n, one.features))
    if features is BOX:
        contexts = BOX.low + contexts * (BOX.high - BOX.low)
    elif isinstance(features, hsb.Cells):
        contexts = np.floor(contexts * 10)
    losses = rng.random((n, 3))
    masks = rng.random((n, 3)) < 0.6
    masks[:, 1] |= ~masks.any(axis=1)
    run = hsb.simulate(one, contexts, losses, available=masks if masked else None)
    for t in range(n):
        context = contexts[t] if one.features > 1 else contexts[t, 0]
        decision = other.decide(context, available=[one.arms[m] for m in range(3) if masks[t, m]] if masked else None)
        assert (decision.arm, decision.propensity) == (run.arms[t], run.propensities[t])
        other.learn(decision, loss=losses[t, one.arms.index(decision.arm)])
    mine, theirs = state(one), state(other)
    assert mine.pop("counters")[:2] == theirs.pop("counters")[:2] and mine == theirs


def test_a_space_scales_the_features():
    rng = np.random.default_rng(0)
    scaled, plain = LinUCB(BOX, arms=2), LinUCB(2, arms=2)
    structure = LinUCB(hsb.BinaryTree(depth=6, space=BOX), arms=2)
    for _ in range(50):
        unit, arm, loss = rng.random(2), int(rng.integers(2)), float(rng.random())
        point = BOX.low + unit * (BOX.high - BOX.low)
        for policy, context in ((scaled, point), (structure, point), (plain, unit)):
            policy.learn(hsb.Decision(context=context, arm=arm, propensity=0.5), loss=loss)
    assert scores(scaled, point) == pytest.approx(scores(plain, unit), rel=1e-10)
    assert state(scaled)["arrays"] == state(structure)["arrays"]
    clip = LinUCB(hsb.Box([0], [1], outside="clip"), arms=2, seed=0)
    clip.learn(clip.decide(1.5), loss=0.0)
    assert clip.clipped == 1


def test_contexts_in_every_form():
    policy = LinUCB(2, arms=2)
    for context in ([34, 0.5], (34, 0.5), np.array([34, 0.5]), np.array([34, 1]), [[34.0, 0.5]]):
        policy.learn(policy.decide(context), loss=0.0)
    single = LinUCB(1, arms=2)
    for context in (3, 3.0, np.float32(3), [3], -1e50):
        single.learn(single.decide(context), loss=0.0)


def test_learning_does_not_look_at_the_propensity():
    one, other = trained(), trained()
    one.learn(hsb.Decision(context=[0.1, 0.2], arm=1, propensity=0.9), loss=0.3)
    other.learn(hsb.Decision(context=[0.1, 0.2], arm=1, propensity=1e-9), loss=0.3)
    assert state(one) == state(other)


def test_it_learns_linear_losses_and_only_those():
    rng = np.random.default_rng(0)
    n = 20_000
    x = rng.random((n, 2))
    probability = np.column_stack([0.1 + 0.8 * x[:, 0], 0.9 - 0.8 * x[:, 0], 0.3 + 0.4 * x[:, 1]])
    run = hsb.simulate(LinUCB(2, arms=3, alpha=0.5, seed=0), x, (rng.random((n, 3)) < probability).astype(float))
    best = probability.min(axis=1).mean()
    assert run.average_loss < best + 0.02  # a standard error is 0.003
    bump = np.column_stack([4 * (x[:, 0] - 0.5) ** 2, np.full(n, 0.35)])
    run = hsb.simulate(LinUCB(2, arms=2, alpha=0.5, seed=0), x, (rng.random((n, 2)) < bump).astype(float))
    assert run.average_loss > bump.min(axis=1).mean() + 0.1  # a parabola is not linear, as the guarantee says
    assert "not linear" in LinUCB.guarantee and LinUCB(1, arms=2).regret_bound(100) == math.inf


# -- arms that come and go -----------------------------------------------------------------------------------------------


def test_a_new_arm_has_seen_nothing():
    policy = trained(alpha=0.1)
    before = scores(policy, [0.3, 0.4])
    policy.add_arm("new")
    after = scores(policy, [0.3, 0.4])
    assert after[:3].tolist() == before.tolist() and after[3] == scores(LinUCB(2, arms=1, alpha=0.1), [0.3, 0.4])[0]
    assert policy.coefficients("new").tolist() == [0.0] * 3
    policy.learn(hsb.Decision(context=[0.3, 0.4], arm="new", propensity=1.0), loss=1.0)
    policy.remove_arm("new")
    assert policy.probabilities([0.3, 0.4])[3] == 0.0


# -- files and copies ----------------------------------------------------------------------------------------------------


def saved(policy: LinUCB, folder: Any) -> LinUCB:
    policy.save(folder / "policy.hsb")
    loaded_policy = hsb.load(folder / "policy.hsb")
    assert isinstance(loaded_policy, LinUCB)
    return loaded_policy


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"features": BOX, "alpha": 0.2, "ridge": 3.0, "intercept": False, "loss_range": (-1.0, 3.0)},
        {"features": hsb.Cells(5)},
    ],
    ids=["plain", "all settings", "cells"],
)
@pytest.mark.parametrize("how", ["save", "copy", "pickle", "deepcopy"])
def test_copies_go_on_bit_for_bit(how, settings, tmp_path):
    policy = trained(rounds=0 if isinstance(settings.get("features"), hsb.Cells) else 200, **settings)
    policy.add_arm("x")
    policy.remove_arm(1)
    contexts = [20, 0.5] if policy.features == 2 else [3]
    policy.decide(contexts)
    twin = {
        "save": lambda: saved(policy, tmp_path),
        "copy": policy.copy,
        "pickle": lambda: pickle.loads(pickle.dumps(policy)),
        "deepcopy": lambda: copy.deepcopy(policy),
    }[how]()
    assert state(policy) == state(twin) and repr(policy) == repr(twin)
    rng = np.random.default_rng(9)
    for _ in range(300):
        context = rng.uniform([18, -1], [90, 1]).tolist() if policy.features == 2 else [int(rng.integers(5))]
        one, other = policy.decide(context), twin.decide(context)
        assert (one.arm, one.propensity) == (other.arm, other.propensity)
        loss = float(rng.random())
        policy.learn(one, loss=loss)
        twin.learn(other, loss=loss)
    assert state(policy)["arrays"] == state(twin)["arrays"]
    before = state(twin)
    policy.learn(policy.decide(context), loss=0.0)
    assert state(twin) == before  # they share nothing


def test_damaged_state_is_refused():
    arrays = trained().to_arrays()
    for index, value in (((0, 0, 0), 0.5), ((0, 0, 1), 9.0), ((1, 3, 1), 9.0), ((2, 6, 0), math.nan), ((0, 0, 0), math.inf)):
        forged = arrays["state"].copy()
        forged[index] = value
        with pytest.raises(ValueError, match=r"its (matrices|state)"):
            LinUCB(2, arms=3).learner.from_arrays({"state": forged, "updates": arrays["updates"]}, 200)
    with pytest.raises(ValueError, match="its matrices"):
        LinUCB(2, arms=3).learner.from_arrays({"state": arrays["state"], "updates": -arrays["updates"] - 1}, 200)
    with pytest.raises(ValueError, match="does not fit"):
        LinUCB(3, arms=3).learner.from_arrays(arrays, 200)
    assert LinUCB(2, arms=3).learner.from_arrays(arrays, 200).rounds == 200


# -- bad input -----------------------------------------------------------------------------------------------------------

BAD: list[tuple[dict[str, Any], str]] = [
    *(
        ({"features": bad}, r"features must be their number, at least 1.*given")
        for bad in (0, -1, 1.5, True, "2", None, [1, 2])
    ),
    ({"features": 10**6}, r"1000000 features.*fewer features"),
    ({"features": 5000, "arms": 100}, r"100 arms with 5001 coefficients need .* GB.*Use fewer"),
    *(({"alpha": bad}, r"alpha must be a number of at least 0.*given") for bad in (-1, math.nan, math.inf, "1", True, None)),
    *(({"ridge": bad}, r"ridge must be a number in.*given") for bad in (0, -1, math.nan, math.inf, 1e-60, "1", True, None)),
    *(({"intercept": bad}, r"intercept must be True or False; given") for bad in (1, "yes", None)),
    ({"arms": 0}, r"arms must be at least 1"),
    ({"loss_range": (1, 0)}, r"loss_range must be"),
    ({"seed": -1}, r"seed must be"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=str)
def test_bad_settings(settings, message):
    with pytest.raises(hsb.InputError, match=message):
        LinUCB(**({"features": 2, "arms": 2} | settings))


def test_bad_rounds_change_nothing():
    policy = trained()
    before = state(policy)
    for context in (0.5, [0.5], [0.1, 0.2, 0.3], [math.nan, 0], [math.inf, 0], [1e101, 0], "x", None, [[1, 2], [3, 4]]):
        with pytest.raises(hsb.InputError):
            policy.decide(context)
        with pytest.raises(hsb.InputError):
            policy.learn(hsb.Decision(context=context, arm=0, propensity=0.5), loss=0.5)
    for how in ({"loss": 2.0}, {"loss": math.nan}, {}, {"loss": 0.1, "reward": 0.1}):
        with pytest.raises(hsb.InputError):
            policy.learn(hsb.Decision(context=[0, 0], arm=0, propensity=0.5), **how)
    with pytest.raises(hsb.InputError):
        policy.learn(hsb.Decision(context=[0, 0], arm=7, propensity=0.5), loss=0.5)
    with pytest.raises(hsb.InputError):
        policy.decide([0, 0], available=[])
    with pytest.raises(hsb.InputError):
        hsb.simulate(policy, [[0.0, math.nan]], [[0.0, 0.0, 0.0]])
    with pytest.raises(hsb.InputError):
        policy.coefficients("nobody")
    assert state(policy) == before


# -- features of any size --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [1e-50, 1.0, 1e50])
@pytest.mark.parametrize("features", [1, 20, 40])
def test_features_of_any_size_leave_it_whole(features, ridge, tmp_path):
    rng = np.random.default_rng(features)
    for size in (-100, -8, 7, 8, 9, 30, 100):
        policy = LinUCB(features, arms=3, ridge=ridge, seed=0)
        X = np.clip(rng.lognormal(0, 3, (60, features)) * 10.0**size * rng.choice([-1, 1], (60, features)), -1e100, 1e100)
        hsb.simulate(policy, X, rng.integers(2, size=(60, 3)).astype(float))
        assert np.isfinite(policy.state).all()
        p = policy.probabilities(X[0], available=[1, 2])
        assert p[0] == 0.0 and p.sum() == pytest.approx(1.0) and policy.decide(X[1], available=[2]).arm == 2
        policy.save(tmp_path / "p.hsb")
        assert state(hsb.load(tmp_path / "p.hsb"))["arrays"] == state(policy)["arrays"]


def test_large_features_are_learned_as_small_ones_are():
    """The same problem in other units: about the same losses."""
    rng = np.random.default_rng(1)
    X, W = rng.normal(size=(2000, 20)), rng.normal(size=(3, 20)) * 0.05
    losses = np.clip(0.5 + X @ W.T + 0.05 * rng.normal(size=(2000, 3)), 0, 1)
    results = [
        hsb.simulate(LinUCB(20, arms=3, alpha=0.3, seed=0), X * size, losses).average_loss
        for size in (1.0, 1e4, 1e8, 1e12, 1e99)
    ]
    assert max(results) - min(results) < 0.01 and max(results) < losses.min(axis=1).mean() + 0.03 < losses.mean() - 0.1


def test_scores_that_are_no_numbers_play_no_arm_that_is_not_available():
    policy = trained()
    policy.state[:] = np.nan
    for available in ([1], [1, 2], [2]):
        p = policy.probabilities([0.5, 0.5], available=available)
        assert set(np.flatnonzero(p)) == set(available)
        assert policy.decide([0.5, 0.5], available=available).arm in available
