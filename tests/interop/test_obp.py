"""hsb as OBP calls it: the protocol everywhere, OBP's own simulator where it is installed."""

import types

import numpy as np
import pytest
from support.adapter_cases import (
    ARMS,
    CONTEXTS,
    NO_SIGNAL,
    POLICIES,
    REWARDS,
    by_hand,
    copies_go_on_alike,
    hsb_policy,
    late_rewards,
    replayed_by_hand,
    state,
)
from support.refusals import refused

import hsb
from hsb.interop import OBPPolicy

FEW = 120
TABLE = np.array(CONTEXTS).reshape(-1, 1)


def loop(policy, contexts, rewards):
    done = []
    for context, row in zip(contexts, rewards, strict=True):
        action = policy.select_action(context.reshape(1, -1))
        assert action.shape == (1,) and action.dtype == np.int64
        policy.update_params(action=action[0], reward=row[action[0]], context=context.reshape(1, -1))
        done.append((int(action[0]), row[action[0]]))
    return done


# -- the protocol, without OBP -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
def test_the_same_as_by_hand(name):
    policy, twin = OBPPolicy(POLICIES[name]()), POLICIES[name]()
    rows = loop(policy, TABLE[:FEW], REWARDS[:FEW])
    assert rows == [(arm, reward) for arm, _, reward in by_hand(twin, CONTEXTS[:FEW], REWARDS[:FEW])]
    assert state(policy.policy) == state(twin)
    policy.initialize()
    assert loop(policy, TABLE[:FEW], REWARDS[:FEW]) == rows


def test_actions_are_indices_of_arms():
    policy, twin = OBPPolicy(hsb_policy(ARMS)), hsb_policy(ARMS)
    assert policy.n_actions == 3 and policy.policy_name == "HSB"
    loop(policy, TABLE[:FEW], REWARDS[:FEW])
    by_hand(twin, CONTEXTS[:FEW], REWARDS[:FEW])
    assert state(policy.policy) == state(twin) and policy.n_trial == FEW


def test_contexts_of_several_features():
    points = np.random.default_rng(2).random((FEW, 3))
    policy, twin = OBPPolicy(hsb.LinUCB(3, arms=3, seed=1)), hsb.LinUCB(3, arms=3, seed=1)
    loop(policy, points, REWARDS[:FEW])
    by_hand(twin, points, REWARDS[:FEW])
    assert state(policy.policy) == state(twin)


def test_a_list_of_actions_is_chosen_one_after_another():
    policy, twin = OBPPolicy(hsb_policy(4, horizon=100), len_list=3), hsb_policy(4, horizon=100)
    rng = np.random.default_rng(4)
    for t in range(FEW):
        actions = policy.select_action(TABLE[t : t + 1]).tolist()
        left, decisions = [0, 1, 2, 3], []
        for _ in range(3):
            decisions.append(twin.decide(CONTEXTS[t], available=left))
            left = [arm for arm in left if arm != decisions[-1].arm]
        assert actions == [decision.arm for decision in decisions] and len(set(actions)) == 3
        position, reward = rng.integers(3), float(rng.random() < 0.5)
        policy.update_params(action=actions[position], reward=reward, context=TABLE[t : t + 1])
        twin.learn(decisions[position], reward=reward)
    assert state(policy.policy) == state(twin)


def test_late_rewards_use_the_propensity_of_their_decision():
    policy = OBPPolicy(hsb_policy(horizon=200), waiting=50)
    twin, wrong = late_rewards(
        lambda x: int(policy.select_action([[x]])[0]), lambda arm, x, reward: policy.update_params(arm, reward, [[x]])
    )
    assert state(policy.policy) == state(twin)
    assert state(wrong)["arrays"] != state(twin)["arrays"]


def test_a_log_needs_propensities():
    policy, twin = OBPPolicy(hsb_policy()), hsb_policy()
    context = np.array([[0.4]])
    refused(lambda: policy.update_params(1, 1.0, context), ["No decision waits", "waiting=", "propensity=, the probability"])
    assert state(policy.policy) == state(twin)
    policy.update_params(action=1, reward=1.0, context=context, propensity=0.25)
    twin.learn(hsb.Decision(context=0.4, arm=1, propensity=0.25), reward=1.0)
    assert state(policy.policy) == state(twin)


