"""Helpers of `tests/test_checks.py`, shared with other tests."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import hsb


def refused(call: Callable[[], Any], fragments: list[str], error: type[Exception] = hsb.InputError) -> str:
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    for fragment in fragments:
        assert fragment in message, message
    assert len(message) < 700 and message.endswith(".") and not re.search("ndarray|numba", message), message
    return message
