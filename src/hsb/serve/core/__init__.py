"""The service without any input or output: messages and times in, effects out.

The seam, for whoever drives it (HTTP, tests, a simulator):

    core = Core(policies, now=Now(wall, mono), deadlines=..., last=...)    # what `store.recover` found; then core.begin() for effects
    effects = core.handle(message, now)                                    # a request, or what the store reports
    effects += core.flush(now)                                             # after a handful of messages, e.g. once a turn of the event loop
    core.wake(now)                                                         # microseconds until a Tick() is due, or None

Times are whole microseconds, of the wall clock since 1970 and of one that never jumps. Effects are done in their order:

    Commit(batch)                 store.commit(batch), on the thread that owns the writing connection; report Committed(number, outcomes) or
                                  Failed(number, "full" | "lost"). There is one at a time; requests that come meanwhile go into the next.
    Answer(request, status, body) the answer to the request of that name; STATUS has the HTTP status for each word.
    Follow(policy, after, limit)  store.stream(policy, after, limit) on a reading connection; report Followed(policy, after, entries).
    Pack(policy, frozen, asked)   sealed(frozen), in another thread: it may take long; report Packed(policy, rows, asked).
    Stop(code, why)               end the process: what is on disk is known again after a fresh start only. Every request has been answered.

A request is `Decide`, `Reward`, `Activate`, `Void`, or one of those that change a policy (`Create`, `Change`, `AddArm`, ...). Ids and secrets
come from outside: nothing here is random. A batch of decisions is as many `Decide` messages, given to `handle_all` before one `flush`.

What is promised: an answer that stands for something written leaves after its commit (`engine`); what a batch does is a pure
function of the batch and of what was looked up (`apply`), the same for every store; state(version) is the fold of the stream
(`policy_state`); and a decision follows from (state, context, arms available, id) alone (`sampling`).
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
from .snapshots import sealed

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
    "sealed",
]
