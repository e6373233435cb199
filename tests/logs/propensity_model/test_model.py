"""Logs without propensities: uniform, one number for all, or a model of who wrote the log."""

import csv
import itertools

import numpy as np
import pytest
from support.propensity_cases import ARMS, NAMED, softmax_log

import hsb
import hsb.evaluate
import hsb.logs
from hsb.logs.propensity_model.model import FOLDS, MOST_ROWS, ColumnTerms, RowSample

COLUMNS = ("contexts", "arm", "reward", "propensity", "timestamp", "pool")


def opened(table, propensity, **more):
    return hsb.logs.open(table, propensity=propensity, **(NAMED | more))


def equal(one, other):
    pairs = list(itertools.zip_longest(one, other))
    assert pairs
    return all(
        all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in COLUMNS)
        and a.arms == b.arms
        and a.available.tolist() == b.available.tolist()
        for a, b in pairs
        if len(a) or len(b)
    )


@pytest.mark.parametrize("offers", ["all", "lists", "truths", "arms"])
def test_uniform_is_the_column_written_out_to_the_last_bit(offers):
    rng = np.random.default_rng(1)
    n = 300
    on = rng.random((n, 3)) < 0.7
    on[np.arange(n), rng.integers(0, 3, n)] = True
    if offers in ("all", "arms"):
        on[:] = True
    shown = [ARMS[rng.choice(np.flatnonzero(row))] for row in on]
    table = {"x": rng.random(n), "y": rng.random(n), "shown": shown, "click": rng.integers(0, 2, n)}
    table["offer"] = ["|".join(ARMS[k] for k in np.flatnonzero(row)) for row in on]
    table |= {f"has_{arm}": on[:, k] for k, arm in enumerate(ARMS)}
    more = {
        "all": {},
        "lists": {"available": "offer"},
        "truths": {"available": {arm: f"has_{arm}" for arm in ARMS}},
        "arms": {"arms": [*ARMS, "d"]},
    }[offers]
    sizes = np.full(n, 4) if offers == "arms" else on.sum(axis=1)
    table["p"] = 1.0 / sizes
    plain = opened(table, "uniform", rows=64, **more)
    assert equal(plain, opened(table, "p", rows=64, **more))
    assert plain.uniform and plain.logger is None
    assert not equal(plain, opened(table, 0.3, rows=64, **more))
    assert hsb.replay(hsb.Exp3(arms=ARMS, seed=0), plain).rejected == 0


def test_a_number_is_the_column_of_that_number_to_the_last_bit():
    table, _ = softmax_log(500)
    written = opened(table | {"p": np.full(500, 0.2)}, "p")
    for given in (0.2, np.float64(0.2), "0.2"):
        assert equal(opened(table, given), written)
    assert equal(opened(table, 1), opened(table | {"p": np.ones(500)}, "p"))
    assert not equal(opened(table, 0.25), written)


