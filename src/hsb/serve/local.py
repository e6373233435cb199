"""The service in one thread, without a network: for tests, for scripts, and as the shortest example of how the core is driven."""

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ..errors import FileError
from .core import Answer, Commit, Core, CoreLimits, Effect, Follow, Followed, Message, Now, Pack, Packed, Stop, Tick, sealed
from .core.rows import SnapshotRow
from .store import start
from .store.sqlite import SqliteStore, readable
from .store.writer import carried_out

STEADY: int | None = getattr(
    time, "CLOCK_BOOTTIME", None
)  # it also counts while the machine is suspended, as the wall clock does


def clock() -> Now:
    """The time."""
    steady = time.monotonic_ns() if STEADY is None else time.clock_gettime_ns(STEADY)
    return Now(time.time_ns() // 1000, steady // 1000)


class Local:
    """A core and its journal. `ask` gives the answer to a request, which is on disk by then.

    >>> import pathlib, tempfile
    >>> from hsb.serve.core import Create, Decide, Reward
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     local = Local(pathlib.Path(folder) / "hsb.db")
    ...     _ = local.ask(Create(1, {"name": "home", "arms": ["a"]}, b"secret" * 4))
    ...     made = local.ask(Decide(2, "home", "order-77", {"age": 31}))
    ...     answer = local.ask(Reward(3, "order-77", 1.0))
    ...     local.close()
    >>> made.status, made.body["arm"], answer.status, answer.body["learned_at_version"]
    ('created', 'a', 'learned', 2)
    """

    def __init__(self, path: Any, *, now: Now | None = None, limits: CoreLimits | None = None) -> None:
        self.store = SqliteStore(path)
        try:
            with readable(path):
                given: dict[str, Any] = start(self.store, clock() if now is None else now)
            self.core = Core(**given, limits=limits or CoreLimits())
        except BaseException:
            self.store.close()
            raise
        self.stopped: Stop | None = None
        self.do(self.core.begin(), now)

    def ask(self, message: Message, now: Now | None = None) -> Answer:
        """The answer to one request."""
        return self.ask_all([message], now)[0]

    def ask_all(self, messages: Iterable[Message], now: Now | None = None) -> list[Answer]:
        """The answers to several, written together, in the order in which they were given."""
        answers = self.do(self.core.handle_all(list(messages), now or clock()), now)
        answers += self.do(self.core.flush(now or clock()), now)
        return answers

    def tick(self, now: Now | None = None) -> None:
        """Let time pass."""
        self.ask_all([Tick()], now)

    def do(self, effects: list[Effect], now: Now | None = None) -> list[Answer]:
        """Do effects, and those that follow from them."""
        answers: list[Answer] = []
        for effect in effects:
            if isinstance(effect, Answer):
                answers.append(effect)
            elif isinstance(effect, Commit):
                answers += self.do(self.core.handle(carried_out(self.store, effect.batch), now or clock()), now)
                answers += self.do(self.core.flush(now or clock()), now)
            elif isinstance(effect, Follow):
                found = self.store.stream(effect.policy, effect.after, effect.limit)
                answers += self.do(self.core.handle(Followed(effect.policy, effect.after, found), now or clock()), now)
            elif isinstance(effect, Pack):
                rows: tuple[SnapshotRow, ...] = ()
                with suppress(FileError):
                    rows = sealed(effect.frozen)
                packed = Packed(effect.policy, rows, effect.asked)
                answers += self.do(self.core.handle(packed, now or clock()), now)
                answers += self.do(self.core.flush(now or clock()), now)
            else:
                self.stopped = effect
        return answers

    def close(self) -> None:
        """Let go of the journal."""
        self.store.close()
