"""Libraries that only some logs need."""

from importlib import import_module
from typing import Any

from ..errors import InputError


def need(name: str) -> Any:
    """The module of a library that comes with hsb[logs], imported now; InputError where it is not installed.

    >>> need("json").dumps(1)
    '1'
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"This needs {name.partition('.')[0]} ({error}). Install it: pip install 'hsb[logs]'.") from None
