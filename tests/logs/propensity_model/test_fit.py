"""The fit of a model of the logging policy: bins by hand, and the warnings that it deserves."""

import json

import numpy as np
import pytest

from hsb.logs.propensity_model.fit import BINS, Bin, LoggerFit, calibration_bins


def fit(**changes):
    numbers = {"rows": 1000, "arms": 2, "log_likelihood": -0.5, "frequencies": -0.6, "uniform": -0.69}
    numbers |= {"calibration": (Bin(0.3, 0.31, 500), Bin(0.7, 0.69, 500)), "calibration_error": 0.01}
    return LoggerFit(**(numbers | {"smallest": 0.05, "low": 0.1, "bounded": 0, "sure": 0.0} | changes))


def test_bins_are_equal_parts_in_order():
    predicted = np.arange(20)[::-1] / 20
    shown = (predicted >= 0.5).astype(float)
    bins, error = calibration_bins(predicted, shown)
    assert [part.entries for part in bins] == [2] * BINS
    assert [part.predicted for part in bins] == pytest.approx([(0.5 + 2 * k) / 20 for k in range(BINS)])
    assert [part.seen for part in bins] == [0.0] * 5 + [1.0] * 5
    assert error == pytest.approx(np.mean([abs(part.predicted - part.seen) for part in bins]))


def test_few_entries_have_few_bins():
    bins, error = calibration_bins(np.array([0.2, 0.9, 0.4]), np.array([0.0, 1.0, 0.0]))
    assert [part.entries for part in bins] == [1, 1, 1] and error == pytest.approx((0.2 + 0.1 + 0.4) / 3)
    assert calibration_bins(np.zeros(0), np.zeros(0)) == ((), 0.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"calibration_error": 0.031}, "off by 0.031 on average"),
        ({"sure": 0.51}, "In 51% of rows the arm shown was all but certain"),
        ({"bounded": 2}, "2 estimated propensities were below a hundredth"),
    ],
)
def test_each_doubt_is_a_warning(changes, words):
    doubtful = fit(**changes)
    [warning] = doubtful.warnings
    assert words in warning and f"Warning: {warning}" in str(doubtful)


def test_without_doubts_there_is_no_warning():
    sound = fit(calibration_error=0.03, sure=0.5, bounded=1)  # the limits themselves
    assert sound.warnings == () and "Warning" not in str(sound)
    assert sound.gain == pytest.approx(0.1)


def test_it_is_plain_data():
    data = json.loads(json.dumps(fit(bounded=2).to_dict()))
    assert data["calibration"][0] == {"predicted": 0.3, "seen": 0.31, "entries": 500}
    assert data["log_likelihood"] == -0.5 and len(data["warnings"]) == 1