def test_the_distribution_as_estimators_take_it():
    policy = OBPPolicy(hsb_policy())
    loop(policy, TABLE[:FEW], REWARDS[:FEW])
    result = policy.predict_proba(TABLE[:50])
    assert result.shape == (50, 3, 1) and np.allclose(result.sum(axis=1), 1.0, atol=1e-12)
    assert result[7, :, 0].tolist() == policy.policy.probabilities(CONTEXTS[7]).tolist()
    refused(lambda: OBPPolicy(hsb_policy(), len_list=2).predict_proba(TABLE), ["one action a round", "2"])
    refused(lambda: policy.predict_proba(CONTEXTS), ["shape (rounds, features)"])


def test_copies_are_independent_and_remember_what_waits():
    policy = OBPPolicy(hsb_policy())
    loop(policy, TABLE[:FEW], REWARDS[:FEW])
    action = policy.select_action([[0.3]])[0]

    def answered(one):
        one.update_params(action, 1.0, [[0.3]])
        return loop(one, TABLE[:20], NO_SIGNAL[:20])

    copies_go_on_alike(policy, answered, lambda: policy.policy)


def test_bad_input_changes_nothing():
    policy = OBPPolicy(hsb_policy())
    action = int(policy.select_action([[0.3]])[0])
    before = state(policy.policy)
    refused(lambda: policy.select_action([0.3]), ["shape (1, features)", "(1,)"])
    refused(lambda: policy.select_action(TABLE[:2]), ["shape (1, features)", "(2, 1)"])
    refused(lambda: policy.select_action([[7.0]]), ["feature 0 is 7.0"])
    refused(lambda: policy.select_action([["noon"]]), ["context must be numbers"])
    refused(lambda: policy.update_params(3, 1.0, [[0.3]]), ["number of an arm, 0 to 2", "3"])
    refused(lambda: policy.update_params(action, 2.0, [[0.3]]), ["reward must be a number in [0.0, 1.0]"])
    refused(lambda: policy.update_params(action, np.array([0.0, 1.0]), [[0.3]]), ["reward must be a number"])
    refused(lambda: policy.update_params(action, 1.0, [[0.4]]), ["No decision waits"])
    refused(lambda: policy.update_params(action, 1.0, [[0.4]], propensity=2.0), ["propensity must be in (0, 1]"])
    refused(lambda: OBPPolicy(hsb_policy(), len_list=4), ["len_list is 4", "3 arms"])
    assert state(policy.policy) == before
    policy.update_params(action, np.array([1.0]), [[0.3]])  # it still waits
    refused(lambda: policy.update_params(action, 1.0, [[0.3]]), ["answered already"])


# -- OBP itself --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def obp():
    pytest.importorskip("obp")
    from obp import ope, policy, simulator

    return types.SimpleNamespace(ope=ope, policy=policy, simulator=simulator)


def feedback(rewards, rounds=len(CONTEXTS)):  # noqa: B008
    """OBP's log of uniform play."""
    action = np.random.default_rng(3).integers(3, size=rounds)
    table = np.array(rewards[:rounds])
    return {
        "n_rounds": rounds,
        "n_actions": 3,
        "context": TABLE[:rounds],
        "action_context": np.eye(3),
        "action": action,
        "position": np.zeros(rounds, dtype=int),
        "reward": table[np.arange(rounds), action],
        "expected_reward": table,
        "pscore": np.full(rounds, 1 / 3),
    }


@pytest.mark.parametrize("name", POLICIES)
def test_their_simulation_is_the_same_as_by_hand(obp, name):
    log = feedback(REWARDS, FEW)
    policy, twin = OBPPolicy(POLICIES[name]()), POLICIES[name]()
    dist = obp.simulator.run_bandit_simulation(bandit_feedback=log, policy=policy)
    chosen = replayed_by_hand(twin, CONTEXTS[:FEW], log["action"].tolist(), REWARDS[:FEW])
    assert dist.shape == (FEW, 3, 1)
    assert dist[:, :, 0].argmax(axis=1).tolist() == chosen
    assert state(policy.policy) == state(twin)


