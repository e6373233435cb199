"""Candidates on a log: each as alone, differences equal to a plain twin, intervals that cover and are short, and what is shown of them."""

import json
import math
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from naive import compare as naive_pairs
from naive import off_policy as naive
from support import pages, shop_logs
from support.off_policy_cases import logged, means, pooled, trained, truth
from threadpoolctl import threadpool_limits

import hsb
from hsb.errors import InputError
from hsb.evaluate import Learning, compare_off_policy, off_policy
from hsb.evaluate.off_policy import compare as comparing_module
from hsb.evaluate.off_policy import parallel_passes
from hsb.evaluate.off_policy.bootstrap import ends
from hsb.evaluate.off_policy.differences import resample_pair
from hsb.logs import Batch

TREE = hsb.BinaryTree(depth=3)
ESTIMATORS = ("dr", "switch", "snips", "ips", "clipped")


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def now():
    return trained("clicks")


@pytest.fixture(scope="module")
def near(now):
    """The same after forty more updates."""
    policy, rng = now.copy(), np.random.default_rng(1)
    for _ in range(40):
        decision = policy.decide(rng.random())
        policy.learn(decision, reward=float(rng.random() < means("clicks", np.array([decision.context]))[0, decision.arm]))
    return policy


def worth(name, policy):
    """The truth of a candidate of `TABLE`."""
    mu = means("clicks", (np.arange(4096) + 0.5) / 4096)
    return {"always 1": float(mu[:, 1].mean()), "uniform": float(mu.mean())}.get(name) or truth("clicks", policy)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_each_candidate_is_as_alone(now, near, estimator):
    """To the last bit, whatever stands beside it; also where contexts and pools differ."""
    log, half = [pooled(1, 900), pooled(2, 700)], lambda rows: rows / 2
    candidates = {"now": now, "near": near, "half": near, "always 1": 1, "uniform": None, "class": hsb.Uniform}
    found = compare_off_policy(candidates, log, estimator=estimator, context={"half": half}, seed=3)
    alone = {
        "now": now,
        "near": near,
        "always 1": hsb.Uniform(arms=[1]),
        "uniform": hsb.Uniform(arms=3),
        "class": hsb.Uniform(arms=3),
    }
    for name, policy in alone.items():
        assert found[name].result == off_policy(policy, log, estimators=[estimator], seed=3), name
    assert found["half"].result == off_policy(near, log, estimators=[estimator], context=half, seed=3)
    assert found["half"].result != found["near"].result
    assert (found["now"].value, found["now"].interval) == (found["now"].result.value, found["now"].result.interval)


def test_contexts_are_made_once_for_all_who_see_the_same(now, near):
    called = []

    def seen(rows):
        called.append(len(rows))
        return rows

    compare_off_policy(
        {"uniform": None, "now": now, "always 1": 1, "near": near}, [pooled(1, 300)], estimator="snips", context=seen
    )
    assert called == [300]


def test_each_as_alone_with_cells_of_their_own_contexts(now, near):
    log, half = [pooled(1, 300), pooled(2, 300)], lambda rows: rows / 2
    found = compare_off_policy({"now": now, "half": near}, log, model=TREE, context={"half": half})
    assert found["now"].result == off_policy(now, log, estimators="dr", model=TREE)
    assert found["half"].result == off_policy(near, log, estimators="dr", model=TREE, context=half)


@pytest.mark.parametrize("estimator", ["dr", "ips", "snips"])
def test_differences_equal_the_plain_twin(now, estimator):
    """Values to 1e-10, over the events that both can play; the safe interval to 1e-9."""
    log = [pooled(3, 150), pooled(4, 90)]
    rows = {
        "now": naive.rows_of(now, log),
        "always 1": naive_pairs.fixed(log, lambda x, available: {1: 1.0} if 1 in available else {}),
        "uniform": naive_pairs.fixed(log, lambda x, available: dict.fromkeys(available, 1 / len(available))),
    }
    found, pairs = spied({"now": now, "always 1": 1, "uniform": None}, log, estimator=estimator)
    predict = naive.ridge(rows["now"], 150)
    terms = {name: naive_pairs.terms(each, predict) for name, each in rows.items()}
    for name in ("always 1", "uniform"):
        value, both = naive_pairs.difference(terms[name], terms["now"], estimator)
        assert found[name].difference.rows == both and abs(found[name].difference.value - value) < 1e-10
        assert np.allclose(pairs[name].safe(0.95), naive_pairs.safe(rows[name], rows["now"]), atol=1e-9)
    assert found["always 1"].difference.rows < 240 == found["uniform"].difference.rows
    assert any("Not every candidate can play every event" in warning for warning in found.warnings)