def test_every_kind_of_table(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table, _ = softmax_log(400)
    del table["p"]
    with (tmp_path / "log.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(table)
        rows.writerows(zip(*([*map(repr, map(float, v))] if k in "xy" else v for k, v in table.items()), strict=True))
    parquet.write_table(arrow.table(table), tmp_path / "log.parquet")
    frames = [
        tmp_path / "log.csv",
        tmp_path / "log.parquet",
        pandas.DataFrame(table),
        polars.DataFrame(table),
        arrow.table(table),
    ]
    for given, frame in itertools.product(("uniform", 0.2, "estimate"), frames):
        log = opened(frame, given)
        assert log.arms == opened(table, given).arms
        assert equal(log, opened(table, given)), (given, frame)
        assert [batch.estimated for batch in log] == [given == "estimate"]


def test_a_column_that_is_called_like_a_word_comes_first(tmp_path):
    table, _ = softmax_log(50)
    for word in ("uniform", "estimate", "0.2"):
        log = opened(table | {word: np.full(50, 0.125)}, word)
        assert {p for batch in log for p in batch.propensity} == {0.125}
        assert log.logger is None and log.uniform is None
    (tmp_path / "1.csv").write_text("x,y,shown,click,uniform\n1,2,a,0,0.125\n")
    (tmp_path / "2.csv").write_text("x,y,shown,click\n1,2,a,0\n")
    with pytest.raises(hsb.InputError, match=r"2\.csv has no column 'uniform'"):
        opened([tmp_path / "1.csv", tmp_path / "2.csv"], "uniform")
    assert equal(opened(tmp_path / "2.csv", "uniform"), opened(tmp_path / "2.csv", 1.0))


def test_what_cannot_be_is_said():
    table, _ = softmax_log(20)
    what = "a column; 'uniform', .* a number in .* or 'estimate'"
    for given, words in [
        (None, r"with which probability was each arm shown\? Give propensity=: " + what),
        ("none", f"no column 'none'.* The propensity may be {what}"),
        (0.0, r"must be in \(0, 1\]"),
        (1.5, r"must be in \(0, 1\]"),
        ("1.5", r"must be in \(0, 1\]"),
        (float("nan"), r"must be in \(0, 1\]"),
        (True, what),
        ([0.5], what),
    ]:
        with pytest.raises(hsb.InputError, match=words):
            opened(table, given)
    with pytest.raises(hsb.InputError, match="names of its columns"):
        hsb.logs.open(table, context="x", arm="shown")
    with pytest.raises(hsb.InputError, match="arms must be at least one"):
        hsb.Exp3(arms=opened({name: [] for name in table}, "estimate").arms)


def test_estimated_propensities_are_close_to_those_of_a_softmax():
    """6,000 rows: off by 0.03 on average (uniform: by 0.14), the log-likelihood within 0.005 of the truth's, calibrated to 0.015."""
    table, _ = softmax_log()
    log = opened(table, "estimate", context=["x", "y", "kind"], categories="kind")
    result, true = np.concatenate([batch.propensity for batch in log]), table["p"]
    assert np.abs(result - true).mean() < 0.03
    assert np.abs(1.0 / 3.0 - true).mean() > 0.1
    fit = log.logger
    assert fit.rows == 6000 and fit.arms == 3 and fit.bounded == 0
    assert abs(fit.log_likelihood - np.log(true).mean()) < 0.005
    assert fit.log_likelihood > fit.frequencies + 0.05 > fit.uniform
    assert fit.uniform == pytest.approx(-np.log(3.0))
    assert fit.calibration_error < 0.015
    assert len(fit.calibration) == 10 and sum(each.entries for each in fit.calibration) == 18_000
    assert fit.smallest == result.min() > 0.005
    assert fit.warnings == ()
    assert "log-likelihood" in str(fit) and fit.to_dict()["calibration"][0]["seen"] == fit.calibration[0].seen
    table["noise"] = np.random.default_rng(2).random(6000)
    blind = opened(table, "estimate", context=["noise"]).logger  # features that decided nothing say nothing
    assert abs(blind.gain) < 0.003 < fit.gain


def test_values_with_estimates_are_right_where_uniform_ones_are_not():
    """A policy worth 0.6: with the true and the estimated propensities ips and dr are within 0.03 of it, taken for uniform ips is 0.1 off."""
    table, clicks = softmax_log(8000, seed=3, sharp=3.0)

    class Better(hsb.Policy):
        """Plays a where x is large and c where it is small."""

        def distribution(self, context):
            return np.array([0.9, 0.05, 0.05] if context[0] > 0.5 else [0.05, 0.05, 0.9])

        def update(self, context, arm, loss, propensity):
            pass

    policy = Better(arms=ARMS)
    plays = np.where(table["x"][:, None] > 0.5, [[0.9, 0.05, 0.05]], [[0.05, 0.05, 0.9]])
    truth = float((plays * clicks).sum(axis=1).mean())
    values = {}
    for given in ("p", "estimate", "uniform"):
        log = opened(table, given, context=["x", "y", "kind"], categories="kind", arms=ARMS)
        values[given] = hsb.evaluate.off_policy(policy, log, context=lambda rows: rows[:, :1])
    for given in ("p", "estimate"):
        assert abs(values[given]["ips"].value - truth) < 0.03, given
        assert abs(values[given]["dr"].value - truth) < 0.03, given
    assert abs(values["uniform"]["ips"].value - truth) > 0.1
    assert "estimates" in values["estimate"].warnings[0]
    assert not any("estimates" in answer for given in ("p", "uniform") for answer in values[given].warnings)
    assert any("Weights average" in answer for answer in values["uniform"].warnings)  # and it is noticed
    assert "includes the doubly robust one" in str(values["p"])


def test_the_propensity_of_a_row_comes_without_it(monkeypatch):
    monkeypatch.setattr("hsb.logs.propensity_model.model.PENALTIES", (8.0,))  # which of four is one choice for all rows
    table, _ = softmax_log(1000)
    other = table | {"shown": list(table["shown"])}
    other["shown"][502] = next(arm for arm in ARMS if arm != table["shown"][502])
    assert 502 % FOLDS == 2
    one, two = ([p for batch in opened(each, "estimate", arms=ARMS) for p in batch.propensity] for each in (table, other))
    same = np.array(one) == np.array(two)
    own = np.arange(1000) % FOLDS == 2
    own[502] = False
    assert same[own].all()  # they had no part in it, nor does its own: another arm was shown
    assert not same[~own].any()


def test_offers_are_minded_and_nothing_is_too_small():
    rng = np.random.default_rng(4)
    n = 2000
    on = np.ones((n, 3), dtype=bool)
    on[:, 2] = rng.random(n) < 0.5
    x = rng.random(n)
    scores = np.where(on, np.column_stack([0 * x, 0 * x, 0 * x + 1.0]), -np.inf)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    arm = (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    table = {"x": x, "y": x, "shown": [ARMS[k] for k in arm], "click": x, "offer": [ARMS if row[2] else ARMS[:2] for row in on]}
    log = opened(table, "estimate", available="offer")
    result = np.concatenate([batch.propensity for batch in log])
    assert np.abs(result - P[np.arange(n), arm]).max() < 0.1
    assert np.abs(result[~on[:, 2]] - 0.5).max() < 0.1 < np.abs(result[on[:, 2]] - 0.5).max() + 0.05
    strange = {"x": np.append(np.zeros(500), 1.0), "y": np.zeros(501), "shown": ["a"] * 500 + ["b"], "click": np.zeros(501)}
    log = opened(strange, "estimate")
    [batch] = log
    assert batch.propensity.min() == 0.005 == log.logger.smallest  # a hundredth of uniform
    assert any("all but certain" in answer for answer in log.logger.warnings)


def test_who_wrote_the_log_may_change_on_the_way(monkeypatch):
    """The shares of two arms turn from 0.9 and 0.1 to 0.1 and 0.9: estimates are off by 0.03 on average; by 0.4 if the part were not known."""
    rng = np.random.default_rng(7)
    n = 4000
    p = np.where(np.arange(n) < n // 2, 0.9, 0.1)
    first = rng.random(n) < p
    table = {"x": rng.random(n), "y": rng.random(n), "shown": np.where(first, "a", "b"), "click": np.zeros(n)}
    true, errors = np.where(first, p, 1.0 - p), []
    for parts in (20, 1):
        monkeypatch.setattr("hsb.logs.propensity_model.model.PARTS", parts)
        result = np.concatenate([batch.propensity for batch in opened(table, "estimate", rows=500)])
        errors.append(float(np.abs(result - true).mean()))
    assert errors[0] < 0.03 and errors[1] > 0.3


def test_what_is_stored_remembers_that_it_was_estimated(tmp_path):
    pytest.importorskip("pyarrow")
    table, _ = softmax_log(300)
    for given in ("estimate", "p"):
        log = opened(table, given)
        done = hsb.logs.convert(table, tmp_path / "log.parquet", propensity=given, **NAMED)
        assert (done.logger is not None) == (given == "estimate")
        stored = hsb.logs.open(tmp_path / "log.parquet")
        assert equal(stored, log)
        assert {batch.estimated for batch in stored} == {given == "estimate"}
        result = hsb.replay(hsb.Exp3(arms=ARMS, seed=0), stored)
        assert any("estimates" in answer for answer in result.warnings) == (given == "estimate")


def test_a_replay_that_cannot_be_says_so_in_numbers():
    rng = np.random.default_rng(5)
    n = 3000
    chosen = rng.random(n) < 0.999
    table = {"x": rng.random(n), "y": rng.random(n), "shown": np.where(chosen, "a", "b"), "click": rng.integers(0, 2, n)}
    log = opened(table | {"p": np.where(chosen, 0.999, 0.001)}, "p")
    result = hsb.replay(hsb.Uniform(arms=["a", "b"], seed=0), log)
    [answer] = result.warnings
    assert answer.startswith("Let a policy learn from one part of the log and evaluate it on the other")
    assert result.matched < 10 and f"{result.rejected:,} of 3,000 events were skipped" in answer
    assert "0.001" in answer and "hsb evaluate" in answer
    fine = hsb.replay(hsb.Uniform(arms=["a", "b"], seed=0), opened(table, "uniform"))
    assert fine.matched > 1000 and fine.warnings == ()
    [few] = hsb.replay(hsb.Uniform(arms=["a", "b"], seed=0), opened(table, "uniform").head(50)).warnings
    assert few.startswith("Let a policy learn from one part") and "too few" in few and "skipped" not in few


def test_arms_are_known_before_the_log_is_read(tmp_path):
    table, _ = softmax_log(100)
    log = opened(table, "uniform")
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=log.arms, seed=0)
    assert policy.arms == log.arms == list(dict.fromkeys(table["shown"]))
    assert opened(table, "uniform").head(3).arms == log.arms
    assert opened(table, "uniform", arms=["c", "b", "a"]).arms == ["c", "b", "a"]
    assert opened(table, "p", available="shown").arms == list(dict.fromkeys(table["shown"]))  # those of its first batch
    (tmp_path / "log").write_text("1317513291 id-4 0 |user 1 9 |id-4 |id-7\n")
    assert hsb.logs.open(tmp_path / "log").arms == ["id-4", "id-7"]
    assert len(hsb.logs.SyntheticToday(10_000, seed=0).arms) >= 20
    empty = hsb.logs.open({"x": [0.5], "shown": [None], "click": [1]}, context="x", arm="shown", propensity=0.5, reward="click")
    assert empty.arms == [] and len(empty.problems) == 1
    with pytest.raises(hsb.InputError, match=r"arms must be at least one.*log\.problems"):
        hsb.HSB(hsb.BinaryTree(depth=3), arms=empty.arms)
    assert next(iter(log)).rows == 100


def test_features_of_the_model():
    kinds = ColumnTerms.of(np.repeat([3.0, 1e15, 7.0], [6, 8, 2]), is_category=True)
    assert kinds.values.tolist() == [3.0, 1e15] and not kinds.is_scaled
    wide = ColumnTerms.of(np.append(np.arange(100.0), np.nan), is_category=False)
    assert wide.is_squared and wide.is_missing and not len(wide.values)
    result = np.column_stack(wide.design(np.array([49.5, np.nan, 1e300])))
    assert result.tolist() == [[0.0, -1.0, 0.0], [0.0, -1.0, 1.0], [4.0, 15.0, 0.0]]
    few = ColumnTerms.of(np.tile([1.0, 2.0, 3.0], 9), is_category=False)
    assert few.values.tolist() == [1.0, 2.0, 3.0] and few.is_scaled and not few.is_squared
    assert ColumnTerms.of(np.zeros(9), is_category=False).design(np.ones(2)) == []


def test_a_sample_of_many_rows_has_all_parts_of_the_log(monkeypatch):
    monkeypatch.setattr("hsb.logs.propensity_model.model.MOST_ROWS", 1000)
    table, _ = softmax_log(5000)
    sample = RowSample()
    for batch in opened(table, "p", rows=512):
        sample.add(batch)
    number, contexts, arm, available = sample.columns(3, all_available=True)
    assert sample.rows == 5000 and 300 < len(number) <= 1000 < MOST_ROWS
    assert contexts[:, 0].tolist() == table["x"][number].tolist()
    assert np.bincount(number * 5 // 5000).min() > 50 and np.bincount(number % FOLDS).min() > 50
    assert available.all() and len(arm) == len(number)
    fit = opened(table, "estimate", rows=512).logger
    assert fit.rows == len(number) and fit.gain > 0.02


def test_mixed_columns_with_missing_values():
    """Estimates of a log read by name are off by 0.03 on average (uniform: by 0.16), though a fifth of the ages are missing."""
    rng = np.random.default_rng(0)
    n = 5000
    country = rng.integers(0, 3, n)
    scores = np.column_stack([1.5 * (country == 0), 0.0 * country, 1.0 * (country == 2)])
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    arm = (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    table = {
        "country": [["FR", "DE", "US"][k] for k in country],
        "shown": [ARMS[k] for k in arm],
        "click": rng.integers(0, 2, n),
    }
    table["age"] = [None if rng.random() < 0.2 else int(rng.integers(18, 80)) for _ in range(n)]
    log = hsb.logs.open(table, arm="shown", propensity="estimate", reward="click")
    assert sorted(log.arms) == ARMS and log.logger.rows == n and log.logger.gain > 0.05
    result, true = np.concatenate([batch.propensity for batch in log.by_name()]), P[np.arange(n), arm]
    assert np.abs(result - true).mean() < 0.035 < 0.15 < np.abs(1.0 / 3.0 - true).mean()
    assert hsb.learn_from(hsb.HSB(arms=log.arms, seed=0), log) == n
