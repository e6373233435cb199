"""Errors. Each message says what was given, what is needed and how to fix it; the object it was raised from is unchanged."""

from typing import Any

MOST = 400  # letters of what was given in a message


class InputError(ValueError):
    """An argument cannot be used as given. The message says what is needed; nothing was changed."""


class BudgetError(InputError):
    """What was asked for is legal, but takes more memory or time than the library is willing to begin. The message says how much."""


class FileError(ValueError):
    """A file is damaged, foreign, or written by a newer version."""


class BrokenState(RuntimeError):
    """The numbers that a policy has learned were changed from outside and mean nothing any more."""


class StaleDecision(RuntimeError):
    """A decision was asked for something that the policy can no longer tell, because it has learned since: `Decision.probabilities`."""


def quoted(value: Any) -> str:
    """What was given, as a message shows it: not longer than a few lines, whatever it is, and even where it cannot be shown.

    >>> quoted([1, "a"]), quoted(10**5000)
    ("[1, 'a']", 'a whole number of 16610 bits')
    """
    if isinstance(value, int) and not -(1 << 1000) < value < 1 << 1000:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, str | bytes) and len(value) > MOST:
        return f"{value[: MOST // 2]!r}... ({len(value)} long)"
    try:
        shown = repr(value)
    except Exception:  # of whatever class: its own code runs here
        return f"something of type {type(value).__name__} that cannot be shown"
    return shown if len(shown) <= MOST else f"{shown[: MOST // 2]} ... {shown[-MOST // 4 :]}"
