"""A policy as a feature flag: what its arms stand for, and for how long the same person gets the same one."""

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
    """How OFREP's clients see a policy."""

    sticky: float | None = STICKY
    """Seconds for which a targetingKey keeps its decision; None: each evaluation is a new one."""
    values: Plain | None = None
    """What each arm stands for, all of one type; None: its name. Arms without a value are not available."""

    def plain(self) -> Plain:
        """As it is given."""
        return {"sticky": self.sticky, "values": self.values}

    @property
    def type(self) -> str:
        """Of its values: boolean, number, string or object."""
        return "string" if self.values is None else TYPES[type(next(iter(self.values.values())))]

    def value(self, arm: str) -> Any:
        """What an arm stands for."""
        return arm if self.values is None else self.values[arm]

    def available(self, arms: list[str]) -> list[str] | None:
        """The arms to choose among; None for all."""
        if self.values is None or all(arm in self.values for arm in arms):
            return None
        return [arm for arm in arms if arm in self.values]


def checked_values(given: Any, arms: list[str]) -> Plain | None:
    """The values of arms; InputError where they are none."""
    if given is None:
        return None
    if not isinstance(given, dict) or not given or not set(given) <= set(arms):
        names = ", ".join(map(quoted, arms))
        raise InputError(f"flag.values must be an object with arms for names, {names}, or null; given {quoted(given)}.")
    kinds = {TYPES.get(type(value), "") for value in given.values()}
    if len(kinds) > 1 or "" in kinds:
        raise InputError(f"flag.values must be all true or false, or numbers, or texts, or objects; given {quoted(given)}.")
    try:
        size = len(json.dumps(given, allow_nan=False))
    except (ValueError, RecursionError):
        size = LARGEST + 1
    if size > LARGEST or not _shallow(given, DEEPEST):
        raise InputError(f"flag.values must be JSON of at most {LARGEST:,} letters, nested at most {DEEPEST} deep.")
    return given


def _shallow(value: Any, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return most > 0 and all(_shallow(each, most - 1) for each in inner)


def sticky_id(secret: bytes, key: str, window: float, removed: list[str], wall: int) -> str:
    """The id of the decision that a targetingKey has at a moment, in microseconds: another one after each window, and when arms are removed.

    Windows of different keys begin at different moments, so that not all change at once. Nobody without the secret can tell an id from a key.

    >>> day = 86_400 * 10**6
    >>> [sticky_id(b"secret", "anna", 86_400.0, [], at) == sticky_id(b"secret", "anna", 86_400.0, [], 0) for at in (0, day, 2 * day)]
    [True, False, False]
    """
    span = max(1, round(window * 1e6))
    offset = int.from_bytes(_hash(secret, [key]), "big") % span
    return "of-" + _hash(secret, [key, span, (wall + offset) // span, sorted(removed)]).hex()


def _hash(secret: bytes, what: list[Any]) -> bytes:
    return hashlib.blake2b(json.dumps(["ofrep", *what]).encode(), key=secret[:64], digest_size=16).digest()
