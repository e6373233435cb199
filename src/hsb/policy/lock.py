"""One lock for each policy, and the care of policies when the process forks.

Every public method of a policy holds its lock, so calls from several threads run one after the other. The lock is reentrant: code that a
policy calls (experts, `progress=`, a subclass's `update`) may call the policy back. A call holds the lock of one policy only, so there are no
deadlocks.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from .policy import Policy

PATIENCE = 0.5  # seconds that a fork waits for threads that use policies


class Torn:
    """The pending change of a policy that another thread was using at the fork: its state may be half changed."""

    def redo(self, policy: Policy) -> None:
        """Raise InputError: the policy cannot be used here."""
        raise InputError(
            "Another thread was using this policy when this process was forked, so its state here may be half changed. "
            "Fork before threads use it, or load it from a file in each process."
        )


def watch(policy: Policy) -> None:
    """Give a new policy a lock, and take care of it when the process forks."""
    policy.lock = threading.RLock()
    _alive[id(policy)] = policy


_alive: weakref.WeakValueDictionary[int, Policy] = weakref.WeakValueDictionary()
_held: dict[int, list[Policy]] = {}  # by thread, from before a fork until after it


def _before_fork() -> None:
    """Wait at most PATIENCE seconds until no other thread is changing a policy."""
    until, held = time.monotonic() + PATIENCE, _held.setdefault(threading.get_ident(), [])
    for policy in list(_alive.values()):
        if policy.lock.acquire(timeout=max(0.0, until - time.monotonic())):
            held.append(policy)


def _after_in_parent() -> None:
    for policy in _held.pop(threading.get_ident(), []):
        policy.lock.release()


def _after_in_child() -> None:
    whole = set(map(id, _held.pop(threading.get_ident(), [])))
    _held.clear()
    for policy in list(_alive.values()):
        policy.lock = threading.RLock()  # the threads that held the old lock do not exist here
        if id(policy) in whole:
            _begin_lineage(policy)
        else:
            policy.pending = Torn()


def _begin_lineage(policy: Policy) -> None:
    """Begin a new lineage with new random numbers; decisions made before the fork can still be learned."""
    policy.ledger = policy.ledger.fork(policy.rounds)
    kind: Any = type(policy.rng.bit_generator)
    policy.rng = np.random.Generator(kind())  # seeded by the operating system


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
