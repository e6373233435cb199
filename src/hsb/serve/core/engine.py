"""The core: messages and times in, effects out. It reads no clock, writes no file and starts no thread."""

import math
import traceback
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from ...checks import is_number
from ...errors import FileError, InputError, quoted
from . import admin, snapshots
from .batch_decide import draw_together
from .clock import Clock
from .messages import (
    Activate,
    Answer,
    Commit,
    Committed,
    ConfirmClock,
    Decide,
    Effect,
    Failed,
    Follow,
    Followed,
    Message,
    Now,
    Pack,
    Packed,
    Reward,
    Stop,
    TakeSnapshot,
    Tick,
    Void,
)
from .orders import (
    Activation,
    BlankContexts,
    Keep,
    Learn,
    NewDecision,
    NewReward,
    Order,
    OrderBatch,
    Outcome,
    Recall,
    Rules,
    Voiding,
)
from .policy_state import Served
from .receipts import Processes, Unreadable, restore_decision
from .replies import describe_decision, describe_outcome
from .rows import DecisionRow
from .settings import check_name

PATIENCE = 1_000_000  # microseconds before orders that no request waits for are retried on a full disk
EXIT = 70  # exit status if it is unknown what is on disk

COUNTED = ("decisions", "rewards", "updates", "late", "duplicates", "expired", "refused", "forgotten")
REPORTS = {Committed, Failed, Followed, Packed, Tick}
ANYTHING = b"id"  # the fingerprint of a request that is identified by its id alone


class CoreLimits(NamedTuple):
    """Limits of the core: the amount of work that it does at once."""

    waiting: int = 4096
    """Requests that wait to be written; further ones are rejected."""
    orders: int = 1024
    """Orders of a batch."""
    closing: int = 512
    """Decisions of each policy that a batch closes."""
    following: int = 1000
    """Rows read at once for candidates that catch up."""
    updates: int = 10_000
    """Updates between snapshots."""
    pause: int = 60_000_000
    """Microseconds between snapshots, if there are new updates."""


LIMITS, UNKNOWN = CoreLimits(), Processes()


