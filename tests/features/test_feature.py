"""One feature as an encoder knows it."""

import pytest

from hsb.features.feature import FeatureColumn, stable, wrap
from hsb.features.kinds import Category, Cycle


def test_a_hash_is_the_same_everywhere():
    assert stable("FR") == stable("FR") != stable("DE") and 0 <= stable("") < 2**64


@pytest.mark.parametrize(("x", "turn"), [(0.0, 0.0), (25.0, 1.0), (-1.0, 23.0), (48.0, 0.0)])
def test_a_number_within_its_period(x, turn):
    assert wrap(x, FeatureColumn("hour", Cycle(24))) == pytest.approx(turn)


def test_a_copy_is_independent():
    column = FeatureColumn("country", Category(limit=2))
    copy = column.copy()
    copy.codes["FR"] = 0
    assert "FR" not in column.codes
