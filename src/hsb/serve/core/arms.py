"""Names of arms."""

from typing import Any

from ...errors import InputError, quoted

MOST_ARMS = 1000
MOST_LETTERS = 256  # of an arm's name
UNFIT = {"\x00", *map(chr, range(0xD800, 0xE000))}  # characters that text in a file cannot hold


def arm_name(value: Any, what: str = "An arm's name") -> str:
    """Check an arm's name."""
    if (
        not isinstance(value, str)
        or not 1 <= len(value) <= MOST_LETTERS
        or not ((value.isascii() and value.isprintable()) or UNFIT.isdisjoint(value))
    ):
        raise InputError(f"{what} must be text of 1 to {MOST_LETTERS} characters; given {quoted(value):.300}.")
    if value in (".", ".."):
        raise InputError(f"An arm cannot be named {quoted(value)}, which has another meaning in a URL. Give it another name.")
    return value


def arm_names(value: Any, what: str = "arms") -> list[str]:
    """Check the arms of a policy, which must differ."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_ARMS:
        raise InputError(f"{what} must be a list of 1 to {MOST_ARMS} names; given {quoted(value)}.")
    names = [arm_name(arm) for arm in value]
    if len(set(names)) < len(names):
        raise InputError(f"{what} must differ; given {quoted(value)}.")
    return names