def spied(candidates, log, **options):
    """The comparison, and the sums of its pairs."""
    kept, real = {}, comparing_module.paired

    def paired(pairs, *more, **others):
        kept.update(pairs)
        return real(pairs, *more, **others)

    comparing_module.paired = paired
    try:
        return compare_off_policy(candidates, log, **options), kept
    finally:
        comparing_module.paired = real


def test_two_that_are_alike_differ_by_nothing(now, near):
    for estimator in ESTIMATORS:
        found = compare_off_policy(
            {"now": now, "again": now.copy(), "near": near}, [logged("clicks", 1, 700)], estimator=estimator
        )
        gap = found["again"].difference
        assert (gap.value, gap.interval, gap.joint, gap.kind, gap.p, gap.verdict) == (
            0.0,
            (0.0, 0.0),
            (0.0, 0.0),
            "equal",
            1.0,
            "equal",
        )
        assert found["near"].difference.kind == "bootstrap" and found["near"].difference.value != 0.0
        assert found["now"].best == found["again"].best  # ties are shared
        assert math.isclose(sum(each.best for each in found.values()), 1.0)


LOGS, TABLE = 150, ("near", "always 1", "uniform")


@pytest.fixture(scope="module")
def many(now, near):
    """Comparisons on many logs whose truth is known, with right propensities; and bootstraps of wrong ones, no questions asked."""
    candidates = {"now": now, "near": near, "always 1": 1, "uniform": None}
    right, wrong, shown = [], [], []
    with threadpool_limits(1):
        for seed in range(LOGS):
            log = logged("clicks", 1000 + seed, 500)
            right.append(spied(candidates, [log], estimator="dr"))
            if seed < 40:
                found, pairs = spied(candidates, [replace(log, propensity=np.full(500, 1 / 3))], estimator="ips")
                sample = resample_pair(pairs["uniform"], (0.0, 0.0), 0, 0)
                low, high = ends(np.array([sample.value]), np.array([sample.spread]), sample.t[:, None], 0.95)
                wrong.append((low[0], high[0]))
                shown.append(found["uniform"].difference.kind)
    true = {name: worth(name, each) for name, each in candidates.items()}
    return right, wrong, shown, {name: true[name] - true["now"] for name in TABLE}


def test_paired_intervals_hold(many):
    """95% intervals: of 150 at least 135 (a right one is below that once in 300). Negative control: with wrong propensities few hold."""
    right, wrong, shown, true = many
    for name in TABLE:
        held = sum(found[name].difference.low <= true[name] <= found[name].difference.high for found, _ in right)
        assert held >= 135, (name, held)
        assert sum(found[name].difference.kind == "bootstrap" for found, _ in right) > 100
    together = sum(
        all(found[n].difference.joint[0] <= true[n] <= found[n].difference.joint[1] for n in TABLE) for found, _ in right
    )
    assert together >= 135
    assert sum(low <= true["uniform"] <= high for low, high in wrong) < 20  # of 40
    assert "bootstrap" not in shown  # nor is it shown


def test_safe_intervals_hold(many):
    right, _, _, true = many
    for name in TABLE:
        ends_of = [pairs[name].safe(0.95) for _, pairs in right]
        assert sum(low <= true[name] <= high for low, high in ends_of) >= 135
        assert np.mean([high - low for low, high in ends_of]) < 0.35  # and say something: the rewards' range is 1


def test_paired_intervals_are_far_shorter(many):
    """Than the two intervals side by side: a seventh where the candidates are near, less than half otherwise."""
    right, _, _, _ = many
    for name, most in (("near", 0.2), ("always 1", 0.5), ("uniform", 0.5)):
        paired = np.mean([found[name].difference.high - found[name].difference.low for found, _ in right])
        apart = np.mean([found[name].high - found[name].low + found["now"].high - found["now"].low for found, _ in right])
        assert 0.05 < paired / apart < most, (name, paired / apart)


