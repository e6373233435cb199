"""Explanations over named features: a column for each input, in the units of its feature."""

from datetime import datetime

import numpy as np
import pytest

import hsb
from hsb.explain.featured import SHARED, columns_of_features, explain_features
from hsb.features import Category, Cycle, FeatureReader, Features, Tags


def admit(features: Features, *contexts: dict) -> FeatureReader:
    reader = FeatureReader(features)
    for context in contexts:
        reader.admit(context)
        reader.observe(reader.look(context)[0])
    return reader


def test_columns_have_the_kinds_of_features() -> None:
    reader = admit(
        Features(), {"country": "FR", "age": 31.0, "member": True, "labels": ["new"]}, {"country": "DE", "age": None}
    )
    by_name = {column.name: column for column in columns_of_features(reader)}
    assert {name: column.kind for name, column in by_name.items()} == {
        "country": "category",
        "age": "number",
        "member": "flag",
        "labels: new": "flag",
    }
    assert by_name["country"].labels == ("FR", "DE")
    assert by_name["age"].missing and not by_name["country"].missing


def test_times_are_dates_hours_and_weekdays() -> None:
    reader = admit(Features(), {"at": datetime(2026, 11, 19, 9, 30)})
    forms = {column.name: (column.form, column.low, column.high) for column in columns_of_features(reader)}
    assert forms["at day"] == ("date", None, None)
    assert forms["at hour"] == ("clock", 0.0, 24.0) and forms["at weekday"] == ("weekday", 0.0, 7.0)


def test_a_cycle_has_the_range_of_its_period() -> None:
    [column] = columns_of_features(admit(Features(angle=Cycle(360)), {"angle": 10.0}))
    assert (column.kind, column.form, column.low, column.high) == ("number", "plain", 0.0, 360.0)


def test_categories_that_share_a_column_say_so() -> None:
    reader = admit(Features(shop=Category(limit=2)), {"shop": "north"}, {"shop": "south"}, {"shop": "third"})
    [column] = columns_of_features(reader)
    marked = [label.endswith(SHARED) for label in column.labels]
    assert sorted(marked) == [False, True] and marked[int(reader.read({"shop": "third"})[0]) - 2]
    reader = admit(Features(labels=Tags(limit=1)), {"labels": ["a"]}, {"labels": ["b"]})
    assert columns_of_features(reader)[0].labels == ("false", f"true{SHARED}")
    [alone] = columns_of_features(admit(Features(labels=Tags(limit=1)), {"labels": ["a"]}))
    assert alone.labels == ()


def test_columns_can_be_named() -> None:
    reader = admit(Features(), {"a": 1.0, "b": "x"})
    assert [column.name for column in columns_of_features(reader, ["size", "shop"])] == ["size", "shop"]
    with pytest.raises(hsb.InputError, match="names needs 2 different names"):
        columns_of_features(reader, ["size"])


def test_before_the_first_update_there_is_one_rule() -> None:
    policy = hsb.HSB(arms=["a", "b"], seed=0)
    policy.decide({"age": 31.0, "country": "FR"})
    [region] = explain_features(policy, policy.learner.reader)
    assert (region.arm, region.probability, region.seen) == ("a", 0.5, False)


def test_rules_are_those_that_are_played() -> None:
    policy, rng = hsb.HSB(arms=["a", "b"], seed=0), np.random.default_rng(0)
    for _ in range(400):
        context = {"country": str(rng.choice(["FR", "DE"])), "age": float(rng.integers(18, 80))}
        decision = policy.decide(context)
        policy.learn(decision, reward=float((decision.arm == "a") == (context["country"] == "FR")))
    explanation = explain_features(policy, policy.learner.reader, effort=0.1)
    for country, arm in (("FR", "a"), ("DE", "b")):
        assert explanation.arm_at({"country": country, "age": 40.0}) == arm
        assert policy.arms[int(np.argmax(policy.probabilities({"country": country, "age": 40.0})))] == arm
