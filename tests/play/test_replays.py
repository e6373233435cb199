"""Replay: compiled equals one by one, bit for bit; it tells the truth of logs whose truth is known; it refuses what it cannot use."""

import math

import numpy as np
import pytest
from naive import logs as naive_logs
from support.replay_cases import ARMS, BATCHES, POLICIES, TREE, beliefs, made_log

import hsb
import hsb.logs
from hsb.learners.uniform import UniformPlay
from hsb.logs import Batch, Log
from hsb.play import Replay, replay, replay_all


@pytest.mark.parametrize("name", POLICIES)
def test_compiled_equals_one_by_one(name):
    fast, slow, cut = POLICIES[name](), POLICIES[name](), POLICIES[name]()
    batches = BATCHES if name.startswith(("HSB", "Exp3", "SExp3")) else BATCHES[:2]
    result = replay(fast, batches)
    seen, matched, total = naive_logs.replay(slow, batches, context=float_of)
    assert (result.rounds, result.matched, result.total) == (seen, matched, total)
    assert fast.rounds == slow.rounds == matched > 0
    assert fast.arms == slow.arms
    assert fast.rng.bit_generator.state == slow.rng.bit_generator.state
    assert np.array_equal(beliefs(fast), beliefs(slow))
    assert np.array_equal(
        *([each.learner.mixture.state.sums for each in (fast, slow)] if hasattr(fast, "certificate") else [0, 0])
    )
    replay(
        cut, [batch.take(slice(t, t + 37)) for batch in batches for t in range(0, len(batch), 37)]
    )  # other batches, same result
    assert np.array_equal(beliefs(fast), beliefs(cut))


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["HSB, rate", "HSB", "HSB, many arms"])
def test_a_few_rows(name):
    fast, slow = POLICIES[name](), POLICIES[name]()
    few = [BATCHES[0].take(slice(60)), BATCHES[-1].take(slice(60))]
    result = replay(fast, few)
    assert (result.rounds, result.matched, result.total) == naive_logs.replay(slow, few, context=float_of)
    assert np.array_equal(beliefs(fast), beliefs(slow))


def float_of(row):
    return float(row[0])


def test_several_policies_read_together():
    alone = {name: replay(POLICIES[name](), BATCHES) for name in ("Exp3", "HSB")}
    together = replay_all({name: POLICIES[name]() for name in ("Exp3", "HSB")}, BATCHES)
    assert together == alone


def expected(truth, batches, wanted):
    """What a policy that plays `wanted(context)`, where available, would earn a round, over the rounds that uniform logging would match."""
    gains, weights = 0.0, 0.0
    for table, batch in zip(truth, batches, strict=True):
        for i in range(len(batch)):
            available = np.flatnonzero(~np.isnan(table[i]))
            arm = wanted(batch.contexts[i, 0], available)
            weights += 1.0 / len(available)
            gains += table[i, arm] / len(available)
    return gains / weights


class Choosing(UniformPlay):
    """A fixed choice that is no mixture: it takes the slow way."""

    def __init__(self, arms, wanted):
        super().__init__(arms)
        self.wanted = wanted

    def read(self, context):
        return float(np.ravel(context)[0]), 0

    def check(self, contexts):
        return np.asarray(contexts), 0

    def choose(self, seen, mask, u):
        choices = np.arange(self.arms) if mask is None else np.flatnonzero(mask)
        return int(self.wanted(seen, choices)), 1.0, -1.0


def chooser(wanted):
    return hsb.Policy(arms=ARMS, learner=Choosing(len(ARMS), wanted), seed=0)


def good(x, available):
    fit = [a for a in available if (a % 2 == 0) == (x < 0.5)]
    return fit[0] if fit else available[0]


def test_replay_is_unbiased_on_a_uniform_log():
    """A fixed policy's average over 24,000 events is within 3 standard errors of the truth; uniform play's truth is far outside (control)."""
    batches, truth = made_log(np.random.default_rng(1), 24_000)
    result = replay(chooser(good), batches)
    right = expected(truth, batches, good)
    error = math.sqrt(right * (1 - right) / result.matched)
    assert abs(result.average_reward - right) < 3 * error
    uniform = sum(np.nanmean(table, axis=1).sum() for table in truth) / 24_000
    assert abs(result.average_reward - uniform) > 10 * error
    low, high = result.interval
    assert low < right < high < low + 5 * error
    even = replay(hsb.Uniform(arms=ARMS, seed=0), batches)
    assert even.interval[0] < uniform < even.interval[1]


