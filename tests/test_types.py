"""The short names of arrays mean what NumPy makes."""

import typing

import numpy as np
import pytest

from hsb import types


@pytest.mark.parametrize(
    ("name", "kind"), [("Floats", np.float64), ("Ints", np.int64), ("Flags", np.bool_), ("Masks", np.uint8)]
)
def test_a_name_stands_for_arrays_of_one_kind(name, kind):
    _, dtype = typing.get_args(getattr(types, name))
    assert typing.get_args(dtype) == (kind,)
