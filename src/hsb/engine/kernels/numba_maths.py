"""Extensions for Numba to compile `hsb/reproducible_math.py`: how to read a number's bits, and which functions may call each other."""

from typing import Any

import numpy as np
from numba import extending

from ... import reproducible_math

HOW: Any = {"error_model": "numpy"}
_52 = np.int64(52)
_ROUND = np.int64(0x4338000000000000)  # the bits of ROUND: adding to them adds to the number
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


for _name in (
    *("bend", "less", "_near_exp", "_far_exp", "_near_log", "_far_log", "_eighth", "_sine", "_cosine", "stirling_far"),
    *("exp_inside", "log_inside", "exp", "log", "expm1", "log1p", "power", "sin_turns", "cos_turns", "stirling"),
):
    extending.register_jitable(**HOW)(getattr(reproducible_math, _name))
