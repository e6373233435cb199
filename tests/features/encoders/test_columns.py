"""Mixed columns with missing values as numbers."""

import numpy as np
import pytest

import hsb
from hsb.features.encoders import Columns

SHOP = {"country": ["FR", "DE", "FR", None], "age": [30, None, 40, 50]}


def test_each_number_has_a_name():
    encoder = Columns().fit(SHOP)
    result = encoder.transform(SHOP)
    assert result.shape == (4, len(encoder.names)) and np.isfinite(result).all()
    assert any("FR" in name for name in encoder.names) and any("age" in name for name in encoder.names)


def test_the_order_of_the_columns_does_not_matter():
    encoder = Columns().fit(SHOP)
    turned = dict(reversed(SHOP.items()))
    np.testing.assert_array_equal(encoder.transform(turned), encoder.transform(SHOP))


def test_an_unseen_category_is_no_error():
    encoder = Columns().fit(SHOP)
    assert np.isfinite(encoder.transform({"country": ["IT"], "age": [20]})).all()


def test_one_row_is_too_few():
    with pytest.raises(hsb.InputError):
        Columns().fit({"age": [3]})
