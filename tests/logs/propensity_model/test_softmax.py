"""The multinomial regression of the logging policy, against a general minimiser."""

import numpy as np
import pytest
from naive.loggers import calibration, probabilities, slope

from hsb.logs.propensity_model.fit import calibration_bins
from hsb.logs.propensity_model.softmax import OF_CONSTANT, fit_weights, softmax


def test_the_regression_is_what_it_says(monkeypatch):
    monkeypatch.setattr("hsb.logs.propensity_model.softmax.CLOSE", 1e-12)
    rng = np.random.default_rng(6)
    X = np.column_stack([np.ones(40), rng.normal(0.0, 1.0, (40, 2))])
    y, available = rng.integers(0, 3, 40), rng.random((40, 3)) < 0.7
    available[np.arange(40), y] = True
    for penalty in (0.5, 8.0):
        W = fit_weights(X, y, available, np.zeros((3, 3)), penalty)
        assert np.abs(slope(X, y, available, W, penalty, OF_CONSTANT)).max() < 1e-4
        assert np.abs(slope(X, y, available, np.zeros((3, 3)), penalty, OF_CONSTANT)).max() > 1.0
        right = [probabilities(x, W, on) for x, on in zip(X, available, strict=True)]
        assert np.allclose(softmax(X @ W, available), right, rtol=1e-12)
    predicted = rng.random(1003)
    shown = (rng.random(1003) < predicted).astype(float)
    assert calibration_bins(predicted, shown)[1] == pytest.approx(calibration(predicted.tolist(), shown.tolist()), rel=1e-9)
    assert calibration_bins(predicted, 1.0 - shown)[1] > 0.3
