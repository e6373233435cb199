"""Copies of a whole policy: `copy`, `pickle`, the digest, and taking over the state of another."""

from __future__ import annotations

import copy as copies
import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..checks import generator
from ..files.json_values import encode_arm
from ..types import Arrays, Seed
from . import lock
from .arms import ArmSet
from .custom import CustomLearner
from .ledger import Ledger
from .transaction import replace, settle

if TYPE_CHECKING:
    from .policy import Policy

    Kind = TypeVar("Kind", bound=Policy)

STORED = {"f": "<f8", "i": "<i8", "u": "<u8"}  # the dtype in a file, by the kind of an array's dtype
IMMUTABLE = ("arm_set", "floor", "rounds", "clipped")  # never changed in place
HANDLED = ("lock", "pending", "learner", "rng", "ledger", "loss_scale", *IMMUTABLE)  # the rest are a subclass's attributes


def copy(policy: Kind, seed: Seed = None) -> Kind:
    """Return an independent policy in the same state. Its decisions belong to a new lineage."""
    other = _clone(policy)
    other.ledger = policy.ledger.fork(policy.rounds)
    if seed is not None:
        other.rng = generator(seed)
    return other


def _clone(policy: Kind) -> Kind:
    """Return a policy in the same state and lineage that shares no memory which is ever written to."""
    other = object.__new__(type(policy))
    other.pending = None
    for name in IMMUTABLE:
        setattr(other, name, getattr(policy, name))
    other.rng = copies.deepcopy(policy.rng)
    other.ledger, other.loss_scale = policy.ledger.clone(), policy.loss_scale.copy()
    for name, value in vars(policy).items():
        if name not in HANDLED:
            setattr(other, name, copies.deepcopy(value))
    other.learner = policy.learner.of(other) if hasattr(policy.learner, "of") else policy.learner.copy()
    lock.watch(other)  # only now: a fork changes whatever is watched
    return other


def to_pickle(policy: Policy) -> dict[str, Any]:
    """Return the state that pickle keeps."""
    state = {name: value for name, value in vars(_clone(policy)).items() if name not in ("lock", "pending")}
    if hasattr(policy.learner, "of"):  # a user's policy is its own learner
        state["learner"] = policy.learner.rounds
    return state


def from_pickle(policy: Policy, state: Mapping[str, Any]) -> None:
    """Restore the state that `to_pickle` returned, as a copy with a new lineage."""
    policy.pending = None
    for name, value in state.items():
        setattr(policy, name, writable(value))
    if isinstance(state["learner"], int):
        policy.learner = CustomLearner(policy, state["learner"])
    policy.ledger = policy.ledger.fork(policy.rounds)
    lock.watch(policy)


def adopt(policy: Kind, other: Kind) -> None:
    """Take over the state of `other`, a policy of the same class that is not used afterwards. A replay resumes a checkpoint so."""
    with policy.lock:
        settle(policy)
        state = {name: value for name, value in vars(other).items() if name not in ("lock", "pending")}
        if hasattr(other.learner, "of"):
            state["learner"] = other.learner.of(policy)
        replace(policy, **state | {"ledger": other.ledger.fork(other.rounds)})


def resume(policy: Policy, arrays: Arrays, *, removed: Iterable[Hashable], rounds: int, clipped: int, ledger: Ledger) -> None:
    """Put the state that a file holds into a fresh policy; ValueError if its arrays do not fit."""
    policy.learner = policy.learner.from_arrays(arrays, rounds)
    policy.arm_set = ArmSet(policy.arms, removed)
    policy.rounds, policy.clipped, policy.ledger = rounds, clipped, ledger.fork(rounds)


def to_plain_data(policy: Policy) -> dict[str, Any]:
    """Return class, settings and arms of a policy as plain data."""
    return {
        "policy": type(policy).__name__,
        "settings": policy.settings(),
        "arms": [encode_arm(arm) for arm in policy.arms],
        "removed": [encode_arm(arm) for arm in policy.arms if arm in policy.arm_set.removed],
    }


def digest(policy: Policy) -> str:
    """Return the fingerprint of `Policy.digest`."""
    scale = policy.loss_scale.plain_data()
    scale.pop("clipped_losses", None)
    description = {**to_plain_data(policy), "scale": scale, "floor": policy.floor, "rounds": policy.rounds}
    total = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    add_arrays(total, policy.to_arrays())
    return total.hexdigest()


def add_arrays(total: Any, arrays: Arrays) -> None:
    """Add arrays to a running hash, by name."""
    for name, array in sorted(arrays.items()):
        total.update(f"\n{name} {array.dtype.kind} {array.shape}\n".encode())
        total.update(np.ascontiguousarray(array.astype(STORED[array.dtype.kind])).tobytes())


def writable(value: Any, seen: set[int] | None = None) -> Any:
    """Return an unpickled value with writable arrays, as kernels need: arrays mapped from a file are copied into memory."""
    if isinstance(value, np.ndarray):
        return value if type(value) is np.ndarray and value.flags.writeable else np.array(value)
    seen = set() if seen is None else seen
    if id(value) in seen:
        return value
    seen.add(id(value))
    if isinstance(value, tuple):
        parts = [writable(part, seen) for part in value]
        same = all(one is other for one, other in zip(parts, value, strict=True))
        return value if same else type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        value[:] = [writable(part, seen) for part in value]
    elif isinstance(value, dict):
        value |= {name: writable(part, seen) for name, part in value.items()}
    elif type(value).__module__.startswith("hsb.") and not isinstance(value, type):
        for name, part in attributes(value).items():
            changed = writable(part, seen)
            if changed is not part:
                object.__setattr__(value, name, changed)
    return value


def attributes(value: Any) -> dict[str, Any]:
    """Return the instance attributes of an object, in its dict or its slots."""
    values = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        values |= {name: getattr(value, name) for name in getattr(kind, "__slots__", ()) if hasattr(value, name)}
    return values
