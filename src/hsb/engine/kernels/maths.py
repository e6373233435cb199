"""The functions of `hsb/reproducible_math.py`, compiled. Kernels never call the C library's, whose last bits differ between machines."""

from ... import reproducible_math
from .jit import engine, inner, kernel

if engine in ("numba", "build"):
    from . import numba_maths  # noqa: F401  teaches Numba the functions that `reproducible_math` calls

parts, scaled = reproducible_math.parts, reproducible_math.scaled
exp_inside = inner(reproducible_math.exp_inside)
log_inside = inner(reproducible_math.log_inside)
exp = inner(reproducible_math.exp)
log = inner(reproducible_math.log)
expm1 = inner(reproducible_math.expm1)
log1p = inner(reproducible_math.log1p)
power = inner(reproducible_math.power)
whole_power = inner(reproducible_math.whole_power)
sin_turns = inner(reproducible_math.sin_turns)
cos_turns = inner(reproducible_math.cos_turns)
stirling = inner(reproducible_math.stirling)


@kernel("D1 D1")
def exps(x, out):
    """Compute out = e^x, number by number; they may be the same array."""
    for i in range(len(x)):
        out[i] = exp(x[i])


@kernel("D1 D1")
def logs(x, out):
    """Compute out = ln x, number by number; they may be the same array."""
    for i in range(len(x)):
        out[i] = log(x[i])