def test_corrected_for_their_number(now, near):
    """Twelve candidates that are as good as the baseline: alone some differ, together hardly ever (5%, of 40 logs at most 6)."""
    rng = np.random.default_rng(0)
    tables = {f"c{i}": hsb.Exp3(arms=3, seed=i) for i in range(12)}
    for policy in tables.values():
        for arm in rng.integers(0, 3, 6).tolist():
            policy.learn(hsb.Decision(context=0.5, arm=arm, propensity=0.34), reward=float(rng.random() < 0.5))
    alone = together = 0
    for seed in range(40):
        batch = logged("clicks", 3000 + seed, 400, skewed=False)
        batch = replace(batch, reward=(np.random.default_rng([7, seed]).random(400) < 0.4).astype(float))  # arms do not matter
        gaps = [each.difference for each in compare_off_policy({"uniform": None, **tables}, [batch], estimator="ips").values()]
        alone += any(not gap.low <= 0.0 <= gap.high for gap in gaps[1:])
        together += any(gap.verdict != "undecided" for gap in gaps[1:])
        assert all(gap.joint[0] <= gap.low <= gap.high <= gap.joint[1] for gap in gaps[1:])
        assert all((gap.p < 0.05) <= (gap.p <= 0.05) and gap.p > 0.0 for gap in gaps[1:])
    assert together <= 6 and together <= alone
    one = compare_off_policy({"uniform": None, "c0": tables["c0"]}, [batch], estimator="ips")["c0"].difference
    many = compare_off_policy({"uniform": None, **tables}, [batch], estimator="ips")["c0"].difference
    assert one.interval == many.interval and one.joint[1] - one.joint[0] < many.joint[1] - many.joint[0] and one.p <= many.p


def test_no_bootstrap_where_the_log_cannot_carry_one(now):
    """Few events; or candidates that differ in a handful of them. The safe interval, and its p."""
    found = compare_off_policy({"now": now, "always 1": 1}, [logged("clicks", 1, 60)])
    assert found["always 1"].difference.kind == "safe" and found["always 1"].best is None
    batch, rng = logged("clicks", 5, 4000, skewed=False), np.random.default_rng(3)
    rare = rng.random(4000) < 0.001
    available = np.ones((4000, 3), dtype=bool)
    available[~rare, 1] = batch.arm[~rare] == 1  # arm 1 can be chosen in four events only, or was shown
    tables = {"a": hsb.Uniform(arms=[0, 2]), "b": hsb.Uniform(arms=[0, 1, 2])}
    of = {"contexts": batch.contexts, "arm": batch.arm, "reward": batch.reward, "arms": [0, 1, 2], "available": available}
    log = Batch.of(propensity=1.0 / available.sum(axis=1), **of)
    assert compare_off_policy(tables, [log], estimator="ips")["b"].difference.kind == "safe"
    clear = [replace(logged("clicks", 1, 3000), propensity=np.full(3000, 0.5))]
    gap = compare_off_policy({"uniform": None, "always 1": 1}, clear)["always 1"].difference
    assert gap.kind == "safe" and 0.0 < gap.p <= 1.0


def test_learning_candidates_are_replayed(now):
    """As `hsb.replay` would; a copy learns; not paired, and wider for it."""
    fresh, log = hsb.HSB(TREE, arms=3, seed=0), [logged("clicks", 1, 2000)]
    found = compare_off_policy({"now": now, "fresh": Learning(fresh), "as it is": fresh}, log, seed=5)
    right = hsb.replay(hsb.HSB(TREE, arms=3, seed=0), log, seed=5)
    each = found["fresh"]
    assert (each.how, each.result, each.value, each.interval) == ("replayed", right, right.average_reward, right.interval)
    assert fresh.rounds == 0 and found["as it is"].how == "evaluated" and each.best is None
    gap = each.difference
    assert (gap.kind, gap.p) == ("apart", None) and math.isclose(gap.value, each.value - found["now"].value)
    assert gap.high - gap.low > (each.high - each.low) + (found["now"].high - found["now"].low) - 1e-12
    assert "learns" in found.table() and "not paired" in found.table()
    turned = compare_off_policy({"now": now, "fresh": Learning(fresh)}, log, baseline="fresh", seed=5)
    assert turned["now"].difference.kind == "apart" and turned["fresh"].difference is None
    only = compare_off_policy({"fresh": Learning(fresh)}, log, seed=5)
    assert only["fresh"].result == right and math.isclose(only.logged, log[0].reward.mean())


