"""Numbers, times and states in words."""

import pytest

from hsb.serve.page import words
from hsb.serve.page.candidates import Band


@pytest.mark.parametrize(("count", "said"), [(0, "0 rows"), (1, "1 row"), (2000, "2,000 rows")])
def test_counts(count, said):
    assert words.quantity(count, "row") == said


def test_what_is_not_there_is_a_dash():
    assert words.number(None) == words.percent(None) == words.signed(None) == "\N{EN DASH}"


@pytest.mark.parametrize("value", [0.0, 1e-9, 0.5, 123.456, -7e12])
def test_a_sign_is_always_said(value):
    assert words.signed(value)[0] in "+-0\N{MINUS SIGN}\N{PLUS-MINUS SIGN}"


def test_names_are_one_line_and_short():
    assert "\n" not in words.one_line("a\nb") and len(words.one_line("x" * 1000, 20)) <= 20
    assert "\u202e" not in words.one_line("a\u202eb")


def test_a_share_that_is_not_all_is_not_said_to_be_all():
    assert words.percent(0.9999) != words.percent(1.0) and words.percent(0.0001) != words.percent(0.0)


def test_an_interval_has_its_ends():
    answer = words.interval(Band(0.5, 0.25, 0.75))
    assert "0.25" in answer and "0.75" in answer
