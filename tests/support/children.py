"""Helpers of `tests/policy/test_processes.py`, shared with other tests."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def in_child(work: Callable[[], Any]) -> Any:
    """Return the result of the work in a forked process."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        result = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(result)
