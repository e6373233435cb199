"""Evidence that feedback is missing by arm: found where it is, hardly ever where it is not, and what comparing shares would have said."""

import math
import warnings

import numpy as np
import pytest

import hsb
from hsb.e_values import STAKES, FeedbackEvidence, arm_share
from hsb.policy.feedback import ArmFeedback


def drawn(rounds, seed, came, *, shift=1.0):
    """A logger of two arms whose probabilities follow the time, down to .03; `came(t, arm)` is the probability of feedback, t in [0, 1)."""
    rng = np.random.default_rng(seed)
    t = np.arange(rounds) / rounds
    p = np.clip(0.5 + 0.47 * np.sin(6.0 * t + rng.normal(0.0, 0.3, rounds)), 0.03, 0.97)
    arm = (rng.random(rounds) < p).astype(np.int64)
    logged = np.minimum(np.where(arm == 1, p, 1.0 - p) * shift, 1.0)
    return arm, logged, rng.random(rounds) < came(t, arm)


def looks(columns, every=25):
    """The logarithms of the e-value and of honesty after every part."""
    evidence, results = FeedbackEvidence(2), []
    for start in range(0, len(columns[0]), every):
        evidence.add(*(column[start : start + every] for column in columns))
        results.append((evidence.log_e_value(), evidence.log_honesty()))
    return evidence, np.array(results)


def seasonal(t, arm):
    """Feedback fails when arm 1 is popular, whichever arm is drawn."""
    return 0.5 - 0.4 * np.sin(6.0 * t)


def test_it_is_the_average_of_products():
    evidence, factors = FeedbackEvidence(2), {}
    for arm, p, came in [(0, 0.5, True), (1, 0.2, False), (1, 0.9, True)]:
        evidence.add(arm, p, came)
        for a in range(2):
            for k in STAKES.tolist():
                factors.setdefault((came, a, k), []).append((1.0 + k * (a == arm) / p) / (1.0 + k))
    bets = [math.prod(factors[way, a, k]) for way in (False, True) for a in range(2) for k in STAKES.tolist()]
    assert evidence.log_e_value() == pytest.approx(math.log(0.8 * np.mean(bets) + 0.2))
    both = [math.prod(factors[False, a, k] + factors[True, a, k]) for a in range(2) for k in STAKES.tolist()]
    assert evidence.log_honesty() == pytest.approx(math.log(0.8 * np.mean(both) + 0.2))


def test_it_is_hardly_ever_wrong():
    """Sixty looks, feedback that depends on the time: above 20 in 5 % of runs at most; were it 5 %, more than 7 of 60 would have 1 %.

    The negative control: shares by arm, which the time makes differ by far, say that feedback depends on the arm in all of them.
    """
    wrong = fooled = 0
    for seed in range(60):
        evidence, result = looks(drawn(1500, seed, seasonal))
        wrong += result[:, 0].max() > math.log(20.0)
        n, got = evidence.decisions, evidence.answered
        rate = got.sum() / n.sum()
        fooled += abs(got[0] / n[0] - got[1] / n[1]) > 3.0 * math.sqrt(rate * (1.0 - rate) * (1.0 / n).sum())
    assert wrong <= 7 and fooled > 50


def test_feedback_that_is_missing_by_arm_is_found():
    results = [looks(drawn(1500, seed, lambda t, arm: np.where(arm == 0, 0.4, 0.8)))[1] for seed in range(20)]
    assert sum(each[-1, 0] > math.log(1000.0) for each in results) >= 18
    assert (
        sum(each[:, 1].max() > math.log(20.0) for each in results) <= 3
    )  # the probabilities are right, and nobody says they are not


def test_wrong_propensities_break_it_and_are_told_apart():
    """A negative control: logged at .7 of what they were; then `log_honesty` says so."""
    results = [looks(drawn(1500, seed, seasonal, shift=0.7))[1] for seed in range(5)]
    assert all(each[-1, 0] > math.log(1000.0) and each[-1, 1] > math.log(1000.0) for each in results)


@pytest.mark.parametrize("share", [0.5, 0.45, 0.2])
def test_what_is_asked_quickly_is_what_the_e_value_says(share):
    """Of levels on both sides of the e-value and of its largest stake."""
    evidence, rng, above = FeedbackEvidence(2), np.random.default_rng(3), 0
    for _ in range(40):
        arm = (rng.random(50) < share).astype(int)
        evidence.add(arm, np.full(50, 0.5), np.ones(50))
        value = evidence.log_e_value()
        for level in (0.0, math.log(1000.0), max(value - 1e-6, 0.0), max(value, 0.0), max(value, 0.0) + 2.0):
            assert evidence.exceeds(level) == (value > level)
            above += value > level
    assert above > 40 or share == 0.5


def test_arms_that_were_all_available_are_the_same_said_or_not():
    answer, unsaid, rng = ArmFeedback(), ArmFeedback(), np.random.default_rng(4)
    for t in range(1024):
        decision = hsb.Decision(context=None, arm=int(rng.integers(3)), propensity=1 / 3)
        answer.add(decision, np.ones(3, dtype=np.uint8), int(decision.arm), True, [0, 1, 2])
        unsaid.add(decision, None if t % 300 else np.ones(3, dtype=np.uint8), int(decision.arm), True, [0, 1, 2])
    for name in ("decisions", "answered", "available", "sums"):
        assert np.array_equal(getattr(answer._evidence, name), getattr(unsaid._evidence, name))


def test_the_default_that_learns_what_comes_back():
    """A loses .7, B .5; the feedback of A comes in one case of five, whatever it says. The default likes A; the e-value sees why."""
    policy, rng = hsb.HSB(arms=["A", "B"], seed=0), np.random.default_rng(0)
    evidence, warned = FeedbackEvidence(2), []
    for _ in range(3000):
        decision = policy.decide({"x": rng.random()})
        arm = "AB".index(decision.arm)
        came = bool(rng.random() < (0.2, 1.0)[arm])
        evidence.add(arm, decision.propensity, came)
        if came:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                policy.learn(decision, loss=float(rng.random() < (0.7, 0.5)[arm]))
            warned += caught
    assert [str(each.message).startswith("Feedback depends on the arm") for each in warned] == [True]  # the policy sees it, too
    assert evidence.decisions[0] > evidence.decisions[1]
    assert evidence.log_e_value() > math.log(1000.0) > math.log(20.0) > evidence.log_honesty()


def test_arms_come_and_are_not_always_available():
    evidence, rng = FeedbackEvidence(2), np.random.default_rng(1)
    available = np.column_stack([np.ones(800, dtype=bool), rng.random(800) < 0.5])
    arm = np.where(available[:, 1], rng.integers(2, size=800), 0)
    evidence.add(arm, np.where(available[:, 1], 0.5, 1.0), rng.random(800) < 0.6, available)
    before = evidence.log_e_value()
    evidence.widen(4)
    assert evidence.log_e_value() == pytest.approx(before) and before < math.log(20.0)
    assert np.isnan(evidence.shares()[2:]).all() and evidence.available[:, 1].sum() == available[:, 1].sum()
    evidence.add(rng.integers(4, size=400), np.full(400, 0.25), np.ones(400, dtype=bool))
    assert evidence.decisions.sum() == 1200 and evidence.log_e_value() < math.log(20.0)


@pytest.mark.parametrize("first", [1, 2, 30])
def test_shares_of_all_arms_add_up_to_one(first):
    assert 0.999 < sum(arm_share(index, first) for index in range(first + 3000)) <= 1.0
