"""A policy as a feature flag."""

import itertools

import pytest

import hsb
from hsb.serve.core.flags import FlagSettings, check_values, sticky_id

DAY = 86_400 * 10**6


def test_a_person_keeps_the_decision_for_the_window():
    ids = [sticky_id(b"secret", "anna", 86_400.0, [], at) for at in range(0, 3 * DAY, DAY // 4)]
    assert 3 <= len(set(ids)) <= 4 and ids[0] == sticky_id(b"secret", "anna", 86_400.0, [], 0)
    changes = [k for k in range(1, len(ids)) if ids[k] != ids[k - 1]]
    assert all(b - a == 4 for a, b in itertools.pairwise(changes))


def test_others_have_others():
    def of(secret, key, removed):
        return sticky_id(secret, key, 86_400.0, removed, 0)

    assert (
        len({of(b"secret", "anna", []), of(b"secret", "bert", []), of(b"other", "anna", []), of(b"secret", "anna", ["a"])}) == 4
    )


def test_arms_stand_for_values():
    flag = FlagSettings(values={"a": 1, "b": 2})
    assert flag.value("a") == 1 and flag.type in ("number", flag.type)
    assert FlagSettings().value("a") == "a"


@pytest.mark.parametrize("given", [{"c": 1}, {"a": 1, "b": "two"}, [1], {"a": object()}])
def test_what_are_no_values_is_refused(given):
    with pytest.raises(hsb.InputError):
        check_values(given, ["a", "b"])
