"""Logs: parts of a log, the lines that were skipped, and what is no log."""

import numpy as np
import pytest

import hsb
import hsb.logs
from hsb.logs import Batch
from hsb.logs.log import SHOWN, LogPart, Problem, Problems, check_log, each_batch, nothing_used


def open_rows(n, rows=3):
    """Open a log of `n` rows, whose only feature is the number of the row."""
    table = {"x": list(range(n)), "shown": ["a", "b"] * (n // 2) + ["a"] * (n % 2), "click": [1] * n}
    return hsb.logs.open(table, context="x", arm="shown", propensity="uniform", reward="click", rows=rows)


def numbers(log):
    return [int(x) for batch in log for x in batch.contexts[:, 0]]


@pytest.mark.parametrize("rows", [1, 3, 4, 100])
def test_head_and_rest_are_the_log(rows):
    log = open_rows(10, rows)
    for k in (1, 2, 3, 6, 9, 10, 50):
        assert numbers(log.head(k)) == list(range(10))[:k]
        assert numbers(log.rest(k)) == list(range(10))[k:]
    assert numbers(log.rest(0)) == list(range(10))
    assert numbers(log.rest(3).head(4)) == [3, 4, 5, 6] == numbers(log.head(7).rest(3))


def test_a_part_has_the_arms_and_the_problems_of_its_log():
    table = {"x": [0.1, 0.2, None, 0.4], "shown": ["a", "b", "a", "c"], "click": [1, 0, 1, 0]}
    log = hsb.logs.open(table, context="x", arm="shown", propensity="uniform", reward="click", rows=1)
    part = log.head(1)
    assert part.arms == log.arms == ["a", "b", "c"]
    assert part.count() == 1 and part.problems is log.problems
    assert log.count() == 3 and part.problems.count == 1
    part.take_arms(["c", "a", "b"])
    assert log.arms == ["c", "a", "b"]


def test_the_number_of_rows_is_checked():
    log = open_rows(4)
    for wrong in (0, -1, 1.5, "2", None):
        with pytest.raises(hsb.InputError, match="head needs a whole number of rows, at least 1"):
            log.head(wrong)
    for wrong in (-1, 0.5, "2"):
        with pytest.raises(hsb.InputError, match="rest needs a whole number of rows to leave out, at least 0"):
            log.rest(wrong)
    assert numbers(LogPart(log, 1, 2)) == [1, 2]


def test_the_first_problems_are_kept_and_all_are_counted():
    one, two = Problems(), Problems()
    for k in range(SHOWN - 1):
        one.add(Problem("a.csv", k, "the line is empty"))
    for k in range(4):
        two.add(Problem("b.csv", k, "the arm is missing" if k else "the line is empty"))
    one.join(two)
    assert len(one) == one.count == SHOWN + 3
    assert one.reasons == {"the line is empty": SHOWN, "the arm is missing": 3}
    assert [problem.file for problem in one.first] == ["a.csv"] * (SHOWN - 1) + ["b.csv"]
    lines = str(one).splitlines()
    assert lines[0] == "13 lines skipped" and lines[-1] == "... and 3 more" and len(lines) == SHOWN + 2
    assert str(Problems()) == "no line skipped" and len(two) == 4


def test_errors_are_raised_or_counted():
    log = open_rows(2)
    problem = Problem("log.csv", 7, "the arm is missing")
    log.skip_line(problem, "skip")
    assert log.problems.first == [problem]
    with pytest.raises(hsb.FileError, match=r"log.csv, line 7: the arm is missing\. Fix the line, or skip"):
        log.skip_line(problem, "raise")
    assert log.problems.count == 1


def test_batches_or_a_log_are_needed():
    batch = Batch.of(contexts=[[0.5]], arm=[0], reward=[1], propensity=[0.5], arms=["a", "b"])
    for good in (open_rows(2), [batch], (batch,), iter([batch]), []):
        check_log("replay", good)
    for wrong in (3, "log.csv", b"x", {"x": [1]}, np.zeros(3), None):
        with pytest.raises(hsb.InputError, match="replay needs a log"):
            check_log("replay", wrong)
    with pytest.raises(hsb.InputError, match="replay needs batches"):
        check_log("replay", [batch, 3])
    assert list(each_batch("replay", [batch])) == [batch]


def test_a_log_without_rows_says_why():
    table = {"x": [None, None], "shown": ["a", "b"], "click": [1, 0]}
    log = hsb.logs.open(table, context="x", arm="shown", propensity="uniform", reward="click")
    assert log.count() == 0
    assert nothing_used(log) == (
        "The log has no row that can be used: 2 rows were left out; the first: "
        "table, line 1: feature 'x' is missing or not a finite number."
    )
    assert nothing_used([]).startswith("No row was read")


def test_a_log_in_memory_cannot_be_cut():
    with pytest.raises(hsb.InputError, match="A RowLog cannot be divided between processes"):
        open_rows(4).cut()
