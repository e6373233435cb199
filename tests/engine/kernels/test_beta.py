"""Beta variables: the numbers drawn, and the probability of being the least."""

import math

import numpy as np
import pytest
from naive import bayes as naive_bayes
from support.attack import beta_storm

from hsb.engine.kernels import beta, splitmix

NONE = np.zeros(0, dtype=np.uint8)


# -- draws -------------------------------------------------------------------------------------------------------------


def many(kind, good, bad, n):
    out = np.empty(n)
    state = np.uint64(splitmix.seeded(0.123))
    for i in range(n):
        if kind == 0:
            out[i], state = beta.uniform(state)
        elif kind == 1:
            out[i], state = beta.normal(state)
        elif kind == 2:
            out[i], state = beta.gamma(bad, state)
        else:
            out[i], state = beta.draw(good, bad, state)
        state = np.uint64(state)
    return out


def off(sample, expected):
    """How many standard errors the mean of a sample is away from what it should be."""
    return abs(sample.mean() - expected) / (sample.std() / math.sqrt(len(sample)))


def test_uniform_and_normal_numbers():
    u, z = many(0, 1.0, 1.0, 10**6), many(1, 1.0, 1.0, 10**6)
    assert u.min() > 0.0 and u.max() < 1.0
    assert off(u, 1 / 2) < 4 and off(u**2, 1 / 3) < 4 and off(u[1:] * u[:-1], 1 / 4) < 4
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15), (8, 105)):
        assert off(z**power, moment) < 4, power
    for end in (0.5, 1.0, 2.0, 3.0, 3.442619855899, 4.0):  # the ziggurat's rim and beyond
        assert off((z > end).astype(float), 0.5 * math.erfc(end / math.sqrt(2))) < 4, end
    assert off((z * 1.005) ** 2, 1) > 4  # the test would see an error of half a percent


@pytest.mark.parametrize("shape", [1.0, 1.5, 4.0, 100.0, 1e6])
def test_gamma_numbers(shape):
    x = many(2, 1.0, shape, 400_000)
    assert off(x, shape) < 4 and off((x - shape) ** 2, shape) < 4 and off((x - shape) ** 3, 2 * shape) < 4
    assert off(np.log(x), naive_digamma(shape)) < 4
    assert off(x, shape * (1 + 0.02 / math.sqrt(shape))) > 4


def naive_digamma(x: float) -> float:
    """Shift upwards, then the asymptotic series."""
    below = 0.0
    while x < 20:
        below -= 1 / x
        x += 1
    return below + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)


@pytest.mark.parametrize(("good", "bad"), [(1, 1), (0.5, 0.5), (3, 0.2), (0.05, 2), (30, 70), (1, 500), (0.001, 0.001)])
def test_beta_numbers(good, bad):
    """In log-odds the mean and variance are those of two log-gammas."""
    y = many(3, float(good), float(bad), 400_000)
    assert np.isfinite(y).all()
    assert off(y, naive_digamma(bad) - naive_digamma(good)) < 4
    loss = 1 / (1 + np.exp(-np.clip(y, -700, 700)))
    mean = bad / (good + bad)
    assert off(loss, mean) < 4 and off((loss - mean) ** 2, mean * (1 - mean) / (good + bad + 1)) < 4


# -- the probability of being the least ---------------------------------------------------------------------------------


def integrated(counts, prior=(1e-3, 1e-3), available=NONE):
    table = np.array(counts, dtype=float) - prior
    p = np.zeros(len(counts))
    beta.add_least(table.ravel(), available, *prior, 1.0, p, np.empty((len(counts), beta.COLUMNS)))
    return p


def test_integrals_against_exact_rationals():
    rng = np.random.default_rng(0)
    assert naive_bayes.exact_least([(1, 1)] * 3) == pytest.approx([1 / 3] * 3, abs=1e-15)
    for top in (4, 12, 30) * 25:
        counts = [(int(a), int(b)) for a, b in rng.integers(1, top, size=(rng.integers(2, 5), 2))]
        exact = naive_bayes.exact_least(counts)
        assert integrated(counts) == pytest.approx(exact, abs=1e-9)
        assert naive_bayes.least(np.array(counts, dtype=float)) == pytest.approx(exact, abs=1e-7)
    nearly = [(3.0, 2.0 + 1e-7), (2.0, 2.0)]
    assert (
        np.abs(integrated(nearly) - naive_bayes.exact_least([(3, 2), (2, 2)])).max() > 1e-9
    )  # the tolerance sees one part in 1e7


