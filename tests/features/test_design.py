"""A table of named features as numbers for a linear model."""

import numpy as np

from hsb.features.design import design_matrix
from hsb.features.tables import table_of


def test_numbers_stay_and_missing_ones_are_marked():
    result = design_matrix(table_of({"age": [31.0, None, 40.0]}))
    assert np.isfinite(result).all() and 31.0 in result[0] and 40.0 in result[2]
    assert not np.array_equal(result[1], design_matrix(table_of({"age": [0.0, 0.0, 0.0]}))[1])  # missing is not 0


def test_a_category_has_the_same_columns_in_every_part():
    whole = design_matrix(table_of({"country": ["FR", "DE", "IT", "FR"], "x": [1.0, 2.0, 3.0, 4.0]}))
    parts = [
        design_matrix(table_of({"country": ["FR", "DE"], "x": [1.0, 2.0]})),
        design_matrix(table_of({"country": ["IT", "FR"], "x": [3.0, 4.0]})),
    ]
    np.testing.assert_array_equal(np.vstack(parts), whole)
