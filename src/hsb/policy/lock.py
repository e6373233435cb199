"""One policy, several threads and processes: a lock for each policy, and what becomes of policies when the process is forked.

Every public method of a policy holds its lock while it runs, so that calls from several threads come one after the other, each seeing the
whole of what was done before. The lock is reentrant: code that a policy calls (experts, `progress=`, a policy's own `update`) may call it
back. A call holds one policy's lock only, so calls cannot wait for each other in a circle.
"""

from __future__ import annotations

import functools
import math
import os
import threading
import time
import weakref
from _thread import RLock
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from ..errors import InputError

Method = TypeVar("Method", bound=Callable[..., Any])

PATIENCE = 0.5  # seconds that a fork waits for threads that are using policies

NAMES = {
    "add_arm",
    "remove_arm",
    "probabilities",
    "choose",
    "decide_many",
    "learn_many",
    "explain",
    "certificate",
    "regret_bound",
}
NAMES |= {"decide_rows", "play", "replay_rows", "learn_rows", "distributions", "check", "copy", "save", "digest", "nbytes"}
NAMES |= {
    "propose",
    "propose_many",
    "learn_proposed",
    "to_arrays",
    "take_arrays",
    "resume",
    "coefficients",
    "mapping",
    "weights",
}
"""Public methods and properties that read or change what a policy learned: where a subclass defines them, they hold the lock too."""


def locked(function: Method) -> Method:
    """A method, or a function of a policy, that holds the policy's lock while it runs, and first mends what an interrupt cut."""

    def holding(policy: Any, /, *args: Any, **given: Any) -> Any:
        with policy.guard:
            if policy._open is not None:
                policy._settle()
            return function(policy, *args, **given)

    same = FunctionType(
        holding.__code__, function.__globals__, function.__name__, None, holding.__closure__
    )  # doctests look there
    return functools.wraps(function)(same)  # type: ignore[return-value]


def lock_methods(kind: type) -> None:
    """Let a class hold the lock in all of `NAMES` that it defines itself."""
    for name in NAMES & vars(kind).keys():
        found = vars(kind)[name]
        if isinstance(found, FunctionType) and not hasattr(found, "__wrapped__"):
            setattr(kind, name, locked(found))
        elif isinstance(found, property) and found.fget is not None and not hasattr(found.fget, "__wrapped__"):
            setattr(kind, name, property(locked(found.fget), found.fset, found.fdel, found.__doc__))


class Guard(RLock):  # type: ignore[misc]
    """A reentrant lock. `~guard` takes it as `acquire` does.

    For the two methods that are called most: `~guard`, then try ... finally `release`, takes two thirds of the time of a `with`, and is as
    safe. A signal is heard after a call and never after an operator, so none can come between taking the lock and the `try`.
    """

    __slots__ = ()
    __invert__ = RLock.acquire


class Torn:
    """Another thread was using the policy when this process was forked: what is here may be half changed."""


TORN = Torn()


class Guarded:
    """What has a lock, and is known to this module as long as it lives.

    `_open` is what was begun and not yet finished: None between calls, unless one was interrupted. `_settle` then makes it whole.
    """

    __slots__ = ("_ahead", "_done", "_due", "_open", "_which", "guard")  # no part of what is copied; and quicker than in a dict
    guard: Guard
    _open: Any
    _done: list[Any]
    _ahead: dict[str, Any] | None
    """What a turn changes, while it does."""
    _due: float
    """After how many rounds something is due beside learning; as early as you like."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        lock_methods(cls)

    def _watch(self) -> None:
        """Give it a lock of its own. Called once for each new object: where it is made, copied or unpickled."""
        self.guard = Guard()
        self._idle()
        _alive[id(self)] = self

    def _idle(self) -> None:
        """Nothing has begun."""
        self._open, self._done, self._ahead, self._due = None, [], None, math.inf

    def _settle(self) -> None:
        raise NotImplementedError

    def _after_fork(self) -> None:
        """In a child process: what must differ from the parent's."""
        raise NotImplementedError

    def _refuse_torn(self) -> None:
        if self._open is TORN:
            raise InputError(
                "Another thread was using this policy when this process was forked, so what is left of it here may be half changed. "
                "Fork before threads use it, or load it from a file in each process."
            )


_alive: weakref.WeakValueDictionary[int, Guarded] = weakref.WeakValueDictionary()
_held: dict[int, list[Guarded]] = {}  # by thread, between the two halves of a fork


def _before_fork() -> None:
    """Wait, for a while, until no other thread is in the middle of changing a policy."""
    until, held = time.monotonic() + PATIENCE, _held.setdefault(threading.get_ident(), [])
    for policy in list(_alive.values()):
        if policy.guard.acquire(timeout=max(0.0, until - time.monotonic())):
            held.append(policy)


def _after_in_parent() -> None:
    for policy in _held.pop(threading.get_ident(), []):
        policy.guard.release()


def _after_in_child() -> None:
    whole = set(map(id, _held.pop(threading.get_ident(), [])))
    _held.clear()
    for policy in list(_alive.values()):
        policy.guard = Guard()  # the threads that held the old one are not here
        if id(policy) in whole:
            policy._after_fork()
        else:
            policy._open = TORN


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
