"""The service in one thread, without a network: for tests and scripts, and as the shortest example of driving the core."""

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
    """Return the present time, by the wall clock and by the steady clock."""
    steady = time.monotonic_ns() if STEADY is None else time.clock_gettime_ns(STEADY)
    return Now(time.time_ns() // 1000, steady // 1000)


class Local:
    """A core and its journal. `ask` returns the answer to a request; its rows are on disk by then.

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
                recovered: dict[str, Any] = start(self.store, clock() if now is None else now)
            self.core = Core(**recovered, limits=limits or CoreLimits())
        except BaseException:
            self.store.close()
            raise
        self.stopped: Stop | None = None
        self.do(self.core.begin(), now)

    def ask(self, message: Message, now: Now | None = None) -> Answer:
        """Send one request; return its answer."""
        return self.ask_all([message], now)[0]

    def ask_all(self, messages: Iterable[Message], now: Now | None = None) -> list[Answer]:
        """Send several requests, written together; return the answers in the same order."""
        answers = self.do(self.core.handle_all(list(messages), now or clock()), now)
        answers += self.do(self.core.flush(now or clock()), now)
        return answers

    def tick(self, now: Now | None = None) -> None:
        """Tell the core the time, so that it closes decisions that are due."""
        self.ask_all([Tick()], now)

    def do(self, effects: list[Effect], now: Now | None = None) -> list[Answer]:
        """Carry out effects, and those that follow from them; return the answers among them."""
        answers: list[Answer] = []
        for effect in effects:
            if isinstance(effect, Answer):
                answers.append(effect)
            elif isinstance(effect, Commit):
                answers += self.do(self.core.handle(carried_out(self.store, effect.batch), now or clock()), now)
                answers += self.do(self.core.flush(now or clock()), now)
            elif isinstance(effect, Follow):
                rows_after = self.store.stream(effect.policy, effect.after, effect.limit)
                answers += self.do(self.core.handle(Followed(effect.policy, effect.after, rows_after), now or clock()), now)
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
        """Close the journal."""
        self.store.close()
