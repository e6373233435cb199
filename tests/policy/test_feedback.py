"""Decisions and feedback by arm: counted, warned of once where the arm evidently has a say, and put right where it alone has one."""

import pickle
import warnings

import numpy as np
import pytest

import hsb

PROBABILITIES = {"A": 0.2, "B": 1.0}  # that feedback comes
LOSES = {"A": 0.7, "B": 0.5}


def shop(rounds, seed, probabilities, *, corrected=False, late=0):
    """A policy that is told what comes back; how often A was played; and the texts of the warnings."""
    policy, rng, played = hsb.HSB(arms=["A", "B"], seed=seed), np.random.default_rng(seed), 0
    waiting = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(rounds):
            context = {"x": float(rng.random())}
            decision = policy.decide(context)
            played += decision.arm == "A"
            loss = float(rng.random() < LOSES[decision.arm])
            if rng.random() < probabilities[decision.arm]:
                waiting.append((decision, loss))
            if len(waiting) > late:
                decision, loss = waiting.pop(0)
                if corrected:  # l / (p q): as if another had logged it, with probability p q of being played and answered
                    probability = decision.propensity * probabilities[decision.arm]
                    decision = hsb.Decision(context=decision.context, arm=decision.arm, propensity=probability)
                policy.learn(decision, loss=loss)
    return policy, played / rounds, [str(each.message) for each in seen]


def test_it_is_said_once_and_counted():
    policy, played, texts = shop(4000, 0, PROBABILITIES)
    assert played > 0.6  # the default plays the worse arm
    assert len(texts) == 1 and "Feedback depends on the arm" in texts[0] and "100% of 'B'" in texts[0]
    result, learned = policy.ledger.feedback.decisions, policy.ledger.feedback.updates
    assert result.total() == 4000 and result["B"] == learned["B"]
    assert learned["A"] / result["A"] == pytest.approx(0.2, abs=0.03)


def test_where_feedback_is_missing_alike_or_late_nothing_is_said():
    """Forty runs; at 1 in 1,000 none is expected to. Half of all missing, and 50 rounds late."""
    for seed in range(40):
        assert shop(600, seed, {"A": 0.5, "B": 0.5}, late=50 * (seed % 2))[2] == []


def test_the_correction_plays_the_better_arm():
    """q = .2: A is played in most rounds; learned with the probability that it was played and answered, in few. It must be the arm's
    probability."""
    plain = [shop(8000, seed, PROBABILITIES)[1] for seed in range(2)]
    mended = [shop(8000, seed, PROBABILITIES, corrected=True)[1] for seed in range(2)]
    assert min(plain) > 0.7 and max(mended) < 0.25


def test_in_tables_too_and_copies_and_pickles_go_on():
    policy, rng = hsb.Exp3(arms=["A", "B"], seed=0), np.random.default_rng(0)
    result = policy.decide_many([None] * 2000)
    came = [0.5 if rng.random() < PROBABILITIES[decision.arm] else None for decision in result]
    with pytest.warns(RuntimeWarning, match="Feedback depends on the arm"):
        policy.learn_many(result, losses=came, missing="skip")
    for twin in (policy.copy(), pickle.loads(pickle.dumps(policy))):
        assert twin.ledger.feedback.updates == policy.ledger.feedback.updates
        more = twin.decide_many([None] * 600)
        twin.learn_many(more, losses=[0.5 if d.arm == "B" else None for d in more], missing="skip")  # was warned
    assert policy.ledger.feedback.decisions.total() == 2000


class Connection:
    """An arm that is itself and nothing else."""

    def __deepcopy__(self, memo):
        raise TypeError("cannot be copied")


def test_a_copy_counts_the_very_same_arms():
    arms = [Connection(), Connection()]
    policy = hsb.Exp3(arms=arms, seed=0)
    for _ in range(300):
        policy.learn(policy.decide(None), loss=0.0)
    twin = policy.copy()
    assert twin.arms == arms and twin.ledger.feedback.updates == policy.ledger.feedback.updates
    twin.learn(twin.decide(None), loss=0.0)
    assert twin.ledger.feedback.decisions.total() == 301 > policy.ledger.feedback.decisions.total()
    assert set(twin.ledger.feedback.decisions) == set(arms)


def test_arms_come_and_are_not_always_available():
    policy, rng = hsb.HSB(arms=["A", "B"], seed=0), np.random.default_rng(0)
    for t in range(1500):
        if t == 500:
            policy.add_arm("C")
        arms = policy.arms
        available = None if t % 3 else [arms[int(rng.integers(len(arms)))], "A"]
        decision = policy.decide({"x": t % 7}, available=available)
        if rng.random() < 0.6:
            policy.learn(decision, loss=float(rng.random()))
    result = policy.ledger.feedback
    assert (
        set(result.decisions) == {"A", "B", "C"}
        and result.decisions.total() == 1500
        and result.updates.total() == policy.rounds
    )


def test_what_others_logged_does_not_count(tmp_path):
    policy = hsb.HSB(arms=["A", "B"], seed=0)
    for _ in range(600):
        policy.learn(hsb.Decision(context={"x": 1}, arm="A", propensity=0.5), loss=1.0)
    assert policy.ledger.feedback.updates.total() == 0
    policy.learn(policy.decide({"x": 1}), loss=0.0)
    policy.save(tmp_path / "policy.hsb")
    assert policy.ledger.feedback.updates.total() == 1
    assert hsb.load(tmp_path / "policy.hsb").ledger.feedback.updates.total() == 0  # it counts anew
