"""A policy of one's own says two things and then works wherever policies do."""

import numpy as np
import pytest

import hsb
from hsb.evaluate import compare
from hsb.logs import Batch
from hsb.problems import Stationary


class Greedy(hsb.Policy):
    """The arm with the least mean loss, and now and then another."""

    def __init__(self, *, arms, explore=0.1, loss_range=(0.0, 1.0), seed=None):
        super().__init__(arms=arms, loss_range=loss_range, seed=seed)
        self.explore = explore
        self.lost, self.plays = np.zeros(len(self.arms)), np.ones(len(self.arms))

    def distribution(self, context):
        p = np.full(len(self.arms), self.explore / len(self.arms))
        p[np.argmin(self.lost / self.plays)] += 1 - self.explore
        return p

    def update(self, context, index, loss, propensity):
        self.lost[index] += loss
        self.plays[index] += 1

    def settings(self):
        return {"explore": self.explore}


class Mute(hsb.Policy, listed=False):
    def __init__(self, given, **common):
        super().__init__(arms=3, **common)
        self.given = given

    def distribution(self, context):
        return self.given


def test_a_table_is_its_rounds_one_by_one():
    rng = np.random.default_rng(0)
    contexts, losses = rng.random(300), rng.random((300, 3))
    available = rng.random((300, 3)) < 0.6
    available[:, 1] = True
    one, other = Greedy(arms=["a", "b", "c"], seed=1), Greedy(arms=["a", "b", "c"], seed=1)
    run = hsb.simulate(one, contexts, losses, available=available)
    for t in range(300):
        decision = other.decide(
            contexts[t], available=[arm for arm, is_there in zip("abc", available[t], strict=True) if is_there]
        )
        other.learn(decision, loss=losses[t, "abc".index(decision.arm)])
        assert (decision.arm, decision.propensity) == (run.arms[t], run.propensities[t])
    assert np.array_equal(one.lost, other.lost) and one.rounds == other.rounds == 300


def test_it_is_compared_replayed_taught_copied_and_saved(tmp_path):
    compared = compare(
        {"mine": Greedy(arms=3), "HSB": hsb.HSB(hsb.BinaryTree(depth=4), arms=3)}, Stationary(), rounds=500, runs=2
    )
    assert compared.losses["mine"].shape[0] == 2
    rng = np.random.default_rng(0)
    log = [
        Batch.of(
            contexts=rng.random((200, 1)),
            arm=rng.integers(0, 2, 200),
            reward=rng.random(200),
            propensity=[0.5] * 200,
            arms=["a", "b"],
        )
    ]
    policy = Greedy(arms=["a", "b"], seed=0)
    result = hsb.replay(policy, log)
    assert 50 < result.matched == policy.rounds < 150
    assert hsb.learn_from(policy, log) == 200
    twin = policy.copy()
    twin.learn(twin.decide(0.5), loss=1.0)
    assert twin.plays.sum() == policy.plays.sum() + 1
    policy.save(tmp_path / "mine.hsb")
    again = hsb.load(tmp_path / "mine.hsb")
    assert type(again) is Greedy and np.array_equal(again.lost, policy.lost)
    assert again.decide(0.3).propensity == policy.decide(0.3).propensity


def test_what_is_missing_or_wrong_is_said():
    class Nothing(hsb.Policy, listed=False):
        pass

    with pytest.raises(hsb.InputError, match=r"Define distribution\(self, context\)"):
        Nothing(arms=2).decide(0.5)
    with pytest.raises(hsb.InputError, match=r"Define update\("):
        Mute([1, 1, 1]).learn(hsb.Decision(context=0, arm=0, propensity=0.5), loss=1.0)
    with pytest.raises(hsb.InputError, match="has no settings"):
        Mute([1, 1, 1]).save("nowhere.hsb")
    with pytest.raises(hsb.InputError, match="cannot add an arm after construction"):
        Mute([1, 1, 1]).add_arm("new")
    for wrong in ([0.5, 0.5], [-1, 1, 1], [0, 0, 0], "abc", None, [np.nan, 1, 1], [np.inf, 1, 1]):
        with pytest.raises(hsb.InputError, match=r"Mute.distribution must return 3 numbers"):
            Mute(wrong).probabilities(0.5)


def test_where_nothing_it_wants_is_available_it_plays_evenly():
    assert Mute([1, 0, 0]).probabilities(0.5, available=[1, 2]).tolist() == [0.0, 0.5, 0.5]
    assert Mute([1, 1, 2]).probabilities(0.5, available=[0, 2]) == pytest.approx([1 / 3, 0.0, 2 / 3])


def test_a_class_named_like_one_of_hsb_does_not_replace_it():
    kind = type("Uniform", (hsb.Uniform,), {"__module__": "elsewhere"})
    assert hsb.Policy.kinds["Uniform"] is hsb.Uniform is not kind
