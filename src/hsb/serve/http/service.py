"""The service in an event loop: requests to the core, batches to the writing thread, answers to those who wait.

`service.core` has the policies; `await service.ask(Kind, ...)` asks it something; `await service.readers.quick(function, ...)` calls
function(reader, ...) on a thread that reads, `readers.scan` on one that may take long. All but these functions runs on the loop.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from ...errors import FileError
from ..core import (
    AddArm,
    AddCandidate,
    Answer,
    Commit,
    Core,
    CoreLimits,
    Create,
    Effect,
    Failed,
    Follow,
    Followed,
    Import,
    Message,
    Now,
    Pack,
    Packed,
    Tick,
    sealed,
)
from ..core.messages import Committed
from ..local import clock
from ..store import Full, Lost, Watch, start, unwatched, views
from ..store.sqlite import SqliteReader, SqliteStore, readable
from ..store.writer import Writer
from ..warming import Warmth, jobs_before, warn_of_compiling
from .candidate_trials import change, check_evaluated
from .compiler import Compiler
from .erasing import erase
from .evaluation_jobs import Evaluations, rows, shown
from .keys import Key, KeyStore
from .logs import log, log_fault
from .metrics import Metrics
from .page_process import PageProcess
from .readers import Readers
from .rejections import Rejections
from .retention import retain
from .sessions import Sessions
from .settings import DEMO, ServerSettings

T = TypeVar("T")
NEW = (Create, AddArm, AddCandidate, Import)  # what may call code that is not compiled yet
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


class Opened(NamedTuple):
    """A journal that is this process's own, and its keys; nothing of its policies is read yet."""

    store: SqliteStore
    keys: KeyStore


def open_journal(path: Any, settings: ServerSettings, admin_key: str | None = None) -> Opened:
    """Open a journal, or make one; FileError where that cannot be."""
    store = SqliteStore(path)
    try:
        with readable(store.path):
            return Opened(store, KeyStore(store, settings, admin_key))
    except BaseException:
        store.close()
        raise


def _note_not_learned(what: str) -> None:
    log("passed over", level="warning", what=what)


