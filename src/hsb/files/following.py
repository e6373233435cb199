"""`Following`: decides by the policy in a file that another process writes, and reloads the file when it changes."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Hashable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, overload

from numpy.typing import ArrayLike

from ..checks import is_number, path_of
from ..errors import FileError, InputError, quoted
from ..features.request import RequestArms
from ..policy import Decision, Decisions, Policy, Slate
from ..policy.ledger import Ledger
from ..types import Available, Floats, Seed
from .policy_file import load

LOG = logging.getLogger("hsb")


class Following:
    """Decides by the policy in a file, and reloads the file in the background when it is replaced.

    One process learns and saves; any number of others decide, each with a `Following`. No decision waits for a load: a thread checks the file
    and loads it, and the policy changes between two decisions. All decisions belong to one lineage and use one random generator, however often
    the file is loaded. So `decision.id` is unique, and the process that learns remembers few lineages.

    If the file is deleted or damaged, the last policy that was read continues to decide. `error` and a line in the log `hsb` have the reason
    until the file can be read again.

    It does not learn: send `decision.to_dict()` and the reward to the process that does.

    - `path`: the file that `policy.save` writes. Symbolic links are resolved at each check.
    - `every`: seconds between checks. None: only `refresh()` checks, e.g. called by your scheduler.
    - `seed`: seed of the random numbers of the decisions. Default: fresh ones, which each process needs.
    - `given`: as for `hsb.load`.

    Raises `FileError` or `FileNotFoundError` if the file holds no policy at the start.

    >>> import hsb, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, learner = pathlib.Path(folder) / "policy.hsb", hsb.HSB(arms=["a", "b"], seed=0)
    ...     learner.save(path)
    ...     with hsb.Following(path, every=None) as following:
    ...         first = following.decide({"device": "ios"})
    ...         learner.learn(first, reward=1.0)
    ...         learner.save(path)
    ...         following.refresh(), following.rounds, following.decide({"device": "ios"}).number
    (True, 1, 1)
    """

    def __init__(self, path: str | Path, *, every: float | None = 1.0, seed: Seed = None, **given: Any) -> None:
        if every is not None and (not is_number(every) or not 0.0 < every <= 1e6):
            raise InputError(f"every must be the seconds between checks of the file, above 0, or None; given {quoted(every)}.")
        self.path = path_of("path", path, folder=False)
        self.every, self.given = every, given
        self.loads = 1  # number of times that the file was read
        self.error: str | None = None  # why the last check could not read the file; None if it could
        self._stamp = _stamp(self.path)
        self._policy = load(self.path, seed=seed, **given)
        self._policy.ledger = Ledger(learns=False)
        self._one_load, self._end = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        _alive.add(self)
        self._start()

    # -- deciding --------------------------------------------------------------------------------------------------------

    @overload
    def decide(
        self, context: Any = None, *, k: None = None, arms: Any = None, available: Any = None, u: Any = None
    ) -> Decision: ...
    @overload
    def decide(self, context: Any = None, *, k: int, arms: Any = None, available: Any = None, u: Any = None) -> Slate: ...
    def decide(
        self,
        context: Any = None,
        *,
        k: int | None = None,
        arms: RequestArms | None = None,
        available: Available = None,
        u: float | None = None,
    ) -> Decision | Slate:
        """`Policy.decide` of the policy that was read last."""
        return self.policy.decide(context, k=k, arms=arms, available=available, u=u)

    def decide_many(
        self,
        contexts: ArrayLike | Iterable[Any],
        *,
        available: ArrayLike | Iterable[Iterable[Hashable] | None] | None = None,
        u: ArrayLike | None = None,
    ) -> Decisions:
        """`Policy.decide_many` of the policy that was read last."""
        return self.policy.decide_many(contexts, available=available, u=u)

    def probabilities(
        self, context: Any = None, *, arms: RequestArms | None = None, available: Available = None, slot: int = 0
    ) -> Floats:
        """`Policy.probabilities` of the policy that was read last."""
        return self.policy.probabilities(context, arms=arms, available=available, slot=slot)

    @property
    def policy(self) -> Policy:
        """The policy that was read last. Its `learn` raises `InputError`."""
        if self._thread is None:
            self._start()
        return self._policy

    @property
    def arms(self) -> list[Hashable]:
        """All arms of the policy that was read last."""
        return self._policy.arms

    @property
    def rounds(self) -> int:
        """The number of rounds that the policy had learned when it was saved."""
        return self._policy.rounds

    def __repr__(self) -> str:
        wrong = "" if self.error is None else f", error={self.error!r}"
        return f"Following({str(self.path)!r}, rounds={self.rounds}, loads={self.loads}{wrong})"

    # -- following -------------------------------------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Check the file now, load it if it has changed, and return whether it was loaded. `error` has the reason if it cannot be read."""
        with self._one_load:
            try:
                stamp = _stamp(self.path)
                if stamp == self._stamp:
                    self.error = None
                    return False
                policy = load(self.path, **self.given)
            except (FileError, InputError, OSError) as error:
                reason = str(error)
                if reason != self.error:
                    LOG.warning("%s cannot be read, so the policy read before continues to decide: %s", self.path, reason)
                self.error = reason
                return False
            before = self._policy
            with before.lock:  # both have this lock from now on, so a decision in another thread finishes first
                policy.rng, policy.ledger, policy.lock = before.rng, before.ledger, before.lock
                self._policy = policy
            self._stamp, self.error = stamp, None
            self.loads += 1
            return True

    def close(self) -> None:
        """Stop checking the file. The policy that was read last continues to decide."""
        self._end.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _start(self) -> None:
        """Start the thread that checks the file, once in each process."""
        if self.every is None or self._end.is_set():
            return
        with self._one_load:
            if self._thread is None:
                arguments = (weakref.ref(self), self._end, self.every)
                self._thread = threading.Thread(target=_look, args=arguments, name="hsb.Following", daemon=True)
                self._thread.start()


def _look(reference: weakref.ref[Following], end: threading.Event, every: float) -> None:
    """Check the file every `every` seconds, until `end` is set or the `Following` is gone."""
    while not end.wait(every):
        following = reference()
        if following is None:
            return
        following.refresh()
        del following


def _stamp(path: Path) -> tuple[int, ...]:
    """Return a value that changes when a file is replaced or written to."""
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


_alive: weakref.WeakSet[Following] = weakref.WeakSet()


def _after_in_child() -> None:
    """Make locks that no thread holds: a fork copies no threads, and the next decision starts one."""
    for following in list(_alive):
        following._one_load, following._thread = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_in_child)
