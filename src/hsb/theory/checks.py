"""Checks of the arguments of this package's functions."""

import math
import sys

from ..checks import is_number, is_real, whole
from ..errors import InputError, quoted
from ..structures import Structure

MOST = sys.float_info.max  # rounds


def check_structure(structure: Structure) -> None:
    """A structure."""
    if not isinstance(structure, Structure):
        raise InputError(f"A structure is needed, e.g. hsb.BinaryTree(depth=10); given {quoted(structure)}.")


def check_horizon(horizon: float) -> None:
    """A number of rounds."""
    if not is_number(horizon) or not 1 <= horizon <= MOST:
        most = f", and at most {MOST:g}" if is_real(horizon) and MOST < horizon != math.inf else ""
        raise InputError(f"horizon must be a number of rounds, at least 1{most}; given {quoted(horizon)}.")


def check_rate(learning_rate: float, most: float = sys.float_info.max, name: str = "learning_rate") -> None:
    """A rate above 0."""
    if not is_number(learning_rate) or not 0 < learning_rate <= most:
        raise InputError(f"{name} must be a positive number; given {quoted(learning_rate)}.")


def check_at_least_zero(name: str, value: float) -> None:
    """A number of at least 0; infinity may be."""
    if not is_number(value) or not value >= 0:
        raise InputError(f"{name} must be a number of at least 0; given {quoted(value)}.")


def check_counts(arms: int, regions: int | None) -> tuple[int, int]:
    """Return arms and regions as ints; by default as many regions as arms."""
    arms = whole("arms", arms, 1)
    return arms, whole("regions", arms if regions is None else regions, 1)
