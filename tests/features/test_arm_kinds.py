"""Kinds of the features of arms."""

import pytest

import hsb
from hsb.features import FeatureReader, Features
from hsb.features.arm_kinds import ArmKinds


def test_the_first_value_determines_the_kind_and_the_reader_stays_as_it_was():
    reader = FeatureReader(Features())
    reader.admit({"topic": "news"})
    kinds = ArmKinds(reader)
    kinds.check({"price": 9, "topic": "sport"})
    kinds.check({"price": None, "at": None})
    kinds.check(None)
    kinds.check({"price": 3.5, "tags": ["new"]})
    assert kinds.kinds_by_name == {"topic": "category", "price": "number", "at": None, "tags": "tags"}
    assert reader.named_columns == {"topic": "category"}
    with pytest.raises(hsb.InputError, match="'price' has had a number; given text"):
        kinds.check({"topic": "news", "price": "nine"})
    assert kinds.misfit({"topic": "news", "price": "nine"}) == ("price", "number")
    assert kinds.misfit({"topic": b"news"}) == ("topic", "category") and kinds.misfit({"other": {"a": 1}}) == ("other", None)
    assert kinds.misfit({"price": 4}) is None


def test_a_policy_has_the_kinds_of_the_arms_that_it_played():
    policy = hsb.HSB(arms=hsb.Open(), seed=0)
    assert policy.learner.arm_kinds.kinds_by_name == {}
    policy.learn(policy.decide({"age": 31}, arms={"a": {"price": 9}}), reward=1)
    assert policy.learner.arm_kinds.kinds_by_name == {"price": "number"}
    assert hsb.HSB(arms=["a", "b"]).learner.arm_kinds is None


def test_an_arm_with_the_values_of_the_last_time_has_the_same_dict():
    kinds = ArmKinds(FeatureReader(Features()))
    first = {"price": 9, "is_new": True}
    assert kinds.check_arm("a", first) is first and kinds.check_arm("a", {"is_new": True, "price": 9}) is not first
    kinds.check_arm("a", first)
    assert kinds.check_arm("a", dict(first)) is first and kinds.check_arm("b", dict(first)) is not first
    assert kinds.check_arm("a", None) is None
    with pytest.raises(hsb.InputError, match="'is_new' has had True or False; given a number"):
        kinds.check_arm("a", {"price": 9, "is_new": 1})  # equal in Python
