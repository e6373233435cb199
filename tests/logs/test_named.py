"""Logs by name: mixed columns, missing values, and the policies that learn from them."""

from datetime import date, datetime, time

import numpy as np
import pytest
from support.shop_logs import ARMS, CONTEXT, PARTS, shop, write_csv, write_parquet

import hsb
import hsb.evaluate
import hsb.logs
from hsb.features.design import design_matrix
from hsb.features.encoders import PCA, Chain, Columns, MinMax, from_dict
from hsb.logs.named import Kinds
from hsb.play.named import read_for

ROWS = 3000


def trained(source, seed=0, **options):
    policy = hsb.HSB(arms=ARMS, seed=seed)
    log = hsb.logs.open(source, **{**PARTS, "context": CONTEXT, **options})
    assert hsb.learn_from(policy, log) == policy.rounds
    return policy


def sources(columns, folder):
    pd, pl, pa = pytest.importorskip("pandas"), pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    arrow = pa.table(columns)
    coded = arrow.set_column(0, "country", arrow["country"].dictionary_encode())
    return {
        "columns": columns,
        "csv": write_csv(folder / "shop.csv", columns),
        "parquet": write_parquet(folder / "shop.parquet", columns),
        "arrow": arrow,
        "arrow, numbered": coded,
        "pandas": pd.DataFrame(columns),
        "pandas, Arrow types": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "pandas, categories": pd.DataFrame(columns).astype({"country": "category"}),
        "polars": pl.DataFrame(columns),
    }


