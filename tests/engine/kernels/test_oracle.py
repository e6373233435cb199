"""The oracles against every mapping there is; the probabilities of a perturbed minimum against a closed form and against drawing."""

import math

import numpy as np
import pytest
from naive import leaders as naive

from hsb.engine.kernels import laplace, leaders, oracle, splitmix
from hsb.learners.leaf_totals import best_mapping

NONE = np.zeros(0, dtype=np.uint8)


def regions(table: naive.Array, most: int) -> tuple[float, tuple[int, ...]]:
    mapping = np.full(len(table), -1, dtype=np.int64)
    loss = oracle.best_regions(table, oracle.workspace(*table.shape, most), mapping)
    return loss, tuple(mapping.tolist())


def least(row: list[float], noise: float = 1.0, available: list[int] | None = None) -> naive.Array:
    p = np.full(len(row), np.nan)
    mask = NONE if available is None else np.isin(np.arange(len(row)), available).astype(np.uint8)
    laplace.least(np.array(row), mask, noise, p)
    return p


@pytest.mark.nojit
def test_at_most_so_many_regions_is_the_best_of_all_mappings() -> None:
    """Small whole numbers: sums are exact and ties abound, so the mapping itself must be the first of the best."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        leaves, arms, most = rng.integers(1, 6), rng.integers(1, 4), rng.integers(1, 7)
        table = rng.integers(0, 4, size=(leaves, arms)).astype(float)
        assert regions(table, int(most)) == naive.best_mapping(table, int(most))


@pytest.mark.nojit
def test_negative_and_fractional_losses() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        table = rng.normal(size=(5, 3)) * 10 ** rng.uniform(-3, 3)
        loss, mapping = regions(table, 3)
        best = naive.best_mapping(table, 3)
        assert mapping == best[1] and abs(loss - best[0]) <= 1e-12 * np.abs(table).sum()


@pytest.mark.nojit
def test_the_ends_of_the_scale() -> None:
    """As many regions as leaves: each leaf by itself. One region: one arm."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        table = rng.integers(0, 5, size=(7, 4)).astype(float)
        mapping, loss = best_mapping(table, None)
        assert (loss, tuple(mapping)) == regions(table, 7) == regions(table, 9)
        assert mapping.tolist() == table.argmin(axis=1).tolist()
        one, total = best_mapping(table, 1)
        assert (total, tuple(one)) == regions(table, 1)
        assert one.tolist() == [table.sum(axis=0).argmin()] * 7


def test_a_large_table_keeps_its_promises() -> None:
    """The loss is that of the mapping, regions are within their number, more of them never cost more."""
    table = np.random.default_rng(3).random((3000, 20))
    before = math.inf
    for most in (1, 2, 5, 40):
        loss, mapping = regions(table, most)
        assert naive.runs(mapping) == most
        assert abs(loss - table[np.arange(3000), mapping].sum()) < 1e-8
        assert loss < before
        before = loss


@pytest.mark.nojit
def test_best_available_is_the_first_of_the_least() -> None:
    row = np.array([2.0, 1.0, 1.0, 3.0])
    assert oracle.best_available(row, NONE) == 1
    assert oracle.best_available(row, np.array([1, 0, 1, 1], dtype=np.uint8)) == 2
    assert oracle.best_available(row, np.array([1, 0, 0, 1], dtype=np.uint8)) == 0


# -- noise ---------------------------------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_the_generator_is_splitmix64() -> None:
    with np.errstate(over="ignore"):  # words wrap around; NumPy's own scalars say so
        assert int(splitmix.seeded(0.0)) == 0xE220A8397B1DCDAF  # the first number of splitmix64 with seed 0, as published
        for u in (0.0, 0.3, 0.999, float(np.nextafter(1, 0))):
            key = np.uint64(splitmix.seeded(u))
            for number in (0, 1, 17, 10**6):
                assert abs(leaders.laplace(key, number) - naive.laplace(u, number)) <= 1e-14 * abs(naive.laplace(u, number))


def test_noise_is_laplace() -> None:
    """Mean 0, mean size 1, second moment 2, P(z < y) as it should be: within 4 standard errors, and independent of its neighbour."""
    z = np.array([[leaders.laplace(np.uint64(splitmix.seeded(u)), k) for k in range(100)] for u in np.arange(2000) / 2000])
    n = z.size
    assert abs(z.mean()) < 4 * math.sqrt(2 / n)
    assert abs(np.abs(z).mean() - 1) < 4 / math.sqrt(n)
    assert abs((z**2).mean() - 2) < 4 * math.sqrt(20 / n)
    assert abs((z[:, :-1] * z[:, 1:]).mean()) < 4 * 2 / math.sqrt(n)
    assert abs((z[:-1] * z[1:]).mean()) < 4 * 2 / math.sqrt(n)
    for y in (-2.0, -0.5, 0.5, 2.0):
        share = 0.5 * math.exp(y) if y < 0 else 1 - 0.5 * math.exp(-y)
        assert abs((z < y).mean() - share) < 4 * math.sqrt(share * (1 - share) / n)


@pytest.mark.nojit
@pytest.mark.parametrize("gap", [0.0, 1e-9, 0.3, 1.0, 5.0, 20.0])
def test_two_arms_have_a_closed_form(gap: float) -> None:
    """P(z1 - z2 > gap) = e^-gap (1 + gap/2) / 2."""
    rare = 0.5 * math.exp(-gap) * (1 + gap / 2)
    assert least([7.0, 7.0 + 2.5 * gap], noise=2.5) == pytest.approx([1 - rare, rare], rel=1e-11, abs=0)


def test_many_arms_far_arms_and_some_not_available() -> None:
    for arms in (1, 2, 30, 1000):
        assert least([5.0] * arms) == pytest.approx(np.full(arms, 1 / arms), rel=1e-12)
    assert least([0.0, 1e6, 1e300], noise=0.01) == pytest.approx([1, 0, 0], abs=1e-15)
    p = least([0.3, 0.1, 9.0, 0.2], available=[0, 3])
    assert p[1] == p[2] == 0 and p[[0, 3]] == pytest.approx(least([0.3, 0.2]), rel=1e-13)


@pytest.mark.parametrize("arms", [3, 6, 25])
def test_probabilities_are_frequencies(arms: int) -> None:
    """Over 10^6 draws within 4.5 standard errors; with noise a tenth larger they are not."""
    rng = np.random.default_rng(arms)
    row = rng.random(arms) * 4
    counts = np.bincount((row + 1.5 * rng.laplace(size=(1_000_000, arms))).argmin(axis=1), minlength=arms) / 1e6

    def worst(p: naive.Array) -> float:
        return float((np.abs(counts - p) / np.sqrt(p * (1 - p) / 1e6)).max())

    assert worst(least(row.tolist(), noise=1.5)) < 4.5
    assert worst(least(row.tolist(), noise=1.65)) > 10
