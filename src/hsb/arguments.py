"""What a policy may be given: each argument checked, with an error that says what was given, what is needed and how to fix it."""

import math
from collections.abc import Hashable, Iterable
from typing import Any, TypeGuard

import numpy as np

from .errors import InputError


def arm_list(arms: int | Iterable[Hashable]) -> list[Hashable]:
    """The arms themselves."""
    if isinstance(arms, bool) or arms is None:
        raise InputError(f"arms must be a number or the arms themselves; given {arms!r}.")
    if isinstance(arms, int | np.integer):
        if arms < 1:
            raise InputError(f"arms must be at least 1; given {arms}.")
        return list(range(int(arms)))
    if isinstance(arms, str | bytes | set | frozenset) or not isinstance(arms, Iterable):
        raise InputError(f"arms must be a number or several arms in a fixed order, e.g. ['a', 'b']; given {arms!r}.")
    found = arms.tolist() if isinstance(arms, np.ndarray) else list(arms)
    if not found or not all(is_hashable(arm) for arm in found) or len(set(found)) != len(found):
        raise InputError(f"arms must be different hashable values, at least one; given {found!r}.")
    return found


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """The policy's own stream. An int is mixed with a constant: a world drawn from default_rng(seed) must not share our numbers."""
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, a numpy.random.Generator or None; given {seed!r}.")
    return np.random.default_rng([int(seed), 0x485342])


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False; given {value!r}.")
    return bool(value)


def floor_share(floor: Any) -> float:
    """The share of decisions that is uniform."""
    if not is_number(floor) or not 0.0 <= floor <= 1.0:
        raise InputError(f"floor must be in [0, 1], the share of decisions played uniformly, e.g. 0.05; given {floor!r}.")
    return float(floor)


def stop_prior(stop: float | None) -> float | None:
    """A prior probability of stopping, or None."""
    if stop is not None and not (is_number(stop) and 0.0 <= stop < 1.0):
        raise InputError(f"stop must be in [0, 1), the prior probability of stopping at a node; given {stop!r}.")
    return None if stop is None else float(stop)


def loss_bounds(given: Any, name: str = "loss_range", *, more: str = "") -> tuple[float, float]:
    """The range of losses; `more` says what else the argument `name` may be."""
    pair = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else ()
    if len(pair) == 2 and all(is_number(v) for v in pair):
        low, high = float(pair[0]), float(pair[1])
        if math.isfinite(high - low) and low < high:
            return low, high
    raise InputError(f"{name} must be (low, high): two numbers, low < high, of finite width{more}; given {given!r}.")


def whole(name: str, value: Any, least: int) -> int:
    """The value as an int of at least `least`, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}; given {value!r}.")
    return int(value)


def is_hashable(value: Any) -> bool:
    """Can it be an arm?"""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_number(value: Any) -> TypeGuard[float]:
    """A real number, and not a boolean."""
    return type(value) is float or (isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool))


def shown(arms: Iterable[Hashable]) -> str:
    """Arms for a message."""
    found = list(arms)
    return repr(found) if len(found) <= 8 else f"[{', '.join(map(repr, found[:6]))}, ... {len(found)} in all]"
