"""Checks of arguments. Each error states what was given, what is needed and how to fix it."""

import math
import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sized
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from .errors import BudgetError, InputError, quoted

MOST_ARMS = 10**7
LARGEST = 2**63 - 1  # the default upper limit of a whole number
NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._~-]{1,64}")
"""The name of a served policy, a decision or a reward. A URL needs no escapes for it; `.` and `..` are excluded, as steps of a path."""


def arm_list(arms: int | Iterable[Hashable]) -> list[Hashable]:
    """Check `arms`, a number or the arms themselves, and return the list of arms."""
    if isinstance(arms, np.ndarray) and not arms.ndim:
        arms = arms.item()
    if isinstance(arms, bool) or arms is None:
        raise InputError(f"arms must be a number or the arms themselves; given {quoted(arms)}.")
    if isinstance(arms, int | np.integer):
        if arms < 1:
            raise InputError(f"arms must be at least 1; given {quoted(arms)}.")
        if arms > MOST_ARMS:
            raise BudgetError(f"arms may be {MOST_ARMS:,} at most; given {quoted(arms)}. Offer fewer at a time.")
        return list(range(int(arms)))
    if isinstance(arms, str | bytes | set | frozenset | Mapping) or not isinstance(arms, Iterable):
        raise InputError(f"arms must be a number or several arms in a fixed order, e.g. ['a', 'b']; given {quoted(arms)}.")
    labels = listed("arms", arms, MOST_ARMS)
    if not labels:
        raise InputError(
            "arms must be at least one; given an empty list. If these are a log's arms, no row can be used: see log.problems."
        )
    if not all(is_label(arm) for arm in labels) or len(set(labels)) != len(labels):
        raise InputError(f"arms must be different hashable values, at least one, none of them NaN; given {quoted(labels)}.")
    return labels


def listed(name: str, values: Any, most: int) -> list[Any]:
    """Return several values as a list. Raises `BudgetError` for more than `most`, without reading further."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} must not be a masked array: its mask would be lost. Leave out the masked values.")
    if (
        not isinstance(values, Iterable)
        or isinstance(values, str | bytes)
        or (isinstance(values, np.ndarray) and not values.ndim)
    ):
        raise InputError(f"{name} must be several values, e.g. a list; given {quoted(values)}.")
    size = len(values) if isinstance(values, Sized) else 0
    items = [] if size > most else values.tolist() if isinstance(values, np.ndarray) else list(islice(values, most + 1))
    if max(size, len(items)) > most:
        raise BudgetError(f"{name} may be {most:,} at most; given {quoted(values)}.")
    return items


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """Return a policy's random generator. An int is mixed with a constant, so that data drawn from default_rng(seed) is independent of it."""
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, a numpy.random.Generator or None; given {quoted(seed)}.")
    return np.random.default_rng([int(seed), 0x485342])


def flag(name: str, value: Any) -> bool:
    """Check that `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False; given {quoted(value)}.")
    return bool(value)


def floor_share(floor: Any) -> float:
    """Check the share of decisions that are uniform."""
    if not is_number(floor) or not 0.0 <= floor <= 1.0:
        raise InputError(f"floor must be in [0, 1], the share of decisions played uniformly, e.g. 0.05; given {quoted(floor)}.")
    return float(floor)


def stop_prior(stop: float | None) -> float | None:
    """Check a prior probability of stopping at a node, or None."""
    if stop is not None and not (is_number(stop) and 0.0 <= stop < 1.0):
        raise InputError(f"stop must be in [0, 1), the prior probability of stopping at a node; given {quoted(stop)}.")
    return None if stop is None else float(stop)


def loss_bounds(bounds: Any, name: str = "loss_range", *, more: str = "") -> tuple[float, float]:
    """Check a range of losses (low, high); `more`, for the message, is what else the argument `name` may be."""
    several = isinstance(bounds, Iterable) and not isinstance(bounds, str | bytes) and not is_scalar(bounds)
    pair = tuple(islice(bounds, 3)) if several else ()
    if len(pair) == 2 and all(is_number(v) for v in pair):
        low, high = float(pair[0]), float(pair[1])
        if math.isfinite(high - low) and low < high:
            return low, high
    raise InputError(f"{name} must be (low, high): two numbers, low < high, of finite width{more}; given {quoted(bounds)}.")


def whole(name: str, value: Any, least: int, most: int = LARGEST) -> int:
    """Check that `value` is a whole number from `least` to `most` and return it as an int; `name` is the argument."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        is_large = isinstance(value, int | np.integer) and value > most
        end = f" and at most {most:,}" if is_large else ""
        raise InputError(f"{name} must be a whole number of at least {least}{end}; given {quoted(value)}.")
    return int(value)


