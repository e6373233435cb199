"""Ctrl-C, a timeout, a signal's exception: wherever it comes, a policy is whole and says how many rounds it has learned."""

import itertools
import os
import signal
from typing import Any

import numpy as np
import pytest
from support import interrupting
from support.policies import CANNOT_WIDEN, CONTEXTS, LOSSES, POLICIES, play

import hsb
import hsb.logs

THOROUGH = int(os.environ.get("HSB_ATTACK", "0"))
STRIDE = 1 if THOROUGH else 41  # steps of the interpreter
FEW = ("HSB", "HSB, features", "Exp4", "CsbFtpl", "LinUCB", "TreeThompson")  # one policy of each learner that learns
each_policy = pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.long) for name in POLICIES]
)


def seasoned(name: str) -> hsb.Policy:
    policy = POLICIES[name]()
    play(policy, slice(0, 31))  # scales and edges are refitted after 32
    return policy


def check_learning(policy: hsb.Policy, decision: hsb.Decision, given: dict[str, float]) -> None:
    """Each interruption leaves what was before or what is after, and the decision counts once."""
    before, after = policy.digest(), policy.copy()
    after.learn(hsb.Decision.from_dict(decision.to_dict()), **given)
    seen = set()
    for twin in interrupting.every_step(
        lambda each: each.learn(hsb.Decision.from_dict(decision.to_dict()), **given), policy, STRIDE
    ):
        learned = twin.rounds - policy.rounds
        seen.add(learned)
        assert twin.digest() == (after.digest() if learned else before)
        again = hsb.Decision.from_dict(decision.to_dict())
        if learned and decision.id is not None:
            with pytest.raises(hsb.InputError, match="learned already"):
                twin.learn(again, **given)
        elif not learned:
            twin.learn(again, **given)
        assert twin.digest() == after.digest()
        assert twin.rounds == after.rounds
        assert twin.probabilities(0.4).tobytes() == after.probabilities(0.4).tobytes()
    assert seen == {0, 1}


@each_policy
def test_learn(name: str) -> None:
    policy = seasoned(name)
    check_learning(policy, policy.decide(0.3), {"loss": 1.0})


def test_decisions_of_others_stay_counted() -> None:
    """One more is learned: those that were learned before are not forgotten, wherever it is interrupted."""
    worker, policy = hsb.Uniform(arms=3, seed=0), hsb.Uniform(arms=3, seed=1)
    sent = [worker.decide(None).to_dict() for _ in range(4)]
    for each in sent[:3]:
        policy.learn(hsb.Decision.from_dict(each), loss=0.5)
    seen = set()
    for twin in interrupting.every_step(lambda one: one.learn(hsb.Decision.from_dict(sent[3]), loss=0.5), policy, 1):
        seen.add(twin.rounds)
        for each in sent[: twin.rounds]:
            with pytest.raises(hsb.InputError, match="learned already"):
                twin.learn(hsb.Decision.from_dict(each), loss=0.5)
    assert seen == {3, 4}


@each_policy
def test_learn_late(name: str) -> None:
    policy = seasoned(name)
    late = policy.decide(0.3)
    play(policy, slice(40, 44))
    policy.decide(0.9)
    check_learning(policy, late, {"loss": 1.0})


def test_a_range_found_on_the_way_and_something_new() -> None:
    policy = hsb.HSB(arms=3, seed=0, loss_range="auto")
    for t in range(20):
        policy.learn(policy.decide({"x": t % 3, "c": "ab"[t % 2]}), loss=float(t % 4))
    decision = policy.decide({"x": None, "c": "new", "more": 3.0})
    before, after = policy.digest(), policy.copy()
    after.learn(hsb.Decision.from_dict(decision.to_dict()), loss=99.0)
    seen = set()
    for twin in interrupting.every_step(
        lambda each: each.learn(hsb.Decision.from_dict(decision.to_dict()), loss=99.0), policy, STRIDE
    ):
        learned = twin.rounds - policy.rounds
        seen.add(learned)
        assert (twin.digest(), twin.loss_range) == (
            (after.digest(), after.loss_range) if learned else (before, policy.loss_range)
        )
    assert seen == {0, 1}


@each_policy
def test_arms(name: str) -> None:
    policy = seasoned(name)
    before = policy.digest()

    def there_and_back(each: hsb.Policy) -> None:
        each.remove_arm(1)
        each.add_arm(1)
        if name not in CANNOT_WIDEN and not name.startswith("Exp4"):
            each.add_arm(3)

    states, after = {before}, policy.copy()
    after.remove_arm(1)
    states.add(after.digest())
    after.add_arm(1)
    if name not in CANNOT_WIDEN and not name.startswith("Exp4"):
        after.add_arm(3)
        states.add(after.digest())
    for twin in interrupting.every_step(there_and_back, policy, 2 * STRIDE):
        assert twin.digest() in states
        assert abs(twin.probabilities(0.3).sum() - 1.0) < 1e-9
        assert twin.decide(0.3).arm in twin.active_arms


