"""exp, log, expm1, log1p, powers, sines and cosines of turns, from + - * / alone: the same bits on every machine.

The functions of the C library and of NumPy differ in their last bit between machines, because they use what a processor has (fused
multiply-and-add, wide vectors). IEEE arithmetic rounds + - * / and square roots in one way only. So a function made of them, in a fixed order,
is the same everywhere. `engine/kernels/maths.py` compiles these functions; here they run as plain Python, with the same bits.

Errors stay below 1 unit in the last place, those of expm1 below 1.1, those of x^y below |y ln x| (`tests/test_reproducible_math.py`: against
`decimal`).

The polynomials interpolate at the Chebyshev nodes of an interval, computed with 90 digits; only then is each coefficient rounded to a double.
`tests/test_reproducible_math.py` repeats the computation and finds the same numbers.
"""

import math
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = TypeVar("Numbers", float, NDArray[np.float64])  # one, or an array of them

ROOT_HALF = 0.7071067811865476
INVERSE_LN2 = 1.4426950408889634
LN2 = 0.6931471805599453
LN2_HIGH = 0.6931471805598903  # 42 bits of ln 2: its products with exponents are exact
LN2_LOW = 5.497923018708371e-14  # and the rest
ROUND = 6755399441055744.0  # 1.5 * 2^52: what is added to it is rounded to a whole number
NORMAL = 2.2250738585072014e-308  # the least number with all its bits
FEW = 64  # up to this size an array is faster number by number
LARGEST = 1.7976931348623157e308

# (e^r - 1 - r) / r^2 on |r| <= 0.34658, a little more than ln(2) / 2
E0, E1, E2, E3 = 0.5, 0.1666666666666667, 0.04166666666666667, 0.00833333333332614
E4, E5, E6, E7 = 0.0013888888888883752, 0.00019841269874804214, 2.4801587325536023e-05, 2.7557255421023506e-06
E8, E9, E10 = 2.7557273657975953e-07, 2.5105208339987698e-08, 2.0914680780540263e-09
# (2 artanh(s) - 2 s) / s^3 as a function of s^2 in [0, 0.02945]: s = (m - 1) / (m + 1) for m between the roots of 1/2 and of 2
R0, R1, R2, R3 = 0.6666666666666666, 0.4000000000000088, 0.28571428570801954, 0.22222222392089008
R4, R5, R6, R7 = 0.18181795600060793, 0.15386241881938595, 0.13268714792348096, 0.1308723619665962
# sin(2 pi t) / t and (cos(2 pi t) - 1) / t^2 as functions of t^2 in [0, 1/64]
S0, S1, S2, S3 = 6.283185307179586, -41.341702240399634, 81.60524927594804, -76.70585970427454
S4, S5, S6 = 42.058685020160894, -15.093804209987114, 3.7808689593022957
C0, C1, C2, C3 = -19.739208802178716, 64.93939402266824, -85.4568172066438, 60.24464135270201
C4, C5, C6 = -26.426253275854723, 7.903206911569678, -1.6990343940660637


def parts(x: float) -> tuple[float, float]:
    """Return m in [root of 1/2, root of 2) and k with x = m 2^k, for positive x that are not subnormal; exact.

    >>> parts(12.0)
    (0.75, 4.0)
    """
    m, k = math.frexp(x)
    return (m, float(k)) if m >= ROOT_HALF else (2.0 * m, k - 1.0)


def scaled(x: float, k: float) -> float:
    """Return x 2^k, for x near 1 and a whole k in [-1021, 1023]; exact.

    >>> scaled(0.75, 4.0)
    12.0
    """
    return math.ldexp(x, int(k))


def bend(r: Numbers) -> Numbers:
    """Return (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.

    >>> bend(0.0)
    0.5
    """
    s = r * r
    t = s * s
    high = ((E4 + r * E5) + s * (E6 + r * E7)) + t * ((E8 + r * E9) + s * E10)
    return E0 + (r * E1 + (s * (E2 + r * E3) + t * high))  # the largest last: one rounding of its size


def less(f: Numbers) -> Numbers:
    """Return f - ln(1 + f), for 1 + f between the roots of 1/2 and of 2.

    With s = f / (2 + f), ln(1 + f) = 2 artanh(s) = 2 s + s^3 R(s^2), and 2 s = f - s f, where
    s f = f^2 / 2 - s f^2 / 2: so what a division has rounded is small beside the rest.

    >>> round(less(0.25), 6), round(0.25 - math.log(1.25), 6)
    (0.026856, 0.026856)
    """
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    r = ((R0 + z * R1) + w * (R2 + z * R3)) + (w * w) * ((R4 + z * R5) + w * (R6 + z * R7))
    h = 0.5 * f * f
    return h - s * (h + z * r)