def test_rejection_sampling_makes_a_skewed_log_fair():
    """The thinned log gives the truth averaged over events; matching alone, without the propensities, does not (control)."""

    def last(x, available):
        return available[-1] if x < 0.7 else available[0]

    batches, truth = made_log(np.random.default_rng(2), 40_000, skewed=True)
    right = sum(
        table[i, last(b.contexts[i, 0], np.flatnonzero(~np.isnan(table[i])))]
        for table, b in zip(truth, batches, strict=True)
        for i in range(len(b))
    )
    right /= 40_000
    result = replay(chooser(last), batches, seed=3)
    assert result.rejected > 20_000
    error = math.sqrt(right * (1 - right) / result.matched)
    assert abs(result.average_reward - right) < 3 * error

    class Pretended(Log):
        uniform = True

        def __iter__(self):
            return iter(batches)

    naive = replay(chooser(last), Pretended())
    assert naive.rejected == 0
    assert abs(naive.average_reward - right) > 4 * math.sqrt(right * (1 - right) / naive.matched)
    again = replay(chooser(last), batches, seed=3)
    assert again == result
    smaller = replay(chooser(last), iter(batches), floor=0.01)
    assert smaller.matched < result.matched


def test_learning_pays():
    """HSB learns the log's mapping; the same policy with every click turned round does worse than uniform play (control)."""
    batches, _ = made_log(np.random.default_rng(3), 40_000)
    good = replay(hsb.HSB(TREE, arms=ARMS, learning_rate=0.1, seed=0), batches)
    turned = [Batch(**(batch.__dict__ | {"reward": 1.0 - batch.reward})) for batch in batches]
    bad = replay(hsb.HSB(TREE, arms=ARMS, learning_rate=0.1, seed=0), turned)
    uniform = good.logged / good.rounds
    assert good.interval[0] > uniform + 0.1
    assert 1 - bad.interval[0] < uniform


def test_contexts_pass_through_an_encoder_and_progress_is_told():
    log = hsb.logs.SyntheticToday(20_000, seed=1)
    encoder = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(log.head(1000))
    told = []
    policy = hsb.HSB(TREE, arms=["id-0"], learning_rate=0.01, seed=0)
    result = replay(policy, log, context=encoder, progress=lambda done, total: told.append((done, total)))
    assert told == [(8192, 20_000), (16_384, 20_000), (20_000, 20_000)]
    assert policy.arms == ["id-0", *log.arms]
    assert result.skipped == 0


def test_removed_arms_are_not_played():
    policy = hsb.HSB(TREE, arms=ARMS, learning_rate=0.1, seed=0)
    for arm in ARMS[1:]:
        policy.remove_arm(arm)
    result = replay(policy, BATCHES)
    with_a = sum(int((batch.labels() == "a").sum()) for batch in BATCHES)
    assert result.matched == with_a  # the only arm left is chosen wherever it is available


def test_intervals():
    clicks = Replay(rounds=9, matched=100, total=50.0, squares=50.0, logged=0.0, rejected=0, skipped=0, low=0.0, high=1.0)
    assert clicks.method == "Wilson"
    assert np.allclose(clicks.interval, (0.40383, 0.59617), atol=1e-5)
    graded = Replay(rounds=9, matched=1000, total=500.0, squares=260.0, logged=0.0, rejected=0, skipped=0, low=0.0, high=1.0)
    assert graded.method == "empirical Bernstein"
    spread, log = (260 - 250) / 999, math.log(80)
    assert np.allclose(graded.interval[1] - 0.5, math.sqrt(2 * spread * log / 1000) + 7 * log / (3 * 999))
    none = Replay(rounds=9, matched=0, total=0.0, squares=0.0, logged=0.0, rejected=0, skipped=0, low=-1.0, high=2.0)
    assert math.isnan(none.average_reward)
    assert none.interval == (-1.0, 2.0)


def test_what_is_refused():
    policy = hsb.HSB(TREE, arms=ARMS, learning_rate=0.1, seed=0)
    skewed, _ = made_log(np.random.default_rng(5), 400, skewed=True)
    for bad, what in (
        (lambda: replay("HSB", BATCHES), "policy"),
        (lambda: replay(policy, 3), "log"),
        (lambda: replay(policy, iter(BATCHES)), "once"),
        (lambda: replay(policy, BATCHES, floor=0.0), "floor"),
        (lambda: replay(policy, skewed, floor=0.9), "below the floor"),
        (lambda: replay(policy, BATCHES, seed=-1), "seed"),
        (lambda: replay(policy, BATCHES, context=lambda rows: rows[:5]), "each of the"),
        (lambda: replay(policy, BATCHES, context=lambda rows: rows + 5), "outside"),
        (lambda: replay(hsb.HSB(TREE, arms=ARMS, loss_range=(0.0, 0.5)), BATCHES), "reward"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            bad()
    assert policy.rounds == 0
