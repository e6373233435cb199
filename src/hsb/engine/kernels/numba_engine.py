"""The numba engine: it compiles a kernel at its first call, which takes seconds, and caches the code if a folder is writable.

Kernels allocate nothing, so Numba need not count references to their arrays (`_nrt=False`). That alone takes a third off the time of
the smaller rounds.
"""

import contextlib
from typing import Any

from numba import njit
from numba.core import caching

from ..native import sources_digest

HOW: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


class CodeCache(caching.FunctionCache):
    """Numba's cache of compiled code, stale as soon as any source of the engine changes. Numba checks only the function's file."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = sources_digest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return cached code, or None if it cannot be read, as after a power cut. Pickles may raise any exception."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache compiled code, if there is room for it."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def compile_kernel(function: Any, **more: bool) -> Any:
    """Compile a function at its first call, or load its cached code."""
    compiled = njit(**HOW, **more)(function)  # type: ignore[call-overload]
    if hasattr(compiled, "_cache"):  # false if compilation is switched off
        with contextlib.suppress(RuntimeError):  # no folder is writable: each process compiles again
            compiled._cache = CodeCache(function)
    return compiled


def compile_inner(function: Any, **more: bool) -> Any:
    """Compile a function that only kernels call: without a cache file and without the wrappers that Python needs to call it.

    It is part of the kernels that call it, and compiles sooner. Python must not call it: it would crash.
    """
    return njit(**HOW, **more, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]
