"""An exception at every step of the interpreter, as a signal could raise it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hsb

SOURCE = str(Path(hsb.__file__).parent)


class Interrupt(BaseException):
    """An exception that nothing catches by mistake."""


def interrupted(work: Callable[[], Any], step: int) -> bool:
    """Do the work, but raise before step number `step`; return False if it has fewer steps."""
    left = step

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def every_step(work: Callable[[hsb.Policy], Any], policy: hsb.Policy, stride: int) -> Iterator[hsb.Policy]:
    """Return copies of the policy with the work interrupted: before its first step, then every `stride` steps."""
    step = 0
    while True:
        twin = policy.copy()
        if not interrupted(lambda: work(twin), step):  # noqa: B023
            return
        yield twin
        step += stride
