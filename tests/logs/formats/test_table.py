"""Tables: the same rows from CSV, Parquet, Arrow, pandas, polars and plain columns, and every way in which a row can be wrong."""

import csv
import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs
from hsb.features.encoders import code

COLUMNS = {"context": ["age", "colour"], "categories": ["colour"], "arm": "shown", "propensity": "p", "timestamp": "at"}
NUMERIC = {"context": ["age"], "arm": "shown", "propensity": "p", "reward": "click"}


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    arms = ["a", "b", "c"]
    there = rng.random((n, 3)) < 0.5
    shown = rng.integers(0, 3, n)
    there[np.arange(n), shown] = True
    return {
        "age": rng.random(n).tolist(),
        "colour": rng.choice(["red", "grün", 'o"ne,two'], n).tolist(),
        "shown": [arms[k] for k in shown],
        "p": (1 / there.sum(axis=1)).tolist(),
        "click": rng.random(n).tolist(),
        "at": [f"2026-11-15T05:{k % 60:02d}:00.5+00:00" for k in range(n)],
        "offer": [[arm for arm, yes in zip(arms, row, strict=True) if yes] for row in there],
        "is_a": there[:, 0].tolist(),
        "is_b": there[:, 1].tolist(),
        "is_c": there[:, 2].tolist(),
        "event": [f"e{k}" for k in range(n)],
    }


def csv_text(columns):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["|".join(value) if isinstance(value, list) else value for value in row])
    return text.getvalue()


def sources(columns, folder):
    pa = pytest.importorskip("pyarrow")
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pq = pytest.importorskip("pyarrow.parquet")
    arrow = pa.table(columns)
    pq.write_table(arrow, folder / "log.parquet", row_group_size=17)
    (folder / "log.csv").write_text(csv_text(columns), newline="", encoding="utf-8")
    (folder / "log.csv.gz").write_bytes(gzip.compress(csv_text(columns).encode()))
    frame = pd.DataFrame(columns)
    frame.index = frame.index[::-1] + 0.5
    return {
        "columns": columns,
        "csv": folder / "log.csv",
        "gzip": folder / "log.csv.gz",
        "parquet": folder / "log.parquet",
        "arrow": arrow,
        "record batch": arrow.combine_chunks().to_batches()[0],
        "pandas": frame,
        "pandas, Arrow types": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(columns),
    }


def facts(log):
    results = []
    for batch in log:
        for i in range(len(batch)):
            there = {batch.arms[k] for k in batch.pools[batch.pool[i]]}
            row = (batch.contexts[i].tolist(), batch.arms[batch.arm[i]], batch.propensity[i], batch.reward[i])
            results.append((*row, batch.timestamp[i], there))
    return results


@pytest.mark.parametrize("available", ["offer", ["is_a", "is_b", "is_c"], {"c": "is_c", "a": "is_a", "b": "is_b"}, None])
def test_every_source_gives_the_same_rows(tmp_path, available):
    columns = table(100)
    arms = ["a", "b", "c"] if isinstance(available, list) else None
    for name, source in sources(columns, tmp_path).items():
        log = hsb.logs.open(source, **COLUMNS, reward="click", available=available, arms=arms, id="event", rows=30)
        got = facts(log)
        assert len(got) == 100, name
        assert len(log.problems) == 0
        for i, (context, arm, p, reward, at, there) in enumerate(got):
            assert context == [columns["age"][i], code(columns["colour"][i])], name
            assert (arm, p, reward) == (columns["shown"][i], columns["p"][i], columns["click"][i]), name
            assert at == 1794718800.5 + 60 * (i % 60), name
            assert there == (set("abc") if available is None else set(columns["offer"][i])), name
        assert all(len(batch) <= 30 for batch in log)
        assert log.head(50).count() == 50
        assert facts(log) == got  # once more


BAD = {
    "p": [(word, "missing") for word in ("", "nan", "x", "1_0")] + [(word, "not in") for word in ("0", "-0.1", "1.01", "inf")],
    "age": [("", "age"), ("nan", "age"), ("inf", "age"), ("old", "age")],
    "colour": [("", "colour")],
    "shown": [("", "arm is missing"), ("d", "not one of the arms")],
    "click": [("", "reward"), ("nan", "reward"), ("-inf", "reward")],
    "at": [("soon", "timestamp")],
    "event": [("e0", "duplicate"), ("", "id is missing")],
    "offer": [
        ("", "empty"),
        ("a||b", "empty"),
        ("a|a|b|c", "twice"),
        ("a|z", "not one of"),
        ("[1", "not a list"),
        ("{}", "not one of"),
    ],
}


