"""The service in an event loop: requests to the core, batches to the writing thread, answers to those who wait.

`service.core` has the policies; `await service.ask(Kind, ...)` asks it something; `await service.read(function, ...)` calls
function(reader, ...) on the thread that reads. All but `read`'s function runs on the loop.
"""

import asyncio
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ..core import Answer, Commit, Core, CoreLimits, Effect, Failed, Follow, Followed, Message, Now, Pack, Packed, Tick
from ..core.messages import Committed
from ..local import clock
from ..store import Full, Lost, start, views
from ..store.sqlite import SqliteReader, SqliteStore, readable
from ..store.writer import Writer
from .erasing import erase
from .evaluating import candidates
from .evaluation_jobs import Evaluations, rows, shown
from .keys import Key, KeyStore
from .logs import log
from .metrics import Metrics
from .problem import HttpProblem
from .rejections import Troubles
from .sessions import Sessions
from .settings import DEMO, ServerSettings

T = TypeVar("T")
QUIET = 3  # turns of the loop without a request, after which what waits is written
ENOUGH = 256  # rows that are not held back
HELD = 0.005  # seconds after which it is written at the latest
OFTEN, SELDOM = 0.002, 0.05  # seconds between looks at the clock


class AnswerBatch:
    """Those who wait for the answers to several requests at once."""

    __slots__ = ("answers", "future", "left")

    def __init__(self, rows: int, future: "asyncio.Future[list[Answer]]") -> None:
        self.answers: list[Any] = [None] * rows
        self.left, self.future = rows, future

    def take(self, place: int, answer: Answer) -> None:
        """One of them."""
        self.answers[place] = answer
        self.left -= 1
        if not self.left and not self.future.done():
            self.future.set_result(self.answers)


