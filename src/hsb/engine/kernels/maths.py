"""The functions of `hsb/reproducible_math.py`, compiled: no kernel calls the C library's, whose last bits differ between machines."""

from typing import Any

import numpy as np
from numba import extending

from ... import reproducible_math
from .jit import inner, kernel

parts, scaled = reproducible_math.parts, reproducible_math.scaled
HOW: Any = {"error_model": "numpy"}
_52 = np.int64(52)
_ROUND = np.int64(0x4338000000000000)  # the bits of ROUND: what is added to them is added to the number
_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)  # the bits of the root of 1/2


@extending.overload(reproducible_math.parts, jit_options=HOW)
def _parts(x):
    def parts(x):
        bits = np.float64(x).view(np.int64)
        k = (bits - _ROOT_HALF) >> _52
        return np.int64(bits - (k << _52)).view(np.float64), np.int64(k + _ROUND).view(np.float64) - reproducible_math.ROUND

    return parts


@extending.overload(reproducible_math.scaled, jit_options=HOW)
def _scaled(x, k):
    def scaled(x, k):
        return np.int64(np.float64(x).view(np.int64) + (np.float64(k + reproducible_math.ROUND).view(np.int64) << _52)).view(
            np.float64
        )

    return scaled


def _compiled(name):
    """Kernels call `reproducible_math`'s own functions too, one out of another."""
    function = getattr(reproducible_math, name)
    extending.register_jitable(**HOW)(function)
    return inner(function)


for _name in ("bend", "less", "_near_exp", "_far_exp", "_near_log", "_far_log", "_eighth", "_sine", "_cosine", "stirling_far"):
    _compiled(_name)
exp_inside = _compiled("exp_inside")
log_inside = _compiled("log_inside")
exp = _compiled("exp")
log = _compiled("log")
expm1 = _compiled("expm1")
log1p = _compiled("log1p")
power = _compiled("power")
sin_turns = _compiled("sin_turns")
cos_turns = _compiled("cos_turns")
stirling = _compiled("stirling")


@kernel
def exps(x, out):
    """out = e^x, number by number; they may be the same array."""
    for i in range(len(x)):
        out[i] = exp(x[i])


@kernel
def logs(x, out):
    """out = ln x, number by number; they may be the same array."""
    for i in range(len(x)):
        out[i] = log(x[i])
