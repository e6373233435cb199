"""The decorators that compile kernels, for three engines.

- *native*: the library built from these sources with the package (`engine/native`). Nothing is compiled on the machine that runs hsb.
- *numba*: Numba compiles a kernel at its first call (`numba_engine.py`), if there is no library and Numba is installed.
- *python*: nothing is compiled. Slow, and equal bit for bit.

HSB_ENGINE chooses one; without it, the first available. HSB_ENGINE_LEVEL chooses the library's processor level, such as x86-64-v3.

Division by zero follows IEEE arithmetic. No kernel uses `fastmath`, so a run repeats bit for bit.
"""

import functools
import importlib.util
import os
import sys
from typing import Any

import numpy as np

from ...errors import InputError

ENGINES = ("native", "numba", "python")

declared: list[tuple[str, Any, tuple[str, ...], bool]] = []  # while the library is built: every kernel, and its argument types


def _choose() -> tuple[str, Any, str]:
    """Return the engine, its library if it has one, and a clause with the reason for the choice."""
    wanted = os.environ.get("HSB_ENGINE", "")
    if wanted == "build":
        return "build", None, "the library is being built"
    if wanted and wanted not in ENGINES:
        raise InputError(f"HSB_ENGINE must be one of {', '.join(ENGINES)}; given {wanted!r}.")
    reason = f"HSB_ENGINE={wanted}" if wanted else ""
    if wanted in ("", "native"):
        from ..native import load

        library, clause = load(os.environ.get("HSB_ENGINE_LEVEL", ""))
        if library is not None:
            return "native", library, clause.removeprefix("native, ")
        if wanted:
            raise InputError(
                f"HSB_ENGINE=native is not possible: {clause}. Build the library: python -m hsb.engine.native.build"
            )
        reason = clause
    if wanted != "python" and importlib.util.find_spec("numba") is not None:
        return "numba", None, reason
    if wanted == "numba":
        raise InputError("HSB_ENGINE=numba needs Numba: pip install 'hsb[jit]'.")
    if not wanted:
        warning = (
            f"hsb: {reason}, and Numba is not installed. Plain Python is much slower. Install Numba: pip install 'hsb[jit]'"
        )
        print(warning, file=sys.stderr)
    return "python", None, reason


engine, _library, reason = _choose()


def kernel(*words: Any, free: bool = False) -> Any:
    """Compile a function that Python calls. `words` are its argument types (`engine/native/signatures.py`), one text for each variant.

    `free`: release the GIL during the call.
    """
    if len(words) == 1 and callable(words[0]):  # without words it is not in the library
        return _compiled(words[0], (), free)
    return lambda function: _compiled(function, words, free)


def _compiled(function: Any, words: tuple[str, ...], free: bool) -> Any:
    if engine == "python":
        return _interpreted(function)
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    if engine == "native":
        return (words and _library.bind(name)) or _interpreted(function)
    from .numba_engine import compile_inner, compile_kernel

    if engine == "build":
        compiled = compile_inner(function)
        if words:
            declared.append((name, compiled, words, free))
        return compiled
    return compile_kernel(function, nogil=free)


def _interpreted(function: Any) -> Any:
    """Return the function with the arithmetic of compiled code: integers wrap around, and division by zero gives inf or nan."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


def inner(function: Any) -> Any:
    """Compile a function that only kernels call. Python must not call it: it would crash."""
    if engine in ("python", "native"):
        return function
    from .numba_engine import compile_inner

    return compile_inner(function)


def inlined(function: Any) -> Any:
    """Do the same for a function that runs at each node: its code becomes part of each caller, however long it is."""
    if engine in ("python", "native"):
        return function
    from .numba_engine import compile_inner

    return compile_inner(function, forceinline=True)
