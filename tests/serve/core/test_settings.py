"""What a served policy is told."""

import pytest

import hsb
from hsb.serve.core import settings

SPEC = {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}}


def test_what_is_not_said_is_completed():
    name, arms, _, kind, result = settings.check_spec(SPEC)
    assert (name, arms, kind["kind"]) == ("home", ["a", "b"], "Exp3")
    assert (
        result.floor == settings.FLOOR
        and result.durability in settings.DURABILITIES
        and result.aggregate in settings.AGGREGATES
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"floors": 0.1}, "floors"),
        ({"floor": 2}, "floor"),
        ({"arms": ["a", "a"]}, "a"),
        ({"arms": []}, "arms"),
        ({"name": "no spaces"}, "name"),
        ({"feedback": {"wait": -1}}, "wait"),
        ({"feedback": {"aggregate": "median"}}, "aggregate"),
        ({"durability": "never"}, "durability"),
    ],
)
def test_what_cannot_be_is_refused_by_name(change, message):
    with pytest.raises(hsb.InputError, match=message):
        settings.check_spec(SPEC | change)


@pytest.mark.parametrize(("given", "seconds"), [("PT24H", 86_400), ("P1DT30M", 88_200), (2.5, 2.5), ("PT0.5S", 0.5)])
def test_durations(given, seconds):
    assert settings.seconds(given) == seconds


@pytest.mark.parametrize("given", ["24h", "", -1, float("nan"), "P", True, None])
def test_what_is_no_duration_is_refused(given):
    with pytest.raises(hsb.InputError):
        settings.seconds(given)


def test_a_change_leaves_the_rest():
    before = settings.check_spec(SPEC)[-1]
    after = settings.apply_changes(before, {"floor": 0.5}, ["a", "b"])
    assert after.floor == 0.5 and after._replace(floor=before.floor) == before
