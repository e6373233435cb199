"""Features to the unit cube."""

import numpy as np
import pytest

from hsb.features.encoders import MinMax, Quantiles, from_dict

ROWS = np.random.default_rng(2).exponential(size=(3000, 2)) * [1, 100]


@pytest.mark.parametrize("scale", [MinMax, Quantiles])
def test_all_of_the_head_lies_in_the_cube(scale):
    fitted = scale().fit(ROWS)
    result = fitted.transform(ROWS)
    assert result.min() >= 0 and result.max() <= 1 and fitted.clipped == 0
    for j in range(2):  # order is kept
        assert (np.diff(result[np.argsort(ROWS[:, j]), j]) >= 0).all()


def test_quantiles_are_even():
    result = Quantiles().fit(ROWS).transform(ROWS)
    counts = np.histogram(result[:, 1], bins=10, range=(0, 1))[0]
    assert counts.min() > 250 and counts.max() < 350


@pytest.mark.parametrize("scale", [MinMax, Quantiles])
def test_what_lies_outside_is_clipped_and_counted(scale):
    fitted = scale().fit(ROWS)
    assert fitted.transform([[-5.0, 1e9]]).tolist() == [[0.0, 1.0]] and fitted.clipped == 1


@pytest.mark.parametrize("scale", [MinMax, Quantiles])
def test_it_comes_back_from_plain_data(scale):
    fitted = scale().fit(ROWS)
    np.testing.assert_array_equal(from_dict(fitted.to_dict()).transform(ROWS), fitted.transform(ROWS))
