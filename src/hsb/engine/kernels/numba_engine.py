"""The numba engine: a kernel is compiled when it is first called, which takes seconds, and kept for later processes if there is a place.

Kernels allocate nothing, so Numba need not count references to the arrays it is given (`_nrt=False`): that alone takes a third off the time of
the smaller rounds.
"""

import contextlib
from typing import Any

from numba import njit
from numba.core import caching

from ..native import sources_digest

HOW: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


class Kept(caching.FunctionCache):
    """Numba's files of compiled code, stale as soon as any source of the engine changes: Numba looks at the function's own file alone."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = sources_digest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept; None where it cannot be read, as after a power cut. Pickles raise whatever they like."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is room for it."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def compile_kernel(function: Any, **more: bool) -> Any:
    """Compile a function when it is first called, or take what was kept."""
    compiled = njit(**HOW, **more)(function)  # type: ignore[call-overload]
    if hasattr(compiled, "_cache"):  # not where compilation is switched off
        with contextlib.suppress(RuntimeError):  # no folder can be written: each process compiles anew
            compiled._cache = Kept(function)
    return compiled


def compile_inner(function: Any) -> Any:
    """For functions that only kernels call: neither kept in files of their own nor given what Python would need to call them.

    They are part of the kernels that call them, and compile sooner for it. Python must not call them: it would crash.
    """
    return njit(**HOW, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]
