"""What the functions of this package may be given."""

import math
import sys

from ..arguments import is_number, whole
from ..errors import InputError
from ..structures import Structure


def check_structure(structure: Structure) -> None:
    """A structure."""
    if not isinstance(structure, Structure):
        raise InputError(f"A structure is needed, e.g. hsb.BinaryTree(depth=10); given {structure!r}.")


def check_horizon(horizon: float) -> None:
    """A number of rounds."""
    if not is_number(horizon) or not 1 <= horizon < math.inf:
        raise InputError(f"horizon must be a number of rounds, at least 1; given {horizon!r}.")


def check_rate(learning_rate: float, most: float = sys.float_info.max) -> None:
    """A rate above 0."""
    if not is_number(learning_rate) or not 0 < learning_rate <= most:
        raise InputError(f"learning_rate must be a positive number; given {learning_rate!r}.")


def check_at_least_zero(name: str, value: float) -> None:
    """A number of at least 0; infinity may be."""
    if not is_number(value) or not value >= 0:
        raise InputError(f"{name} must be a number of at least 0; given {value!r}.")


def counted(arms: int, regions: int | None) -> tuple[int, int]:
    """Arms and regions as ints; as many regions as arms where none are given."""
    arms = whole("arms", arms, 1)
    return arms, whole("regions", arms if regions is None else regions, 1)
