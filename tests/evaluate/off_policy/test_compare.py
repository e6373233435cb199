"""Candidates on a log: each as alone, differences with the right confidence, candidates that learn, and what is refused."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from support import pages, shop_logs
from support.off_policy_cases import logged, pooled

import hsb
from hsb.errors import InputError
from hsb.evaluate import Learning, compare_off_policy, off_policy
from hsb.logs import Batch

TREE = hsb.BinaryTree(depth=3)
ESTIMATORS = ("dr", "switch", "snips", "ips", "clipped")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_each_candidate_is_as_alone(now, near, estimator):
    """To the last bit, whatever stands beside it; also where contexts and pools differ."""
    log, half = [pooled(1, 900), pooled(2, 700)], lambda rows: rows / 2
    candidates = {"now": now, "near": near, "half": near, "always 1": 1, "uniform": None, "class": hsb.Uniform}
    comparison = compare_off_policy(candidates, log, estimator=estimator, context={"half": half}, seed=3)
    alone = {
        "now": now,
        "near": near,
        "always 1": hsb.Uniform(arms=[1]),
        "uniform": hsb.Uniform(arms=3),
        "class": hsb.Uniform(arms=3),
    }
    for name, policy in alone.items():
        assert comparison[name].result == off_policy(policy, log, estimators=[estimator], seed=3), name
    assert comparison["half"].result == off_policy(near, log, estimators=[estimator], context=half, seed=3)
    assert comparison["half"].result != comparison["near"].result
    assert (comparison["now"].value, comparison["now"].interval) == (
        comparison["now"].result.value,
        comparison["now"].result.interval,
    )


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
    comparison = compare_off_policy({"now": now, "half": near}, log, model=TREE, context={"half": half})
    assert comparison["now"].result == off_policy(now, log, estimators="dr", model=TREE)
    assert comparison["half"].result == off_policy(near, log, estimators="dr", model=TREE, context=half)


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
    comparison = compare_off_policy({"now": now, "always 1": 1}, [logged("clicks", 1, 60)])
    assert comparison["always 1"].difference.kind == "safe" and comparison["always 1"].best is None
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
    comparison = compare_off_policy({"now": now, "fresh": Learning(fresh), "as it is": fresh}, log, seed=5)
    right = hsb.replay(hsb.HSB(TREE, arms=3, seed=0), log, seed=5)
    each = comparison["fresh"]
    assert (each.how, each.result, each.value, each.interval) == ("replayed", right, right.average_reward, right.interval)
    assert fresh.rounds == 0 and comparison["as it is"].how == "evaluated" and each.best is None
    gap = each.difference
    assert (gap.kind, gap.p) == ("apart", None) and math.isclose(gap.value, each.value - comparison["now"].value)
    assert gap.high - gap.low > (each.high - each.low) + (comparison["now"].high - comparison["now"].low) - 1e-12
    assert "learns" in comparison.table() and "not paired" in comparison.table()
    turned = compare_off_policy({"now": now, "fresh": Learning(fresh)}, log, baseline="fresh", seed=5)
    assert turned["now"].difference.kind == "apart" and turned["fresh"].difference is None
    only = compare_off_policy({"fresh": Learning(fresh)}, log, seed=5)
    assert only["fresh"].result == right and math.isclose(only.logged, log[0].reward.mean())


def test_other_confidences_are_wider_or_narrower(now, near):
    log = [logged("clicks", 1, 900)]
    widths = []
    for confidence in (0.8, 0.95, 0.99):
        comparison = compare_off_policy({"now": now, "near": near}, log, confidence=confidence)
        gap = comparison["near"].difference
        widths.append((comparison["now"].high - comparison["now"].low, gap.high - gap.low, gap.joint[1] - gap.joint[0]))
    assert (np.diff(widths, axis=0) > 0).all()


def test_other_ranges_are_not_paired(now):
    wide = hsb.HSB(TREE, arms=3, learning_rate=0.5, reward_range=(0.0, 2.0))
    comparison = compare_off_policy({"now": now, "wide": wide}, [logged("clicks", 1, 900)])
    assert comparison["wide"].difference.kind == "apart"


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


def test_numbers_and_names_together_are_judged_on_complete_rows(tmp_path):
    policy, paths = shops(tmp_path, lambda path, columns: shop_logs.write_csv(path.with_suffix(".csv"), columns))
    log = hsb.logs.open(paths, context=["spend", "hour"], **shop_logs.PARTS)
    by_name = hsb.HSB(arms=shop_logs.ARMS, seed=0)
    tree = hsb.HSB(hsb.BinaryTree(depth=2, space=hsb.Box([0, 0], [1e6, 24])), arms=shop_logs.ARMS, seed=0)
    comparison = compare_off_policy({"tree": tree, "by name": by_name}, log)
    spent = sum(value is not None for k in range(3) for value in shop_logs.shop(400, seed=k)["spend"])
    assert comparison["tree"].result.rows == comparison["by name"].result.rows == spent < 1200
    with pytest.raises(InputError, match="the log has no country, device, is_member"):
        compare_off_policy({"by name": policy}, log)


def test_estimated_propensities_are_those_of_the_whole_log(tmp_path):
    _, paths = shops(tmp_path, lambda path, columns: shop_logs.write_csv(path.with_suffix(".csv"), columns))
    how = shop_logs.PARTS | {"propensity": "estimate"}
    comparison = compare_off_policy({"u": None, "app": "app"}, hsb.logs.open(paths, context=shop_logs.CONTEXT, **how))
    assert any("estimate" in warning for warning in comparison["app"].result.warnings)
    with pytest.raises(InputError, match="estimated from the whole log"):
        compare_off_policy({"u": None}, hsb.logs.open(paths, context=shop_logs.CONTEXT, **how), jobs=2)


def test_the_page_about_it_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pages.run((pages.DOCS / "off_policy.md").read_text(), "off_policy.md")
    assert "better" in capsys.readouterr().out and (tmp_path / "candidates.html").exists()
