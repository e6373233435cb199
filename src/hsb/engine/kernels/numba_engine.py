"""The numba engine: a kernel is compiled when it is first called.

Kernels allocate nothing, so Numba need not count references to the arrays it is given (`_nrt=False`): that alone takes a third off the time of
the smaller rounds.
`compiled_files.py` says where compiled code is kept.
"""

import os
import sys
import threading
import warnings
from typing import Any

from numba import njit
from numba.core import event

from .compiled_files import Files

HOW: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
LONG = 2.0  # seconds of compiling after which a line on stderr says what is going on


def compile_kernel(function: Any, **more: bool) -> Any:
    """Compile a function when it is first called, or take it from the cache; where no cache can be written, go without one."""
    compiled = njit(**HOW, **more)(function)  # type: ignore[call-overload]
    if hasattr(compiled, "_cache"):  # not where compilation is switched off
        try:
            compiled._cache = Files(function)
        except RuntimeError:  # no place for a cache: site-packages and home are read-only
            _without.append(function.__qualname__)
    return compiled


def compile_inner(function: Any) -> Any:
    """For functions that only kernels call: neither kept in files of their own nor given what Python would need to call them.

    They are part of the kernels that call them, and compile sooner for it. Python must not call them: it would crash.
    """
    return njit(**HOW, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]


_without: list[str] = []  # kernels for whose compiled code there is no place


class _Warning(event.Listener):
    """Says, once a process, at its first compiling, that there is no place for compiled code."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        if _without and not self.said:
            self.said = True
            warnings.warn(
                "hsb has no folder to keep compiled code in, so each process compiles anew, for some seconds. "
                "Set NUMBA_CACHE_DIR to a folder that can be written.",
                RuntimeWarning,
                stacklevel=2,
            )

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Warning())


class _Patience(event.Listener):
    """Says, once a process, that compiling takes long and will not the next time."""

    def __init__(self) -> None:
        self.deep = 0
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        self.deep += 1
        if self.deep == 1 and self.timer is None:
            self.timer = threading.Timer(LONG, self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        self.deep -= 1
        if self.deep == 0 and self.timer is not None and not self.timer.finished.is_set():
            self.timer.cancel()
            self.timer = None

    def say(self) -> None:
        kept = "" if _without else " Compiled code is kept: each kind of use compiles once."
        print(f"hsb: compiling for its first use, some seconds (`hsb warmup` does it ahead).{kept}", file=sys.stderr)


if os.environ.get("HSB_QUIET") != "1" and "PYTEST_CURRENT_TEST" not in os.environ and "pytest" not in sys.modules:
    event.register("numba:compile", _Patience())
