"""The policy as its users meet it: decide, learn, arms that come and go, feedback that comes late, twice or never."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.policy_cases import play, state

import hsb

quick = settings(deadline=None, derandomize=True, max_examples=30)
TREE = hsb.BinaryTree(depth=4)
PLANE = hsb.BinaryTree(depth=10, space=hsb.Box([18, 0], [90, 1]))
TWICE = r"learned already.*counts once"


def make(**settings: Any) -> hsb.HSB:
    return hsb.HSB(TREE, **({"arms": 3, "learning_rate": 0.3, "seed": 0} | settings))


def distributions(policy: hsb.HSB, **how: Any) -> np.ndarray:
    return np.array([policy.probabilities(x, **how) for x in np.linspace(0, 1, 33)])


# -- a round ---------------------------------------------------------------------------------------------------------


def test_a_first_round():
    policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=3, horizon=100_000, seed=0)
    decision = policy.decide(0.37)
    assert decision.arm in (0, 1, 2) and decision.context == 0.37 and decision.number == 0
    assert decision.propensity == pytest.approx(1 / 3, rel=1e-15)
    assert decision.probabilities == pytest.approx([1 / 3] * 3)
    policy.learn(decision, loss=1.0)
    assert policy.rounds == 1
    after = policy.probabilities(0.37)
    assert after[decision.arm] < 1 / 3 and abs(after.sum() - 1) < 1e-12
    assert policy.probabilities(0.37) == pytest.approx(after, abs=0)  # asking changes nothing


def test_arms_by_name_and_several_features():
    policy = hsb.HSB(PLANE, arms=["a", "b", "c"], learning_rate=0.02, seed=0)
    for context in ([34, 0.5], (34, 0.5), np.array([34, 0.5]), [[34.0, 0.5]]):
        decision = policy.decide(context)
        assert decision.arm in ("a", "b", "c")
        policy.learn(decision, reward=1.0)
    assert policy.rounds == 4


def test_the_propensity_is_that_of_the_arm():
    policy = make()
    play(policy, 50)
    for x in np.linspace(0, 1, 20):
        decision = policy.decide(x)
        assert decision.propensity == decision.probabilities[decision.arm] == policy.probabilities(x)[decision.arm]


def test_simulate_is_decide_and_learn():
    rng = np.random.default_rng(0)
    contexts, losses = rng.random(200), rng.random((200, 3))
    one, other = make(arms=["a", "b", "c"]), make(arms=["a", "b", "c"])
    run = hsb.simulate(one, contexts, losses)
    for t in range(200):
        decision = other.decide(contexts[t])
        loss = losses[t, other.arms.index(decision.arm)]
        other.learn(decision, loss=loss)
        assert (run.arms[t], run.propensities[t], run.losses[t]) == (decision.arm, decision.propensity, loss)
    assert run.average_loss == pytest.approx(run.losses.mean()) and len(run) == 200
    assert np.array_equal(distributions(one), distributions(other)) and one.rounds == other.rounds == 200


@pytest.mark.parametrize("low_high", [(0.0, 1.0), (-3.0, 7.0), (0.1, 0.3)])
def test_simulate_with_rewards_is_learning_rewards_bit_for_bit(low_high):
    rng = np.random.default_rng(1)
    contexts, rewards = rng.random(200), rng.uniform(*low_high, (200, 3))
    one, other = make(loss_range=low_high), make(loss_range=low_high)
    run = hsb.simulate(one, contexts, rewards=rewards)
    for t in range(200):
        decision = other.decide(contexts[t])
        other.learn(decision, reward=rewards[t, decision.arm])
        assert (run.arms[t], run.propensities[t]) == (decision.arm, decision.propensity)


# -- losses and rewards ----------------------------------------------------------------------------------------------


@quick
@given(values=st.lists(st.integers(0, 8), min_size=1, max_size=30))
def test_rewards_mirror_losses(values):
    """In eighths, where 1 - loss is exact."""
    one, other = make(), make()
    for value in values:
        one.learn(one.decide(0.4), loss=value / 8)
        other.learn(other.decide(0.4), reward=1 - value / 8)
    assert state(one)["arrays"] == state(other)["arrays"]


@quick
@given(values=st.lists(st.integers(0, 8), min_size=1, max_size=30))
def test_a_loss_range_is_scaled_to_the_unit(values):
    one, other, mirror = make(), make(loss_range=(-2, 6)), make(loss_range=(-2, 6))
    for value in values:
        one.learn(one.decide(0.4), loss=value / 8)
        other.learn(other.decide(0.4), loss=value - 2)
        mirror.learn(mirror.decide(0.4), reward=6 - value)
    assert state(one)["arrays"] == state(other)["arrays"] == state(mirror)["arrays"]


# -- feedback that comes late, out of order, or never ----------------------------------------------------------------


@quick
@given(order=st.permutations(range(12)), missing=st.sets(st.integers(0, 11)))
def test_late_feedback_counts_with_the_propensity_of_its_decision(order, missing):
    """The same as a log of those decisions, in the order in which the feedback came."""
    policy, log = make(), make()
    decisions = [policy.decide(i / 11) for i in range(12)]
    for i in order:
        if i not in missing:
            d = decisions[i]
            policy.learn(d, loss=i / 11)
            log.learn(hsb.Decision(context=d.context, arm=d.arm, propensity=d.propensity), loss=i / 11)
    assert np.array_equal(distributions(policy), distributions(log))
    assert policy.rounds == 12 - len(missing)


def test_without_a_loss_nothing_changes_but_the_count():
    policy = make()
    before = distributions(policy)
    policy.learn(policy.decide(0.2), loss=0.0)
    assert np.array_equal(distributions(policy), before) and policy.rounds == 1


def test_a_context_in_a_buffer_that_is_used_again():
    """A decision keeps the context it was made for, whatever the caller does with the array afterwards."""
    policy, log = (hsb.HSB(PLANE, arms=3, learning_rate=0.3, seed=0) for _ in range(2))
    buffer = np.array([20.0, 0.1])
    decision = policy.decide(buffer)
    buffer[:] = 80.0, 0.9
    policy.learn(decision, loss=1.0)
    log.learn(hsb.Decision(context=[20.0, 0.1], arm=decision.arm, propensity=decision.propensity), loss=1.0)
    assert policy.probabilities([20.0, 0.1]).tolist() == log.probabilities([20.0, 0.1]).tolist()


def refused(policy: hsb.HSB, decision: hsb.Decision) -> None:
    before = state(policy)
    with pytest.raises(hsb.InputError, match=TWICE):
        policy.learn(decision, loss=1.0)
    assert state(policy) == before


def test_nothing_is_learned_twice(tmp_path):
    policy = make()
    own, result = policy.decide(0.2), hsb.Decision(context=0.2, arm=1, propensity=0.4)
    unseen = pickle.dumps(own)
    for decision in (own, result):
        policy.learn(decision, loss=1.0)
        refused(policy, decision)
        refused(policy, pickle.loads(pickle.dumps(decision)))
        refused(policy, copy.copy(decision))
    refused(policy, pickle.loads(unseen))  # put away before it was learned from
    refused(policy, hsb.Decision(context=0.2, arm=own.arm, propensity=own.propensity, id=own.id))  # written anew from a log
    policy.save(tmp_path / "policy.hsb")
    for decision in (own, result, pickle.loads(unseen)):
        refused(hsb.load(tmp_path / "policy.hsb"), decision)


def test_a_copy_has_learned_what_its_original_had():
    policy = make()
    own, result = policy.decide(0.2), hsb.Decision(context=0.2, arm=1, propensity=0.4)
    policy.learn(own, loss=1.0)
    policy.learn(result, loss=1.0)
    twin = policy.copy()
    refused(twin, own)
    refused(twin, result)


def test_a_copy_and_its_original_each_learn_a_pending_decision():
    policy = make()
    pending = policy.decide(0.2)
    twin = policy.copy()
    policy.learn(pending, loss=1.0)
    assert twin.rounds == 0
    twin.learn(pending, loss=1.0)
    assert np.array_equal(distributions(policy), distributions(twin))
    refused(policy, pending)
    refused(twin, pending)


def test_a_copy_is_independent():
    policy = make(arms=["a", "b", "c"])
    play(policy, 20)
    policy.remove_arm("a")
    twin, before = policy.copy(), state(policy)
    twin.add_arm("d")
    twin.add_arm("a")
    play(twin, 20)
    assert state(policy) == before
    one, other = policy.copy(), policy.copy()
    assert play(one, 20) == play(other, 20) == play(policy, 20)  # random numbers included


def test_decisions_of_one_policy_teach_another():
    teacher, pupil = make(arms=["a", "b"]), make(arms=["b", "a"], seed=9)
    decisions = [teacher.decide(i / 9) for i in range(10)]
    for decision in decisions:
        pupil.learn(decision, loss=1.0)
        teacher.learn(decision, loss=1.0)
        refused(pupil, decision)
    assert distributions(pupil) == pytest.approx(distributions(teacher)[:, ::-1], rel=1e-12)
    own = pupil.decide(0.5)
    assert own.number == 0  # the same number as the teacher's first, and yet another decision
    pupil.learn(own, loss=1.0)


def test_a_decision_knows_its_distribution_until_the_policy_learns():
    policy = make()
    first, second, third = (policy.decide(x) for x in (0.1, 0.2, 0.3))
    read = first.probabilities
    policy.learn(second, loss=1.0)
    assert first.probabilities is read  # asked for in time
    with pytest.raises(hsb.StaleDecision, match=r"learned since.*policy\.probabilities"):
        third.probabilities  # noqa: B018
    with pytest.raises(hsb.InputError, match="No policy in this process made"):
        hsb.Decision(context=0.2, arm=1, propensity=0.4).probabilities  # noqa: B018
    assert pickle.loads(pickle.dumps(first)).probabilities.tolist() == read.tolist()
    fresh = policy.decide(0.1)
    policy.add_arm(3)
    with pytest.raises(hsb.StaleDecision):
        fresh.probabilities  # noqa: B018


# -- arms that come and go -------------------------------------------------------------------------------------------


def test_only_available_arms_are_played():
    policy = make(arms=["a", "b", "c"])
    for i in range(40):
        decision = policy.decide(i / 39, available=["c", "a", "c"])
        assert decision.arm in ("a", "c") and decision.available == ("a", "c")
        assert decision.probabilities[1] == 0.0 and abs(decision.probabilities.sum() - 1) < 1e-12
        policy.learn(decision, loss=i % 2)
    assert policy.decide(0.5, available=["b"]).propensity == 1.0
    assert policy.decide(0.5, available=(arm for arm in "b")).arm == "b"


@quick
@given(seed=st.integers(0, 99), arms=st.sampled_from([2, 3, 20]))
def test_offering_every_arm_is_no_mask(seed, arms):
    plain, offering = make(arms=arms, seed=seed), make(arms=arms, seed=seed)
    for i in range(15):
        losses = np.random.default_rng(i).random(arms)
        one, other = plain.decide(i / 14), offering.decide(i / 14, available=reversed(range(arms)))
        plain.learn(one, loss=losses[one.arm])
        offering.learn(other, loss=losses[other.arm])
        assert (one.arm, one.propensity) == (other.arm, other.propensity)
    assert state(plain)["arrays"] == state(offering)["arrays"]


def test_adding_an_arm():
    policy = make(arms=["a", "b", "c"])
    play(policy, 40)
    before, pending = distributions(policy), policy.decide(0.3)
    policy.add_arm("d")
    assert policy.arms == policy.active_arms == ["a", "b", "c", "d"]
    assert distributions(policy)[:, :3] == pytest.approx(before * 3 / 4, rel=1e-12)
    assert distributions(policy)[:, 3] == pytest.approx(1 / 4, rel=1e-12)
    assert policy.decide(0.3, available=["d"]).arm == "d"
    assert distributions(policy, available=["a", "b", "c"])[:, :3] == pytest.approx(before, rel=1e-12)
    policy.learn(pending, loss=1.0)
    play(policy, 40, masks=True)


def test_removing_an_arm_and_adding_it_back():
    policy = make(arms=["a", "b", "c"])
    play(policy, 40)
    before, pending = distributions(policy), policy.decide(0.3, available=["b"])
    policy.remove_arm("b")
    assert policy.arms == ["a", "b", "c"] and policy.active_arms == ["a", "c"]
    without = distributions(policy)
    assert (without[:, 1] == 0).all() and without == pytest.approx(distributions(policy, available=["a", "c"]), abs=0)
    assert {policy.decide(i / 39).arm for i in range(40)} == {"a", "c"}
    with pytest.raises(hsb.InputError, match=r"'b' in available was removed.*add_arm"):
        policy.decide(0.3, available=["a", "b"])
    policy.add_arm("b")
    assert np.array_equal(distributions(policy), before)  # what was learned of it is kept
    policy.remove_arm("b")
    policy.learn(pending, loss=1.0)  # feedback for an arm that is gone meanwhile
    assert policy.rounds == 41


@pytest.mark.parametrize("arms", [17, 1000, 5000])
def test_many_arms(arms):
    policy = make(arms=[f"arm {i}" for i in range(arms)], learning_rate=0.5)
    for i in range(100):
        decision = policy.decide(i / 99)
        assert 0 < decision.propensity <= 1
        assert decision.propensity == pytest.approx(decision.probabilities[policy.arms.index(decision.arm)], rel=1e-12)
        policy.learn(decision, loss=1.0)
    assert distributions(policy).sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert policy.decide(0.5, available=["arm 3", f"arm {arms - 1}"]).arm in ("arm 3", f"arm {arms - 1}")


# -- numbers from numpy ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.float16, np.array, lambda x: np.array([x]), lambda x: [x]])
def test_a_context_from_numpy_is_the_same_context(kind):
    """Also in the last bit: the value is taken as it is and then scaled in double precision."""
    wide = hsb.HSB(hsb.BinaryTree(depth=45, space=hsb.Box(-7, 1e6)), arms=2, learning_rate=0.3)
    for value in (0.3, 1.7, 700.1, 65000.0):
        given = kind(value)
        key, clipped = wide.learner.read(given)
        same, _ = wide.learner.read(float(np.ravel(given)[0]))
        assert np.array_equal(key, same) and clipped == 0
        assert np.array_equal(wide.probabilities(given), wide.probabilities(float(np.ravel(given)[0])))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
def test_feedback_from_numpy_counts_in_full(kind):
    one, other = make(), make()
    loss, propensity = kind(0.7), kind(0.4)
    one.learn(hsb.Decision(context=0.3, arm=np.int64(1), propensity=propensity), loss=loss)
    other.learn(hsb.Decision(context=0.3, arm=1, propensity=float(propensity)), loss=float(loss))
    assert state(one)["arrays"] == state(other)["arrays"]


def test_arms_from_numpy():
    policy = make(arms=np.array([10, 20, 30]))
    assert policy.decide(0.3, available=np.array([20])).arm == 20
    policy.learn(hsb.Decision(context=0.3, arm=np.int32(30), propensity=0.5), loss=1)
    policy.remove_arm(np.int8(10))
    assert policy.active_arms == [20, 30]


def test_cells_as_contexts():
    policy = hsb.HSB(hsb.Lexicographic(leaves=5, space=hsb.Cells(5)), arms=2, learning_rate=0.3, seed=0)
    for cell in (0, 4, 2.0, np.int64(3), np.uint8(1)):
        policy.learn(policy.decide(cell), loss=1.0)
    assert policy.rounds == 5


def test_clipped_contexts_are_counted():
    policy = hsb.HSB(hsb.BinaryTree(depth=3, space=hsb.Box(0, 1, outside="clip")), arms=2, learning_rate=0.3, seed=0)
    late = policy.decide(1.5)
    assert (policy.clipped, late.context) == (1, 1.5)
    policy.learn(late, loss=1.0)  # its own decision was counted before
    assert policy.clipped == 1
    policy.learn(hsb.Decision(context=-np.inf, arm=0, propensity=0.5), loss=1.0)
    policy.probabilities(7.0)
    assert policy.clipped == 2
    hsb.simulate(policy, [0.5, 2.0, -1.0], np.zeros((3, 2)))
    assert policy.clipped == 4


def test_what_is_printed():
    policy = make(arms=["a", "b"])
    assert repr(policy) == "HSB(structure=BinaryTree(depth=4), learning_rate=0.3, arms=['a', 'b'], rounds=0)"
    assert "... 500 in all]" in repr(make(arms=500)) and len(repr(make(arms=500))) < 200
    assert (
        repr(policy.decide(0.5, available=["a"])) == "Decision(context=0.5, arm='a', propensity=1.0, available=['a'], number=0)"
    )
    assert repr(hsb.simulate(policy, [0.5], [[1.0, 1.0]])) == "Run(rounds=1, average_loss=1.0000)"
    assert policy.nbytes > 0 and "a" in str(policy.explain())
