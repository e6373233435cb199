"""A policy as a feature flag: values of its arms, and how long a person keeps the same arm."""

import hashlib
import json
from typing import Any, NamedTuple

from ...errors import InputError, quoted
from .kinds import Plain

STICKY = 86_400.0  # seconds, by default
DEEPEST = 32
LARGEST = 16_384  # letters of all values as JSON
TYPES = {bool: "boolean", int: "number", float: "number", str: "string", dict: "object"}


class FlagSettings(NamedTuple):
    """Settings for OFREP's clients."""

    sticky: float | None = STICKY
    """Seconds for which a targetingKey keeps its decision; None: each evaluation is a new one."""
    values: Plain | None = None
    """The value of each arm, all of one type; None: its name. Arms without a value are not available."""

    def plain(self) -> Plain:
        """Return the settings as plain data."""
        return {"sticky": self.sticky, "values": self.values}

    @property
    def type(self) -> str:
        """The type of the values: boolean, number, string or object."""
        return "string" if self.values is None else TYPES[type(next(iter(self.values.values())))]

    def value(self, arm: str) -> Any:
        """Return the value of an arm."""
        return arm if self.values is None else self.values[arm]

    def available(self, arms: list[str]) -> list[str] | None:
        """Return the arms to choose from; None for all."""
        if self.values is None or all(arm in self.values for arm in arms):
            return None
        return [arm for arm in arms if arm in self.values]


def check_values(values: Any, arms: list[str] | None) -> Plain | None:
    """Check the values of arms; `arms` is None if they come with each request. Raises InputError if they are invalid."""
    if values is None:
        return None
    if arms is None:
        raise InputError(
            "flag.values: the arms of this policy come with each request, and an arm's name is the value of the flag. Leave flag.values out."
        )
    if not isinstance(values, dict) or not values or not set(values) <= set(arms):
        names = ", ".join(map(quoted, arms))
        raise InputError(
            f"flag.values must be null or an object whose names are arms, which are {names}; given {quoted(values)}."
        )
    kinds = {TYPES.get(type(value), "") for value in values.values()}
    if len(kinds) > 1 or "" in kinds:
        raise InputError(f"flag.values must be of one type: true or false, numbers, texts or objects; given {quoted(values)}.")
    try:
        size = len(json.dumps(values, allow_nan=False))
    except (ValueError, RecursionError):
        size = LARGEST + 1
    if size > LARGEST or not _shallow(values, DEEPEST):
        raise InputError(f"flag.values must be JSON of at most {LARGEST:,} letters, nested at most {DEEPEST} levels deep.")
    return values


def _shallow(value: Any, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return most > 0 and all(_shallow(each, most - 1) for each in inner)


def sticky_id(secret: bytes, key: str, window: float, removed: list[str], wall: int) -> str:
    """Return the id of a targetingKey's decision at the time `wall`, in microseconds.

    The id changes after each window of `window` seconds, and whenever arms are removed. Windows of different keys begin at different times,
    so that not all change at once. Without the secret, nobody can compute the id of a key.

    >>> day = 86_400 * 10**6
    >>> [sticky_id(b"secret", "anna", 86_400.0, [], at) == sticky_id(b"secret", "anna", 86_400.0, [], 0) for at in (0, day, 2 * day)]
    [True, False, False]
    """
    span = max(1, round(window * 1e6))
    offset = int.from_bytes(_hash(secret, [key]), "big") % span
    return "of-" + _hash(secret, [key, span, (wall + offset) // span, sorted(removed)]).hex()


def _hash(secret: bytes, what: list[Any]) -> bytes:
    return hashlib.blake2b(json.dumps(["ofrep", *what]).encode(), key=secret[:64], digest_size=16).digest()