@pytest.mark.parametrize(("column", "value", "reason"), [(c, v, r) for c, cases in BAD.items() for v, r in cases])
@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_a_bad_row_is_named_and_not_used(tmp_path, column, value, reason, ending):
    columns = table(10)
    good = facts(hsb.logs.open(columns, **COLUMNS, reward="click", available="offer", arms=["a", "b", "c"]))
    columns[column][4] = value
    (tmp_path / "log.csv").write_text(csv_text(columns).replace("\r\n", ending).removesuffix(ending), newline="")
    options = {**COLUMNS, "reward": "click", "available": "offer", "arms": ["a", "b", "c"], "id": "event"}
    log = hsb.logs.open(tmp_path / "log.csv", **options)
    assert facts(log) == good[:4] + good[5:]
    [problem] = log.problems.first
    assert problem.line == 6
    assert reason in problem.reason
    with pytest.raises(hsb.FileError, match="line 6"):
        list(hsb.logs.open(tmp_path / "log.csv", **options, on_error="raise"))


def test_missing_values_in_frames(tmp_path):
    columns = table(10)
    for column in ("p", "age", "colour", "shown", "click", "event", "offer", "is_b"):
        changed = columns | {column: [*columns[column][:4], None, *columns[column][5:]]}
        available = "offer" if column == "offer" else ["is_a", "is_b", "is_c"]
        for name, source in sources(changed, tmp_path).items():
            options = {"available": available, "arms": ["a", "b", "c"], "id": "event", "reward": "click"}
            log = hsb.logs.open(source, **COLUMNS, **options)
            assert len(facts(log)) == 9, (name, column)
            assert log.problems.first[0].line == (6 if "csv" in name or name == "gzip" else 5)
    nan = columns | {"p": [*columns["p"][:4], float("nan"), *columns["p"][5:]]}
    for name, source in sources(nan, tmp_path).items():
        assert len(facts(hsb.logs.open(source, **COLUMNS, reward="click"))) == 9, name


def test_an_arm_outside_its_pool_is_not_used():
    columns = table(20)
    columns["offer"][3] = ["a"] if columns["shown"][3] != "a" else ["b"]
    for k in "abc":
        columns[f"is_{k}"][3] = k in columns["offer"][3]
    for available in ("offer", ["is_a", "is_b", "is_c"]):
        log = hsb.logs.open(columns, **COLUMNS, reward="click", available=available, arms=list("abc"))
        assert len(facts(log)) == 19
        assert "not among" in log.problems.first[0].reason
    log = hsb.logs.open(columns | {"offer": [["x", "y"]] * 20}, **COLUMNS, reward="click", available="offer")
    assert (len(facts(log)), log.arms) == (0, [])  # rows that are not used name no arms


def test_an_event_counts_once_but_a_bad_row_does_not_count():
    columns = table(4) | {"event": ["x", "x", "y", "x"], "shown": ["z", "a", "b", "a"]}
    log = hsb.logs.open(columns, **NUMERIC, arms=["a", "b"], id="event")
    assert [row[1] for row in facts(log)] == ["a", "b"]
    assert [problem.reason.split(" is ")[0] for problem in log.problems.first] == ["the arm", "the event id"]


def test_losses_arms_and_times():
    columns = {"age": [1, 2, 3], "shown": [3, 7, 3], "p": [0.5] * 3, "loss": [0.0, 0.25, 2.0], "at": [5, 6.5, None]}
    given = {"context": "age", "arm": "shown", "propensity": "p", "loss": "loss", "timestamp": "at"}
    log = hsb.logs.open(columns, **given)
    [batch] = log
    assert (batch.reward.tolist(), log.arms, len(log.problems)) == ([1.0, 0.75], [3, 7], 1)
    log = hsb.logs.open(columns, **given, loss_range=(-1, 2))
    [batch] = log
    assert batch.reward.tolist() == [1.0, 0.75, -1.0]
    assert np.array_equal(batch.timestamp, [5, 6.5, np.nan], equal_nan=True)


def test_arms_of_a_csv_file_stand_for_those_given(tmp_path):
    (tmp_path / "log.csv").write_text('age,shown,p,click,offer\n1,3,0.5,1,3|7\n2,7,0.5,0,"[3, 7]"\n3,4,0.5,0,3|4\n')
    log = hsb.logs.open(tmp_path / "log.csv", **NUMERIC, arms=[7, 3], available="offer")
    [batch] = log
    assert batch.labels().tolist() == [3, 7]
    assert batch.available.all()
    assert len(log.problems) == 1


