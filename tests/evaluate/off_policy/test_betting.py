"""Intervals of off-policy values: the safe one holds for any log, bounds hold where weights are clipped, and what is not warned of is covered.

`make coverage` measures the same at full size (docs/off_policy.md).
"""

import dataclasses
import math

import numpy as np
import off_policy_coverage as bench
import off_policy_logs as logs
import pytest
from naive import off_policy as naive

import hsb
from hsb.evaluate import off_policy
from hsb.evaluate.off_policy.betting import STAKES, Bets, lower_end
from hsb.evaluate.off_policy.diagnostics import Weighing, Weights
from hsb.evaluate.off_policy.distributions import distributions
from hsb.evaluate.off_policy.estimators import ESTIMATORS
from hsb.logs import Batch
from hsb.problems import Stationary

# -- the safe interval ---------------------------------------------------------------------------------------------------


def test_bets_equal_their_plain_twin():
    rng = np.random.default_rng(0)
    w, r = rng.exponential(size=300), rng.random(300)
    bets = Bets()
    for begin in (0, 100, 250):
        part = slice(begin, {0: 100, 100: 250, 250: 300}[begin])
        bets.add(w[part], r[part])
    assert np.allclose(bets.ends(), naive.safe(w, r), atol=1e-9)


def test_no_weight_says_nothing_and_wrong_weights_say_nothing():
    bets = Bets()
    assert bets.ends() == (0.0, 1.0)
    bets.add(np.zeros(1000), np.ones(1000))
    assert bets.ends() == (0.0, 1.0)
    bets.add(np.full(1000, 5.0), np.arange(1000) % 2.0)  # on average 2.5: the ends cross
    assert bets.ends() == (0.0, 1.0)


def lowers(x):
    """(logs,): the lower end of each row of terms."""
    return np.array([lower_end(np.log1p(STAKES[:, None] * each).sum(axis=1), len(each)) for each in x])


def test_the_lower_end_holds_where_the_tail_is_not_seen():
    """1000 logs of 500 terms that are 400 with probability 1/800, else 0.2 (mean .7): too high in at most 2.5%, and 3 errors: 4%.

    Negative control: in every log without a large term, half of them, the mean and four standard errors are below the truth.
    """
    rng = np.random.default_rng(1)
    x = np.where(rng.random((1000, 500)) < 1 / 800, 400.0, 0.2)
    mean = 400 / 800 + 0.2 * 799 / 800
    assert np.mean(lowers(x) > mean) <= 0.04
    assert np.mean(x.mean(axis=1) + 4.0 * x.std(axis=1) / math.sqrt(500) < mean) > 0.4


def test_the_lower_end_holds_for_means_that_follow_the_past():
    """600 runs: the next mean is low after large terms and high after small ones, the spread likewise. For the average of the means, at most 4%
    too high. Negative control: for the first mean, which is not what is estimated, it fails."""
    rng = np.random.default_rng(2)
    terms, means = np.empty((600, 400)), np.empty((600, 400))
    past = np.full(600, 0.5)
    for t in range(400):
        means[:, t] = np.where(past > 0.5, 0.3, 0.9)
        top = np.where(past > 0.5, 30.0, 1.0)
        terms[:, t] = np.where(rng.random(600) < means[:, t] / top, top, 0.0)
        past = 0.9 * past + 0.1 * terms[:, t]
    low = lowers(terms)
    assert np.mean(low > means.mean(axis=1)) <= 0.04
    assert np.mean(low > 0.3) > 0.2


# -- what is asked of the weights ----------------------------------------------------------------------------------------


def weights(w, probability, propensity):
    weighing = Weighing()
    weighing.add(*(np.asarray(each, dtype=float) for each in (w, probability, propensity)))
    return weighing.result()


