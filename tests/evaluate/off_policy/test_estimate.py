"""Off-policy evaluation: equal to a plain twin; unbiased; intervals that cover; warnings where the log cannot answer."""

import dataclasses
import json
import math

import numpy as np
import pytest
from naive import off_policy as naive
from support.off_policy_cases import TREE, logged, means, pooled, trained, truth
from threadpoolctl import threadpool_limits

import hsb
from hsb.evaluate import Estimate, off_policy
from hsb.evaluate.off_policy.bootstrap import draws, studentised
from hsb.evaluate.off_policy.distributions import distributions
from hsb.evaluate.off_policy.estimators import ESTIMATORS, WITH_CLIP


@pytest.fixture(autouse=True)
def one_thread():
    """Thousands of small products: threads that wait for each other on a busy machine would take ten times as long."""
    with threadpool_limits(1):
        yield


POLICIES = {
    "HSB, rate": lambda: trained("clicks"),
    "HSB": lambda: hsb.HSB(TREE, arms=["z", 0, 1, 2], seed=0),
    "HSB, intervals": lambda: hsb.HSB(hsb.Lexicographic(leaves=5), arms=4, learning_rate=0.5),
    "HSB, one of": lambda: hsb.HSB(hsb.OneOf(TREE, hsb.KaryTree(k=3, depth=2)), arms=3, learning_rate=0.5),
    "Exp3": lambda: hsb.Exp3(arms=[2, 1, 0]),
    "SExp3": lambda: hsb.SExp3(TREE, arms=3, learning_rate=0.3),
    "TreeThompson": lambda: hsb.TreeThompson(TREE, arms=3, seed=0),
    "LinUCB": lambda: hsb.LinUCB(1, arms=3),
    "Uniform": lambda: hsb.Uniform(arms=2),
}


@pytest.mark.parametrize("name", POLICIES)
def test_distributions_are_those_of_the_policy(name):
    """Bit for bit, whichever way they are computed; a policy that learned a little, an arm removed."""
    policy = POLICIES[name]()
    for x, arm in ((0.1, 0), (0.3, 1), (0.8, 0)):
        policy.learn(hsb.Decision(context=[x] if name == "LinUCB" else x, arm=arm, propensity=0.3), reward=float(x > 0.2))
    if name == "HSB":
        policy.remove_arm(2)
    before, batch = policy.copy(), pooled(1, 200)
    table, playable = distributions(policy, batch)
    after, policy = policy, before
    for i in range(len(batch)):
        available = [a for a in range(3) if batch.available[i, a] and a in policy.active_arms]
        assert playable[i] == bool(available)
        if available:
            x = batch.contexts[i] if name == "LinUCB" else float(batch.contexts[i, 0])
            result = dict(zip(policy.arms, policy.probabilities(x, available=available), strict=True))
            assert table[i].tolist() == [result.get(a, 0.0) for a in range(3)]
        else:
            assert not table[i].any()
    assert after.rounds == before.rounds
    assert np.array_equal(distributions(after, batch)[0], table)


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["HSB, rate", "HSB"])
def test_a_few_distributions(name):
    policy, batch = POLICIES[name](), pooled(2, 12)
    table, _ = distributions(policy, batch)
    for i in range(len(batch)):
        available = [a for a in range(3) if batch.available[i, a]]
        result = dict(zip(policy.arms, policy.probabilities(float(batch.contexts[i, 0]), available=available), strict=True))
        assert table[i].tolist() == [result[a] for a in range(3)]


@pytest.mark.parametrize("model", [None, hsb.BinaryTree(depth=2)])
def test_equal_to_the_plain_twin(model):
    """Values to 1e-10."""
    policy = trained("clicks")
    batches = [pooled(3, 150), pooled(4, 90)]
    rows = naive.rows_of(policy, batches)
    predict = naive.ridge(rows, 150) if model is None else naive.cells(rows, 2)
    for clip in (None, 1.2):
        right, ess = naive.values(rows, predict, math.sqrt(240) if clip is None else clip)
        estimate = off_policy(policy, batches, model=model, clip=clip)
        assert estimate.rows == 240 and abs(estimate.effective_rows - ess) < 1e-9
        for name in ESTIMATORS:
            assert abs(estimate[name].value - right[name]) < 1e-10, name


