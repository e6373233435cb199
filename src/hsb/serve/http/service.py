"""The service in an event loop: requests to the core, batches to the writing thread, answers to those who wait.

`service.core` has the policies, and `await service.ask(Kind, ...)` sends it a request. `await service.readers.quick(function, ...)` calls
function(reader, ...) on a reading thread, `readers.scan` on one for long reads. Everything except these functions runs on the loop.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from ...errors import FileError
from ..core import Answer, Commit, Core, CoreLimits, Effect, Failed, Follow, Followed, Message, Now, Pack, Packed, Tick, seal
from ..core.messages import Committed
from ..local import clock
from ..store import Full, Lost, Watch, ignore_progress, start, views
from ..store.sqlite import SqliteReader, SqliteStore, readable
from ..store.writer import Writer
from .candidate_trials import change, check_evaluated
from .erasing import erase
from .evaluation_jobs import Evaluations, describe_evaluation, rows
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
QUIET = 3  # loop iterations without a request after which waiting rows are written
ENOUGH = 256  # waiting rows that are written without delay
HELD = 0.005  # seconds that rows wait at most
OFTEN, SELDOM = 0.002, 0.05  # seconds between checks of the clock


class AnswerBatch:
    """Collects the answers to several requests for one waiter."""

    __slots__ = ("answers", "future", "left")

    def __init__(self, rows: int, future: "asyncio.Future[list[Answer]]") -> None:
        self.answers: list[Any] = [None] * rows
        self.left, self.future = rows, future

    def take(self, index: int, answer: Answer) -> None:
        """Take the answer to the request at `index`; the last one wakes the waiter."""
        self.answers[index] = answer
        self.left -= 1
        if not self.left and not self.future.done():
            self.future.set_result(self.answers)


class Opened(NamedTuple):
    """A journal locked by this process, and its keys. Its policies are not read yet."""

    store: SqliteStore
    keys: KeyStore


def open_journal(path: Any, settings: ServerSettings, admin_key: str | None = None) -> Opened:
    """Open a journal, or make one. Raises FileError if that fails."""
    store = SqliteStore(path)
    try:
        with readable(store.path):
            return Opened(store, KeyStore(store, settings, admin_key))
    except BaseException:
        store.close()
        raise


def _note_not_learned(what: str) -> None:
    log("not learned", level="warning", what=what)


class Service:
    """A core, its journal and its keys, run by an event loop between `begin` and `end`."""

    def __init__(
        self,
        path: Any,
        settings: ServerSettings | None = None,
        *,
        admin_key: str | None = None,
        opened: Opened | None = None,
        watch: Watch = ignore_progress,
    ) -> None:
        self.settings = settings or ServerSettings()
        self.store, self.keys = opened or open_journal(path, self.settings, admin_key)
        self.path = self.store.path
        try:
            with readable(self.path):
                recovered: dict[str, Any] = start(self.store, clock(), _note_not_learned, watch=watch)
                self.core = Core(**recovered, limits=CoreLimits(waiting=self.settings.waiting))
        except BaseException:
            self.store.close()
            raise
        for served in self.core.by_id.values():
            for message in served.notes:
                log("recovery", level="warning", policy=served.name, detail=message)
        self.rejections, self.sessions = Rejections(), Sessions()
        self.metrics = Metrics(self)
        self.started, self.stopping, self.flushing = time.time(), False, False
        self.readers, self.packing = Readers(self.path, self.settings.read_seconds), ThreadPoolExecutor(1, "hsb-packer")
        self.making = ThreadPoolExecutor(1, "hsb-maker")  # makes policies, one at a time
        self.writer = Writer(self.store, self._report)
        self.loop: asyncio.AbstractEventLoop
        self.timer: asyncio.TimerHandle | None = None
        self.tasks: set[asyncio.Task[Any]] = set()
        self.flown = self.held = 0.0
        self.quiet = 0
        self.costly = asyncio.Semaphore(1)  # for rules, exports and recomputed decisions
        self.explained: dict[int, Any] = {}
        self.under_way: set[tuple[int, str]] = set()  # requests with an Idempotency-Key
        self.evaluations = Evaluations(self)
        self.figures, self.trials = PageProcess(self), PageProcess(self)

    # -- begin and end --------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start threads and background work, and answer requests from now on."""
        self.loop = asyncio.get_running_loop()
        self.writer.start()
        self.spawn(erase(self))
        self.spawn(retain(self))
        self._do(self.core.begin())
        self._tick()

    async def end(self) -> None:
        """Finish requests under way, stop all work and close the journal."""
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

    # -- requests -------------------------------------------------------------------------------------------------------

    async def ask(self, kind: Callable[..., Any], *arguments: Any) -> Answer:
        """Send the core a request and return its answer. If it writes rows, they are on disk by then."""
        future: asyncio.Future[Answer] = self.loop.create_future()
        self.tell(kind(future, *arguments))
        return await future

    async def change(self, kind: Callable[..., Any], policy: str, *arguments: Any) -> Answer:
        """Make a change of a policy and return the answer. A new candidate or policy is tried first."""
        return await change(self, kind, policy, *arguments)

    async def ask_all(self, kind: Callable[..., Any], rows: Iterable[tuple[Any, ...]]) -> list[Answer]:
        """Send several requests, written together; return the answers in their order."""
        rows = list(rows)
        if not rows:
            return []
        future: asyncio.Future[list[Answer]] = self.loop.create_future()
        batch = AnswerBatch(len(rows), future)
        if effects := self.core.handle_all([kind((batch, index), *arguments) for index, arguments in enumerate(rows)], clock()):
            self._do(effects)
        self._flush_soon()
        return await future

    def tell(self, message: Message) -> None:
        """Give the core a message. Its rows are written with those of other messages that came at about the same time."""
        if effects := self.core.handle(message, clock()):
            self._do(effects)
        self._flush_soon()

    def _flush_soon(self) -> None:
        self.quiet = 0
        if not self.flushing:
            self.flushing, self.held = True, time.perf_counter()
            self.loop.call_soon(self._flush_when_quiet)

    def _flush_when_quiet(self) -> None:
        """Write waiting rows once requests pause, or after a moment: the loop often waits while the writing thread works."""
        self.quiet += 1
        if self.quiet > QUIET or len(self.core.waiting) >= ENOUGH or time.perf_counter() - self.held > HELD:
            self._flush()
        else:
            self.loop.call_soon(self._flush_when_quiet)

    async def write(self, work: Callable[[SqliteStore], T]) -> T:
        """Run work(store) on the writing thread, in a separate transaction."""
        future: asyncio.Future[T] = self.loop.create_future()

        def done(result: Any, error: BaseException | None) -> None:
            def resolve() -> None:
                if not future.done():
                    future.set_exception(error) if error is not None else future.set_result(result)

            self.loop.call_soon_threadsafe(resolve)

        self.writer.also(work, done)
        return await future

    async def beside(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run function(...) on the thread that makes policies and reads files, one at a time, which bounds their memory."""
        return await self.loop.run_in_executor(self.making, function, *arguments)

    def synthetic(self, name: str) -> bool:
        """Whether a policy's data are synthetic, as in the demo."""
        return self.settings.demo and name == DEMO

    # -- beside the journal ---------------------------------------------------------------------------------------------

    async def note(self, key: Key | None, what: str, policy: str | None, detail: Any = None) -> None:
        """Write an audit entry before the answer is sent. If that fails, the change remains and the log has the entry."""
        text = None if detail is None else json.dumps(detail)[:4000]
        row = (time.time_ns() // 1000, None if key is None else key.id, what, policy, text)
        sql = "INSERT INTO audit_entry (at, key, what, policy, detail) VALUES (?, ?, ?, ?, ?)"
        try:
            await self.write(lambda store: store.connection.execute(sql, row))
        except (Full, Lost) as error:
            why = "full" if isinstance(error, Full) else "lost"
            log("audit entry could not be written", level="error", why=why, what=what, policy=policy, detail=str(error))

    async def audit_entries_of(self, policy: str | None, limit: int = 100, after: int = 0) -> list[dict[str, Any]]:
        """Return audit entries of a policy, or of all, newest first; times in microseconds."""
        names = {key.id: key.name for key in self.keys.by_hash.values()}
        rows = await self.readers.quick(views.audit_entries, policy, limit, after)
        fields = ("at", "who", "what", "policy", "detail", "number")
        return [dict(zip(fields, (timestamp, names.get(key, "anyone"), *more), strict=True)) for timestamp, key, *more in rows]

    async def evaluate(self, policy: str, request: dict[str, Any]) -> str:
        """Queue an evaluation and return its id. Raises InputError if a candidate cannot be made."""
        self.evaluations.check_room()
        await check_evaluated(self, self.core.policies[policy], request["candidates"])
        return await self.evaluations.add(policy, request)

    async def evaluations_of(self, policy: str) -> list[dict[str, Any]]:
        """Return evaluations of a policy, newest first."""
        return [describe_evaluation(self, row) for row in await self.readers.quick(rows, policy)]

    async def view(self, look: Any) -> bytes:
        """Return a view of the page. Maps need many probabilities, so they have a separate process and other views do not wait for them."""
        return await (self.trials if look.section == "map" else self.figures).view(look)

    # -- effects --------------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        self.flushing = False
        self._do(self.core.flush(clock()))

    def _report(self, message: Committed | Failed) -> None:
        self.loop.call_soon_threadsafe(self._reported, message)

    def _reported(self, message: Committed | Failed) -> None:
        self.metrics.count_commit(time.perf_counter() - self.flown, message)
        if isinstance(message, Failed):
            log("commit failed", level="error", why=message.why, detail=message.detail)
        self._do(self.core.handle(message, clock()))
        if len(self.core.waiting) >= ENOUGH:
            self._flush()  # before the clients just answered send more
        self._flush_soon()

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            kind = type(effect)
            if kind is Answer:
                waiter: Any = effect.request  # type: ignore[union-attr]
                answer = Answer(None, effect.status, effect.body)  # type: ignore[union-attr]  # without the future, which would be a reference cycle
                if type(waiter) is tuple:
                    waiter[0].take(waiter[1], answer)
                elif waiter is not None and not waiter.done():
                    waiter.set_result(answer)
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
        rows_after = await self.readers.quick(SqliteReader.stream, effect.policy, effect.after, effect.limit)
        self.tell(Followed(effect.policy, effect.after, rows_after))

    async def _pack(self, effect: Any) -> None:
        rows: Any = ()
        try:
            rows = await self.loop.run_in_executor(self.packing, seal, effect.frozen)
        except FileError as error:
            log("snapshot cannot be read again", level="error", policy=effect.policy, detail=str(error))
        self.tell(Packed(effect.policy, rows, effect.request))

    def _stop(self, effect: Any) -> None:
        """End the process as soon as the answers are sent."""
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