def test_replay_finds_it_better_than_random_play(obp):
    def value(rewards, policy):
        log = feedback(rewards)
        dist = obp.simulator.run_bandit_simulation(bandit_feedback=log, policy=policy)
        estimated = obp.ope.OffPolicyEvaluation(bandit_feedback=log, ope_estimators=[obp.ope.ReplayMethod()])
        result = estimated.estimate_policy_values(action_dist=dist)["rm"]
        matched = dist[:, :, 0].argmax(axis=1) == log["action"]
        assert result == pytest.approx(log["reward"][matched].mean(), rel=1e-12)
        return result

    gain = value(REWARDS, OBPPolicy(hsb_policy())) - value(REWARDS, obp.policy.Random(n_actions=3, random_state=1))
    assert gain > 0.2  # of 0.333, in the thousand rounds that match; measured 0.27
    nothing = value(NO_SIGNAL, OBPPolicy(hsb_policy())) - value(NO_SIGNAL, obp.policy.Random(n_actions=3, random_state=1))
    assert abs(nothing) < 0.07  # three sigma of a difference


def test_the_value_of_what_it_learned_by_their_estimators(obp):
    policy = OBPPolicy(hsb_policy())
    loop(policy, TABLE[:2000], REWARDS[:2000])
    log = {
        name: what[2000:] if isinstance(what, np.ndarray) and len(what) == 3000 else what
        for name, what in feedback(REWARDS).items()
    }
    log["n_rounds"] = 1000
    dist = policy.predict_proba(log["context"])
    estimators = [obp.ope.InverseProbabilityWeighting(), obp.ope.SelfNormalizedInverseProbabilityWeighting()]
    result = obp.ope.OffPolicyEvaluation(bandit_feedback=log, ope_estimators=estimators).estimate_policy_values(
        action_dist=dist
    )
    truth = float((log["expected_reward"] * dist[:, :, 0]).sum(axis=1).mean())
    assert truth > 0.7
    assert result["ipw"] == pytest.approx(truth, abs=0.12)  # three sigma
    assert result["snipw"] == pytest.approx(truth, abs=0.08)


def test_their_true_value_plays_fresh_copies(obp):
    log = feedback(REWARDS, 400)
    log["expected_reward"] = np.array(REWARDS[:400])
    index = {x: t for t, x in enumerate(CONTEXTS[:400])}

    def sampler(context, action):
        return np.array([REWARDS[index[float(context[0, 0])]][int(action[0])]])

    policy = OBPPolicy(hsb_policy())
    value = obp.simulator.calc_ground_truth_policy_value(bandit_feedback=log, reward_sampler=sampler, policy=policy, n_sim=3)
    expected = by_hand(hsb_policy(), CONTEXTS[:400], REWARDS[:400])
    assert value == pytest.approx(np.mean([reward for _, _, reward in expected]), rel=1e-12)
    assert policy.n_trial == 0


def test_their_simulation_with_lists_of_actions(obp):
    log = feedback(REWARDS, FEW)
    log["position"] = np.random.default_rng(8).integers(2, size=FEW)
    policy, twin = OBPPolicy(hsb_policy(horizon=100), len_list=2), hsb_policy(horizon=100)
    dist = obp.simulator.run_bandit_simulation(bandit_feedback=log, policy=policy)
    assert dist.shape == (FEW, 3, 2)
    for t in range(FEW):
        first = twin.decide(CONTEXTS[t])
        second = twin.decide(CONTEXTS[t], available=[arm for arm in range(3) if arm != first.arm])
        assert dist[t].argmax(axis=0).tolist() == [first.arm, second.arm]
        played = (first, second)[log["position"][t]]
        if played.arm == log["action"][t]:
            twin.learn(played, reward=REWARDS[t][played.arm])
    assert state(policy.policy) == state(twin)