def test_intervals_equal_the_plain_twin():
    """The safe one to 1e-9; bootstraps with other random numbers to a tenth of their width."""
    policy, batches = trained("clicks"), [logged("clicks", 5, 250), logged("clicks", 6, 150)]
    rows = naive.rows_of(policy, batches)
    estimate = off_policy(policy, batches, estimators=("ips", "snips"))
    w = [row["policy"].get(row["arm"], 0.0) / row["propensity"] for row in rows]
    wr = [weight * row["reward"] for weight, row in zip(w, rows, strict=True)]
    assert np.allclose(estimate.safe, naive.safe(w, [row["reward"] for row in rows]), atol=1e-9)
    unseen, value = naive.unseen(w), sum(wr) / sum(w)
    assert unseen > 0.0
    for name, under, down, up in (("ips", [1.0] * len(w), 0.0, unseen), ("snips", w, unseen * value, unseen * (1 - value))):
        assert estimate[name].kind == "bootstrap"
        low, high = naive.bootstrap_t(wr, under, seed=1)
        assert np.allclose(estimate[name].interval, (low - down, high + up), atol=0.1 * (high - low)), name


def test_batches_do_not_matter():
    policy, whole = trained("clicks"), pooled(5, 3000)
    pieces = [whole.take(slice(t, t + 700)) for t in range(0, 3000, 700)]
    one, several = (off_policy(policy, log, model=TREE) for log in ([whole], pieces))
    assert one.rows == several.rows == 3000  # more rows than groups
    for name in ESTIMATORS:
        assert np.allclose([one[name].value, *one[name].interval], [several[name].value, *several[name].interval], atol=1e-9)


def replications(kind, *, n, count, change=lambda batch: batch, **options):
    """By estimator: how often the two intervals covered, and values in standard errors of their mean from the truth."""
    policy = trained(kind)
    right = truth(kind, policy)
    results = [off_policy(policy, [change(logged(kind, seed, n))], **options) for seed in range(count)]
    estimates = {name: [each[name] for each in results] for name in results[0]}
    covered = {name: np.mean([e.low <= right <= e.high for e in each]) for name, each in estimates.items()}
    surely = {name: np.mean([e.safe[0] <= right <= e.safe[1] for e in each]) for name, each in estimates.items()}
    values = {name: np.array([e.value for e in each]) for name, each in estimates.items()}
    off = {name: (v.mean() - right) / v.std() * math.sqrt(count) for name, v in values.items()}
    return covered, surely, off


@pytest.mark.parametrize(("kind", "clip"), [("clicks", None), ("rare", 1.5)])
def test_intervals_cover_in_1000_replications(kind, clip):
    """Bootstrap: between 93% and 99.5%. The safe interval: at least 95%, as proved; it nearly always covers. Unbiased: within 3.5 errors.

    Where much is clipped, what it may be worth makes the intervals of switch and clipped wide: they may always cover.
    """
    covered, surely, off = replications(kind, n=250, count=1000, clip=clip)
    for name in ESTIMATORS:
        most = 1.0 if clip is not None and name in WITH_CLIP else 0.995
        assert 0.93 <= covered[name] <= most, (name, covered)
        assert surely[name] >= 0.95, (name, surely)
    for name in ("ips", "dr"):
        assert abs(off[name]) < 3.5, (name, off)
    if clip is not None:
        assert off["clipped"] < -10  # what is left out is seen, and still the intervals cover


def test_wrong_propensities_break_coverage():
    """The control: the same log with its propensities taken for uniform. 200 replications."""

    def wrong(batch):
        return dataclasses.replace(batch, propensity=np.full(len(batch), 1 / 3))

    _, _, off = replications("graded", n=1000, count=200, change=wrong, estimators=("ips", "snips"))
    assert abs(off["ips"]) > 10
    right, _, _ = replications("graded", n=1000, count=200, estimators=("ips", "snips"))
    assert right["ips"] > 0.9
    policy, value = trained("graded"), truth("graded", trained("graded"))
    plain, warned = [], []
    for batch in (wrong(logged("graded", seed, 1000)) for seed in range(200)):
        table, _ = distributions(policy, batch)
        S = (table[np.arange(1000), batch.arm] / batch.propensity * batch.reward)[:, None]
        [low], [high] = studentised(np.ones((1000, 1)), S, draws(1000, 0))
        plain.append(low <= value <= high)
        warned.append(any("Do not trust" in warning for warning in off_policy(policy, [batch], estimators="ips").warnings))
    assert np.mean(plain) < 0.8 and np.mean(warned) == 1.0  # a bootstrap would not cover; it is not shown, and all are told
    estimate = off_policy(hsb.HSB(TREE, arms=[1], learning_rate=0.1), [wrong(logged("graded", 1, 4000))], estimators="ips")
    assert any("Weights average 0.6" in warning for warning in estimate.warnings)


def test_the_bootstrap_covers_skewed_terms_better_than_its_normal_twin():
    """Means of 100 squared exponentials, 1000 at once: bootstrap-t within [0.90, 0.99]; mean +- 1.96 errors covers less."""
    S = np.random.default_rng(0).exponential(size=(100, 1000)) ** 1.5
    right = math.gamma(2.5)
    low, high = studentised(np.ones((100, 1)), S, draws(100, 0))
    covered = np.mean((low <= right) & (right <= high))
    half = 1.96 * S.std(axis=0) / 10
    assert 0.90 < covered < 0.99
    assert np.mean(abs(S.mean(axis=0) - right) <= half) < covered


