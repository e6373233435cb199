"""Logs of rows: arms that are found first, problems in the order of lines, and parts for several processes."""

import pytest

import hsb
import hsb.logs
from hsb.logs.row_log import RowLog

ROLES = {"context": "x", "arm": "shown", "propensity": "p", "reward": "click"}
TABLE = {"x": [0.1, 0.2, 0.3, 0.4], "shown": ["a", "b", "a", "c"], "p": [0.5, 0.5, 0.0, 0.5], "click": [1, 0, 1, 0]}


def write(folder, name, rows):
    lines = ["x,shown,p,click,id", *(",".join(map(str, row)) for row in rows)]
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


def test_all_arms_are_available_from_the_first_row():
    log = hsb.logs.open(TABLE, rows=1, **ROLES)
    assert [batch.arms for batch in log] == [("a", "b", "c")] * 3
    assert [len(batch.pools[0]) for batch in log] == [3] * 3
    listed = hsb.logs.open(TABLE | {"on": ["a|b", "a|b", "a", "b|c"]}, rows=1, available="on", **ROLES)
    assert [batch.arms for batch in listed] == [("a", "b"), ("a", "b"), ("a", "b", "c")]  # an arm comes with its row


def test_each_reading_counts_the_problems_anew():
    log = hsb.logs.open(TABLE, rows=1, **ROLES)
    for _ in range(2):
        assert log.count() == 3
        assert [str(problem) for problem in log.problems.first] == ["table, line 3: the propensity is not in (0, 1]"]


def test_problems_are_in_the_order_of_lines(tmp_path):
    rows = [(0.1, "a", 0.5, 1, 0), (0.2, "a", 2, 1, 1), ("0.3,,", "a", 0.5, 1, 2), (0.4, "", 0.5, 1, 3), (0.5, "a", 0.5, 1, 4)]
    log = hsb.logs.open(write(tmp_path, "log.csv", rows), **ROLES)
    assert log.count() == 2
    assert [(problem.line, problem.reason) for problem in log.problems.first] == [
        (3, "the propensity is not in (0, 1]"),
        (4, "the row does not have 5 fields"),
        (5, "the arm is missing"),
    ]
    strict = hsb.logs.open(tmp_path / "log.csv", on_error="raise", **ROLES)
    with pytest.raises(hsb.FileError, match="line 3: the propensity is not"):
        strict.count()


def test_parts_are_the_files(tmp_path):
    paths = [write(tmp_path, f"{k}.csv", [(k, "ab"[k], 0.5, 1, k), (k, "b", 0.0, 1, k)]) for k in range(2)]
    log = hsb.logs.open(paths, **ROLES)
    assert not log.knows_arms
    assert log.find_arms() == ["a", "b"] and log.knows_arms
    parts = log.cut()
    assert [[batch.contexts.tolist() for batch in part] for part in parts] == [[[[0.0]]], [[[1.0]]]]
    assert all(part.arms == ["a", "b"] for part in parts)  # an arm has the same index in all parts
    assert [part.problems.count for part in parts] == [1, 1] and log.problems.count == 2
    by_name = log.by_name().cut()
    assert [next(iter(part)).named.context(0) for part in by_name] == [{"x": 0.0}, {"x": 1.0}]


def test_ids_and_estimates_concern_the_whole_log(tmp_path):
    path = write(tmp_path, "log.csv", [(0.1, "a", 0.5, 1, 1), (0.2, "b", 0.5, 1, 1)])
    log = hsb.logs.open(path, id="id", **ROLES)
    assert log.count() == 1 and log.problems.reasons == {"the event id is a duplicate": 1}
    with pytest.raises(hsb.InputError, match="ids are compared over all files"):
        log.cut()
    with pytest.raises(hsb.InputError, match="they are estimated from the whole log"):
        hsb.logs.open(path, **(ROLES | {"propensity": "estimate"})).cut()


def test_a_source_of_rows_is_needed():
    with pytest.raises(hsb.InputError, match=r"source must be a RowSource; given 'log.csv'\. Use hsb\.logs\.open"):
        RowLog("log.csv")
