"""Making pandas data frames. Pandas is imported on the first call, and by no other module of hsb."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .errors import InputError


def data_frame(rows: Sequence[Any], columns: Sequence[str] | None = None) -> Any:
    """Make a data frame of `rows`: dicts, or tuples whose names are `columns`. Raises InputError if pandas is not installed."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise InputError(f"A data frame needs pandas ({error}). Install it: pip install pandas.") from None
    return pandas.DataFrame(rows, columns=columns)
