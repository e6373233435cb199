"""hsb inside river's own evaluation loops."""

import copy
import random
import types

import numpy as np
import pytest
from support.adapter_cases import (
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

river = pytest.importorskip("river")
from river import bandit, stats  # noqa: E402

from hsb.interop import RiverPolicy  # noqa: E402

FEW = 120
ARMS = [0, 1, 2]


class Bandit:
    """A gym environment without contexts, as river.bandit.evaluate uses one: arm 1 pays most."""

    probabilities = (0.2, 0.7, 0.4)

    def __init__(self, steps):
        self.steps = steps
        self.action_space = types.SimpleNamespace(n=3, seed=lambda seed: None)

    def __deepcopy__(self, memo):
        twin = type(self)(self.steps)
        twin.__dict__.update({name: copy.copy(value) for name, value in self.__dict__.items() if name != "action_space"})
        return twin

    def reset(self, seed):
        rng = random.Random(seed)
        self.rewards = [[float(rng.random() < p) for p in self.probabilities] for _ in range(self.steps)]
        self.t = 0

    def step(self, arm):
        reward = self.rewards[self.t][arm]
        self.t += 1
        return None, reward, self.t == self.steps, False, {}


class Alike(Bandit):
    probabilities = (0.4, 0.4, 0.4)


def history(rewards, rounds=FEW, seed=3):
    """A log of uniform play."""
    logged = np.random.default_rng(seed).integers(3, size=rounds).tolist()
    rows = [(ARMS, {"x": x}, arm, row[arm]) for x, arm, row in zip(CONTEXTS, logged, rewards, strict=False)]
    return logged, rows


def loop(policy, contexts, rewards):
    done = []
    for x, row in zip(contexts, rewards, strict=True):
        arm = policy.pull(ARMS, {"x": x})
        policy.update(arm, {"x": x}, row[arm])
        done.append((arm, row[arm]))
    return done


def average(rewards, policy) -> float:
    total, used = bandit.evaluate_offline(policy, history(rewards, rounds=len(CONTEXTS))[1])
    assert used > 500
    return total.get() / used


# -- river.bandit.evaluate_offline -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
def test_replay_is_the_same_as_by_hand(name):
    logged, rows = history(REWARDS)
    policy, twin = RiverPolicy(POLICIES[name]()), POLICIES[name]()
    total, used = bandit.evaluate_offline(policy, rows)
    chosen = replayed_by_hand(twin, CONTEXTS[:FEW], logged, REWARDS[:FEW])
    matched = [row[a] for a, b, row in zip(chosen, logged, REWARDS, strict=False) if a == b]
    assert (total.get(), used) == (sum(matched), len(matched))
    assert state(policy.current) == state(twin)


def test_replay_without_contexts_uses_the_last_decision():
    logged, rows = history(REWARDS)
    policy, twin = RiverPolicy(hsb.Exp3(arms=3, seed=1)), hsb.Exp3(arms=3, seed=1)
    bandit.evaluate_offline(policy, [(arms, None, arm, reward) for arms, _, arm, reward in rows])
    replayed_by_hand(twin, [None] * FEW, logged, REWARDS[:FEW])
    assert state(policy.current) == state(twin)


def test_it_beats_random_play_and_nothing_where_there_is_nothing():
    gain = average(REWARDS, RiverPolicy(hsb_policy())) - average(REWARDS, bandit.RandomPolicy(seed=1))
    assert gain > 0.2  # of 0.333, in the thousand rounds that match; measured 0.29
    nothing = average(NO_SIGNAL, RiverPolicy(hsb_policy())) - average(NO_SIGNAL, bandit.RandomPolicy(seed=1))
    assert abs(nothing) < 0.07  # three sigma of a difference


# -- river.bandit.evaluate ---------------------------------------------------------------------------------------------


def test_evaluate_is_the_same_as_by_hand():
    given = hsb.Exp3(arms=3, seed=1)
    policy = RiverPolicy(given)
    trace = list(bandit.evaluate([policy, bandit.RandomPolicy(seed=1)], Bandit(200), n_episodes=3, seed=5))
    rng = random.Random(5)
    for episode in range(3):
        world = Bandit(200)
        world.reset(rng.randint(0, 2**32))
        rng.randint(0, 2**32 - 1)
        expected = by_hand(given.copy(), [None] * 200, world.rewards)
        rows = [row for row in trace if row["episode"] == episode and row["policy_idx"] == 0]
        assert [(row["arm"], row["reward"]) for row in rows] == [(arm, reward) for arm, _, reward in expected]
    assert policy._n == policy.current.rounds == 0  # river played clones


@pytest.mark.parametrize(("world", "low", "high"), [(Bandit, 0.1, 0.3), (Alike, -0.05, 0.05)])
def test_evaluate_against_random_play(world, low, high):
    trace = list(
        bandit.evaluate([RiverPolicy(hsb.Exp3(arms=3, seed=1)), bandit.RandomPolicy(seed=1)], world(2000), n_episodes=1, seed=5)
    )
    ours, theirs = (np.mean([row["reward"] for row in trace if row["policy_idx"] == k]) for k in (0, 1))
    assert low < ours - theirs < high  # at best 0.267, at worst 0; three sigma of a difference are 0.046


# -- the policy itself -------------------------------------------------------------------------------------------------


def test_a_loop_is_the_same_as_by_hand_and_ranks():
    policy, twin = RiverPolicy(hsb_policy()), hsb_policy()
    rows = loop(policy, CONTEXTS[:FEW], REWARDS[:FEW])
    assert rows == [(arm, reward) for arm, _, reward in by_hand(twin, CONTEXTS[:FEW], REWARDS[:FEW])]
    assert state(policy.current) == state(twin)
    means = {arm: np.mean([reward for played, reward in rows if played == arm]) for arm in ARMS}
    assert policy.ranking == sorted(means, key=means.get, reverse=True)
    assert policy._n == FEW and "Pulls" in repr(policy)
    spread = RiverPolicy(hsb_policy(), reward_obj=stats.Var())
    loop(spread, CONTEXTS[:FEW], REWARDS[:FEW])
    assert isinstance(spread._rewards[0], stats.Var)


def test_late_rewards_use_the_propensity_of_their_decision():
    policy = RiverPolicy(hsb_policy(horizon=200), waiting=50)
    twin, wrong = late_rewards(
        lambda x: policy.pull(ARMS, {"x": x}), lambda arm, x, reward: policy.update(arm, {"x": x}, reward)
    )
    assert state(policy.current) == state(twin)
    assert state(wrong)["arrays"] != state(twin)["arrays"]


def test_late_rewards_in_another_order_than_pulled():
    policy, twin = RiverPolicy(hsb_policy(horizon=200), waiting=50), hsb_policy(horizon=200)
    kept = []
    for x in CONTEXTS[:FEW]:
        kept.append((policy.pull(ARMS, {"x": x}), x, twin.decide(x)))
        if len(kept) == 40:
            random.Random(0).shuffle(kept)
            for arm, x_then, decision in kept[:30]:
                policy.update(arm, {"x": x_then}, float(arm == 1))
                twin.learn(decision, reward=float(arm == 1))
            kept = kept[30:]
    assert state(policy.current) == state(twin)


def test_by_default_only_the_last_pull_waits():
    policy = RiverPolicy(hsb_policy())
    first = policy.pull(ARMS, {"x": 0.1})
    policy.pull(ARMS, {"x": 0.9})
    before = state(policy.current)
    refused(
        lambda: policy.update(first, {"x": 0.1}, 1.0),
        ["No decision waits", "at context 0.1", "last 1", "waiting=", "propensity="],
    )
    assert state(policy.current) == before and policy._n == 0


def test_a_log_needs_propensities():
    policy, twin = RiverPolicy(hsb_policy()), hsb_policy()
    refused(lambda: policy.update(1, {"x": 0.4}, 1.0), ["it was not made here", "propensity=, the probability with which"])
    refused(lambda: policy.update(1, {"x": 0.4}, 1.0, propensity=0.0), ["propensity must be in (0, 1]"])
    assert state(policy.current) == state(twin) and policy._n == 0
    policy.update(1, {"x": 0.4}, 1.0, propensity=0.25)
    twin.learn(hsb.Decision(context=0.4, arm=1, propensity=0.25), reward=1.0)
    assert state(policy.current) == state(twin) and policy._n == 1


def test_burn_in_offers_one_arm():
    policy, twin = RiverPolicy(hsb_policy(), burn_in=2), hsb_policy()
    for t, x in enumerate(CONTEXTS[:20]):
        arm = policy.pull(ARMS, {"x": x})
        decision = twin.decide(x, available=[t // 2] if t < 6 else None)
        assert arm == decision.arm
        policy.update(arm, {"x": x}, REWARDS[t][arm])
        twin.learn(decision, reward=REWARDS[t][arm])
    assert state(policy.current) == state(twin)


def test_arms_that_change():
    policy = RiverPolicy(lambda arms: hsb_policy(arms, horizon=100))
    pools = [["a", "b"], ["b", "c"], ["c"]]
    for t, x in enumerate(CONTEXTS[:30]):
        arm = policy.pull(pools[t // 10], {"x": x})
        assert arm in pools[t // 10]
        policy.update(arm, {"x": x}, 1.0)
    assert policy.current.arms == ["a", "b", "c"]
    assert policy.clone().pull(["z"], {"x": 0.5}) == "z"


def test_features_are_put_in_order():
    plane = hsb.HSB(hsb.BinaryTree(depth=4, space=hsb.Box.unit(2)), arms=3, seed=1)
    points = np.random.default_rng(2).random((FEW, 2)).tolist()
    expected = [(arm, reward) for arm, _, reward in by_hand(plane.copy(), points, REWARDS[:FEW])]
    for policy, more in ((RiverPolicy(plane), {}), (RiverPolicy(plane, features=("x", "y")), {"z": "red"})):
        rows = []
        for t, ((x, y), row) in enumerate(zip(points, REWARDS, strict=False)):
            context = {"x": x, "y": y, **more} if t % 2 == 0 else {**more, "y": y, "x": x}
            arm = policy.pull(ARMS, context)
            policy.update(arm, dict(reversed(context.items())), row[arm])
            rows.append((arm, row[arm]))
        assert rows == expected
        assert policy.features == (["x", "y"] if more else None)


# -- copies, and what is refused ---------------------------------------------------------------------------------------


def test_clones_are_fresh_and_repeat():
    policy = RiverPolicy(hsb_policy(), features=["x"], waiting=7, reward_obj=stats.Var(), burn_in=1)
    first = loop(policy, CONTEXTS[:FEW], REWARDS[:FEW])
    twin = policy.clone()
    assert (twin.features, twin.waiting, twin.burn_in, twin._n, twin.current.rounds) == (["x"], 7, 1, 0, 0)
    assert isinstance(twin.reward_obj, stats.Var)
    assert loop(twin, CONTEXTS[:FEW], REWARDS[:FEW]) == first
    assert policy.current.rounds == FEW
    assert policy.clone({"waiting": 3}).waiting == 3
    other = policy.clone(include_attributes=True)
    assert loop(other, CONTEXTS[:20], REWARDS[:20]) == loop(policy, CONTEXTS[:20], REWARDS[:20])


def test_copies_are_independent_and_remember_what_waits():
    policy = RiverPolicy(hsb_policy(), waiting=3)
    loop(policy, CONTEXTS[:FEW], REWARDS[:FEW])
    arm = policy.pull(ARMS, {"x": 0.3})

    def answered(one):
        one.update(arm, {"x": 0.3}, 1.0)
        return loop(one, CONTEXTS[:20], NO_SIGNAL[:20])

    copies_go_on_alike(policy, answered, lambda: policy.current)


def test_bad_input_changes_nothing():
    policy = RiverPolicy(hsb_policy(), waiting=5)
    arm = policy.pull(ARMS, {"x": 0.3})
    before = state(policy.current)
    refused(lambda: policy.pull(ARMS, {"x": 3.0}), ["feature 0 is 3.0"])
    refused(lambda: policy.pull(ARMS, {"x": 0.3, "y": 1.0}), ["features of the first, ['x']", "features=[...]"])
    refused(lambda: policy.pull(ARMS, {"y": 0.3}), ["needs the features ['x']", "without 'x'"])
    refused(lambda: policy.pull(ARMS, 0.3), ["dict of features, or None", "0.3"])
    refused(lambda: policy.pull([], {"x": 0.3}), ["available is empty"])
    refused(lambda: policy.pull([["a"]], {"x": 0.3}), ["must be hashable"])
    refused(lambda: policy.pull(ARMS), ["must be numbers"])
    refused(lambda: policy.update(arm, {"x": 0.3}, 1.5), ["reward must be a number in [0.0, 1.0]"])
    refused(lambda: policy.update(arm, {"x": 0.3}), ["No decision waits", "at context None"])
    refused(lambda: policy.update(arm), ["a context and a reward"])
    refused(lambda: policy.update((arm + 1) % 3, {"x": 0.3}, 1.0), ["No decision waits"])
    assert state(policy.current) == before
    assert policy._n == 0 and not policy._rewards
    policy.update(arm, {"x": 0.3}, 1.0)  # it still waits
    refused(lambda: policy.update(arm, {"x": 0.3}, 1.0), ["answered already"])
    refused(lambda: RiverPolicy(hsb_policy(), reward_obj=river.metrics.MAE()), ["statistic of one number"])
    refused(lambda: RiverPolicy(hsb_policy(), burn_in=-1), ["burn_in"])
    refused(
        lambda: RiverPolicy(lambda arms: hsb_policy(arms)).update(1, {"x": 0.2}, 1.0, propensity=0.5), ["arms are not known"]
    )


def test_a_first_context_that_is_refused_sets_no_order():
    policy = RiverPolicy(hsb_policy())
    refused(lambda: policy.pull(ARMS, {"wrong": 9.0}), ["feature 0 is 9.0"])
    assert policy.pull(ARMS, {"right": 0.5}) in ARMS
