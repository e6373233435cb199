"""What the user says of the features of a context."""

import pytest

import hsb
from hsb.features import Category, Cycle, Features, Number


def test_names_keep_their_order_and_any_name_can_be_declared():
    features = Features({"time of day": Cycle(24)}, age=Number(), country=Category())
    assert list(features.names) == ["time of day", "age", "country"] and not features.open and Features().open


@pytest.mark.parametrize(
    "features", [Features(), Features(age=Number()), Features({"a b": Cycle(7)}, c=Category(limit=5)).limit(columns=9)]
)
def test_they_come_back_from_plain_data(features):
    assert Features.from_dict(features.to_dict()).to_dict() == features.to_dict()


def test_a_policy_refuses_a_name_that_is_not_declared_and_says_which_is_near():
    policy = hsb.HSB(arms=2, features=Features(country=Category()), seed=0)
    with pytest.raises(hsb.InputError, match="country"):
        policy.decide({"contry": "FR"})


@pytest.mark.parametrize("make", [lambda: Features(age=3), lambda: Features(age="number"), lambda: Features().limit(columns=0)])
def test_what_declares_nothing_is_refused(make):
    with pytest.raises(hsb.InputError):
        make()