def test_no_click_at_all_is_no_certainty():
    batch = dataclasses.replace(logged("clicks", 1, 500), reward=np.zeros(500))
    estimate = off_policy(trained("clicks"), [batch], estimators=("ips", "snips", "clipped"))
    for name in estimate:
        assert estimate[name].value == 0.0 and estimate[name].low == 0.0 and estimate[name].high > 0.01


def test_warnings_where_the_log_cannot_answer():
    policy, batch = trained("clicks"), logged("clicks", 1, 2000)
    assert off_policy(policy, [batch]).warnings == ()
    few = off_policy(policy, [batch.take(slice(40))])
    assert few.warnings[0].startswith("Too few rows show ") and "effective sample size" in few.warnings[1]
    bare = dataclasses.replace(batch, propensity=np.where(np.arange(2000) < 500, np.nan, batch.propensity))
    estimate = off_policy(policy, [bare])
    assert estimate.rows == 1500 and "500 of 2000 events have no propensity" in estimate.warnings[0]
    assert estimate["dr"].low > 0
    kept = batch.take(batch.arm != 1)
    unseen = off_policy(policy, [kept])
    assert any("never shows: [1]" in warning for warning in unseen.warnings)
    assert any("Weights average" in warning for warning in unseen.warnings)
    strange = off_policy(hsb.HSB(TREE, arms=["x", 0], learning_rate=0.1), [pooled(3, 2000)])
    assert any("the policy knows no available arm" in warning for warning in strange.warnings)
    with pytest.raises(hsb.InputError, match="can be used"):
        off_policy(hsb.HSB(TREE, arms=["x"], learning_rate=0.1), [batch])
    with pytest.raises(hsb.InputError, match="can be used"):
        off_policy(policy, [dataclasses.replace(batch, propensity=np.full(2000, np.nan))])


def test_warnings_say_first_which_arm_is_shown_too_little():
    rng = np.random.default_rng(0)
    film = rng.random(3000) < 0.01
    table = {
        "arm": np.where(film, "film", "sale"),
        "p": np.where(film, 0.01, 0.99),
        "click": film * 1.0,
        "hour": np.arange(3000) % 24,
    }
    log = hsb.logs.open(table, arm="arm", propensity="p", reward="click")
    comparison = hsb.evaluate.compare_off_policy({"always film": "film", "always sale": "sale"}, log)
    first, second = comparison.warnings[:2]
    start = f"always film: Too few rows show 'film' when this policy would play it: {film.sum()} of 3,000 rows. Evaluate on a longer log"
    assert first.startswith(start), first
    assert "worth" in second and not any(warning.startswith("always sale: Too few") for warning in comparison.warnings)


def test_warnings_say_first_what_to_do():
    policy, batch = trained("clicks"), logged("clicks", 1, 2000)
    rare = dataclasses.replace(batch, reward=(np.arange(2000) < 2).astype(float))
    doubtful = off_policy(policy, [rare]).warnings
    assert doubtful[0].startswith("Evaluate on a log with more rewards: the effective number of rewards is "), doubtful
    unseen = off_policy(policy, [batch.take(batch.arm != 1)]).warnings
    false = off_policy(policy, [dataclasses.replace(batch, propensity=np.minimum(1.0, 1.8 * batch.propensity))]).warnings
    assert unseen[0].startswith("Evaluate on a log that shows every arm: in "), unseen
    assert any(warning.startswith("Do not trust the values. Weights average ") for warning in false), false
    fewer = off_policy(policy, [batch.take(slice(110))]).warnings
    assert any(warning.startswith("Evaluate on a longer log: intervals may be too short.") for warning in fewer), fewer


def test_a_frame_of_estimates():
    pytest.importorskip("pandas")
    estimate = off_policy(trained("clicks"), [logged("clicks", 1, 500)], estimators=("ips", "dr"))
    frame = estimate.to_frame()
    assert frame.estimator.tolist() == ["ips", "dr"] and frame.value.tolist() == [estimate["ips"].value, estimate["dr"].value]
    assert frame[["low", "high"]].to_numpy().tolist() == [list(estimate[name].interval) for name in estimate]
    assert frame[["safe_low", "safe_high"]].to_numpy().tolist() == [list(estimate.safe)] * 2


