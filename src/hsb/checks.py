"""What a policy may be given: each argument checked, with an error that says what was given, what is needed and how to fix it."""

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
LARGEST = 2**63 - 1  # of a whole number, where nothing else is said
NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._~-]{1,64}")
"""Of a served policy, a decision, a reward: a URL needs no escapes for it, and `.` and `..` are steps of a path."""


def arm_list(arms: int | Iterable[Hashable]) -> list[Hashable]:
    """The arms themselves."""
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
    found = listed("arms", arms, MOST_ARMS)
    if not found:
        raise InputError(
            "arms must be at least one; given none. If they are a log's, no row of it can be used: see log.problems."
        )
    if not all(is_label(arm) for arm in found) or len(set(found)) != len(found):
        raise InputError(f"arms must be different hashable values, at least one, none of them NaN; given {quoted(found)}.")
    return found


def listed(name: str, values: Any, most: int) -> list[Any]:
    """Several values in a list, and not more than `most`, however many there are."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} must not be a masked array: its mask would be lost. Leave out what is masked.")
    if (
        not isinstance(values, Iterable)
        or isinstance(values, str | bytes)
        or (isinstance(values, np.ndarray) and not values.ndim)
    ):
        raise InputError(f"{name} must be several values, e.g. a list; given {quoted(values)}.")
    size = len(values) if isinstance(values, Sized) else 0
    found = [] if size > most else values.tolist() if isinstance(values, np.ndarray) else list(islice(values, most + 1))
    if max(size, len(found)) > most:
        raise BudgetError(f"{name} may be {most:,} at most; given {quoted(values)}.")
    return found


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """The policy's own stream. An int is mixed with a constant: a world drawn from default_rng(seed) must not share our numbers."""
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, a numpy.random.Generator or None; given {quoted(seed)}.")
    return np.random.default_rng([int(seed), 0x485342])


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False; given {quoted(value)}.")
    return bool(value)


def floor_share(floor: Any) -> float:
    """The share of decisions that is uniform."""
    if not is_number(floor) or not 0.0 <= floor <= 1.0:
        raise InputError(f"floor must be in [0, 1], the share of decisions played uniformly, e.g. 0.05; given {quoted(floor)}.")
    return float(floor)


def stop_prior(stop: float | None) -> float | None:
    """A prior probability of stopping, or None."""
    if stop is not None and not (is_number(stop) and 0.0 <= stop < 1.0):
        raise InputError(f"stop must be in [0, 1), the prior probability of stopping at a node; given {quoted(stop)}.")
    return None if stop is None else float(stop)


def loss_bounds(given: Any, name: str = "loss_range", *, more: str = "") -> tuple[float, float]:
    """The range of losses; `more` says what else the argument `name` may be."""
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes) and not is_scalar(given)
    pair = tuple(islice(given, 3)) if several else ()
    if len(pair) == 2 and all(is_number(v) for v in pair):
        low, high = float(pair[0]), float(pair[1])
        if math.isfinite(high - low) and low < high:
            return low, high
    raise InputError(f"{name} must be (low, high): two numbers, low < high, of finite width{more}; given {quoted(given)}.")


def whole(name: str, value: Any, least: int, most: int = LARGEST) -> int:
    """The value as an int of at least `least` and at most `most`, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        is_large = isinstance(value, int | np.integer) and value > most
        end = f" and at most {most:,}" if is_large else ""
        raise InputError(f"{name} must be a whole number of at least {least}{end}; given {quoted(value)}.")
    return int(value)


def one_of(name: str, value: Any, choices: Iterable[Any], more: str = "") -> Any:
    """A value that must be one of a few; `more` says what they mean."""
    known = list(choices)
    if not (value is None or isinstance(value, str | bool)) or value not in known:
        raise InputError(f"{name} must be {' or '.join(map(repr, known))}{more}; given {quoted(value)}.")
    return value


def function(name: str, value: Any) -> Any:
    """Something that can be called, or None."""
    if value is not None and not callable(value):
        raise InputError(f"{name} must be a function, or None; given {quoted(value)}.")
    return value


def path_of(name: str, value: Any, *, folder: bool = True) -> Path:
    """A path, not empty, in letters that a file's name may have; with `folder=False` not that of a folder."""
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
    """An array of no dimension, which looks as if it could be iterated over."""
    return isinstance(value, np.ndarray) and not value.ndim


def is_label(value: Any) -> bool:
    """Can it be an arm? Hashable, and equal to itself."""
    try:
        return is_hashable(value) and bool(value == value)
    except Exception:  # of whatever class: its own code runs here
        return False


def is_hashable(value: Any) -> bool:
    """Does it have a hash?"""
    try:
        hash(value)
    except Exception:  # of whatever class: its own code runs here
        return False
    return True


def is_number(value: Any) -> TypeGuard[float]:
    """A real number, and not a boolean."""
    if type(value) is float:
        return True
    if isinstance(value, int):
        return not isinstance(value, bool) and -(1 << 1023) <= value <= 1 << 1023
    return isinstance(value, float | np.floating | np.integer)


def is_int(value: Any, least: int = 0, most: float = math.inf) -> bool:
    """An int from `least` to `most`, as plain data has it: no boolean, and none of NumPy's.

    >>> is_int(3), is_int(True), is_int(-1), is_int(-1, least=-1), is_int(3, most=2)
    (True, False, False, True, False)
    """
    return type(value) is int and least <= value <= most


def is_real(value: Any) -> bool:
    """A real number, also a whole one that is too large for a float.

    >>> is_real(10**400), is_number(10**400), is_real(True)
    (True, False, False)
    """
    return is_number(value) or (isinstance(value, int) and not isinstance(value, bool))


def shown(arms: Iterable[Hashable]) -> str:
    """Arms for a message."""
    found = list(arms)
    return quoted(found) if len(found) <= 8 else f"[{', '.join(map(quoted, found[:6]))}, ... {len(found)} in all]"


def check_u(u: Any) -> None:
    """Refuse what is no number in [0, 1)."""
    if not (is_number(u) and 0.0 <= u < 1.0):
        raise InputError(f"u must be in [0, 1), a number; given {quoted(u)}.")