def _near_exp(x: float) -> tuple[float, float]:
    """Return e^x as a number near 1 and the power of two to multiply it by."""
    k = (x * INVERSE_LN2 + ROUND) - ROUND
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    s = 1.0 + high
    return s + ((high - (s - 1.0)) + (r * r * bend(r) - low)), k


def _far_exp(x: float) -> float:
    """Return e^x if it is not a number, overflows, or is subnormal."""
    if x > 710.0:
        return math.inf
    if x < -746.0:
        return 0.0
    if x != x:
        return x
    y, k = _near_exp(x)
    return scaled(y, k - 8.0) * 256.0 if x > 0.0 else scaled(y, k + 128.0) * 2.938735877055719e-39  # 2^-128


def exp_inside(x: float) -> float:
    """Return e^x for x in (-708, 709), and at the nearer end for others: no branch, so that loops become vectors.

    >>> exp_inside(0.3) == exp(0.3)
    True
    """
    y, k = _near_exp(min(max(x, -708.0), 709.0))
    return scaled(y, k)


def log_inside(x: float) -> float:
    """Return ln x for normal x > 0, which is not checked: no branch.

    >>> log_inside(0.3) == log(0.3)
    True
    """
    return _near_log(x, 0.0, 0.0)


def exp(x: float) -> float:
    """Return e^x.

    >>> exp(0.0), exp(1.0), exp(-1000.0)
    (1.0, 2.718281828459045, 0.0)
    """
    if not -708.0 < x < 709.0:
        return _far_exp(x)
    y, k = _near_exp(x)
    return scaled(y, k)


def _far_log(x: float) -> float:
    """Return the logarithm of 0, a negative, subnormal or infinite number, or NaN."""
    if x == 0.0:
        return -math.inf
    if not x > 0.0:
        return math.nan
    return x if x > LARGEST else _near_log(x * 18014398509481984.0, -54.0, 0.0)


def _near_log(x: float, more: float, extra: float) -> float:
    """Return ln x + more ln 2 + extra, which is small."""
    m, k = parts(x)
    k += more
    f, big = m - 1.0, k * LN2_HIGH
    s = big + f
    return s + ((f - (s - big)) - (less(f) - (k * LN2_LOW + extra)))


def log(x: float) -> float:
    """Return the natural logarithm: -inf of 0, nan of negative numbers.

    >>> log(1.0), log(2.0), log(0.0)
    (0.0, 0.6931471805599453, -inf)
    """
    return _near_log(x, 0.0, 0.0) if NORMAL <= x <= LARGEST else _far_log(x)


def ln(x: float) -> float:
    """Return `log` for Python numbers, including integers of any size.

    >>> round(ln(10**400), 6)
    921.034037
    """
    if isinstance(x, int) and x.bit_length() > 1000:
        more = x.bit_length() - 64
        return log(float(x >> more)) + more * LN2
    return log(float(x))


def logs(values: ArrayLike) -> NDArray[np.float64]:
    """Return `log` of each number of an array, with the same bits: NumPy rounds + - * / by the IEEE standard.

    >>> logs([1.0, 2.0, 0.0]).tolist()
    [0.0, 0.6931471805599453, -inf]
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size < FEW:
        return np.array([log(value) for value in x.ravel().tolist()]).reshape(x.shape)
    usual = (x > 0.0) & (x <= LARGEST)
    m, k = np.frexp(np.where(usual, x, 1.0))
    small = m < ROOT_HALF
    f, k = np.where(small, 2.0 * m, m) - 1.0, (k - small).astype(np.float64)
    big = k * LN2_HIGH
    s = big + f
    result = s + ((f - (s - big)) - (less(f) - k * LN2_LOW))
    return np.asarray(np.where(usual, result, np.where(x == 0.0, -np.inf, np.where(x > 0.0, x, np.nan))))


def exps(values: ArrayLike) -> NDArray[np.float64]:
    """Return `exp` of each number of an array, with the same bits.

    >>> exps([0.0, 1.0, -np.inf]).tolist()
    [1.0, 2.718281828459045, 0.0]
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size < FEW:
        return np.array([exp(value) for value in x.ravel().tolist()]).reshape(x.shape)
    inside = np.clip(x, -746.0, 710.0)
    k = (inside * INVERSE_LN2 + ROUND) - ROUND
    high, low = inside - k * LN2_HIGH, k * LN2_LOW
    r, s = high - low, 1.0 + high
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        result = np.ldexp(s + ((high - (s - 1.0)) + (r * r * bend(r) - low)), k.astype(np.int64))
    return np.asarray(np.where(x > 710.0, np.inf, np.where(x < -746.0, 0.0, result)))