@each_policy
def test_simulate(name: str) -> None:
    """It has played as many rounds as it says, and goes on as if nothing had been."""
    policy, begin, end = seasoned(name), 40, 80

    def rounds(each: hsb.Policy, first: int, last: int) -> None:
        hsb.simulate(each, CONTEXTS[first:last], LOSSES[first:last])

    whole, parts = policy.copy(), {}
    rounds(whole, begin, end)
    for twin in interrupting.every_step(lambda each: rounds(each, begin, end), policy, 5 * STRIDE):
        played = twin.rounds - policy.rounds
        if played not in parts:
            parts[played] = policy.copy()
            rounds(parts[played], begin, begin + played)
        assert twin.digest() == parts[played].digest()
        rounds(twin, begin + played, end)
        assert twin.digest() == whole.digest()


def test_signals() -> None:
    """The real thing: alarms at odd moments, while decisions are made, learned, and learned again."""

    class Alarm(Exception):
        pass

    def ring(*_: Any) -> None:
        raise Alarm

    old = signal.signal(signal.SIGALRM, ring)
    rng = np.random.default_rng(0)
    rang = 0
    try:
        for name in ("HSB", "HSB, features", "TreeThompson", "LinUCB"):
            policy, twin = POLICIES[name](), POLICIES[name]()
            for t in itertools.count():
                decision = policy.decide(float(CONTEXTS[t % 100]))
                same = hsb.Decision.from_dict(decision.to_dict())
                try:
                    signal.setitimer(signal.ITIMER_REAL, float(rng.uniform(1e-6, 4e-5)))
                    policy.learn(decision, loss=0.5)
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
                except Alarm:
                    rang += 1
                    if policy.rounds == t:
                        policy.learn(decision, loss=0.5)
                    else:
                        with pytest.raises(hsb.InputError, match="already"):
                            policy.learn(decision, loss=0.5)
                twin.learn(hsb.Decision.from_dict({**same.to_dict(), "id": f"another-{same.number}", "rounds": t}), loss=0.5)
                assert policy.rounds == twin.rounds == t + 1
                if t == (20_000 if THOROUGH else 200):
                    break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
    assert rang > 20


def logged(arms: int = 3) -> hsb.logs.Batch:
    """Events of a uniform log, with the contexts and losses of the other tests."""
    n = len(CONTEXTS)
    shown = np.random.default_rng(5).integers(arms, size=n)
    reward = 1.0 - LOSSES[np.arange(n), shown]
    points = np.asarray(CONTEXTS, dtype=float).reshape(n, -1)
    return hsb.logs.Batch.of(contexts=points, arm=shown, reward=reward, propensity=np.full(n, 1 / arms), arms=list(range(arms)))


def alone(points: Any) -> Any:
    """Contexts of one feature as numbers."""
    return points[:, 0]


def through_log(name: str, work: Any) -> None:
    """Interrupted anywhere in a log, a policy has learned the first so many of the events that it would have learned."""
    policy, batch = seasoned(name), logged().take(slice(0, 24))
    whole = policy.copy()
    work(whole, [batch])
    reached: dict[int, str] = {0: policy.digest()}
    for n in range(1, len(batch) + 1):
        part = policy.copy()
        work(part, [batch.take(slice(0, n))])
        reached.setdefault(part.rounds - policy.rounds, part.digest())
    seen = set()
    for twin in interrupting.every_step(lambda each: work(each, [batch]), policy, 5 * STRIDE):
        learned = twin.rounds - policy.rounds
        seen.add(learned)
        assert twin.digest() == reached[learned]
    assert 0 in seen and len(seen) > 1
    assert whole.rounds > policy.rounds


@each_policy
def test_learn_from(name: str) -> None:
    through_log(name, lambda each, log: hsb.learn_from(each, log, context=alone))


@each_policy
def test_replay(name: str) -> None:
    through_log(name, lambda each, log: hsb.replay(each, log, context=alone, seed=3))


@each_policy
def test_learn_many(name: str) -> None:
    """The first so many are learned, and the others can be."""
    policy = seasoned(name)
    decisions = policy.decide_many(np.asarray(CONTEXTS[40:46]))
    losses = np.linspace(0.0, 1.0, 6)
    reached = []
    for k in range(7):
        part = policy.copy()
        part.learn_many(decisions[:k], losses=losses[:k])
        reached.append(part.digest())
    seen = set()
    for twin in interrupting.every_step(lambda each: each.learn_many(decisions, losses=losses), policy, 5 * STRIDE):
        learned = twin.rounds - policy.rounds
        seen.add(learned)
        assert twin.digest() == reached[learned]
        twin.learn_many(decisions[learned:], losses=losses[learned:])
        assert twin.digest() == reached[6]
    assert 0 in seen and len(seen) > 3