def one_of(name: str, value: Any, choices: Iterable[Any], more: str = "") -> Any:
    """Check that `value` is one of `choices`; `more`, for the message, is what they mean."""
    known = list(choices)
    if not (value is None or isinstance(value, str | bool)) or value not in known:
        raise InputError(f"{name} must be {' or '.join(map(repr, known))}{more}; given {quoted(value)}.")
    return value


def function(name: str, value: Any) -> Any:
    """Check that `value` can be called, or is None."""
    if value is not None and not callable(value):
        raise InputError(f"{name} must be a function, or None; given {quoted(value)}.")
    return value


def path_of(name: str, value: Any, *, folder: bool = True) -> Path:
    """Check that `value` can be the path of a file; with `folder=False` it must not be a folder."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"{name} must be the path of a file; given {quoted(value)}.")
    try:
        longest = max(map(len, os.fsencode(text).split(b"/")))
    except UnicodeEncodeError:
        raise InputError(f"{name} has letters that no file's name can have; given {quoted(value)}.") from None
    if longest > 255 or len(text) > 4000:
        raise InputError(f"{name} is too long for the path of a file; given {quoted(value)}.")
    path = Path(text)
    if not folder and path.is_dir():
        raise InputError(f"{name} must be the path of a file; {text!r} is a folder. Name a file in it.")
    return path


def is_scalar(value: Any) -> bool:
    """Is it an array without dimensions? It has `__iter__`, but iteration fails."""
    return isinstance(value, np.ndarray) and not value.ndim


def is_label(value: Any) -> bool:
    """Can it be an arm: hashable, and equal to itself?"""
    try:
        return is_hashable(value) and bool(value == value)
    except Exception:  # the value's own code runs here, and may raise anything
        return False


def is_hashable(value: Any) -> bool:
    """Is it hashable?"""
    try:
        hash(value)
    except Exception:  # the value's own code runs here, and may raise anything
        return False
    return True


def is_number(value: Any) -> TypeGuard[float]:
    """Is it a real number, and not a boolean?"""
    if type(value) is float:
        return True
    if isinstance(value, int):
        return not isinstance(value, bool) and -(1 << 1023) <= value <= 1 << 1023
    return isinstance(value, float | np.floating | np.integer)


def is_int(value: Any, least: int = 0, most: float = math.inf) -> bool:
    """Is it a Python int from `least` to `most`, neither a boolean nor a NumPy integer?

    >>> is_int(3), is_int(True), is_int(-1), is_int(-1, least=-1), is_int(3, most=2)
    (True, False, False, True, False)
    """
    return type(value) is int and least <= value <= most


def is_real(value: Any) -> bool:
    """Is it a real number? Whole numbers that are too large for a float count too.

    >>> is_real(10**400), is_number(10**400), is_real(True)
    (True, False, False)
    """
    return is_number(value) or (isinstance(value, int) and not isinstance(value, bool))


def format_arms(arms: Iterable[Hashable]) -> str:
    """Format arms for a message."""
    labels = list(arms)
    return quoted(labels) if len(labels) <= 8 else f"[{', '.join(map(quoted, labels[:6]))}, ... {len(labels)} in all]"


def check_u(u: Any) -> None:
    """Raise `InputError` unless `u` is a number in [0, 1)."""
    if not (is_number(u) and 0.0 <= u < 1.0):
        raise InputError(f"u must be in [0, 1), a number; given {quoted(u)}.")
