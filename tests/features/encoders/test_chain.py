"""Encoders one after the other."""

import numpy as np

from hsb.features.encoders import PCA, Chain, MinMax, from_dict

ROWS = np.random.default_rng(0).normal(size=(500, 4)) * [1, 5, 0.1, 2]


def test_each_takes_what_the_one_before_gives():
    chain = Chain(PCA(2), MinMax()).fit(ROWS)
    first = PCA(2).fit(ROWS)
    second = MinMax().fit(first.transform(ROWS))
    np.testing.assert_allclose(chain.transform(ROWS), second.transform(first.transform(ROWS)), atol=1e-12)


def test_it_comes_back_from_plain_data():
    chain = Chain(PCA(1), MinMax()).fit(ROWS)
    again = from_dict(chain.to_dict())
    np.testing.assert_array_equal(again.transform(ROWS), chain.transform(ROWS))


def test_clipped_rows_are_counted_over_all_of_them():
    chain = Chain(MinMax(), MinMax()).fit(ROWS)
    chain.transform(ROWS * 10)
    assert chain.clipped > 0
