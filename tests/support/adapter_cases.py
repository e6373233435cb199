"""A small contextual world, and rounds played by hand, as references for the adapters."""

import copy
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import hsb
from support.policies import POLICIES, state

__all__ = ["ARMS", "CONTEXTS", "NO_SIGNAL", "POLICIES", "REWARDS"]
__all__ += ["by_hand", "copies_go_on_alike", "hsb_policy", "late_rewards", "replayed_by_hand", "state"]

ROUNDS = 3000
ARMS = ["a", "b", "c"]
_rng = np.random.default_rng(11)
CONTEXTS: list[float] = _rng.random(ROUNDS).tolist()
_best = np.digitize(CONTEXTS, [0.3, 0.6])
_probability = np.where(np.arange(3) == _best[:, None], 0.8, 0.3)
REWARDS: list[list[float]] = (_rng.random((ROUNDS, 3)) < _probability).astype(float).tolist()
NO_SIGNAL: list[list[float]] = _rng.permuted(np.array(REWARDS), axis=1).tolist()  # every arm alike, at every context
# Uniform play earns 1.4/3 = 0.467 a round of either, the best mapping 0.8 and 0.467. An average of 3000 rewards is off by 0.009 (one sigma).


def hsb_policy(arms: Any = 3, **settings: Any) -> hsb.HSB:
    return hsb.HSB(hsb.BinaryTree(depth=4), arms=arms, **({"seed": 5} | settings))


def by_hand(policy: hsb.Policy, contexts: Iterable[Any], rewards: Iterable[Any]) -> list[tuple[int, float, float]]:
    """Return arm, propensity and reward of each round."""
    done = []
    for context, row in zip(contexts, rewards, strict=True):
        decision = policy.decide(context)
        index = policy.arms.index(decision.arm)
        policy.learn(decision, reward=row[index])
        done.append((index, decision.propensity, row[index]))
    return done


def replayed_by_hand(policy: hsb.Policy, contexts: Iterable[Any], logged: Iterable[int], rewards: Iterable[Any]) -> list[int]:
    """Return the arm chosen in each round of a log; the policy learns the rounds in which the log played the same arm."""
    done = []
    for context, arm, row in zip(contexts, logged, rewards, strict=True):
        decision = policy.decide(context)
        if decision.arm == arm:
            policy.learn(decision, reward=row[arm])
        done.append(decision.arm)
    return done


def late_rewards(choose: Callable[[float], int], answer: Callable[[int, float, float], None]) -> tuple[hsb.HSB, hsb.HSB]:
    """Let an adapter of `hsb_policy(horizon=200)` choose, and answer 20 rounds later: the policy that did the same by hand, and one that was
    taught with the propensity of the moment instead."""
    twin, wrong = hsb_policy(horizon=200), hsb_policy(horizon=200)
    late: list[Any] = []
    for t, x in enumerate([round(x, 1) for x in CONTEXTS[:120]]):  # few contexts, so that several alike wait
        arm = choose(x)
        late.append((arm, x, twin.decide(x), REWARDS[t][arm]))
        assert arm == late[-1][2].arm
        if t >= 20:
            arm, x, decision, reward = late.pop(0)
            answer(arm, x, reward)
            twin.learn(decision, reward=reward)
            now = wrong.probabilities(x)[arm]
            wrong.learn(hsb.Decision(context=x, arm=arm, propensity=now), reward=reward)
    return twin, wrong


def copies_go_on_alike(adapter: Any, play: Callable[[Any], Any], policy: Callable[[], hsb.Policy]) -> None:
    """Check that a copy and a pickled copy continue as the adapter itself does, and do not change it. `policy` returns its current policy."""
    before = state(policy())
    ends = []
    for twin in (copy.deepcopy(adapter), pickle.loads(pickle.dumps(adapter))):
        ends.append(play(twin))
        assert state(policy()) == before
    assert ends[0] == ends[1] == play(adapter)