def two(good1: int, bad1: int, good2: int, bad2: int) -> float:
    """P(loss 1 < loss 2), a finite sum for whole counts."""

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    return math.fsum(
        math.exp(log_beta(bad1 + i, good1 + good2) - math.log(good2 + i) - log_beta(1 + i, good2) - log_beta(bad1, good1))
        for i in range(bad2)
    )


@pytest.mark.parametrize(
    "counts",
    [(1000, 300, 800, 260), (1, 1, 9000, 3000), (9000, 3000, 1, 1), (1, 1, 20, 5000), (5000, 20, 5000, 22), (2, 900, 1, 1)],
)
def test_integrals_with_many_counts(counts):
    assert integrated([counts[:2], counts[2:]])[0] == pytest.approx(two(*counts), abs=1e-9)


@pytest.mark.parametrize("n", [1e5, 1e7, 1e9, 1e12, 1e15])
def test_integrals_with_huge_counts(n):
    """Two arms with normal posteriors, z standard deviations apart."""
    for z in (0.0, 0.5, 2.0):
        spread = math.sqrt(2 * 0.25 * 0.75 / n)
        counts = [(0.75 * n, 0.25 * n), ((0.75 - z * spread) * n, (0.25 + z * spread) * n)]
        assert integrated(counts)[0] == pytest.approx(
            0.5 * math.erfc(-z / math.sqrt(2)), abs=2.0 / math.sqrt(n) + 1e-7 * (z > 0) + 1e-9
        )
    three = integrated([(n, n / 3)] * 3)
    assert three == pytest.approx([1 / 3] * 3, abs=1e-9) and three.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    "counts",
    [
        [(0.001, 0.001), (0.001, 0.001), (3.001, 1.001)],
        [(0.05, 2), (0.5, 0.5), (2, 9)],
        [(0.3, 40), (0.2, 0.001), (5, 5), (80, 300)],
    ],
)
def test_integrals_with_small_counts(counts):
    """Against 400,000 draws of each arm: four standard errors."""
    n = 400_000
    rng = np.random.default_rng(0)
    y = [many(3, float(good), float(bad), n)[rng.permutation(n)] for good, bad in counts]
    frequency = np.bincount(np.argmin(y, axis=0), minlength=len(counts)) / n
    p = integrated(counts)
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    assert (np.abs(frequency - p) <= 4 * np.sqrt(p * (1 - p) / n) + 1e-9).all()


def test_arms_that_are_not_available_do_not_count():
    counts = [(3, 1), (1, 2), (4, 4), (9, 1)]
    result = integrated(counts, available=np.array([1, 0, 1, 0], dtype=np.uint8))
    assert (
        result[[0, 2]] == pytest.approx(naive_bayes.exact_least([(3, 1), (4, 4)]), abs=1e-9) and result[1] == result[3] == 0.0
    )


# -- counts of any size ----------------------------------------------------------------------------------------------------


def test_lopsided_counts_take_no_longer():
    """A prior far below 1 beside many losses: the density is flat on one side and steep on the other."""
    off, seconds = beta_storm.storm(300, seed=5)
    assert off < 1e-9 and seconds < 0.5
    for good, bad in (([0.01] * 3, [1e6, 0.01, 0.01]), ([1e-3] * 3, [1e6] * 3), ([0.001, 2.0], [3e6, 1e12])):
        p, seconds = beta_storm.least(good, bad)
        assert p.sum() == pytest.approx(1.0, abs=1e-9) and seconds < 0.05


def test_lopsided_counts_are_right():
    """Against draws: five standard errors."""
    rng = np.random.default_rng(3)
    for good, bad in (([0.5, 0.02], [3e5, 40.0]), ([0.05, 0.1, 2.0], [1e6, 0.03, 7e5])):
        p, _ = beta_storm.least(good, bad)
        n = 200_000
        odds = np.column_stack([_log_gamma(rng, b, n) - _log_gamma(rng, g, n) for g, b in zip(good, bad, strict=True)])
        seen = np.bincount(odds.argmin(axis=1), minlength=len(good)) / n
        error = np.sqrt(np.maximum(p * (1 - p), 1 / n) / n)
        assert (np.abs(seen - p) < 5 * error).all()
        assert not (np.abs(seen - p[::-1]) < 5 * error).all()


def _log_gamma(rng, shape, n):
    """Logarithms of gamma numbers, of small shapes too."""
    return np.log(rng.gamma(shape + 1, size=n)) + np.log(rng.random(n)) / shape