def test_missing_events_are_seen_in_the_events_that_are_there():
    """A log that shows one arm with .998 and never another, which the policy plays in 10% of decisions: nothing is heavy, much is missing."""
    n = 2000
    result = weights(np.full(n, 0.9 / 0.998), np.full(n, 0.9), np.full(n, 0.998))
    assert result.largest < 1.0 and result.effective == pytest.approx(n)
    assert result.missing == pytest.approx(0.1)
    assert any("In 10% of decisions" in doubt for doubt in result.doubts(500.0))
    same = weights(np.ones(n), np.full(n, 0.998), np.full(n, 0.998))  # control: the log's own policy
    assert same.missing == 0.0 and not [*same.doubts(500.0), *same.faults()]


def test_a_heavy_event_is_named():
    w = np.ones(2000)
    w[7] = 40.0
    [doubt] = weights(w, np.full(2000, 0.5), np.full(2000, 0.5)).doubts(500.0)
    assert doubt.startswith("One event carries 1.96% of all weight: 40")
    w[7] = 30.0  # sqrt(2000) * 0.7 = 31.3
    assert not [*weights(w, np.full(2000, 0.5), np.full(2000, 0.5)).doubts(500.0)]


def test_an_average_weight_off_1_is_noise_a_doubt_or_a_fault():
    about = {"rows": 5000, "effective": 4000.0, "largest": 3.0, "share": 0.0006, "missing": 0.0}
    for average, error, doubts, faults in ((0.97, 0.02, 0, 0), (0.985, 0.004, 0, 0), (0.97, 0.01, 1, 0), (0.9, 0.01, 0, 1)):
        result = Weights(average=average, error=error, **about)
        assert (len([*result.doubts(500.0)]), len([*result.faults()])) == (doubts, faults), average
    assert Weights(average=0.9995, error=0.01, **about).unseen == pytest.approx(0.0005)
    assert Weights(average=0.9, error=0.01, **about).unseen == pytest.approx(4 * 3 / 5000)
    assert Weights(average=1.1, error=0.01, **about).unseen == 0.0


# -- coverage ------------------------------------------------------------------------------------------------------------


def greedy_log(seed, n=1500):
    """Written by a learner of its own, on VI-A: the best arm so far of the cell with .998, each other with .001. Adaptive and unsuitable."""
    contexts, losses, _ = Stationary().sample(n, seed)
    cell, u = (contexts[:, 0] * 8).astype(int), np.random.default_rng([7, seed]).random(n)
    sums, counts = np.full((8, 3), 0.5), np.ones((8, 3))
    arm, propensity = np.empty(n, dtype=int), np.empty(n)
    for t in range(n):
        best = int((sums[cell[t]] / counts[cell[t]]).argmin())
        p = np.full(3, 0.001)
        p[best] = 0.998
        arm[t] = min(int((p.cumsum() < u[t]).sum()), 2)
        propensity[t] = p[arm[t]]
        sums[cell[t], arm[t]] += losses[t, arm[t]]
        counts[cell[t], arm[t]] += 1
    reward = 1.0 - losses[np.arange(n), arm]
    return Batch.of(contexts=contexts, arm=arm, reward=reward, propensity=propensity, arms=[0, 1, 2])


@pytest.mark.parametrize("target", ["trained", "uniform"])
def test_logs_of_a_greedy_learner_are_warned_of_and_covered(target):
    """60 logs: all warned, every interval holds in at least 54. Negative control: the bootstrap of dr, no questions asked, in at most 48."""
    policy = logs.taught(3000) if target == "trained" else hsb.Uniform(arms=3)
    case = logs.Case("greedy", "greedy", lambda rows, seed: greedy_log(seed, rows), policy, logs.worth_on_the_line(policy))
    outcomes = [bench.outcome(case, 1500, seed) for seed in range(60)]
    held = dict(zip(bench.COLUMNS, np.sum([each.held for each in outcomes], axis=0).tolist(), strict=True))
    assert all(each.warned for each in outcomes)
    assert all(held[name] >= 54 for name in (*ESTIMATORS, "safe")), held
    assert held["plain"] <= 48, held


