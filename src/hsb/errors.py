"""Errors. Each message says what was given, what is needed and how to fix it; the object it was raised from is unchanged."""

from typing import Any

MOST = 400  # letters of what was given in a message


class InputError(ValueError):
    """An argument cannot be used as given. The message says what is needed; nothing was changed. It is a `ValueError`.

    >>> import hsb
    >>> hsb.Exp3(arms=0)
    Traceback (most recent call last):
    hsb.errors.InputError: arms must be at least 1; given 0.
    """


class BudgetError(InputError):
    """What was asked for is legal, but takes more memory or time than the library is willing to begin. The message says how much.

    >>> import hsb
    >>> hsb.KaryTree(k=5000, depth=2)
    Traceback (most recent call last):
    hsb.errors.BudgetError: k=5000: a node may have at most 4,096 children. Use more levels and a smaller k.
    """


class FileError(ValueError):
    """A file is damaged, is no file of this library, or was written by a newer version of it. It is a `ValueError`.

    >>> import hsb, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "policy.hsb"
    ...     _ = path.write_text("something else")
    ...     try:
    ...         hsb.load(path)
    ...     except hsb.FileError:
    ...         print("this is no policy")
    this is no policy
    """


class BrokenState(RuntimeError):
    """The numbers that a policy has learned were changed from outside and mean nothing any more. Load the policy again. It is a `RuntimeError`.

    >>> import hsb
    >>> issubclass(hsb.BrokenState, RuntimeError)
    True
    """


class StaleDecision(RuntimeError):
    """`Decision.probabilities` was asked for after the policy had learned, when it can no longer tell them. It is a `RuntimeError`.

    >>> import hsb
    >>> policy = hsb.Exp3(arms=2, seed=0)
    >>> decision = policy.decide(None)
    >>> policy.learn(decision, loss=1.0)
    >>> decision.probabilities  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hsb.errors.StaleDecision: The policy has learned since this decision, ...
    """


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
