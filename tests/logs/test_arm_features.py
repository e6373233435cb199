"""Features of arms in logs: the forms in which they come, and every way in which they can be wrong."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs
from hsb.logs.arm_features import ByFeature, flat_features, read_arms

ROLES = {"context": "x", "arm": "arm", "propensity": "p", "reward": "r", "arm_features": "f"}


def table(features, arm="a", **more):
    n = len(features)
    return {"x": [0.5] * n, "arm": [arm] * n, "p": [0.5] * n, "r": [1.0] * n, "f": features, **more}


def learned(log, **settings):
    policy = hsb.HSB(arms=hsb.Open(), seed=0, **settings)
    return policy, hsb.learn_from(policy, log)


def reasons(log):
    return [(problem.line, problem.reason) for problem in log.problems.first]


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"n": 1}, "b": None},
        '{"a": {"n": 1}, "b": {}}',
        [["a", {"n": 1}], ["b", None]],
        [("a", {"n": 1}), ("b", None)],  # a map of Parquet
        '[["a", {"n": 1}], ["b", null]]',
    ],
)
def test_arms_with_their_features(value):
    names, features = read_arms(value)
    assert names == ["a", "b"] and [each or None for each in features] == [{"n": 1}, None]
    log = hsb.logs.open(table([value]), **ROLES)
    [batch] = log.by_name(arms=hsb.HSB(arms=hsb.Open()).learner.arm_kinds)
    assert batch.arm_features.tolist() == [{"a": {"n": 1}, "b": None}] and batch.arms == ("a", "b")
    assert [batch.arm_features for batch in log] == [None]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "the features of arms are missing"),
        (" ", "the features of arms are missing"),
        ("{", "the features of arms are not JSON"),
        ('{"a": {"n": NaN}}', "the features of arms are not JSON"),
        ("[" * 100_000, "the features of arms are not JSON"),
        ("7", "the features of arms are not an object from each arm"),
        ([["a", {}], {}], "the features of arms are not an object from each arm"),
        ([["a"]], "the features of arms are not an object from each arm"),
        ({"a": 7}, "the features of an arm are not an object"),
        ({"a": ["n"]}, "the features of an arm are not an object"),
        ([{"n": 1}], "the features of arms are a list, which needs available="),
        ({}, "available is empty or has a missing arm"),
        ({"b": {"n": 1}}, "the arm shown is not among the available ones"),
        ([["a", {"n": 1}], ["a", None]], "an arm is listed twice in available"),
        ([["a", None], [{"b": 1}, None]], "available is empty or has a missing arm"),
        ({"a": {"n": "one"}}, "feature 'n' of an arm is not a number, as others are"),
        ({"a": {"n": True}}, "feature 'n' of an arm is not a number, as others are"),
        ({"a": {"m": b"bytes"}}, "feature 'm' of an arm has a value that no feature can have"),
        ({"a": {"m": 10**400}}, "feature 'm' of an arm has a value that no feature can have"),
        ({"a": {"m": "x" * 300}}, "feature 'm' of an arm has a value that no feature can have"),
        ({"a": {"m": {"$date": "soon"}}}, "the features of an arm have more than 30 levels, or what is no time"),
        ({"a": json.loads('{"m":' * 40 + "1" + "}" * 40)}, "the features of an arm have more than 30 levels"),
        ({"a": {f"n{k}": 1 for k in range(200_000)}}, "an arm has too many features"),
    ],
)
def test_a_row_with_features_that_cannot_be_read_is_a_problem(value, reason):
    log = hsb.logs.open(table([{"a": {"n": 1}}, value, {"a": {"n": 2}}]), **ROLES)
    policy, rows = learned(log)
    assert rows == policy.rounds == 2
    [(line, told)] = reasons(log)
    assert line == 2 and told.startswith(reason)
    with pytest.raises(hsb.FileError, match="line 2"):
        learned(hsb.logs.open(table([{"a": {"n": 1}}, value]), **ROLES, on_error="raise"))


def test_features_in_the_order_of_the_available_arms():
    rows = table([[{"n": 1}, None], [{"n": 1}], None, [{"n": 1}, 3]], available=[["a", "b"]] * 4)
    log = hsb.logs.open(rows, **ROLES, available="available")
    _, learned_rows = learned(log)
    assert learned_rows == 2  # of the third row all arms have no features
    assert reasons(log) == [
        (2, "the features of arms are a list of another length than the available arms"),
        (4, "the features of an arm are not an object"),
    ]


def test_a_column_for_each_feature():
    assert read_arms(ByFeature(n="[1, null]", topic=["x", "y"])) == (None, [{"n": 1, "topic": "x"}, {"topic": "y"}])
    rows = table([None] * 4, available=["a|b"] * 4, of_n=["[1, 2]", "[1]", "one", np.array([1.0, 2.0])], of_t=[["x", "y"]] * 4)
    rows.pop("f")
    for chosen in ("of_*", {"n": "of_n", "t": "of_t"}):
        log = hsb.logs.open(rows, **ROLES | {"arm_features": chosen}, available="available")
        policy, learned_rows = learned(log)
        assert learned_rows == 2 and policy.learner.arm_kinds.kinds_by_name == {"n": "number", "t": "category"}
        assert reasons(log) == [
            (2, "the lists of features of arms have different lengths"),
            (3, "a column of features of arms has no list, with a value for each available arm"),
        ]
    log = hsb.logs.open(
        rows,
        **{name: role for name, role in ROLES.items() if name != "context"} | {"arm_features": "of_*"},
        available="available",
    )
    assert log.source.meaning.context == ("x",)


def test_nested_features_have_paths():
    features = {
        "i": {"id": "a17"},
        "j": [{"title": "x"}, {"words": 20}],
        "at": [0.5, None],
        "tags": ["new"],
        "day": {"$date": "2026-03-01"},
    }
    flat = flat_features(features)
    assert list(flat) == ["i.id", "j.title", "j.words", "at.0", "at.1", "tags", "day"] and str(flat["day"]) == "2026-03-01"
    assert flat_features({}) is None and flat_features(None) is None and flat_features({"a": {}}) is None
    assert flat_features({"mixed": ["x", 1]}) == {"mixed.0": "x", "mixed.1": 1}


def test_the_kinds_are_those_of_the_policy_and_the_same_in_each_reading():
    policy, _ = learned(hsb.logs.open(table([{"a": {"n": "one"}}]), **ROLES))
    log = hsb.logs.open(table([{"a": {"n": 1}}, {"a": {"n": "two"}}]), **ROLES)
    for _ in range(2):
        assert hsb.learn_from(policy.copy(), log) == 1
        assert reasons(log) == [(1, "feature 'n' of an arm is neither true nor false, as others are")] or reasons(log) == [
            (1, "feature 'n' of an arm is not text of at most 256 characters")
        ]
    assert learned(log)[1] == 1 and reasons(log) == [(2, "feature 'n' of an arm is not a number, as others are")]


def test_arguments_that_do_not_fit():
    rows = table([{"a": {"n": 1}}])
    for wrong in (7, "", {}, {"n": 3}, ["f"]):
        with pytest.raises(hsb.InputError, match="arm_features must be the name of a column"):
            hsb.logs.open(rows, **ROLES | {"arm_features": wrong})
    with pytest.raises(hsb.InputError, match="has no column 'g'"):
        hsb.logs.open(rows, **ROLES | {"arm_features": "g"})
    with pytest.raises(hsb.InputError, match="No column begins with 'g_'"):
        hsb.logs.open(rows, **ROLES | {"arm_features": "g_*"})
    with pytest.raises(hsb.InputError, match="Features of arms need available="):
        hsb.logs.open(rows, **ROLES | {"arm_features": {"n": "f"}})
    with pytest.raises(hsb.InputError, match="given a column for each arm"):
        hsb.logs.open(rows | {"a": [True]}, **ROLES, available=["a"])


def test_a_log_may_have_nothing_but_features_of_arms():
    rows = table([{"a": {"n": 1}, "b": {"n": 2}}] * 3)
    rows.pop("x")
    log = hsb.logs.open(rows, **{name: role for name, role in ROLES.items() if name != "context"})
    policy, learned_rows = learned(log)
    assert learned_rows == 3 and policy.learner.named_columns == {}
    assert len(policy.decide({}, arms={"a": {"n": 1}}).context.arms) == 1


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(VALUES, st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3), st.text('[]{}":,ab1', max_size=12)),
        min_size=1,
        max_size=8,
    )
)
def test_fuzzed_features_are_learned_or_problems(values):
    """No value breaks the reading: a row is learned, or it is a problem; and what is learned can be decided on."""
    good = {"a": {"n": 1.0, "t": "x"}, "b": None}
    log = hsb.logs.open(table([good, *values, good]), **ROLES)
    policy, rows = learned(log)
    assert rows == policy.rounds == len(values) + 2 - len(log.problems) >= 2
    assert policy.decide({"x": 0.5}, arms={"a": {"n": 2.0}, "z": {}}).arm in ("a", "z")
    result = hsb.evaluate.off_policy(policy, log, estimators=("ips",))
    assert result.rows == rows