class Service:
    """A core, its journal, its keys, and the loop that it processes in between `begin` and `end`."""

    def __init__(
        self,
        path: Any,
        settings: ServerSettings | None = None,
        *,
        admin_key: str | None = None,
        opened: Opened | None = None,
        warmth: Warmth | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.settings, self.warmth = settings or ServerSettings(), warmth or Warmth()
        self.store, self.keys = opened or open_journal(path, self.settings, admin_key)
        self.path = self.store.path
        try:
            with readable(self.path):
                given: dict[str, Any] = start(self.store, clock(), _note_not_learned, watch=watch)
                self.core = Core(**given, limits=CoreLimits(waiting=self.settings.waiting))
        except BaseException:
            self.store.close()
            raise
        for served in self.core.by_id.values():
            for said in served.notes:
                log("recovery", level="warning", policy=served.name, detail=said)
        self.rejections, self.sessions = Rejections(), Sessions()
        self.metrics = Metrics(self)
        self.started, self.stopping, self.flushing = time.time(), False, False
        self.readers, self.packing = Readers(self.path, self.settings.read_seconds), ThreadPoolExecutor(1, "hsb-packer")
        self.making = ThreadPoolExecutor(1, "hsb-maker")  # of policies that are asked for, one at a time
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
        self.compiler = Compiler(self.warmth)
        self.figures, self.trials = PageProcess(self), PageProcess(self)

    # -- its process -------------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start to answer."""
        self.loop = asyncio.get_running_loop()
        warn_of_compiling(lambda: log("compiling holds up all requests", level="warning"))
        self.writer.start()
        self.spawn(erase(self))
        self.spawn(retain(self))
        self._do(self.core.begin())
        self._tick()

    async def end(self) -> None:
        """Finish what is under way, and let go of the journal."""
        self.stopping = self.readers.stopping = True
        if self.timer is not None:
            self.timer.cancel()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.keys.write_uses(self)
        await asyncio.gather(self.figures.end(), self.trials.end())
        until = time.monotonic() + 2.0
        while (self.core.flying is not None or self.core.waiting or self.core.last) and time.monotonic() < until:
            await asyncio.sleep(0.005)
        await asyncio.to_thread(self.writer.stop)
        self.compiler.end()
        self.packing.shutdown(wait=True, cancel_futures=True)
        self.making.shutdown(wait=True, cancel_futures=True)
        self.readers.close()
        self.store.close()

    def spawn(self, work: Any) -> "asyncio.Task[Any]":
        """Run a coroutine beside the requests; it is cancelled when the service ends."""
        task = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log_fault(error, task=getattr(task.get_coro(), "__qualname__", "?"))

    # -- asking ---------------------------------------------------------------------------------------------------------

    async def ask(self, kind: Callable[..., Any], *given: Any) -> Answer:
        """The answer to one request, on disk if it stands for something written."""
        if kind in NEW:
            await self.compiler.ready(jobs_before(self.core.policies, kind, given))
        future: asyncio.Future[Answer] = self.loop.create_future()
        self.tell(kind(future, *given))
        return await future

    async def change(self, kind: Callable[..., Any], policy: str, *given: Any) -> Answer:
        """The answer to a change of a policy, which is tried first where something else is to play."""
        return await change(self, kind, policy, *given)

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

    async def beside(self, function: Callable[..., T], *given: Any) -> T:
        """function(...) on the thread that makes policies and reads files, one after the other, so that their memory has a bound."""
        return await self.loop.run_in_executor(self.making, function, *given)

    def synthetic(self, name: str) -> bool:
        """Are a policy's data made up?"""
        return self.settings.demo and name == DEMO

    # -- beside the journal ---------------------------------------------------------------------------------------------

    async def note(self, key: Key | None, what: str, policy: str | None, detail: Any = None) -> None:
        """Write down who did what, before the answer leaves. What was done stands where this cannot be written: the log says so."""
        text = None if detail is None else json.dumps(detail)[:4000]
        row = (time.time_ns() // 1000, None if key is None else key.id, what, policy, text)
        sql = "INSERT INTO audit_entry (at, key, what, policy, detail) VALUES (?, ?, ?, ?, ?)"
        try:
            await self.write(lambda store: store.connection.execute(sql, row))
        except (Full, Lost) as error:
            why = "full" if isinstance(error, Full) else "lost"
            log("who did it could not be written down", level="error", why=why, what=what, policy=policy, detail=str(error))

    async def audit_entries_of(self, policy: str | None, limit: int = 100, after: int = 0) -> list[dict[str, Any]]:
        """What admins did with a policy, or at all, the newest first; times in microseconds."""
        names = {key.id: key.name for key in self.keys.by_hash.values()}
        rows = await self.readers.quick(views.audit_entries, policy, limit, after)
        fields = ("at", "who", "what", "policy", "detail", "number")
        return [dict(zip(fields, (at, names.get(key, "anyone"), *more), strict=True)) for at, key, *more in rows]

    async def evaluate(self, policy: str, asked: dict[str, Any]) -> str:
        """Queue an evaluation; its id. InputError where it asks for something that cannot be evaluated."""
        self.evaluations.check_room()
        await check_evaluated(self, self.core.policies[policy], asked["candidates"])
        return await self.evaluations.add(policy, asked)

    async def evaluations_of(self, policy: str) -> list[dict[str, Any]]:
        """Evaluations of a policy, the newest first."""
        return [shown(self, row) for row in await self.readers.quick(rows, policy)]

    async def view(self, look: Any) -> bytes:
        """A view of the page. Maps, which ask a policy for many probabilities, have a process of their own: figures do not wait for them."""
        return await (self.trials if look.section == "map" else self.figures).view(look)

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
        found = await self.readers.quick(SqliteReader.stream, effect.policy, effect.after, effect.limit)
        self.tell(Followed(effect.policy, effect.after, found))

    async def _pack(self, effect: Any) -> None:
        rows: Any = ()
        try:
            rows = await self.loop.run_in_executor(self.packing, sealed, effect.frozen)
        except FileError as error:
            log("snapshot cannot be read again", level="error", policy=effect.policy, detail=str(error))
        self.tell(Packed(effect.policy, rows, effect.asked))

    def _stop(self, effect: Any) -> None:
        """End the process, as soon as the answers have left."""
        self.stopping = self.readers.stopping = True
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
