"""Critical values for `hsb/reproducible_math.py`, and its error in units of the last place (`decimal` is exact)."""

import math
from collections.abc import Callable, Iterator
from decimal import Context, Decimal

import numpy as np

from hsb import reproducible_math
from hsb.engine.kernels import maths
from hsb.engine.kernels.jit import kernel

EXACT = Context(prec=45, Emin=-(10**6), Emax=10**6)
ONE = Decimal(1)
REFERENCES: dict[str, Callable[[Decimal], Decimal]] = {
    "exp": lambda x: x.exp(EXACT),
    "log": lambda x: x.ln(EXACT),
    "expm1": lambda x: _expm1(x),
    "log1p": lambda x: _log1p(x),
}


def _expm1(x: Decimal) -> Decimal:
    if abs(x) > Decimal("1e-5"):
        return EXACT.subtract(x.exp(EXACT), ONE)
    term, total = x, x
    for n in range(2, 12):
        term = EXACT.divide(EXACT.multiply(term, x), Decimal(n))
        total = EXACT.add(total, term)
    return total


def _log1p(x: Decimal) -> Decimal:
    if abs(x) > Decimal("1e-5"):
        return EXACT.add(ONE, x).ln(EXACT)
    power, total = x, x
    for n in range(2, 12):
        power = EXACT.multiply(EXACT.multiply(power, x), Decimal(-1))
        total = EXACT.add(total, EXACT.divide(power, Decimal(n)))
    return total


def units(name: str, x: float, found: float) -> float:
    """Return the distance of `found` from the exact value in units of the last place."""
    exact = REFERENCES[name](Decimal(x))
    return abs(float(EXACT.divide(EXACT.subtract(Decimal(found), exact), Decimal(math.ulp(float(exact))))))


def values(name: str, count: int, seed: int) -> np.ndarray:
    """Return values of every size and sign in the function's domain, around its edges, and of random bits."""
    rng = np.random.default_rng([seed, len(name), ord(name[0])])
    size = count // 4 + 1
    with np.errstate(over="ignore"):
        sizes = 10.0 ** rng.uniform(-323, 308, size)
    if name == "exp":
        some = [rng.uniform(-745, 709.7, size), rng.normal(size=size), rng.uniform(-745.1, -707, size), -sizes[sizes < 700]]
    elif name == "log":
        some = [sizes, rng.uniform(0.5, 2, size), 1 + rng.normal(size=size) * 1e-4, rng.integers(1, 1 << 52, size) * 5e-324]
    elif name == "expm1":
        some = [rng.uniform(-40, 709, size), rng.uniform(-1, 1, size), sizes[sizes < 1], -sizes[sizes < 1]]
    else:
        some = [rng.uniform(-1, 3, size), sizes, -sizes[sizes < 0.999], -1 + 10.0 ** rng.uniform(-16, 0, size)]
    result = np.concatenate(some)
    return result[: count if count < len(result) else None]


@kernel
def exp_of(x, out):
    for i in range(len(x)):
        out[i] = maths.exp(x[i])


@kernel
def log_of(x, out):
    for i in range(len(x)):
        out[i] = maths.log(x[i])


@kernel
def expm1_of(x, out):
    for i in range(len(x)):
        out[i] = maths.expm1(x[i])


@kernel
def log1p_of(x, out):
    for i in range(len(x)):
        out[i] = maths.log1p(x[i])


COMPILED = {"exp": exp_of, "log": log_of, "expm1": expm1_of, "log1p": log1p_of}
PLAIN = {name: getattr(reproducible_math, name) for name in COMPILED}


def compiled(name: str, x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    COMPILED[name](x, out)
    return out


def worst(name: str, count: int, seed: int) -> tuple[float, float]:
    """Return the largest error in units of the last place, and its argument; plain and compiled must agree bit for bit."""
    result = 0.0, 0.0
    for x in parts(values(name, count, seed)):
        got = compiled(name, x)
        assert got.tobytes() == np.array([PLAIN[name](v) for v in x.tolist()]).tobytes(), name
        result = max(result, max((units(name, v, g), v) for v, g in zip(x.tolist(), got.tolist(), strict=True)))
    return result


def parts(x: np.ndarray, size: int = 4096) -> Iterator[np.ndarray]:
    for at in range(0, len(x), size):
        yield x[at : at + size]
