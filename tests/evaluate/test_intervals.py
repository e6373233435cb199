"""Student's t without tables, and intervals that cover what they say they cover."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import hsb
from hsb.evaluate.intervals import SUMMED, _expand_quantile, mean_interval, paired_interval, student_quantile, zero_p
from hsb.experiments.base import claim

KNOWN = [  # p, degrees of freedom, quantile: printed tables
    (0.975, 1, 12.7062047362),
    (0.975, 2, 4.3026527297),
    (0.975, 3, 3.1824463053),
    (0.975, 4, 2.7764451052),
    (0.975, 9, 2.2621571628),
    (0.975, 10, 2.2281388520),
    (0.975, 30, 2.0422724563),
    (0.975, 120, 1.9799304051),
    (0.95, 5, 2.0150483733),
    (0.995, 7, 3.4994832974),
    (0.9995, 2, 31.5990545764),
]


@pytest.mark.parametrize(("p", "freedom", "quantile"), KNOWN)
def test_quantiles_are_those_of_the_tables(p, freedom, quantile):
    assert student_quantile(p, freedom) == pytest.approx(quantile, rel=1e-9)
    assert student_quantile(1 - p, freedom) == pytest.approx(-quantile, rel=1e-9)


def test_closed_forms():
    """One degree of freedom is Cauchy's distribution; two have a formula too."""
    for p in (0.5, 0.6, 0.9, 0.999, 1 - 1e-7):
        assert student_quantile(p, 1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-6, abs=1e-12)
        assert student_quantile(p, 2) == pytest.approx((2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p))), rel=1e-6, abs=1e-12)


def test_the_sum_and_the_expansion_meet():
    for p in (0.6, 0.975, 0.9995):
        assert student_quantile(p, SUMMED) == pytest.approx(_expand_quantile(NormalDist().inv_cdf(p), SUMMED), rel=1e-10)
        assert student_quantile(p, SUMMED) > student_quantile(p, SUMMED + 1) > student_quantile(p, SUMMED + 2)
    assert student_quantile(0.975, 10**9) == pytest.approx(1.959963985, rel=1e-8)


def test_an_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = [low <= 0.0 <= high for _, low, high in (mean_interval(rng.normal(size=5)) for _ in range(4000))]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.014)  # four standard errors
    narrow = [low <= 0.0 <= high for _, low, high in (mean_interval(rng.normal(size=5), confidence=0.8) for _ in range(4000))]
    assert np.mean(narrow) == pytest.approx(0.8, abs=0.026)


@pytest.mark.parametrize(("p", "freedom", "quantile"), [row for row in KNOWN if row[1] > 1])
def test_a_p_value_is_what_lies_beyond(p, freedom, quantile):
    """Repetitions whose t is the table's quantile."""
    values = np.arange(freedom + 1.0)
    values = (values - values.mean()) / values.std(ddof=1) + quantile / math.sqrt(freedom + 1)
    assert zero_p(values) == pytest.approx(2 * (1 - p), rel=1e-6)
    assert zero_p(-values) == zero_p(values)


def test_p_is_below_5_percent_where_the_interval_leaves_0_out():
    rng = np.random.default_rng(1)
    for _ in range(300):
        values = rng.normal(0.5, 1.0, int(rng.integers(2, 40)))
        _, low, high = mean_interval(values)
        assert (zero_p(values) < 0.05) == (low > 0.0 or high < 0.0)
    assert zero_p(rng.normal(0.5, 1.0, SUMMED + 50)) < 1e-9


def test_one_repetition_proves_nothing():
    assert zero_p([0.3]) == 1.0 and zero_p([0.0, 0.0]) == 1.0 and zero_p([0.1, 0.1]) == 0.0
    assert paired_interval([0.3]) == (0.3, -math.inf, math.inf)
    assert claim("toy", "a beats b", [0.3]).holds is None


def test_equal_repetitions_have_no_width():
    assert paired_interval([0.25, 0.25, 0.25]) == (0.25, 0.25, 0.25)


@pytest.mark.parametrize(
    ("differences", "holds"), [([0.1, 0.11, 0.12], True), ([-0.1, -0.11, -0.12], False), ([0.1, -0.1, 0.02], None)]
)
def test_a_claim_holds_fails_or_ties(differences, holds):
    result = claim(
        "toy", "a beats b", differences, numbers={"a": 1.0}, origin="own", explanation="So.", tie="Tie.", fails="No."
    )
    assert result.holds is holds
    assert result.low <= result.difference <= result.high
    assert result.explanation == {True: "So.", False: "So. No.", None: "So. Tie."}[holds]
    assert (result.experiment, result.origin, result.numbers) == ("toy", "own", {"a": 1.0})


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: mean_interval([]), "one for each repetition"),
        (lambda: mean_interval([[1.0]]), "one for each repetition"),
        (lambda: mean_interval([1.0, math.nan]), "finite"),
        (lambda: mean_interval(["x"]), "numbers"),
        (lambda: mean_interval([1.0, 2.0], confidence=95), "0.95"),
        (lambda: student_quantile(1.0, 3), "between 0 and 1"),
        (lambda: student_quantile(0.9, 0), "whole number"),
    ],
)
def test_bad_input(call, fragment):
    with pytest.raises(hsb.InputError, match=fragment):
        call()
