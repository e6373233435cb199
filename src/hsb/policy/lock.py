"""One policy, several threads and processes: a lock for each policy, and what happens to policies when the process is forked.

Every public method of a policy holds its lock while it runs, so calls from several threads come one after the other. The lock is reentrant:
code that a policy calls (experts, `progress=`, a policy's own `update`) may call the policy back. A call holds one policy's lock only, so
calls cannot wait for each other in a circle.
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

PATIENCE = 0.5  # seconds that a fork waits for threads that are using policies


class Torn:
    """Another thread was using the policy when this process was forked: what is here may be half changed."""

    def redo(self, policy: Policy) -> None:
        """Refuse to go on."""
        raise InputError(
            "Another thread was using this policy when this process was forked, so what is left of it here may be half changed. "
            "Fork before threads use it, or load it from a file in each process."
        )


def watch(policy: Policy) -> None:
    """Give a new policy a lock, and look after it when the process is forked."""
    policy.lock = threading.RLock()
    _alive[id(policy)] = policy


_alive: weakref.WeakValueDictionary[int, Policy] = weakref.WeakValueDictionary()
_held: dict[int, list[Policy]] = {}  # by thread, between the two halves of a fork


def _before_fork() -> None:
    """Wait, for a while, until no other thread is in the middle of changing a policy."""
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
        policy.lock = threading.RLock()  # the threads that held the old one are not here
        if id(policy) in whole:
            _start_own_stream(policy)
        else:
            policy.pending = Torn()


def _start_own_stream(policy: Policy) -> None:
    """Number decisions in a stream of their own, and draw them anew; those made before the fork can still be learned."""
    policy.ledger = policy.ledger.fork(policy.rounds)
    kind: Any = type(policy.rng.bit_generator)
    policy.rng = np.random.Generator(kind())  # seeded by the operating system


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
