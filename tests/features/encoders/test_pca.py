"""Principal components, against NumPy's."""

import numpy as np
import pytest

import hsb
from hsb.features.encoders import PCA

ROWS = np.random.default_rng(1).normal(size=(2000, 3)) @ np.array([[3, 1, 0], [0, 1, 0.5], [0, 0, 0.1]])


@pytest.mark.parametrize("components", [1, 2, 3])
def test_directions_are_those_of_the_covariance(components):
    pca = PCA(components).fit(ROWS)
    values, vectors = np.linalg.eigh(np.cov(ROWS.T))
    expected = (ROWS - ROWS.mean(axis=0)) @ vectors[:, ::-1][:, :components]
    np.testing.assert_allclose(np.abs(pca.transform(ROWS)), np.abs(expected), atol=1e-6)
    np.testing.assert_allclose(pca.explained, values[::-1][:components] / values.sum(), atol=1e-6)


def test_parts_are_as_good_as_the_whole():
    whole, parts = PCA(2).fit(ROWS), PCA(2).fit(iter([ROWS[:700], ROWS[700:]]))
    np.testing.assert_allclose(np.abs(parts.transform(ROWS)), np.abs(whole.transform(ROWS)), atol=1e-8)


def test_more_components_than_columns_are_refused():
    with pytest.raises(hsb.InputError):
        PCA(5).fit(ROWS)