def test_a_gzip_that_is_cut_off(tmp_path):
    packed = gzip.compress(csv_text(table(5000)).encode())
    for damaged in (packed[:-9], packed[: len(packed) // 2], packed[:5000] + b"\xff" * 50 + packed[5050:]):
        (tmp_path / "log.csv.gz").write_bytes(damaged)
        with pytest.raises(hsb.FileError, match="damaged or cut off"):
            list(hsb.logs.open(tmp_path / "log.csv.gz", **COLUMNS, reward="click"))


def test_damaged_parquet(tmp_path):
    source = sources(table(2000), tmp_path)["parquet"]
    raw = source.read_bytes()
    source.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(hsb.FileError, match="Parquet"):
        hsb.logs.open(source, **COLUMNS, reward="click")
    source.write_bytes(raw[:100] + b"\xff" * 400 + raw[500:])
    with pytest.raises(hsb.FileError, match="damaged"):
        list(hsb.logs.open(source, **COLUMNS, reward="click"))


def test_what_is_refused(tmp_path):
    columns = table(5)
    (tmp_path / "log.csv").write_text(csv_text(columns))
    (tmp_path / "twice.csv").write_text("age,age,shown,p,click\n1,2,a,1,1\n")
    (tmp_path / "empty.csv").write_text("")
    pl = pytest.importorskip("polars")
    for source, change, what in (
        (columns, {"arm": "displayed"}, "no column 'displayed'. It has: 'age', 'colour'"),
        (tmp_path / "log.csv", {"propensity": "q"}, "no column 'q'. It has"),
        (pl.DataFrame(columns), {"reward": "q"}, "no column 'q'. It has"),
        (columns, {"context": []}, "needs the names"),
        (columns, {"reward": None}, "needs the names"),
        (columns, {"loss": "click"}, "needs the names"),
        (columns, {"context": ["colour"]}, "categories="),
        (columns, {"categories": ["size"]}, "among context"),
        (columns, {"context": ["age", "age"]}, "twice"),
        (columns, {"arms": ["a", "a"]}, "different hashable values"),
        (columns, {"available": []}, "available"),
        (columns, {"available": ["is_a"], "arms": ["a", "b"]}, "column for each"),
        (columns, {"available": {"a": "is_a"}, "arms": ["a", "b"]}, "exactly the arms"),
        (columns, {"loss_range": (1, 0)}, "loss_range"),
        (columns, {"format": "csv"}, "no format"),
        (columns | {"p": [0.5]}, {}, "same length"),
        (tmp_path / "twice.csv", {}, "two columns"),
        (pl.LazyFrame(columns), {}, "collect"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            list(hsb.logs.open(source, **(NUMERIC | change)))
    with pytest.raises(hsb.FileError, match="empty"):
        hsb.logs.open(tmp_path / "empty.csv", **NUMERIC)


def test_without_the_libraries(tmp_path, monkeypatch):
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(hsb.InputError, match=r"pip install 'hsb\[logs\]'"):
        hsb.logs.open(tmp_path / "log.parquet", "parquet", **NUMERIC)
    (tmp_path / "log.csv").write_text("age,shown,p,click\n1,a,1,1\n")
    assert hsb.logs.open(tmp_path / "log.csv", **NUMERIC).count() == 1


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_fuzz_rows_are_used_or_reported(tmp_path_factory, data):
    """Fields good and bad, and any text: no crash; what is used is what float() and a set say is good."""
    field = st.sampled_from(["0.5", "1", "0", "nan", "", "a", "b", "-1", "1e400", " 1 ", '"', '""', '"a"', "1_0", "é"])
    row = st.one_of(st.lists(field, min_size=4, max_size=4).map(",".join), st.lists(field, max_size=6).map(",".join))
    rows = data.draw(st.lists(st.one_of(row, st.text(st.characters(codec="utf-8"), max_size=20)), max_size=12))
    path = tmp_path_factory.mktemp("fuzz") / "log.csv"
    path.write_bytes(("age,shown,p,click\n0.25,a,0.5,1\n" + "\n".join(rows)).encode())
    log = hsb.logs.open(path, **NUMERIC, rows=5)
    got = facts(log)
    for context, arm, p, reward, _, there in got:
        assert np.isfinite(context).all() and arm in there and 0 < p <= 1 and np.isfinite(reward)
    simple = [line.split(",") for line in rows if '"' not in line and "\r" not in line and "\n" not in line and line]
    if len(simple) == len([line for line in rows if line]):
        good = [row for row in simple if len(row) == 4 and row[1] and _is(row[0]) and _is(row[2]) and _is(row[3])]
        assert len(got) == 1 + sum(0 < float(row[2]) <= 1 for row in good)
        assert len(got) + len(log.problems) == 1 + len(simple)


def _is(word):
    try:
        return np.isfinite(float(word)) and "_" not in word
    except ValueError:
        return False


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300))
def test_fuzz_bytes(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("fuzz") / "log.csv"
    path.write_bytes(b"age,shown,p,click\n0.25,a,0.5,1\n" + raw)
    log = hsb.logs.open(path, **NUMERIC)
    assert facts(log)[0][:4] == ([0.25], "a", 0.5, 1.0)
