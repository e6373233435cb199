"""Errors: what they are to code that catches, and how messages show what was given."""

import pytest

import hsb
from hsb import errors


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        ("InputError", ValueError),
        ("BudgetError", hsb.InputError),
        ("FileError", ValueError),
        ("BrokenState", RuntimeError),
        ("StaleDecision", RuntimeError),
    ],
)
def test_each_error_is_one_of_python_too(kind, base):
    assert issubclass(getattr(hsb, kind), base) and getattr(hsb, kind) is getattr(errors, kind)


class Silent:
    def __repr__(self):
        raise ZeroDivisionError


def test_whatever_was_given_can_be_shown():
    assert errors.quoted("a") == "'a'" and errors.quoted([1, "a"]) == "[1, 'a']"
    for value in ("x" * 100_000, list(range(100_000)), 10**100_000, Silent(), {"deep": [[[["x" * 5000]]]]}):
        assert 0 < len(errors.quoted(value)) <= 2 * errors.MOST
