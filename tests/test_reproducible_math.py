"""exp, log, expm1 and log1p made of + - * /: right to 1 unit in the last place, the same bits compiled, plain and by arrays."""

import math
from decimal import Decimal, getcontext, localcontext

import numpy as np
import pytest
from support.attack import elementary_cases as cases

from hsb import reproducible_math

NAMES = list(cases.COMPILED)
INF, NAN = math.inf, math.nan
EDGES = {
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (NAN, NAN),
        (710.0, INF),
        (-746.0, 0.0),
        (1e308, INF),
        (5e-324, 1.0),
    ],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN), (5e-324, 5e-324), (-1e300, -1.0), (800.0, INF)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-1.0, -INF), (-2.0, NAN), (NAN, NAN), (-5e-324, -5e-324)],
}


@pytest.mark.parametrize("name", NAMES)
def test_right_to_one_unit(name):
    error, x = cases.worst(name, 4000, seed=1)
    assert error < 1.0, x
    assert cases.units(name, 0.7, np.nextafter(np.nextafter(cases.PLAIN[name](0.7), 9), 9)) > 1  # the measure sees two bits


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
def test_edges(name):
    for x, expected in EDGES[name]:
        for result in (cases.PLAIN[name](x), float(cases.compiled(name, np.array([x]))[0])):
            assert np.array(result).tobytes() == np.array(expected).tobytes() or (result != result and expected != expected), (
                x,
                result,
            )


@pytest.mark.parametrize(("name", "arrays"), [("exp", reproducible_math.exps), ("log", reproducible_math.logs)])
def test_arrays_have_the_same_bits(name, arrays):
    x = np.concatenate(
        [cases.values(name, 20_000, seed=2), [v for v, _ in EDGES[name] if v == v], [709.5, 709.9, 5e-324, 1e-310]]
    )
    assert arrays(x).tobytes() == cases.compiled(name, x).tobytes()
    assert np.isnan(arrays([NAN])).all() and arrays(np.zeros((2, 3))).shape == (2, 3)


def test_they_increase():
    """Neighbouring numbers never change places by more than the last bit, also where one formula takes over from another."""
    for name, at in (
        ("exp", 0.34657),
        ("exp", -708.0),
        ("log", math.sqrt(2)),
        ("log", 1.0),
        ("expm1", 0.3466),
        ("log1p", 0.41),
    ):
        x = at + np.arange(-500, 500) * math.ulp(at)
        result = cases.compiled(name, x)
        assert (np.diff(result) >= -np.spacing(np.abs(result[1:]))).all(), (name, at)


def test_whole_numbers_of_any_size():
    assert reproducible_math.ln(10**5) == pytest.approx(math.log(10**5), rel=1e-15)
    assert reproducible_math.ln(7**4000) == pytest.approx(math.log(7**4000), rel=1e-15)


def test_turns_and_powers():
    t = np.random.default_rng(0).random(2000)
    for x in t.tolist():
        assert reproducible_math.sin_turns(x) == pytest.approx(math.sin(2 * math.pi * x), abs=1e-15)
        assert reproducible_math.cos_turns(x) == pytest.approx(math.cos(2 * math.pi * x), abs=1e-15)
        assert reproducible_math.power(1e3 * x, 0.997) == pytest.approx((1e3 * x) ** 0.997, rel=1e-14)
    assert [reproducible_math.sin_turns(q / 4) for q in range(5)] == [0, 1, 0, -1, 0]
    assert [reproducible_math.cos_turns(q / 4) for q in range(5)] == [1, 0, -1, 0, 1]


@pytest.mark.parametrize("z", [1e-9, 0.001, 0.5, 1.0, 2.5, 9.99, 10.0, 37.0, 1e6, 1e15])
def test_stirling(z):
    slow = math.lgamma(z) - ((z - 0.5) * math.log(z) - z + 0.5 * math.log(2 * math.pi))
    if z < 1e3:
        assert reproducible_math.stirling(z) == pytest.approx(slow, rel=1e-12, abs=1e-13)
    else:
        assert reproducible_math.stirling(z) == pytest.approx(1 / (12 * z), rel=1e-9)


# -- where the coefficients come from ------------------------------------------------------------------------------------


def series(terms, z):
    total = Decimal(0)
    for term in reversed(terms):
        total = total * z + term
    return total


def factorial(n):
    return Decimal(math.factorial(n))


def derived(terms, low, high, degree):
    """The polynomial through the Chebyshev nodes of [low, high], Newton's divided differences multiplied out."""
    low, high = Decimal(low), Decimal(high)
    cos = [(-1) ** j / factorial(2 * j) for j in range(60)]
    angles = [PI * (2 * i + 1) / (2 * degree + 2) for i in range(degree + 1)]
    nodes = [(low + high) / 2 + (high - low) / 2 * series(cos, angle * angle) for angle in angles]
    c = [series(terms, x) for x in nodes]
    for j in range(1, degree + 1):
        for i in range(degree, j - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (nodes[i] - nodes[i - j])
    p = [Decimal(0)] * (degree + 1)
    for i in range(degree, -1, -1):
        p = [(p[k - 1] if k else Decimal(0)) - nodes[i] * p[k] for k in range(degree + 1)]
        p[0] += c[i]
    return [float(value) for value in p]


def arctan_of_inverse(n):
    total = term = Decimal(1) / n
    for k in range(3, 300, 2):
        term = -term / (n * n)
        total += term / k
    return total


with localcontext() as context:
    context.prec = 100
    PI = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))


def test_coefficients_are_what_they_are_said_to_be():
    e = reproducible_math
    with localcontext():
        getcontext().prec = 90
        ln2 = Decimal(2).ln()
        assert float(1 / ln2) == e.INVERSE_LN2 and float(ln2) == e.LN2 and math.sqrt(0.5) == e.ROOT_HALF
        assert int(ln2 * 2**42) / 2**42 == e.LN2_HIGH and float(ln2 - Decimal(e.LN2_HIGH)) == e.LN2_LOW
        result = derived([1 / factorial(j + 2) for j in range(60)], "-0.34658", "0.34658", 10)
        assert result == [e.E0, e.E1, e.E2, e.E3, e.E4, e.E5, e.E6, e.E7, e.E8, e.E9, e.E10]
        result = derived([Decimal(2) / (2 * j + 3) for j in range(80)], 0, "0.02945", 7)
        assert result == [e.R0, e.R1, e.R2, e.R3, e.R4, e.R5, e.R6, e.R7]
        turn = 2 * PI
        result = derived([(-1) ** j * turn ** (2 * j + 1) / factorial(2 * j + 1) for j in range(40)], 0, Decimal(1) / 64, 6)
        assert result == [e.S0, e.S1, e.S2, e.S3, e.S4, e.S5, e.S6]
        result = derived(
            [(-1) ** (j + 1) * turn ** (2 * j + 2) / factorial(2 * j + 2) for j in range(40)], 0, Decimal(1) / 64, 6
        )
        assert result == [e.C0, e.C1, e.C2, e.C3, e.C4, e.C5, e.C6]