def expm1(x: float) -> float:
    """Return e^x - 1, accurate to about the last bit near 0 too.

    >>> expm1(1e-20), expm1(-50.0)
    (1e-20, -1.0)
    """
    if -1e-17 < x < 1e-17:
        return x
    if x < -40.0:
        return -1.0
    if not x < 39.0:
        return exp(x)
    k = (x * INVERSE_LN2 + ROUND) - ROUND
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    rest = r * r * bend(r) + ((high - r) - low) * r - low  # includes what rounding took from r
    if k == 0.0:
        return high + rest
    power = scaled(1.0, k)
    less1, moved = power - 1.0, power * high
    s, lost = less1 + moved, (power - less1) - 1.0
    return s + (((moved - (s - less1)) + lost) + power * rest)


def log1p(x: float) -> float:
    """Return ln(1 + x), accurate to about the last bit near 0 too.

    >>> log1p(1e-20), log1p(-1.0)
    (1e-20, -inf)
    """
    if -1e-17 < x < 1e-17:
        return x
    if -0.29 < x < 0.41:
        return x - less(x)
    if not -1.0 < x < 9007199254740992.0:
        return log(1.0 + x)
    u = 1.0 + x
    lost = 1.0 - (u - x) if x > 1.0 else x - (u - 1.0)
    return _near_log(u, 0.0, lost / u)


def power(x: float, y: float) -> float:
    """Return x^y for x > 0 and a y that need not be whole; accurate to |y ln x| units in the last place.

    >>> round(power(9.0, 0.5), 12)
    3.0
    """
    return exp(y * log(x))


def whole_power(x: float, n: int) -> float:
    """Return x to the power of an integer n >= 0, by squaring: at most 2 log2(n) roundings, the same on every machine.

    >>> whole_power(0.5, 3), whole_power(3.0, 0)
    (0.125, 1.0)
    """
    result = 1.0
    while n > 0:
        if n % 2 == 1:
            result *= x
        x *= x
        n //= 2
    return result


def _eighth(t: float) -> tuple[float, float]:
    """Return the nearest quarter turn of t in turns, 0 to 3, and the distance from it; exact."""
    t -= math.floor(t)
    q = math.floor(4.0 * t + 0.5)
    return (q if q < 4.0 else 0.0), t - 0.25 * q


def _sine(t: float) -> float:
    z = t * t
    w = z * z
    return t * (((S0 + z * S1) + w * (S2 + z * S3)) + (w * w) * ((S4 + z * S5) + w * S6))


def _cosine(t: float) -> float:
    z = t * t
    w = z * z
    return 1.0 + z * (((C0 + z * C1) + w * (C2 + z * C3)) + (w * w) * ((C4 + z * C5) + w * C6))


def sin_turns(t: float) -> float:
    """Return sin(2 pi t).

    >>> sin_turns(0.25), sin_turns(0.5), round(sin_turns(1 / 12), 12)
    (1.0, 0.0, 0.5)
    """
    q, rest = _eighth(t)
    size = _sine(rest) if q == 0.0 or q == 2.0 else _cosine(rest)
    return size if q < 2.0 else 0.0 - size


def cos_turns(t: float) -> float:
    """Return cos(2 pi t).

    >>> cos_turns(0.25), cos_turns(0.5), round(cos_turns(1 / 6), 12)
    (0.0, -1.0, 0.5)
    """
    q, rest = _eighth(t)
    size = _cosine(rest) if q == 0.0 or q == 2.0 else _sine(rest)
    return size if q == 0.0 or q == 3.0 else 0.0 - size


def stirling(z: float) -> float:
    """Return ln gamma(z) less Stirling's (z - 1/2) ln z - z + ln(2 pi) / 2, for z > 0; accurate to 1e-14, absolute or relative.

    From 10 on by its series; below, z is raised step by step: ln gamma(z) = ln gamma(z + 1) - ln z.

    >>> round(stirling(1.0), 12), round(1 - math.log(2 * math.pi) / 2, 12)
    (0.081061466795, 0.081061466795)
    """
    if z < 10.0:
        y, product = z, 1.0
        while y < 10.0:
            product *= y
            y += 1.0
        return stirling_far(y) + ((y - 0.5) * log(y) - y) - log(product) - ((z - 0.5) * log(z) - z)
    return stirling_far(z)


def stirling_far(z: float) -> float:
    """Return the series of `stirling` for z of at least 10.

    >>> round(stirling_far(10.0), 9)
    0.008330563
    """
    w = 1.0 / (z * z)
    return (
        1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0 - w * (1.0 / 1188.0 - w * 691.0 / 360360.0))))
    ) / z