def test_few_rewards_make_wide_intervals():
    """Two rewards in 2000 events: the bootstrap sees next to no spread, so the cautious interval stands."""
    policy, batch = trained("clicks"), logged("clicks", 1, 2000)
    estimate = off_policy(
        policy, [dataclasses.replace(batch, reward=(np.arange(2000) < 2).astype(float))], estimators=["ips", "snips"]
    )
    assert any("too few for the bootstrap" in warning for warning in estimate.warnings)
    for name in ("ips", "snips"):
        assert estimate[name].interval == estimate[name].safe == estimate[name].bernstein and estimate[name].high > 2 / 2000
    plenty = off_policy(policy, [batch], estimators=["ips", "snips"])  # control
    assert plenty["ips"].interval != plenty["ips"].safe


def test_the_truth_of_a_synthetic_log():
    """A policy on 136 features by an encoder: dr, with a ridge on all of them, within 4 errors of the truth."""
    log = hsb.logs.SyntheticToday(40_000, seed=3)
    encoder = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(log.head(2000))
    policy = hsb.HSB(TREE, arms=log.arms, learning_rate=0.05, seed=0)
    hsb.replay(policy, hsb.logs.SyntheticToday(20_000, seed=3), context=encoder)
    right = rows = 0.0
    for batch in log:
        table, _ = distributions(policy, batch, encoder(batch.contexts))
        right += float((table * log.probabilities[:, : table.shape[1]]).sum())
        rows += len(batch)
    told = []
    estimate = off_policy(policy, log, context=encoder, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (40_000, 40_000)
    for name in ("ips", "snips", "dr", "switch", "clipped"):
        half = (estimate[name].high - estimate[name].low) / 2
        assert abs(estimate[name].value - right / rows) < 2 * half, name
    assert estimate.best == "dr" and estimate.interval == estimate["dr"].interval
    assert json.loads(json.dumps(estimate.to_dict()))["value"] == estimate.value
    assert "doubly robust" in str(estimate)


def test_a_model_of_ones_own_and_another_range():
    policy = hsb.HSB(TREE, arms=3, learning_rate=0.5, loss_range=(-1.0, 3.0))
    batch = logged("graded", 1, 3000)
    batch = dataclasses.replace(batch, reward=batch.reward * 4 - 1)
    estimate = off_policy(policy, [batch], model=lambda features, arms: 4 * means("graded", features[:, 0]) - 1)
    right = 4 * truth("graded", policy) - 1
    assert all(estimate[name].low <= right <= estimate[name].high for name in ESTIMATORS)
    assert estimate["dr"].high - estimate["dr"].low < 0.9 * (estimate["ips"].high - estimate["ips"].low)
    with pytest.raises(hsb.InputError, match="finite rewards of shape"):
        off_policy(policy, [batch], model=lambda features, arms: features)
    assert isinstance(estimate["dr"], Estimate)


def test_what_is_refused():
    policy, batch = trained("clicks"), logged("clicks", 1, 100)
    for bad, what in (
        (lambda: off_policy("HSB", [batch]), "policy"),
        (lambda: off_policy(policy, 3), "log"),
        (lambda: off_policy(policy, iter([batch])), "once"),
        (lambda: off_policy(policy, [batch], estimators=("ips", "magic")), "estimators must be"),
        (lambda: off_policy(policy, [batch], estimators=()), "estimators must be"),
        (lambda: off_policy(policy, [batch], clip=0.0), "clip"),
        (lambda: off_policy(policy, [batch], seed=-1), "seed"),
        (lambda: off_policy(policy, [batch], model=3), "model must be"),
        (lambda: off_policy(policy, [batch], model=hsb.BinaryTree(depth=30)), "smaller structure"),
        (lambda: off_policy(policy, [batch], context=lambda rows: rows[:5]), "each of the"),
        (lambda: off_policy(policy, [dataclasses.replace(batch, reward=batch.reward * 2)]), "outside"),
        (lambda: off_policy(policy, []), "can be used"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            bad()


def test_shares_of_nearly_all_are_written_out():
    """Always "b", of which the log has two in a thousand: "99.8%", not "1e+02%"."""
    shown = ["b" if k % 500 == 0 else "a" for k in range(2000)]
    table = {"x": [0.5] * 2000, "arm": shown, "p": [0.002 if arm == "b" else 0.998 for arm in shown], "click": [0, 1] * 1000}
    log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    text = " ".join(hsb.evaluate.compare_off_policy({"uniform": None, "b": "b"}, log).warnings)
    assert "In 99.8% of decisions" in text and "e+" not in text


def test_an_arm_is_sent_to_the_comparison():
    log = hsb.logs.open({"x": [0.5], "arm": ["a"], "click": [1]}, context="x", arm="arm", propensity=0.5, reward="click")
    with pytest.raises(hsb.InputError, match="compare_off_policy"):
        hsb.evaluate.off_policy("a", log)
