"""The service without input or output: messages and times in, effects out.

How HTTP, tests and a simulator drive it:

    core = Core(**store.start(journal, now))                               # then core.begin() for the first effects
    effects = core.handle(message, now)                                    # a request, or a report of the store
    effects += core.flush(now)                                             # after a few messages, e.g. once per turn of the event loop
    core.wake(now)                                                         # microseconds until a Tick() is due, or None

Times are whole microseconds: of the wall clock since 1970, and of a monotonic clock. Carry out effects in their order:

    Commit(batch)                 store.commit(batch), on the thread that owns the writing connection; report Committed(number, outcomes) or
                                  Failed(number, "full" | "lost"). Only one is under way; requests that arrive meanwhile join the next batch.
    Answer(request, status, body) answer the request with this id; STATUS maps each status to an HTTP status.
    Follow(policy, after, limit)  store.stream(policy, after, limit) on a reading connection; report Followed(policy, after, entries).
    Pack(policy, frozen, request)   seal(frozen) in another thread, since it may take long; report Packed(policy, rows, request).
    Stop(code, why)               end the process: only a fresh start can find out what is on disk. Every request has been answered.

A request is `Decide`, `Reward`, `Activate`, `Void`, or a change of a policy (`Create`, `Change`, `AddArm`, ...). The caller supplies ids and
secrets: nothing here is random. A batch of decisions is one `Decide` message each, passed to `handle_all` before one `flush`.

Guarantees: an answer that reports a write leaves after its commit (`engine`). The effect of a batch is a pure function of the batch and
of the facts looked up for it (`apply`), the same for every store. state(version) is a replay of the stream up to that version
(`policy_state`). A decision depends on (state, context, available arms, id) alone (`sampling`).
"""

from .apply import judge, needs
from .engine import Core, CoreLimits
from .messages import (
    STATUS,
    Activate,
    AddArm,
    AddCandidate,
    Answer,
    Archive,
    Change,
    Commit,
    Committed,
    ConfirmClock,
    Create,
    Decide,
    DropCandidate,
    Effect,
    Failed,
    Follow,
    Followed,
    Forget,
    ForgetWords,
    Import,
    Message,
    Now,
    Pack,
    Packed,
    Promote,
    Purge,
    RemoveArm,
    Reward,
    Stop,
    TakeSnapshot,
    Tick,
    Void,
)
from .orders import JournalChanges, JournalFacts, OrderBatch
from .policy_state import Served, read_file
from .recovery import revive
from .snapshots import seal

__all__ = [
    "STATUS",
    "Activate",
    "AddArm",
    "AddCandidate",
    "Answer",
    "Archive",
    "Change",
    "Commit",
    "Committed",
    "ConfirmClock",
    "Core",
    "CoreLimits",
    "Create",
    "Decide",
    "DropCandidate",
    "Effect",
    "Failed",
    "Follow",
    "Followed",
    "Forget",
    "ForgetWords",
    "Import",
    "JournalChanges",
    "JournalFacts",
    "Message",
    "Now",
    "OrderBatch",
    "Pack",
    "Packed",
    "Promote",
    "Purge",
    "RemoveArm",
    "Reward",
    "Served",
    "Stop",
    "TakeSnapshot",
    "Tick",
    "Void",
    "judge",
    "needs",
    "read_file",
    "revive",
    "seal",
]
