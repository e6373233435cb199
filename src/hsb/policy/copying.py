"""A policy as a whole: copies of it, its file, its fingerprint, and what becomes of it in another process."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..checks import generator
from ..files.json_values import encode_arm
from ..types import Arrays, Seed
from .arms import Offer
from .ledger import Ledger
from .lock import locked
from .tables import Bulk

KINDS = {"f": "<f8", "i": "<i8", "u": "<u8"}


class Kept(Bulk):
    """What there is to do with a policy beside playing it."""

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        """Of a policy that takes contexts by name: a dict of the features that it knows and their kinds; of others None."""
        return None

    def to_arrays(self) -> Arrays:
        """All that it learned, by name."""
        raise NotImplementedError

    def take_arrays(self, arrays: Arrays) -> None:
        """Take over what `to_arrays` gave, in a fresh policy; ValueError where it does not fit."""
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments, as plain data."""
        raise NotImplementedError

    def _refresh(self) -> None:
        raise NotImplementedError

    def copy(self, *, seed: Seed = None) -> Self:
        """An independent policy in the same state. `seed` gives it random numbers of its own; None copies these too.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> policy.copy().decide(0.3).arm == policy.decide(0.3).arm
        True
        """
        twin = self._twin()
        twin.ledger = self.ledger.fork(self.rounds)
        if seed is not None:
            twin.rng = generator(seed)
        twin._refresh()
        return twin

    def _twin(self) -> Self:
        """One of the same moment that shares nothing which is ever written to; look-up tables and scratch apart, which `_refresh` makes."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin._watch()
        twin.offer = self.offer.copy()
        twin.arms = twin.offer.arms
        twin.rng = copy.deepcopy(self.rng)
        twin.ledger = self.ledger.same()
        twin.loss_scale = self.loss_scale.copy()
        twin._detach()
        return twin

    def _detach(self) -> None:
        """Copy the state, in a policy that still shares it with another."""
        shared = ("offer", "arms", "rng", "ledger", "loss_scale")
        for name, value in vars(self).items():
            if name not in shared:
                setattr(self, name, copy.deepcopy(value))

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    @locked
    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self._twin()))

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update({name: _writable(value) for name, value in state.items()})
        self._watch()
        self.ledger = self.ledger.fork(self.rounds)
        self._refresh()

    @locked
    def become(self, other: Self) -> None:
        """Take over the state of `other`, a policy of the same kind that is not used any more: how a replay goes on from a checkpoint."""
        found = {"ledger": other.ledger.fork(other.rounds), "version": max(self.version, other.version) + 1}
        vars(self).update(vars(other) | found)  # one step: an interrupt leaves the one or the other
        self._due = 0

    def _take_over(self, twin: Self) -> None:
        """Go on as a twin that was changed; numbers of decisions and random numbers stay."""
        kept = {"ledger": self.ledger, "rng": self.rng, "version": max(self.version, twin.version) + 1}
        vars(self).update(vars(twin) | kept)
        self._due = 0

    def _offer(self, offer: Offer) -> None:
        """Go on with other arms on offer, the same ones in all."""
        self._begin()
        try:
            vars(self).update(offer=offer, arms=offer.arms)
            self._refresh()
            self._open = None
        except BaseException:
            self._settle()
            raise

    def resume(self, arrays: Arrays, *, removed: Iterable[Hashable], rounds: int, clipped: int, ledger: Ledger) -> None:
        """Go on, in a fresh policy, where another was: what a file holds of it."""
        self.take_arrays(arrays)
        for arm in removed:
            self.offer.remove(arm)
        self.rounds, self.clipped, self.ledger = rounds, clipped, ledger.fork(rounds)
        self._refresh()

    def save(self, path: str | Path) -> None:
        """Write the policy to a file: versioned, no code inside, written whole or not at all. `hsb.load` reads it back.

        Arms must be None, booleans, numbers, strings or tuples of these, else `InputError` is raised and nothing is written.

        >>> import hsb, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hsb.Exp3(arms=["a", "b"]).save(pathlib.Path(folder) / "policy.hsb")
        ...     hsb.load(pathlib.Path(folder) / "policy.hsb").arms
        ['a', 'b']
        """
        from ..files.policy_file import save

        save(self, path)  # type: ignore[arg-type]

    def digest(self) -> str:
        """A fingerprint, 64 hexadecimal digits: equal where kind, settings, arms and all that was learned are equal, however that came about.

        Random numbers, the list of decisions made and learned, and counts of what was clipped are no part of it: two policies with the same
        digest play the same for the same context and `u`. Arms and settings must be such that the policy could be saved.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> before = policy.digest()
        >>> policy.copy(seed=7).digest() == before
        True
        >>> policy.learn(policy.decide(0.3), loss=1.0)
        >>> policy.digest() == before
        False
        """
        scale = self.loss_scale.plain_data()
        scale.pop("clipped_losses", None)
        what = {
            "policy": type(self).__name__,
            "settings": self.settings(),
            "arms": [encode_arm(arm) for arm in self.arms],
            "removed": [encode_arm(arm) for arm in self.arms if arm in self.offer.removed],
            "scale": scale,
            "floor": self.floor,
            "rounds": self.rounds,
        }
        digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode())
        for name, array in sorted(self.to_arrays().items()):
            digest.update(f"\n{name} {array.dtype.kind} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array.astype(KINDS[array.dtype.kind])).tobytes())
        return digest.hexdigest()

    def _after_fork(self) -> None:
        """Decisions of a child process have numbers in a stream of their own, and are drawn anew; those made before can still be learned."""
        self.ledger = self.ledger.fork(self.rounds)
        kind: Any = type(self.rng.bit_generator)
        self.rng = np.random.Generator(kind())  # seeded by the operating system


def _writable(value: Any, seen: set[int] | None = None) -> Any:
    """What was unpickled, its arrays such that kernels may write to them: those mapped from a file are read into memory."""
    if isinstance(value, np.ndarray):
        return value if type(value) is np.ndarray and value.flags.writeable else np.array(value)
    seen = set() if seen is None else seen
    if id(value) in seen:
        return value
    seen.add(id(value))
    if isinstance(value, tuple):
        parts = [_writable(part, seen) for part in value]
        same = all(one is other for one, other in zip(parts, value, strict=True))
        return value if same else type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        value[:] = [_writable(part, seen) for part in value]
    elif isinstance(value, dict):
        value.update({name: _writable(part, seen) for name, part in value.items()})
    elif type(value).__module__.startswith("hsb.") and hasattr(value, "__dict__") and not isinstance(value, Bulk | type):
        for name, part in list(vars(value).items()):
            changed = _writable(part, seen)
            if changed is not part:
                object.__setattr__(value, name, changed)
    return value
