"""Errors. Each message states what was given, what is needed and how to fix it; the object that raised it is unchanged."""

from typing import Any

MOST = 400  # letters of a value in a message


class InputError(ValueError):
    """An argument cannot be used. The message states what is needed; nothing was changed. It is a `ValueError`.

    >>> import hsb
    >>> hsb.Exp3(arms=0)
    Traceback (most recent call last):
    hsb.errors.InputError: arms must be at least 1; given 0.
    """


class BudgetError(InputError):
    """A valid request that needs more memory or time than the library allows. The message states the limit.

    >>> import hsb
    >>> hsb.KaryTree(k=5000, depth=2)
    Traceback (most recent call last):
    hsb.errors.BudgetError: k=5000: a node may have at most 4,096 children. Use more levels and a smaller k.
    """


class FileError(ValueError):
    """A file is damaged, was not written by this library, or was written by a newer version of it. It is a `ValueError`.

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
    """A policy's state was changed from outside and is no longer valid. Load the policy again. It is a `RuntimeError`.

    >>> import hsb
    >>> issubclass(hsb.BrokenState, RuntimeError)
    True
    """


class StaleDecision(RuntimeError):
    """`Decision.probabilities` was first read after the policy had learned, when they are lost. It is a `RuntimeError`.

    >>> import hsb
    >>> policy = hsb.Exp3(arms=2, seed=0)
    >>> decision = policy.decide(None)
    >>> policy.learn(decision, loss=1.0)
    >>> decision.probabilities  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hsb.errors.StaleDecision: The policy has learned since this decision, ...
    """


def quoted(value: Any) -> str:
    """Format a value for a message: at most a few lines, and even if its `repr` fails.

    >>> quoted([1, "a"]), quoted(10**5000)
    ("[1, 'a']", 'a whole number of 16610 bits')
    """
    if isinstance(value, int) and not -(1 << 1000) < value < 1 << 1000:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, str | bytes) and len(value) > MOST:
        return f"{value[: MOST // 2]!r}... ({len(value)} long)"
    try:
        shown = repr(value)
    except Exception:  # the value's own code runs here, and may raise anything
        return f"something of type {type(value).__name__} that cannot be shown"
    return shown if len(shown) <= MOST else f"{shown[: MOST // 2]} ... {shown[-MOST // 4 :]}"