@pytest.mark.parametrize("logger", ["uniform", "skewed"])
def test_sound_logs_are_not_warned_of_and_covered(logger):
    """60 logs of 2000 events: at most 6 warned; the bootstrap holds in at least 53 of 60 (by chance once in 300 at 95%)."""
    policy = logs.trained("sharp")
    case = logs.Case(
        logger, logger, lambda rows, seed: logs.independent(logger, 0.5, rows, seed), policy, logs.worth(policy, 0.5)
    )
    results = [off_policy(policy, [case.write(2000, seed)]) for seed in range(60)]
    assert sum(bool(each.warnings) for each in results) <= 6
    for name in ESTIMATORS:
        assert {each[name].kind for each in results if not each.warnings} == {"bootstrap"}
        assert sum(each[name].low <= case.truth <= each[name].high for each in results) >= 53, name


def test_clipped_intervals_are_short_and_hold_on_hard_logs():
    """30 hard logs of 5000 events: switch and clipped hold in at least 27, on average less than twice as wide as the bootstrap of dr.

    Control: the bound from the events above the clip, with the worst rewards, which was used before, is more than twice as wide."""
    policy, widths = logs.trained("sharp"), []
    truth = logs.worth(policy, 0.5)
    held = 0
    for seed in range(30):
        batch = logs.independent("hard", 0.5, 5000, seed)
        estimate = off_policy(policy, [batch])
        assert estimate["switch"].kind == estimate["clipped"].kind == "bounds" and estimate["dr"].kind == "safe"
        assert estimate["switch"].low <= estimate["switch"].value <= estimate["switch"].high
        held += (
            estimate["switch"].low <= truth <= estimate["switch"].high
            and estimate["clipped"].low <= truth <= estimate["clipped"].high
        )
        low, high = bench.plain_bootstrap(policy, batch)
        widths.append((estimate["switch"].high - estimate["switch"].low, high - low, before(policy, batch, estimate.clip)))
    bounds, plain, old = np.mean(widths, axis=0)
    assert held >= 27
    assert bounds < 2 * plain < old, (bounds, plain, old)


def before(policy, batch, clip):
    """How wide switch would be by the events above the clip with the lowest and the highest reward; the model predicts a half."""
    probability = distributions(policy, batch)[0][np.arange(len(batch)), batch.arm]
    w = probability / batch.propensity
    kept = np.where(w <= clip, w, 0.0)
    least, most = (0.5 + kept * (batch.reward - 0.5) + (w - kept) * (end - 0.5) for end in (0.0, 1.0))
    (low, _), (_, high) = (naive.normal(terms) for terms in (least, most))
    return high - low


def test_other_ranges_of_rewards_only_shift_and_stretch():
    """The same log with rewards in [-2, 2]: intervals are those in [0, 1], stretched; hard and sound."""
    policy = logs.trained("soft")
    wide = hsb.HSB(policy.structure, arms=5, learning_rate=0.05, loss_range=(-2.0, 2.0))
    plain = hsb.HSB(policy.structure, arms=5, learning_rate=0.05)
    for logger in ("uniform", "hard"):
        batch = logs.independent(logger, 0.5, 3000, 1)
        one = off_policy(plain, [batch], estimators=("snips", "clipped"))
        other = off_policy(wide, [dataclasses.replace(batch, reward=4.0 * batch.reward - 2.0)], estimators=("snips", "clipped"))
        assert np.allclose(4.0 * np.array(one.safe) - 2.0, other.safe)
        assert np.allclose(4.0 * np.array(one["snips"].interval) - 2.0, other["snips"].interval)
        if logger == "hard":
            assert np.allclose(4.0 * np.array(one["clipped"].interval) - 2.0, other["clipped"].interval)


# -- the bench -----------------------------------------------------------------------------------------------------------


def test_the_bench_runs():
    names = ["uniform, soft, 0.5", "default, trained", "floor 0.2, uniform"]
    results = bench.measure(names, (200,), 4, 1)
    assert all(len(each) == 4 for each in results.values())
    assert bench.trusted_table(results, 200).count("\n") == 4 and bench.warned_table(results, 200).count("\n") == 4
    assert bench.verdict(results).startswith("Nowhere enough")
