"""Deciding by the policy in a file that another process writes: it is loaded again, beside the decisions, when it has changed."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Hashable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import ArrayLike

from ..checks import is_number, path_of
from ..errors import FileError, InputError, quoted
from ..policy import Decision, Decisions, Policy
from ..policy.ledger import Ledger
from ..types import Floats, Seed
from .policy_file import load

LOG = logging.getLogger("hsb")


class Following:
    """Decides by the policy in a file, and follows the file: when it is replaced, the new policy is loaded beside the decisions.

    One process learns and saves; any number of others decide, each with a `Following`. No decision waits for a load: a thread looks at the file
    and loads it, and the policy changes between two decisions. However often that happens, decisions are numbered on in one stream, and drawn
    with the same random numbers; so `decision.id` is unique, and the process that learns remembers few streams.

    If the file is deleted or damaged, the last policy that could be read goes on deciding. `error` and a line in the log `hsb` say what is
    wrong until the file can be read again.

    It does not learn: send `decision.to_dict()` and the reward to the process that does.

    - `path`: the file that `policy.save` writes. Symbolic links are followed anew at each look.
    - `every`: seconds between looks. None: only `refresh()` looks, e.g. called by a scheduler of yours.
    - `seed`: of the random numbers of the decisions; None takes fresh ones, which each process needs.
    - `given`: as for `hsb.load`.

    `FileError` or `FileNotFoundError` if there is no policy in the file at the beginning.

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
            raise InputError(
                f"every must be how many seconds lie between looks at the file, above 0, or None; given {quoted(every)}."
            )
        self.path = path_of("path", path, folder=False)
        self.every, self.given = every, given
        self.loads = 1  # how often the file was read
        self.error: str | None = None  # why the file could not be read when it was last looked at; None if it could
        self._stamp = _stamp(self.path)
        self._policy = load(self.path, seed=seed, **given)
        self._policy.ledger = Ledger(learns=False)
        self._one_load, self._end = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        _alive.add(self)
        self._start()

    # -- deciding --------------------------------------------------------------------------------------------------------

    def decide(self, context: Any = None, *, available: Iterable[Hashable] | None = None, u: float | None = None) -> Decision:
        """`Policy.decide` of the policy that was read last."""
        return self.policy.decide(context, available=available, u=u)

    def decide_many(
        self,
        contexts: ArrayLike | Iterable[Any],
        *,
        available: ArrayLike | Iterable[Iterable[Hashable] | None] | None = None,
        u: ArrayLike | None = None,
    ) -> Decisions:
        """`Policy.decide_many` of the policy that was read last."""
        return self.policy.decide_many(contexts, available=available, u=u)

    def probabilities(self, context: Any = None, *, available: Iterable[Hashable] | None = None) -> Floats:
        """`Policy.probabilities` of the policy that was read last."""
        return self.policy.probabilities(context, available=available)

    @property
    def policy(self) -> Policy:
        """The policy that was read last. It refuses to learn."""
        if self._thread is None:
            self._start()
        return self._policy

    @property
    def arms(self) -> list[Hashable]:
        """All its arms."""
        return self._policy.arms

    @property
    def rounds(self) -> int:
        """How many rounds it had learned when it was saved."""
        return self._policy.rounds

    def __repr__(self) -> str:
        wrong = "" if self.error is None else f", error={self.error!r}"
        return f"Following({str(self.path)!r}, rounds={self.rounds}, loads={self.loads}{wrong})"

    # -- following -------------------------------------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Look at the file now, and load it if it has changed; True if it was loaded. What cannot be read is told in `error`."""
        with self._one_load:
            try:
                stamp = _stamp(self.path)
                if stamp == self._stamp:
                    self.error = None
                    return False
                policy = load(self.path, **self.given)
            except (FileError, InputError, OSError) as error:
                said = str(error)
                if said != self.error:
                    LOG.warning("%s cannot be read, and the policy read before goes on deciding: %s", self.path, said)
                self.error = said
                return False
            before = self._policy
            with before.lock:  # which both have from now on: a decision that another thread began is finished first
                policy.rng, policy.ledger, policy.lock = before.rng, before.ledger, before.lock
                self._policy = policy
            self._stamp, self.error = stamp, None
            self.loads += 1
            return True

    def close(self) -> None:
        """Look no more. It goes on deciding by the policy that was read last."""
        self._end.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _start(self) -> None:
        """The thread that looks, once in each process."""
        if self.every is None or self._end.is_set():
            return
        with self._one_load:
            if self._thread is None:
                about = (weakref.ref(self), self._end, self.every)
                self._thread = threading.Thread(target=_look, args=about, name="hsb.Following", daemon=True)
                self._thread.start()


def _look(reference: weakref.ref[Following], end: threading.Event, every: float) -> None:
    """Look at the file again and again, for as long as somebody follows it."""
    while not end.wait(every):
        following = reference()
        if following is None:
            return
        following.refresh()
        del following


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when a file is replaced or written to."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


_alive: weakref.WeakSet[Following] = weakref.WeakSet()


def _after_in_child() -> None:
    """Threads are not forked: the next decision starts one, and a lock that one held is free."""
    for following in list(_alive):
        following._one_load, following._thread = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_in_child)
