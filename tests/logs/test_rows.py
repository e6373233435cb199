"""Rows that become batches: rewards, propensities, arms and pools by hand, and one reason for each row that is left out."""

import pytest

import hsb
from hsb.logs.rows import Meaning, RowChecker, Rows


def check(meaning, arms=(), complete=True, **columns):
    """Return the batch, the problems as (line, reason) and the arms afterwards."""
    problems, known = [], list(arms or meaning.arms or ())
    n = len(columns["arm"])
    full = {"context": [[0.5] * n], "propensity": [0.5] * n, "value": [1.0] * n} | columns
    checker = RowChecker(meaning, known, lambda problem: problems.append((problem.line, problem.reason)), complete=complete)
    return checker.batch(Rows("log.csv", range(1, n + 1), **full)), problems, known


def test_losses_and_costs_become_rewards():
    values = [0.0, 1.5, 2.0, 2.5, -1.0, float("nan")]
    batch, problems, _ = check(Meaning(("x",), loss_range=(0.0, 2.0)), arm=["a"] * 6, value=values)
    assert batch.reward.tolist() == [2.0, 0.5, 0.0]
    reasons = [
        (4, "the loss is not in [0, 2]"),
        (5, "the loss is not in [0, 2]"),
        (6, "the loss is missing or not a finite number"),
    ]
    assert problems == reasons
    batch, problems, _ = check(Meaning(("x",), negative=True), arm=["a"] * 6, value=values)
    assert batch.reward.tolist() == [0.0, -1.5, -2.0, -2.5, 1.0] and [line for line, _ in problems] == [6]


@pytest.mark.parametrize(
    ("probabilities", "expected"), [("uniform", [1.0, 0.5, 0.5]), ("estimate", [1.0, 0.5, 0.5]), (0.3, [0.3] * 3)]
)
def test_propensities_without_a_column(probabilities, expected):
    meaning = Meaning(("x",), offers="lists", probabilities=probabilities)
    batch, problems, arms = check(meaning, arm=["a", "b", "a"], propensity=None, available=["a", "b|c", ["a", "c"]])
    assert batch.propensity.tolist() == expected and not problems
    assert batch.estimated == (probabilities == "estimate")  # the model replaces them later
    assert arms == ["a", "b", "c"]
    assert [[batch.arms[k] for k in batch.pools[batch.pool[i]]] for i in range(3)] == [["a"], ["b", "c"], ["a", "c"]]


def test_lists_of_arms_are_checked():
    available = ["a|b", "b", "a|a", "", 3, '["a"]', "[", "a|"]
    batch, problems, arms = check(Meaning(("x",), offers="lists"), arm=["a"] * 8, available=available)
    assert len(batch) == 2 and arms == ["a", "b"]
    assert problems == [
        (2, "the arm shown is not among the available ones"),
        (3, "an arm is listed twice in available"),
        (4, "available is empty or has a missing arm"),
        (5, "available is not a list of arms"),
        (7, "available is not a list of arms"),
        (8, "available is empty or has a missing arm"),
    ]


def test_columns_of_booleans_are_the_pools():
    meaning = Meaning(("x",), offers="truths", arms=("a", "b"))
    on = [[1, 0, 1, None], [True, True, False, True]]
    batch, problems, _ = check(meaning, arm=["a", "a", "a", "b"], available=on)
    assert batch.available.tolist() == [[True, True], [True, False]]
    assert problems == [
        (2, "the arm shown is not among the available ones"),
        (4, "a column of available is neither true nor false"),
    ]


def test_a_row_has_one_problem_and_adds_no_arm():
    ids = ["e1", "e1", None, "e2", "e3"]
    batch, problems, arms = check(Meaning(("x",)), arm=["a", "b", "c", None, "d"], propensity=[0.5, 0.5, 0.5, 0.0, 2.0], id=ids)
    assert batch.arms == ("a",) and arms == ["a"]
    assert problems == [
        (2, "the event id is a duplicate"),
        (3, "the event id is missing"),
        (4, "the propensity is not in (0, 1]"),
        (5, "the propensity is not in (0, 1]"),
    ]


def test_arms_that_are_given_are_all_arms():
    meaning = Meaning(("x",), arms=(1, 2), is_text=True)
    batch, problems, arms = check(meaning, arm=["2", "1", "3"])
    assert batch.labels().tolist() == [2, 1] and arms == [1, 2]
    assert problems == [(3, "the arm is not one of the arms given")]


def test_a_column_without_numbers_is_a_mistake():
    with pytest.raises(hsb.InputError, match=r"Column 'x' of log\.csv has no numbers, e\.g\. 'red'.*categories="):
        check(Meaning(("x",)), arm=["a", "b"], context=[["red", "blue"]])
    called = (("propensity", "p"), ("reward", "click"))
    with pytest.raises(hsb.InputError, match=r"Column 'p' of log\.csv, given as propensity=, has no numbers, e\.g\. 'high'"):
        check(Meaning(("x",), called=called), arm=["a"], propensity=["high"])
    with pytest.raises(hsb.InputError, match=r"Column 'click' of log\.csv, given as reward=, has no numbers"):
        check(Meaning(("x",), called=called), arm=["a"], value=["yes"])
    batch, problems, _ = check(Meaning(("x",)), arm=["a", "b"], context=[["red", 0.5]])
    assert batch.contexts.tolist() == [[0.5]] and problems == [(1, "feature 'x' is missing or not a finite number")]


def test_times_are_days_and_timestamps_seconds():
    meaning = Meaning(("x",), times=frozenset(["x"]))
    batch, problems, _ = check(
        meaning, arm=["a", "a"], context=[["1970-01-03", "soon"]], timestamp=["1970-01-01T00:01:00", 5.0]
    )
    assert batch.contexts.tolist() == [[2.0]] and batch.timestamp.tolist() == [60.0]
    assert problems == [(2, "feature 'x' is missing or not a finite number")]


def test_names_of_columns_are_features():
    with pytest.raises(hsb.InputError, match=r"times must be among context; \['day'\] are not"):
        Meaning(("x",), times=frozenset(["day"])).check()
    with pytest.raises(hsb.InputError, match="'x' is in both categories and times"):
        Meaning(("x",), times=frozenset(["x"]), categories=frozenset(["x"])).check()