def test_every_source_teaches_the_same(tmp_path):
    """Bit for bit; and the same as dicts one after the other. Control: another country in one row is another policy."""
    columns = shop(ROWS)
    right = trained(columns)
    assert right.rounds == ROWS
    assert right.learner.named_columns == {
        "country": "category",
        "device": "category",
        "hour": "number",
        "is_member": "flag",
        "spend": "number",
    }
    for name, source in sources(columns, tmp_path).items():
        assert trained(source).digest() == right.digest(), name
    for rows in (1, 100):
        assert trained(columns, rows=rows * 7).digest() == right.digest()
    dicts = [{name: columns[name][t] for name in sorted(CONTEXT)} for t in range(ROWS)]
    numbered = [ARMS.index(arm) for arm in columns["shown"]]
    batch = hsb.logs.Batch.of(
        contexts=np.arange(ROWS), arm=numbered, reward=columns["click"], propensity=columns["p"], arms=ARMS
    )
    one_by_one = hsb.HSB(arms=ARMS, seed=0)
    hsb.learn_from(one_by_one, [batch], context=lambda rows: dicts)
    assert one_by_one.digest() == right.digest()
    columns["country"][ROWS // 2] = "XX"
    assert trained(columns).digest() != right.digest()


def test_the_order_of_columns_does_not_matter_and_others_are_ignored(tmp_path):
    columns, later = shop(ROWS), shop(ROWS, seed=1)
    policy = trained(columns)
    turned = {name: columns[name] for name in reversed(columns)}
    assert trained(turned, context=CONTEXT[::-1]).digest() == policy.digest()
    assert trained(write_csv(tmp_path / "turned.csv", turned), context=None).digest() == policy.digest()
    right = hsb.evaluate.off_policy(policy, hsb.logs.open(later, **PARTS, context=CONTEXT))
    more = {"noise": ["a", "b", "c"] * (ROWS // 3), **{name: later[name] for name in reversed(later)}}
    estimate = hsb.evaluate.off_policy(policy, hsb.logs.open(write_csv(tmp_path / "later.csv", more), **PARTS))
    assert estimate["ips"] == right["ips"] and estimate["dr"].value == pytest.approx(
        right["dr"].value, abs=2e-3
    )  # another model
    before = policy.rounds
    hsb.learn_from(policy, hsb.logs.open(more, **PARTS))
    assert policy.rounds == before + ROWS and "noise" not in policy.learner.named_columns


def test_a_log_without_a_column_is_refused_by_name(tmp_path):
    policy, lacking = trained(shop(500)), [name for name in CONTEXT if name != "country"]
    digest = policy.digest()
    for play in (hsb.learn_from, hsb.replay, hsb.evaluate.off_policy):
        with pytest.raises(hsb.InputError, match=r"trained on the columns country, device, hour, .*; the log has no country\."):
            play(policy, hsb.logs.open(shop(50), **PARTS, context=lacking))
    pytest.importorskip("pyarrow")
    log = hsb.logs.open(shop(50) | {"hour": list(range(50))}, **PARTS, context="hour")
    hsb.logs.write(tmp_path / "native.parquet", log, "parquet")
    with pytest.raises(hsb.InputError, match="numbers without names"):
        hsb.learn_from(policy, hsb.logs.open(tmp_path / "native.parquet"))
    assert policy.digest() == digest
    declared = hsb.HSB(arms=ARMS, features=hsb.Features(age=hsb.Number(), hour=hsb.Cycle(24)))
    with pytest.raises(hsb.InputError, match=r"takes the columns age, hour; the log has no age"):
        hsb.learn_from(declared, log)


def test_missing_values_are_kept_by_name_only():
    columns = shop(1000)
    lost = sum(a is None or b is None for a, b in zip(columns["country"], columns["spend"], strict=True))
    assert 300 < lost < 700
    log = hsb.logs.open(columns, **PARTS, context=CONTEXT, categories=["country", "device"])
    assert sum(map(len, log)) == 1000 - lost == 1000 - len(log.problems)
    assert sum(map(len, log.by_name())) == 1000 and len(log.problems) == 0
    assert sum(map(len, log.by_name(complete=True))) == 1000 - lost == 1000 - len(log.problems)
    named, tree = hsb.HSB(arms=ARMS), hsb.HSB(hsb.BinaryTree(depth=2), arms=ARMS)
    assert [read_for(log, each).count() for each in ([named], [tree], [named, tree])] == [1000, 1000 - lost, 1000 - lost]
    batch = next(iter(log.by_name()))
    some = batch.take(np.array([5, 2]))
    assert [some.named.context(t) for t in (0, 1)] == [batch.named.context(t) for t in (5, 2)]
    assert np.array_equal(np.isnan(batch.contexts[:, 3]), [x is None for x in columns["spend"]])
    part = log.head(10).by_name()
    assert part.count() == 10
    for known in (5, {"spend": "moon"}, {"spend": 3}, [1]):
        with pytest.raises(hsb.InputError, match="known must map columns to kinds"):
            log.by_name(known)


WORDS = {
    "number": ["3", " 4.5 ", "", "nan", "NA", "n/a", "-1e3", "inf"],
    "flag": ["True", "false", "", "1", "0"],
    "category": ["FR", "", "none", "12", "true"],
}


@pytest.mark.parametrize("kind", WORDS)
def test_kinds_of_text(tmp_path, kind):
    words = WORDS[kind]
    columns = {"x": words, "shown": ["a"] * len(words), "p": ["1"] * len(words), "click": ["1"] * len(words)}
    log = hsb.logs.open(write_csv(tmp_path / "log.csv", columns), **PARTS)
    [batch] = log.by_name()
    assert log.kinds().known == {"x": kind} and len(log.problems) == 0
    results = [batch.named.context(t)["x"] for t in range(len(words))]
    right = {
        "number": [3.0, 4.5, None, None, None, None, -1000.0, float("inf")],
        "flag": [True, False, None, True, False],
        "category": ["FR", None, "none", "12", "true"],
    }
    assert [None if x != x else x for x in results] == right[kind]
    forced = next(iter(hsb.logs.open(tmp_path / "log.csv", **PARTS, categories=["x"]).by_name()))
    assert [forced.named.context(t)["x"] for t in range(len(words))] == [word or None for word in words]


def test_what_turns_out_different_is_a_problem_of_the_row(tmp_path):
    """Said by line, whatever the size of a batch; nine numbers in ten make a column of numbers."""
    n = 20_000
    columns = {"age": ["7"] * n, "member": ["True"] * n, "empty": [""] * n, "shown": ["a"] * n, "p": ["1"] * n}
    columns |= {"click": ["1"] * n}
    columns["age"][100], columns["age"][15_000], columns["member"][12_000], columns["empty"][9_000] = "old", "x" * 9, "2", "FR"
    columns["empty"][9_001] = "9"
    path = write_csv(tmp_path / "log.csv", columns)
    for rows in (1000, 8192):
        log = hsb.logs.open(path, **PARTS, rows=rows)
        kinds = [batch.named.columns["empty"].kind for batch in log.by_name()]
        assert [problem.line for problem in log.problems.first] == [102, 12_002, 15_002]
        assert set(log.problems.reasons) == {
            "feature 'age' is not a number, as others are; if it holds categories, add it to categories=[...]",
            "feature 'member' is neither true nor false, as others are; if it holds categories, add it to categories=[...]",
        }
        assert set(kinds) == {"category"}  # by its first value, though all before it are missing
    with pytest.raises(hsb.FileError, match="line 102"):
        hsb.learn_from(hsb.HSB(arms=["a"]), hsb.logs.open(path, **PARTS, on_error="raise"))
    policy = hsb.HSB(arms=["a"])
    hsb.learn_from(policy, hsb.logs.open(path, **PARTS))
    assert policy.rounds == n - 3 and policy.learner.named_columns["empty"] == "category"
    mixed = {"x": [1, "a", None, True, [1], 2.5], "shown": ["a"] * 6, "p": [1] * 6, "click": [1] * 6}
    log = hsb.logs.open(mixed, **PARTS)
    assert log.by_name().count() == 4 and [problem.line for problem in log.problems.first] == [2, 5]
    log = hsb.logs.open(mixed | {"x": ["a", "b" * 300, "c", None, "", "d"]}, **PARTS)
    assert log.by_name().count() == 5 and "at most 256 characters" in log.problems.first[0].reason


def test_a_policy_says_how_text_is_to_be_understood(tmp_path):
    """Members written 0 and 1, codes that are all digits, a column without values: as the policy knows them."""
    columns = shop(ROWS) | {"code": [f"{k % 7}" if k % 7 else "x" for k in range(ROWS)]}
    policy = trained(columns, context=[*CONTEXT, "code"])
    later = shop(600, seed=1) | {"code": [str(1 + k % 6) for k in range(600)]}
    right = hsb.evaluate.off_policy(policy, hsb.logs.open(later, **PARTS), estimators="ips")
    written = later | {"is_member": [int(x) for x in later["is_member"]]}
    estimate = hsb.evaluate.off_policy(policy, hsb.logs.open(write_csv(tmp_path / "l.csv", written), **PARTS), estimators="ips")
    assert estimate["ips"] == right["ips"]
    other = hsb.logs.open(write_csv(tmp_path / "l.csv", written), **PARTS)
    assert other.kinds().known["is_member"] == other.kinds().known["code"] == "number"  # by itself
    unseen = later | {"country": ["ZZ"] * 600, "spend": [None] * 600}
    assert hsb.evaluate.off_policy(policy, hsb.logs.open(unseen, **PARTS)).rows == 600


def test_other_kinds():
    times = np.array(["2026-01-05T10:30", "NaT", "2026-01-06T23:00"], dtype="datetime64[m]")
    columns = {
        "at": times,
        "likes": [["red"], None, ["red", "blue"]],
        "shown": ["a", "b", "a"],
        "p": [0.5] * 3,
        "click": [1, 0, 1],
    }
    log = hsb.logs.open(columns, **PARTS)
    assert log.kinds().known == {"at": "time", "likes": "tags"}
    policy = hsb.HSB(arms=["a", "b"], seed=0)
    assert hsb.learn_from(policy, log) == 3
    assert policy.learner.reader.raw_input_names[:3] == ["at day", "at weekday", "at hour"]
    text = columns | {"at": ["2026-01-05 10:30", "", "2026-01-06T23:00"]}
    assert hsb.learn_from(policy, hsb.logs.open(text, **PARTS)) == 3  # dates as text, where the policy knows them for dates
    kinds = Kinds({"x": None}, ["x"], untyped=False)
    kinds.look({"x": np.array([1, 2])})
    assert kinds.known == {"x": "category"}


def test_by_name_earns_more_than_components_of_codes():
    """Held-out rows, 20,000 and 20,000, doubly robust, made up: the old way, a component of codes of complete rows, is beaten by more than
    .03, three times the width of an interval on either side; by what is there to gain, not by chance: with rewards drawn anew for every
    row nothing is gained (within .01)."""
    first, later = shop(20_000), shop(20_000, seed=1)

    def new(train, test):
        return hsb.evaluate.off_policy(trained(train), hsb.logs.open(test, **PARTS), estimators="dr")["dr"]

    def old(train, test):
        options = {**PARTS, "context": CONTEXT, "categories": ["country", "device"]}
        log = hsb.logs.open(train, **options)
        encoder = Chain(PCA(1), MinMax()).fit(log.head(10_000))
        policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=ARMS, seed=0)
        hsb.learn_from(policy, log, context=encoder)
        return hsb.evaluate.off_policy(policy, hsb.logs.open(test, **options), estimators="dr", context=encoder)["dr"]

    ours, theirs = new(first, later), old(first, later)
    assert ours.value - theirs.value > 0.03 and ours.low > theirs.high, (ours, theirs)
    rng = np.random.default_rng(5)
    probability = [columns | {"click": (rng.random(20_000) < 0.1).astype(int).tolist()} for columns in (first, later)]
    assert abs(new(*probability).value - np.mean(probability[1]["click"])) < 0.01


def test_columns_for_policies_that_take_numbers():
    columns, later = shop(ROWS), shop(ROWS, seed=1)
    encoder = Columns().fit(hsb.logs.open(columns, **PARTS).head(1000))
    assert encoder.named_columns == {name: trained(columns).learner.named_columns[name] for name in sorted(CONTEXT)}
    policy = hsb.LinUCB(len(encoder.names), arms=ARMS, seed=0)
    log = hsb.logs.open({name: columns[name] for name in reversed(columns)}, **PARTS)
    assert hsb.learn_from(policy, log, context=encoder) == ROWS
    back = from_dict(encoder.to_dict())
    right = hsb.evaluate.off_policy(policy, hsb.logs.open(later, **PARTS), context=encoder)
    estimate = hsb.evaluate.off_policy(policy, hsb.logs.open(later, **PARTS), context=back)
    assert estimate["dr"] == right["dr"] and estimate.rows == ROWS
    assert right["dr"].low > estimate.logged + 0.02
    with pytest.raises(hsb.InputError, match="no country"):
        hsb.learn_from(policy, hsb.logs.open(columns, **PARTS, context=["device"]), context=encoder)
    chain = Chain(Columns(), PCA(2), MinMax()).fit(log.head(500))
    assert chain(next(iter(log.by_name())).named).shape == (ROWS, 2)
    again = from_dict(chain.to_dict())
    assert np.array_equal(again(next(iter(log.by_name())).named), chain(next(iter(log.by_name())).named))


def test_a_model_of_rewards_by_name():
    """Of named features: ridge on columns spread out, better than on codes; a structure has no cells for them."""
    log = hsb.logs.open(shop(ROWS, seed=1), **PARTS)
    policy = trained(shop(ROWS))
    with pytest.raises(hsb.InputError, match="takes features by name"):
        hsb.evaluate.off_policy(policy, log, model=hsb.BinaryTree(depth=3))
    table = next(iter(log.by_name())).named
    assert design_matrix(table).shape == (ROWS, 3 * 2 + 2 * 8) and np.isfinite(design_matrix(table)).all()
    assert np.array_equal(design_matrix(table.take(slice(5, 9))), design_matrix(table)[5:9])


def test_replays_go_on_by_name(tmp_path):
    columns, seen = shop(2000), []

    def stop(done, total):
        seen.append(done)
        if len(seen) == 3:
            raise KeyboardInterrupt

    def opened():
        return hsb.logs.open(columns, **PARTS, rows=400)

    whole, policy, again = (hsb.HSB(arms=ARMS, seed=1) for _ in range(3))
    right = hsb.replay(whole, opened())
    with pytest.raises(KeyboardInterrupt):
        hsb.replay(policy, opened(), progress=stop, checkpoint=tmp_path / "kept", every=1)
    assert hsb.replay(again, opened(), checkpoint=tmp_path / "kept", every=1) == right
    assert again.digest() == whole.digest() and right.rounds == 2000


def test_columns_that_were_mixed_up():
    columns = shop(100)
    with pytest.raises(
        hsb.InputError, match=r"Column 'shown' of table, given as reward=, has no numbers, e.g. '.*'. Were columns"
    ):
        list(hsb.logs.open(columns, arm="click", reward="shown", propensity="p"))
    with pytest.raises(hsb.InputError, match="Column 'device' of table, given as propensity=, has no numbers"):
        list(hsb.logs.open(columns, arm="shown", reward="click", propensity="device").by_name())


@pytest.mark.parametrize("kind", [hsb.Uniform, hsb.Exp3])
def test_policies_that_look_at_nothing_take_any_table(kind):
    """Text, missing values and all: every row counts."""
    columns = shop(300, seed=4)
    log = hsb.logs.open(columns, context=CONTEXT, **PARTS)
    policy = kind(arms=ARMS, seed=0)
    assert hsb.evaluate.off_policy(policy, log, estimators=("ips", "dr")).rows == 300
    assert hsb.learn_from(policy, log) == 300
    assert hsb.replay(kind(arms=ARMS, seed=0), log).rounds == 300


def test_dates_and_times_of_a_csv_are_those_that_are_decided_on(tmp_path):
    """A date has no hour and a time of day no weekday, in a log's text as in a context."""
    texts = ["2026-11-16", "2026-11-17T09:30", "18:45", ""] * 10
    values = [date(2026, 11, 16), datetime(2026, 11, 17, 9, 30), time(18, 45), None] * 10
    rows = [f"{text},{'ab'[k % 2]},0.5,{int(k % 3 == 0)}" for k, text in enumerate(texts)]
    (tmp_path / "log.csv").write_text("\n".join(["at,arm,propensity,reward", *rows]))
    log = hsb.logs.open(tmp_path / "log.csv", context=["at"], arm="arm", propensity="propensity", reward="reward")
    by_log, by_hand = (hsb.HSB(features=hsb.Features(at=hsb.Time()), arms=["a", "b"], seed=0) for _ in range(2))
    assert hsb.learn_from(by_log, log, fit=False) == len(rows)
    for k, value in enumerate(values):
        by_hand.learn(hsb.Decision(context={"at": value}, arm="ab"[k % 2], propensity=0.5), reward=float(k % 3 == 0))
    assert by_log.digest() == by_hand.digest()