def fault_text(error: Exception) -> str:
    """Describe an unexpected error, and the line that raised it."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({where.filename.rpartition('/')[2]}:{where.lineno}, {where.name})"


class _Watch:
    """Facts about a policy that are not part of its state."""

    __slots__ = ("busy", "due", "following", "forgot", "kept", "kept_at", "queue", "safe")

    def __init__(self, due: float, kept: int, now: Now) -> None:
        self.due = due  # the first deadline, or earlier
        self.kept, self.kept_at = kept, now.mono  # updates at the last snapshot, and its time
        self.forgot = 0  # the row of the snapshot taken when contexts were last forgotten
        self.safe: tuple[int, frozenset[int]] | None = None  # the same once it is on disk, and its learners
        self.busy = self.following = False  # a change is being written; rows are being read
        self.queue: deque[Any] = deque()  # changes that wait for it


class Core:
    """All served policies, and the requests that wait for the disk.

    Pass each message to `handle`, then call `flush`, both with the time; carry out the effects in their order. One batch is under way at a
    time: messages that arrive meanwhile join the next one. An answer that reports a write leaves only after its batch is committed.
    """

    def __init__(
        self,
        policies: Iterable[Served] = (),
        *,
        now: Now,
        deadlines: dict[int, int] | None = None,
        last: int = 0,
        limits: CoreLimits = LIMITS,
        processes: Processes = UNKNOWN,
    ) -> None:
        self.limits, self.clock, self.processes = limits, Clock(now, last), processes
        self.policies: dict[str, Served] = {}
        self.by_id: dict[int, Served] = {}
        self.watches: dict[int, _Watch] = {}
        self.rules: dict[int, Rules] = {}
        self.names: set[str] = set()  # including policies that are being created
        for served in policies:
            self.take(served, now, (deadlines or {}).get(served.id, math.inf))
        self.waiting: deque[tuple[Hashable, Order, Any]] = deque()  # request, order, message
        self.last: list[tuple[Hashable, Order, Any]] = []  # orders that change a stream; they end the next batch
        self.flying: list[tuple[Hashable, Order, Any]] | None = None
        self.number, self.stopped, self.patience = 0, False, -math.inf
        self.packing: list[TakeSnapshot] = []  # requests whose snapshots are being packed
        self.kept_back = False  # answered decisions wait for room on the disk
        self.counts = dict.fromkeys(COUNTED, 0)

    def take(self, served: Served, now: Now, due: float = math.inf) -> None:
        """Begin to serve a policy."""
        self.policies[served.name] = self.by_id[served.id] = served
        self.watches[served.id] = _Watch(due, served.updates_kept, now)
        self.names.add(served.name)
        self.rules = {**self.rules, served.id: served.rules}

    def drop(self, served: Served) -> Iterable[Any]:
        """Stop serving a policy. Returns the changes of it that waited."""
        del self.policies[served.name], self.by_id[served.id]
        self.names.discard(served.name)
        self.rules = {name: rules for name, rules in self.rules.items() if name != served.id}
        return self.watches.pop(served.id).queue

    # -- messages -------------------------------------------------------------------------------------------------------

    def handle(self, message: Message, now: Now) -> list[Effect]:
        """Handle a message and return its immediate effects. Call `flush` afterwards, at the latest when no other message has arrived."""
        self.clock.see(now)
        kind = type(message)
        if kind in REPORTS:
            return self._handle_report(message, now)
        request: Hashable = message.request  # type: ignore[union-attr]
        if kind is ConfirmClock:
            self.clock.confirm(now)
            return [Answer(request, "done", {})]
        if self.stopped:
            return [Answer(request, "away", {"detail": "The journal cannot be written; the service is stopping."})]
        if len(self.waiting) + len(self.last) >= self.limits.waiting:
            return [
                Answer(
                    request,
                    "overloaded",
                    {"detail": f"{self.limits.waiting} requests are waiting to be written. Try again later."},
                )
            ]
        try:
            return self._handle_request(message, now)
        except (InputError, FileError) as error:
            self.counts["refused"] += 1
            return [Answer(request, "refused", {"detail": str(error)})]

    def _handle_report(self, message: Any, now: Now) -> list[Effect]:
        """Handle a report of the store. An error here is as bad as a lost commit: disk and served state may differ."""
        kind = type(message)
        try:
            if kind is Committed:
                return self._handle_committed(message, now)
            if kind is Failed:
                return self._handle_failed(message, now)
            if kind is Followed:
                return self._handle_followed(message)
            return snapshots.write_packed(self, message, now) if kind is Packed else []
        except Exception as error:
            return self._end(fault_text(error))

    def handle_all(self, messages: Sequence[Any], now: Now) -> list[Effect]:
        """Handle requests that arrive together, in their order. Drawing their decisions in one pass takes less time."""
        effects: list[Effect] = []
        for message, drawn in zip(messages, draw_together(self, messages, now), strict=True):
            effects += self.handle(message, now) if drawn is None else self._write_decision(*drawn)
        return effects

    def _handle_request(self, message: Any, now: Now) -> list[Effect]:
        kind = type(message)
        if kind is Decide:
            return self._decide(message, now)
        if kind is Reward:
            self._reward(message, now)
        elif kind is Activate or kind is Void:
            name = check_name("decision", message.decision)
            self._write(message, (Activation if kind is Activate else Voiding)(name, message.only))
        else:
            return admin.order_change(self, message, now)
        return []

    def _decide(self, message: Decide, now: Now) -> list[Effect]:
        served = self.policies.get(message.policy)
        if served is None:
            return [Answer(message.request, "unknown", {"detail": f"There is no policy {quoted(message.policy)}."})]
        if served.archived:
            return [Answer(message.request, "gone", {"detail": f"The policy {served.name} is archived."})]
        if message.min_version > served.version:
            detail = f"The policy is at version {served.version}, before min_version {message.min_version}. Try again later."
            return [Answer(message.request, "behind", {"detail": detail, "version": served.version})]
        name, question = check_name("id", message.id), (*message[3:6], bool(message.activate))  # context, available, baseline
        arms = message.arms
        try:
            row = served.decide(name, *question, self.clock.time(now), message.key, arms=arms)
        except InputError as error:
            if message.fresh:
                raise
            # perhaps it was made earlier, when it was possible: before an arm was removed or the settings changed
            body = ANYTHING if message.sticky else served.question(*question, arms)
            self._write(message, Recall(name, served.id, body, str(error)))
            return []
        return self._write_decision(served, message, row)

    def _write_decision(self, served: Served, message: Decide, row: DecisionRow) -> list[Effect]:
        """Order that a decision be written. Returns the answers that may leave before it is."""
        row = row._replace(body=ANYTHING) if message.sticky else row
        watch, order = self.watches[served.id], NewDecision(row, bool(message.activate))
        watch.due = min(watch.due, row.deadline)
        if served.settings.durability == "receipt" and message.fresh and not self.kept_back and self.processes.now:
            self.counts["decisions"] += 1
            self.waiting.append((None, order, None))
            return [Answer(message.request, "created", describe_decision(served, row, self.processes.now, order.active))]
        self._write(message, order)
        return []

    def _reward(self, message: Reward, now: Now) -> None:
        value = message.value
        if isinstance(value, bool):
            value = float(value)
        if not is_number(value) or not math.isfinite(value):
            raise InputError(f"{'loss' if message.loss else 'reward'} must be a finite number; given {quoted(value)}.")
        order = NewReward(
            check_name("decision", message.decision),
            check_name("id", message.id),
            float(value),
            message.key,
            bool(message.loss),
            only=message.only,
        )
        self._write(message, order if message.receipt is None else self._with_receipt(order, message.receipt, now))

    def _with_receipt(self, order: NewReward, receipt: Any, now: Now) -> NewReward:
        try:
            lost = restore_decision(self.by_id, self.processes, order.decision, receipt)
        except Unreadable as error:  # e.g. of another version of hsb; no problem if the journal has the decision
            return order._replace(unreadable=str(error))
        if lost is None:
            return order
        return order._replace(restored=lost, over=lost.row.deadline <= self.clock.time(now) and not self.clock.held)

    def _write(self, message: Any, order: Order) -> None:
        self.waiting.append((message.request, order, message))

    # -- batches --------------------------------------------------------------------------------------------------------

    def flush(self, now: Now) -> list[Effect]:
        """Begin the next batch, if none is under way and orders wait."""
        try:
            return self._flush(now)
        except Exception as error:
            return self._end(fault_text(error))

    def _flush(self, now: Now) -> list[Effect]:
        if self.flying is not None or self.stopped or (self.kept_back and now.mono < self.patience):
            return []
        self.kept_back = False
        held, time = self.clock.see(now), self.clock.time(now)
        self.flying = flying = [self.waiting.popleft() for _ in range(min(len(self.waiting), self.limits.orders))]
        for name, watch in self.watches.items():
            if watch.due <= time and not held and now.mono >= self.patience:
                flying.append((None, Learn(name, time, self.limits.closing), None))
        packs = self._last_ones(flying, now)
        if now.mono >= self.patience:
            packs += [Pack(name, snapshots.freeze(self, name, now), None) for name in snapshots.due(self, now)]
        if not flying:
            self.flying = None
            return packs
        self.number += 1
        return [*packs, Commit(OrderBatch(self.number, time, [order for _, order, _ in flying], self.rules))]

    def _last_ones(self, flying: list[tuple[Hashable, Order, Any]], now: Now) -> list[Effect]:
        """Add changes of streams after the updates, which follow the previous settings. Returns answers to changes that are impossible."""
        effects: list[Effect] = []
        last: list[tuple[Hashable, Order, Any]] = []
        for each in self.last:
            if type(each[1]) is BlankContexts:
                try:
                    keep = snapshots.before_blank(self, each[1], now)
                except FileError as error:
                    why = f"Nothing was forgotten: the snapshot that must come first cannot be read again: {error}"
                    effects += admin.refuse_change(self, each[2], why, now)
                    continue
                last += [] if keep is None else [(None, keep, None)]
            last.append(each)
        flying += last
        self.last = []
        return effects

    def wake(self, now: Now) -> int | None:
        """Return the microseconds until a `Tick` is due; None if none is."""
        held = self.clock.see(now)  # also without requests: the clock may have returned
        dues = [watch.due - now.wall for watch in self.watches.values()] if not held else []
        dues += [
            watch.kept_at + self.limits.pause - now.mono
            for name, watch in self.watches.items()
            if self.by_id[name].updates > watch.kept
        ]
        dues += [0] if self.kept_back else []
        first = min(dues, default=math.inf)
        return None if first == math.inf else int(max(0, first, self.patience - now.mono))

    def _handle_committed(self, message: Committed, now: Now) -> list[Effect]:
        if self.flying is None or message.number != self.number:
            return []
        flying, effects = self.flying, list[Effect]()
        looked = False
        for (_, order, _), outcome in zip(flying, message.outcomes, strict=True):
            if type(order) is Learn and order.policy in self.watches:
                self._note_closed(order, outcome)
                looked = True
            elif type(order) is Keep:
                snapshots.note_written(self, order)
        if looked:  # the store looked for the next deadline before the orders since then
            self._note_deadlines(order for _, order, _ in (*flying, *self.waiting))
        self._note_waits(message.outcomes)
        for (request, _, origin), outcome in zip(flying, message.outcomes, strict=True):
            unlearned = self._learn(outcome)
            if unlearned is not None:
                outcome = outcome._replace(status="not_learned", detail=unlearned)
            if origin is not None:
                effects += self._answers(request, origin, outcome, now)
        effects += self._follow()
        self.flying = None
        return effects

    def _learn(self, outcome: Outcome) -> str | None:
        """Apply the rows that are on disk now, in their order. Returns why a reward that was to be learned at once could not be."""
        why = None
        for row, decision in outcome.learned:
            served = self.by_id[row.policy]
            before = served.live.not_learned
            served.apply((row, decision))
            why = served.live.why if outcome.status == "learned" and served.live.not_learned > before else None
        self.counts["updates"] += len(outcome.learned)
        if outcome.row is not None and outcome.policy is None:
            served = self.by_id[outcome.row.policy]
            served.apply((outcome.row, None))
            self.rules = {**self.rules, served.id: served.rules}
        return why

    def _note_closed(self, order: Learn, outcome: Outcome) -> None:
        self.counts["expired"] += outcome.expired
        after = math.inf if outcome.next is None else outcome.next
        self.watches[order.policy].due = -math.inf if outcome.more else after

    def _note_deadlines(self, orders: Iterable[Order]) -> None:
        """Note deadlines that did not exist when the store looked for the next one."""
        for row in (order.row for order in orders if type(order) is NewDecision):
            if (watch := self.watches.get(row.policy)) is not None:
                watch.due = min(watch.due, row.deadline)

    def _note_waits(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.next is not None and outcome.decision is not None:  # its wait has begun
                watch = self.watches[outcome.decision.policy]
                watch.due = min(watch.due, outcome.next)

    def _answers(self, request: Hashable, message: Any, outcome: Outcome, now: Now) -> list[Effect]:
        kind = type(message)
        if kind is Decide or kind is Reward or kind is Activate or kind is Void:
            return [Answer(request, outcome.status, describe_outcome(self, kind, message, outcome))]
        return admin.finish_change(self, request, message, outcome, now)

    # -- failures ------------------------------------------------------------------------------------------------------

    def _handle_failed(self, message: Failed, now: Now) -> list[Effect]:
        if self.flying is None or message.number != self.number:
            return []
        self.patience = now.mono + PATIENCE
        if message.why != "full":
            return self._end(message.detail or "a commit failed")
        flying, self.flying = self.flying, None
        effects: list[Effect] = []
        again: list[tuple[Hashable, Order, Any]] = []
        for request, order, origin in flying:
            if origin is not None:
                effects.append(
                    Answer(
                        request, "full", {"detail": "The disk is full; nothing was written. Free some space, then try again."}
                    )
                )
                effects += admin.cancel_change(self, origin)
            elif type(order) is Keep:
                if (watch := self.watches.get(order.rows[0].policy)) is not None:
                    watch.kept -= 1  # again after the next pause
            elif type(order) is NewDecision:
                again.append((request, order, origin))  # already answered: written first, as soon as there is room
        self.waiting.extendleft(reversed(again))
        self.kept_back = bool(again)
        return effects

    def _end(self, why: str) -> list[Effect]:
        """Answer all requests that wait, and stop: only a fresh start can find out what is on disk."""
        self.stopped = True
        everyone = [*(self.flying or ()), *self.waiting, *self.last]
        unanswered = [message for _, _, message in everyone if message is not None]
        unanswered += [*self.packing, *(message for watch in self.watches.values() for message in watch.queue)]
        self.waiting.clear()
        self.flying, self.last, self.packing = None, [], []
        for watch in self.watches.values():
            watch.queue.clear()
        detail = "The journal cannot be written; the service is stopping."
        return [*(Answer(message.request, "away", {"detail": detail}) for message in unanswered), Stop(EXIT, why)]

    # -- candidates that catch up ---------------------------------------------------------------------------------------

    def _follow(self) -> list[Effect]:
        effects: list[Effect] = []
        for served in self.by_id.values():
            watch = self.watches[served.id]
            if served.candidates and not watch.following and (behind := served.behind()):
                watch.following = True
                effects.append(Follow(served.id, min(each.at for each in behind.values()), self.limits.following))
        return effects

    def _handle_followed(self, message: Followed) -> list[Effect]:
        if message.policy not in self.watches:
            return []
        self.watches[message.policy].following = False
        self.by_id[message.policy].catch_up(message.entries)
        return self._follow() if message.entries else []

    def begin(self) -> list[Effect]:
        """Return the first effects after a start."""
        return self._follow()

    def last_order(self, message: Any, order: Order) -> list[Effect]:
        """Order a change of a stream, at the end of the next batch."""
        self.last.append((message.request, order, message))
        return []