class Service:
    """A core, its journal, its keys, and the loop that it lives in between `begin` and `end`."""

    def __init__(self, path: Any, settings: ServerSettings | None = None, *, admin_key: str | None = None) -> None:
        self.settings = settings or ServerSettings()
        self.store = SqliteStore(path)
        self.path = self.store.path
        try:
            with readable(self.path):
                given: dict[str, Any] = start(self.store, clock(), lambda what: log("passed over", level="warning", what=what))
                self.core = Core(**given, limits=CoreLimits(waiting=self.settings.waiting))
                self.keys = KeyStore(self.store, self.settings, admin_key)
            self.reader = SqliteReader(self.path)
        except BaseException:
            self.store.close()
            raise
        for served in self.core.by_id.values():
            for said in served.notes:
                log("recovery", level="warning", policy=served.name, detail=said)
        self.troubles, self.sessions = Troubles(), Sessions()
        self.metrics = Metrics(self)
        self.started, self.stopping, self.flushing = time.time(), False, False
        self.reading, self.packing = ThreadPoolExecutor(1, "hsb-reader"), ThreadPoolExecutor(1, "hsb-packer")
        self.writer = Writer(self.store, self._report)
        self.loop: asyncio.AbstractEventLoop
        self.timer: asyncio.TimerHandle | None = None
        self.tasks: set[asyncio.Task[Any]] = set()
        self.flown = self.held = 0.0
        self.quiet = 0
        self.costly = asyncio.Semaphore(1)  # rules, exports, decisions made again
        self.explained: dict[int, Any] = {}
        self.under_way: set[tuple[int, str]] = set()  # requests with an Idempotency-Key
        self.evaluations = Evaluations(self)

    # -- its life -------------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start to answer."""
        self.loop = asyncio.get_running_loop()
        self.writer.start()
        self.spawn(erase(self))
        self._do(self.core.begin())
        self._tick()

    async def end(self) -> None:
        """Finish what is under way, and let go of the journal."""
        self.stopping = True
        if self.timer is not None:
            self.timer.cancel()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.keys.write_uses(self)
        until = time.monotonic() + 2.0
        while (self.core.flying is not None or self.core.waiting or self.core.last) and time.monotonic() < until:
            await asyncio.sleep(0.005)
        await asyncio.to_thread(self.writer.stop)
        self.reading.shutdown(wait=True, cancel_futures=True)
        self.packing.shutdown(wait=True, cancel_futures=True)
        self.reader.close()
        self.store.close()

    def spawn(self, work: Any) -> "asyncio.Task[Any]":
        """Run a coroutine beside the requests; it is cancelled when the service ends."""
        task = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    # -- asking ---------------------------------------------------------------------------------------------------------

    async def ask(self, kind: Callable[..., Any], *given: Any) -> Answer:
        """The answer to one request, on disk if it stands for something written."""
        future: asyncio.Future[Answer] = self.loop.create_future()
        self.tell(kind(future, *given))
        return await future

    async def ask_all(self, kind: Callable[..., Any], rows: Iterable[tuple[Any, ...]]) -> list[Answer]:
        """The answers to several, in their order."""
        rows = list(rows)
        if not rows:
            return []
        future: asyncio.Future[list[Answer]] = self.loop.create_future()
        batch = AnswerBatch(len(rows), future)
        if effects := self.core.handle_all([kind((batch, place), *given) for place, given in enumerate(rows)], clock()):
            self._do(effects)
        self._flush_soon()
        return await future

    def tell(self, message: Message) -> None:
        """Give the core a message; what is to be written goes with all that came in this turn of the loop."""
        if effects := self.core.handle(message, clock()):
            self._do(effects)
        self._flush_soon()

    def _flush_soon(self) -> None:
        self.quiet = 0
        if not self.flushing:
            self.flushing, self.held = True, time.perf_counter()
            self.loop.call_soon(self._flush_when_quiet)

    def _flush_when_quiet(self) -> None:
        """Begin a batch when no more requests come, or after a moment: while the thread that writes works, this one waits for it often."""
        self.quiet += 1
        if self.quiet > QUIET or len(self.core.waiting) >= ENOUGH or time.perf_counter() - self.held > HELD:
            self._flush()
        else:
            self.loop.call_soon(self._flush_when_quiet)

    async def read(self, function: Callable[..., T], *given: Any) -> T:
        """function(reader, ...) on the reading thread; HttpProblem if its queries take too long."""
        return await self.loop.run_in_executor(self.reading, self._read, function, given)

    def _read(self, function: Callable[..., T], given: tuple[Any, ...]) -> T:
        until = time.monotonic() + self.settings.read_seconds
        self.reader.connection.set_progress_handler(lambda: self.stopping or time.monotonic() > until, 20_000)
        try:
            return function(self.reader, *given)
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            raise HttpProblem(
                503, "too-much", "Reading that from the journal takes too long. Ask for less.", retry=5.0
            ) from None
        finally:
            self.reader.connection.set_progress_handler(None, 0)

    async def write(self, work: Callable[[SqliteStore], T]) -> T:
        """work(store) on the writing thread, in a transaction of its own."""
        future: asyncio.Future[T] = self.loop.create_future()

        def done(result: Any, error: BaseException | None) -> None:
            def tell() -> None:
                if not future.done():
                    future.set_exception(error) if error is not None else future.set_result(result)

            self.loop.call_soon_threadsafe(tell)

        self.writer.also(work, done)
        return await future

    def synthetic(self, name: str) -> bool:
        """Are a policy's data made up?"""
        return self.settings.demo and name == DEMO

    # -- beside the journal ---------------------------------------------------------------------------------------------

    async def note(self, key: Key | None, what: str, policy: str | None, detail: Any = None) -> None:
        """Write down who did what, before the answer leaves. What was done stands where this cannot be written: the log says so."""
        text = None if detail is None else json.dumps(detail)[:4000]
        row = (time.time_ns() // 1000, None if key is None else key.id, what, policy, text)
        sql = "INSERT INTO deed (at, key, what, policy, detail) VALUES (?, ?, ?, ?, ?)"
        try:
            await self.write(lambda store: store.connection.execute(sql, row))
        except (Full, Lost) as error:
            why = "full" if isinstance(error, Full) else "lost"
            log("who did it could not be written down", level="error", why=why, what=what, policy=policy, detail=str(error))

    async def deeds_of(self, policy: str | None, limit: int = 100, after: int = 0) -> list[dict[str, Any]]:
        """What admins did with a policy, or at all, the newest first; times in microseconds."""
        names = {key.id: key.name for key in self.keys.by_hash.values()}
        rows = await self.read(views.deeds, policy, limit, after)
        fields = ("at", "who", "what", "policy", "detail", "number")
        return [dict(zip(fields, (at, names.get(key, "anyone"), *more), strict=True)) for at, key, *more in rows]

    async def evaluate(self, policy: str, asked: dict[str, Any]) -> str:
        """Queue an evaluation; its id. InputError where it asks for something that cannot be evaluated."""
        candidates(self.core.policies[policy], asked["candidates"])
        return await self.evaluations.add(policy, asked)

    async def evaluations_of(self, policy: str) -> list[dict[str, Any]]:
        """Evaluations of a policy, the newest first."""
        return [shown(self, row) for row in await self.read(rows, policy)]

    # -- effects --------------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        self.flushing = False
        self._do(self.core.flush(clock()))

    def _report(self, message: Committed | Failed) -> None:
        self.loop.call_soon_threadsafe(self._reported, message)

    def _reported(self, message: Committed | Failed) -> None:
        self.metrics.committed(time.perf_counter() - self.flown, message)
        if isinstance(message, Failed):
            log("commit failed", level="error", why=message.why, detail=message.detail)
        self._do(self.core.handle(message, clock()))
        if len(self.core.waiting) >= ENOUGH:
            self._flush()  # before those who were answered ask again
        self._flush_soon()

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            kind = type(effect)
            if kind is Answer:
                to: Any = effect.request  # type: ignore[union-attr]
                answer = Answer(None, effect.status, effect.body)  # type: ignore[union-attr]  # the future has it, not it the future
                if type(to) is tuple:
                    to[0].take(to[1], answer)
                elif to is not None and not to.done():
                    to.set_result(answer)
            elif kind is Commit:
                self.flown = time.perf_counter()
                self.writer.submit(effect.batch)  # type: ignore[union-attr]
            elif kind is Follow:
                self.spawn(self._follow(effect))
            elif kind is Pack:
                self.spawn(self._pack(effect))
            else:
                self._stop(effect)

    async def _follow(self, effect: Any) -> None:
        found = await self.loop.run_in_executor(
            self.reading, lambda: self.reader.stream(effect.policy, effect.after, effect.limit)
        )
        self.tell(Followed(effect.policy, effect.after, found))

    async def _pack(self, effect: Any) -> None:
        rows = await self.loop.run_in_executor(self.packing, effect.frozen.rows)
        self.tell(Packed(effect.policy, rows, effect.asked))

    def _stop(self, effect: Any) -> None:
        """End the process, as soon as the answers have left."""
        self.stopping = True
        log("stop", level="error", code=effect.code, why=effect.why)
        self.loop.call_later(0.25, os._exit, effect.code)

    def _tick(self) -> None:
        now: Now = clock()
        wake = self.core.wake(now)
        if wake is not None and wake <= 0:
            self._do(self.core.handle(Tick(), now))
            self._flush()
        delay = SELDOM if wake is None else min(max(wake / 1e6, OFTEN), SELDOM)
        self.keys.tidy(self, now.wall)
        self.timer = self.loop.call_later(delay, self._tick)
