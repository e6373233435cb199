"""A log read in several processes: parts put together are the whole."""

import math
import pickle

import numpy as np
import pytest
from support import shop_logs
from support.off_policy_cases import pooled

import hsb
from hsb.errors import InputError
from hsb.evaluate import compare_off_policy
from hsb.evaluate.off_policy import parallel_passes

TREE = hsb.BinaryTree(depth=3)


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


def everything(comparison):
    return comparison.to_dict() | {"all": {name: each.result.to_dict() for name, each in comparison.items()}}


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
    comparison = compare_off_policy(candidates, logs[0], baseline="uniform")
    alone = hsb.evaluate.off_policy(policy, logs[1], estimators=("dr",))
    assert comparison["by name"].result.to_dict() == alone.to_dict() and alone.rows == 1200
    assert compare_off_policy({"app": "app", "uniform": None}, logs[1])["app"].result.rows == 1200
    monkeypatch.setattr(parallel_passes, "spread_over_workers", here)
    near_enough(everything(comparison), everything(compare_off_policy(candidates, logs[2], baseline="uniform", jobs=2)))


def test_two_processes(now, tmp_path):
    """For real, with a function that no name leads to."""
    log, reports = stored(tmp_path), []
    options = {"context": lambda rows: rows / 2, "estimator": "dr"}
    one = compare_off_policy({"now": now, "uniform": None}, log, **options)
    two = compare_off_policy({"now": now, "uniform": None}, log, jobs=2, progress=lambda *at: reports.append(at), **options)
    near_enough(everything(one), everything(two))
    assert reports[-1] == (6504, 6504)


def test_what_cannot_be_cut(tmp_path):
    with pytest.raises(InputError, match="compared over all files"):
        compare_off_policy({"u": None}, tables(tmp_path, id="x"), jobs=2)
    with pytest.raises(InputError, match="cannot skip a number of rows"):
        compare_off_policy({"u": None}, tables(tmp_path).head(100), jobs=2)
    with pytest.raises(InputError, match="cannot be divided between processes"):
        compare_off_policy({"u": None}, hsb.logs.SyntheticToday(100, seed=1), jobs=2)