def test_other_confidences_are_wider_or_narrower(now, near):
    log = [logged("clicks", 1, 900)]
    widths = []
    for confidence in (0.8, 0.95, 0.99):
        found = compare_off_policy({"now": now, "near": near}, log, confidence=confidence)
        gap = found["near"].difference
        widths.append((found["now"].high - found["now"].low, gap.high - gap.low, gap.joint[1] - gap.joint[0]))
    assert (np.diff(widths, axis=0) > 0).all()


def test_other_ranges_are_not_paired(now):
    wide = hsb.HSB(TREE, arms=3, learning_rate=0.5, reward_range=(0.0, 2.0))
    found = compare_off_policy({"now": now, "wide": wide}, [logged("clicks", 1, 900)])
    assert found["wide"].difference.kind == "apart"


def test_what_is_shown(now, near, tmp_path):
    """A table, a frame, JSON, CSV, a page, a picture: names of any letters do no harm."""
    evil = '<script>"$x^2$\n'
    found = compare_off_policy({"now": now, evil: near, "always 1": 1, "learns": Learning(near)}, [logged("clicks", 1, 900)])
    lines = found.table().splitlines()
    assert lines[0].startswith("candidate") and "against now" in lines[0] and str(found) == found.table()
    values = [each.value for each in found.sorted]
    assert values == sorted(values, reverse=True) and list(found) == ["now", evil, "always 1", "learns"]
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["candidates"]["always 1"]["difference"]["verdict"] == found["always 1"].difference.verdict
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert frame.loc["always 1", "difference"] == found["always 1"].difference.value and len(frame) == 4
    found.to_csv(tmp_path / "c.csv")
    again = pandas.read_csv(tmp_path / "c.csv", index_col="candidate")
    assert again.index.tolist() == list(found) and np.allclose(again["value"], frame["value"])
    found.to_html(tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text()
    assert "<script" not in page and "&lt;script" in page and "<svg" in page and not re.search(r'(src|href)="(?!#)', page)
    found.to_png(tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG") and found.png() == found.png()
    assert len(np.ravel(found.plot())) == 2 and "<script" not in found._repr_html_()
    with pytest.raises(InputError, match="There is no folder"):
        found.to_csv(tmp_path / "no" / "c.csv")


def test_a_frame_needs_pandas(now, monkeypatch):
    found = compare_off_policy({"now": now}, [logged("clicks", 1, 900)])
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(InputError, match="needs pandas"):
        found.to_frame()


@pytest.mark.parametrize(
    ("candidates", "options", "said"),
    [
        ({}, {}, "given by name"),
        ({"a": [1]}, {}, "must be a policy, the name of an arm"),
        ({"a": 7}, {}, "the arm 7, which is never available in the log. Its arms are"),
        ({"a": None}, {"baseline": "b"}, "baseline must be the name of a candidate: 'a'"),
        ({"a": None}, {"estimator": "direct"}, "estimator must be 'dr'"),
        ({"a": None}, {"context": {"b": None}}, "names that are not candidates"),
        ({"a": None}, {"confidence": 0.999}, "between 0.5 and 0.99"),
        ({"a": None}, {"engine": "spark"}, "engine must be one of local, dask, ray"),
        ({"a": None}, {"jobs": 2}, "Batches in memory cannot be shared"),
        ({"a": None}, {"clip": 0}, "clip must be a weight"),
        ({"a": None}, {"reward_range": (1, 0)}, "reward_range"),
    ],
)
def test_what_is_refused(candidates, options, said):
    with pytest.raises(InputError, match=re.escape(said)):
        compare_off_policy(candidates, [logged("clicks", 1, 50)], **options)


def test_learning_needs_a_policy():
    with pytest.raises(InputError, match="Learning needs a policy"):
        Learning("a")


# -- several processes -------------------------------------------------------------------------------------------------


def near_enough(one, two, at=""):
    """Plain data that is the same, numbers to 1e-12."""
    if isinstance(one, dict):
        assert one.keys() == two.keys(), at
        for name in one:
            near_enough(one[name], two[name], f"{at}/{name}")
    elif isinstance(one, list):
        assert len(one) == len(two), at
        for i, (a, b) in enumerate(zip(one, two, strict=True)):
            near_enough(a, b, f"{at}[{i}]")
    elif isinstance(one, float):
        assert math.isclose(one, two, rel_tol=1e-12, abs_tol=1e-12), (at, one, two)
    else:
        assert one == two, at


def everything(found):
    return found.to_dict() | {"all": {name: each.result.to_dict() for name, each in found.items()}}


def stored(folder):
    """Files of different lengths; the groups of rows of one are read apart."""
    for k, n in enumerate((2500, 3, 4001)):
        whole = pooled(k, n)
        hsb.logs.write(folder / f"part-{10 * k}.parquet", [whole.take(slice(i, i + 500)) for i in range(0, n, 500)], "parquet")
    return hsb.logs.open(folder)


def tables(folder, **options):
    """Parquet tables of others, with rows that cannot be used, and an arm that appears late."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for k in range(3):
        batch = pooled(20 + k, 700)
        x = [None if i % 7 == k else float(v) for i, v in enumerate(batch.contexts[:, 0])]
        names = ["abc"[a] if k or a < 2 else "a" for a in batch.arm]
        available = [sorted({name, *"ab"}) for name in names]
        columns = {"x": x, "arm": names, "p": np.full(700, 0.4), "r": batch.reward, "on": available}
        parquet.write_table(arrow.table(columns), folder / f"t{k}.parquet")
    return hsb.logs.open(folder, context="x", arm="arm", propensity="p", reward="r", **options)


@pytest.mark.parametrize("estimator", ["dr", "switch", "snips"])
def test_parts_put_together_are_the_whole(now, tmp_path, monkeypatch, estimator):
    """Whatever the parts: files, or groups of rows within files. To 1e-12."""
    monkeypatch.setattr("hsb.logs.formats.native.GROUP", 1000)
    monkeypatch.setattr("hsb.logs.formats.native.TOGETHER", 2)
    monkeypatch.setattr(parallel_passes, "spread_over_workers", here)
    log = stored(tmp_path)
    parts = log.cut()
    assert (
        len(parts) > 4
        and sum(map(len, parts)) == len(log)
        and [len(each) for each in parts] == [each.count() for each in parts]
    )
    candidates = {"now": now, "always 1": 1, "uniform": None}
    for source in (log, log.head(5000), hsb.logs.log.LogPart(log, 700, 4500)):
        for model in (None, TREE):
            one = compare_off_policy(candidates, source, estimator=estimator, model=model)
            two = compare_off_policy(candidates, source, estimator=estimator, model=model, jobs=2)
            near_enough(everything(one), everything(two))


def here(engine, jobs, function, tasks):
    """Tasks in this process, the last first, each given and giving back what a pickle holds."""
    for task in reversed(tasks):
        yield pickle.loads(pickle.dumps(function(*pickle.loads(pickle.dumps(task)))))


@pytest.mark.parametrize("options", [{}, {"available": "on"}, {"arms": ["c", "b", "a"]}])
def test_tables_in_parts(tmp_path, monkeypatch, options):
    """Arms are found out first; what was skipped is listed as in one process."""
    monkeypatch.setattr(parallel_passes, "spread_over_workers", here)
    logs = [tables(tmp_path, **options) for _ in range(2)]
    candidates = {"tree": hsb.HSB(TREE, arms=["a", "b"]), "b": "b", "uniform": None}
    one = compare_off_policy(candidates, logs[0])
    two = compare_off_policy(candidates, logs[1], jobs=2)
    near_enough(everything(one), everything(two))
    assert logs[0].problems == logs[1].problems and len(logs[0].problems) > 200 and logs[0].arms == logs[1].arms


# -- contexts by name ------------------------------------------------------------------------------------------------------


def shops(folder, write):
    """A log in three files, columns in another order in each, and a policy that learned others' rows by name."""
    for k in range(3):
        columns = shop_logs.shop(400, seed=k)
        names = list(columns)[k:] + list(columns)[:k]
        write(folder / f"{k}", {name: columns[name] for name in names})
    policy = hsb.HSB(arms=shop_logs.ARMS, seed=0)
    hsb.learn_from(policy, hsb.logs.open(shop_logs.shop(600, seed=9), context=shop_logs.CONTEXT, **shop_logs.PARTS))
    return policy, sorted(folder.iterdir())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_candidates_by_name(tmp_path, monkeypatch, kind):
    """Rows with missing values count; each is judged as alone, to the last bit; parts are the whole."""
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    write = {"csv": shop_logs.write_csv, "parquet": shop_logs.write_parquet}[kind]
    policy, paths = shops(tmp_path, lambda path, columns: write(path.with_suffix(f".{kind}"), columns))
    candidates = {"by name": policy, "always app": "app", "uniform": None}
    logs = [hsb.logs.open(paths, context=shop_logs.CONTEXT, **shop_logs.PARTS) for _ in range(3)]
    found = compare_off_policy(candidates, logs[0], baseline="uniform")
    alone = hsb.evaluate.off_policy(policy, logs[1], estimators=("dr",))
    assert found["by name"].result.to_dict() == alone.to_dict() and alone.rows == 1200
    assert compare_off_policy({"app": "app", "uniform": None}, logs[1])["app"].result.rows == 1200
    monkeypatch.setattr(parallel_passes, "spread_over_workers", here)
    near_enough(everything(found), everything(compare_off_policy(candidates, logs[2], baseline="uniform", jobs=2)))


def test_numbers_and_names_together_are_judged_on_complete_rows(tmp_path):
    policy, paths = shops(tmp_path, lambda path, columns: shop_logs.write_csv(path.with_suffix(".csv"), columns))
    log = hsb.logs.open(paths, context=["spend", "hour"], **shop_logs.PARTS)
    by_name = hsb.HSB(arms=shop_logs.ARMS, seed=0)
    tree = hsb.HSB(hsb.BinaryTree(depth=2, space=hsb.Box([0, 0], [1e6, 24])), arms=shop_logs.ARMS, seed=0)
    found = compare_off_policy({"tree": tree, "by name": by_name}, log)
    spent = sum(value is not None for k in range(3) for value in shop_logs.shop(400, seed=k)["spend"])
    assert found["tree"].result.rows == found["by name"].result.rows == spent < 1200
    with pytest.raises(InputError, match="the log has no country, device, is_member"):
        compare_off_policy({"by name": policy}, log)


def test_estimated_propensities_are_those_of_the_whole_log(tmp_path):
    _, paths = shops(tmp_path, lambda path, columns: shop_logs.write_csv(path.with_suffix(".csv"), columns))
    how = shop_logs.PARTS | {"propensity": "estimate"}
    found = compare_off_policy({"u": None, "app": "app"}, hsb.logs.open(paths, context=shop_logs.CONTEXT, **how))
    assert any("estimate" in warning for warning in found["app"].result.warnings)
    with pytest.raises(InputError, match="estimated from the whole log"):
        compare_off_policy({"u": None}, hsb.logs.open(paths, context=shop_logs.CONTEXT, **how), jobs=2)


def test_two_processes(now, tmp_path):
    """For real, with a function that no name leads to."""
    log, told = stored(tmp_path), []
    options = {"context": lambda rows: rows / 2, "estimator": "dr"}
    one = compare_off_policy({"now": now, "uniform": None}, log, **options)
    two = compare_off_policy({"now": now, "uniform": None}, log, jobs=2, progress=lambda *at: told.append(at), **options)
    near_enough(everything(one), everything(two))
    assert told[-1] == (6504, 6504)


def test_what_cannot_be_cut(tmp_path):
    with pytest.raises(InputError, match="compared over all files"):
        compare_off_policy({"u": None}, tables(tmp_path, id="x"), jobs=2)
    with pytest.raises(InputError, match="cannot skip a number of rows"):
        compare_off_policy({"u": None}, tables(tmp_path).head(100), jobs=2)
    with pytest.raises(InputError, match="cannot be divided between processes"):
        compare_off_policy({"u": None}, hsb.logs.SyntheticToday(100, seed=1), jobs=2)


def test_a_folder_of_parquet_files_is_read_in_order(tmp_path):
    log = stored(tmp_path)
    assert [path.name for path in log.paths] == ["part-0.parquet", "part-10.parquet", "part-20.parquet"]
    (tmp_path / "part-9.parquet").write_bytes((tmp_path / "part-10.parquet").read_bytes())
    assert [path.name for path in hsb.logs.open(tmp_path).paths][1] == "part-9.parquet"


def test_the_page_about_it_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pages.run((pages.DOCS / "off_policy.md").read_text(), "off_policy.md")
    assert "better" in capsys.readouterr().out and (tmp_path / "candidates.html").exists()
