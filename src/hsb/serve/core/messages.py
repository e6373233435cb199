"""What the core is told, and what it wants done. `request` is whatever the caller knows a request by; its answer carries it."""

from collections.abc import Hashable
from typing import Any, NamedTuple

from .orders import OrderBatch, Outcome
from .rows import Entry, SnapshotRow
from .sealed_snapshots import Frozen


class Now(NamedTuple):
    """The time, in microseconds: of the wall clock since 1970, and of one that never jumps."""

    wall: int
    mono: int


# -- requests: each is answered once ------------------------------------------------------------------------------------


class Decide(NamedTuple):
    """Decide on a context. `id` is the caller's or a `fresh` one, never used before: the same id again is the same decision.

    `receipt` asks for one. Where the policy's durability is "receipt" and the id is fresh, the answer leaves before the commit, with one.
    """

    request: Hashable
    policy: str
    id: str
    context: Any
    available: list[str] | None = None
    baseline: str | None = None
    activate: bool = True
    min_version: int = 0
    key: int | None = None
    fresh: bool = False
    receipt: bool = False
    sticky: bool = False
    """Is it the same decision whatever else is asked by this id, e.g. on another context?"""


class Reward(NamedTuple):
    """A reward of a decision, or a loss, by its own id: the same id again is the same reward.

    A loss counts as the reward that is its mirror image in the policy's range, as in `policy.learn(decision, loss=)`. With the decision's
    receipt it is taken though the journal has lost the decision.
    """

    request: Hashable
    decision: str
    value: float
    id: str = "1"
    key: int | None = None
    loss: bool = False
    receipt: str | None = None
    only: frozenset[int] | None = None
    """The policies whose decisions may be meant; None: all."""


class Activate(NamedTuple):
    """A decision made with `activate=False` was shown after all: its wait begins."""

    request: Hashable
    decision: str
    only: frozenset[int] | None = None


class Void(NamedTuple):
    """A decision was never shown: it is closed and not learned."""

    request: Hashable
    decision: str
    only: frozenset[int] | None = None


class Create(NamedTuple):
    """A new policy. `secret`, 32 random bytes, is what its draws come from."""

    request: Hashable
    spec: dict[str, Any]
    secret: bytes


class Change(NamedTuple):
    """Other settings: floor, ramp, baseline, feedback."""

    request: Hashable
    policy: str
    changes: dict[str, Any]


class AddArm(NamedTuple):
    """A new arm, or one that comes back."""

    request: Hashable
    policy: str
    arm: str
    features: dict[str, Any] | None = None


class RemoveArm(NamedTuple):
    """An arm is offered no more."""

    request: Hashable
    policy: str
    arm: str


class AddCandidate(NamedTuple):
    """A policy beside the one that plays, which learns the same stream from its beginning."""

    request: Hashable
    policy: str
    name: str
    spec: dict[str, Any]
    trials: tuple[Any, ...] = ()
    """Contexts on which it must be able to decide and to learn."""


class DropCandidate(NamedTuple):
    """A candidate goes."""

    request: Hashable
    policy: str
    name: str


class Promote(NamedTuple):
    """A candidate plays from now on; what played before becomes the candidate `before-<row>`, so that promoting that one rolls back."""

    request: Hashable
    policy: str
    name: str
    trials: tuple[Any, ...] = ()
    """Contexts on which it must be able to decide."""


class Import(NamedTuple):
    """Go on from a policy's file."""

    request: Hashable
    policy: str
    body: bytes
    read: Any = None
    """The policy in it, where it was read beforehand: that may take a while."""
    trials: tuple[Any, ...] = ()
    """Contexts on which it must be able to decide."""


class Archive(NamedTuple):
    """The policy decides no more; feedback for what it decided is still taken."""

    request: Hashable
    policy: str


class Purge(NamedTuple):
    """Nothing of the policy is to be left: it is gone at once, its rows a part at a time."""

    request: Hashable
    policy: str


class Forget(NamedTuple):
    """What these decisions of a policy were asked is to be forgotten. Those that wait are closed, and not learned; with `closed` they stay.

    `learned` is the last row of the stream that is an update of one of them, where whoever asks has looked.
    """

    request: Hashable
    policy: str
    decisions: list[str]
    learned: int | None = None
    closed: bool = False


class ForgetWords(NamedTuple):
    """The policy is to know these categories and tags by names that say nothing. What it has learned of them stays."""

    request: Hashable
    policy: str
    words: list[str]


class TakeSnapshot(NamedTuple):
    """Keep the policy's state now."""

    request: Hashable
    policy: str


class ConfirmClock(NamedTuple):
    """The wall clock jumped and is right now: deadlines go by it again."""

    request: Hashable


# -- what the store reports ---------------------------------------------------------------------------------------------


class Committed(NamedTuple):
    """A batch is on disk."""

    number: int
    outcomes: list[Outcome]


class Failed(NamedTuple):
    """A batch is not: the disk is full and nothing of it was written ("full"), or nobody knows what was ("lost")."""

    number: int
    why: str
    detail: str = ""


class Followed(NamedTuple):
    """Rows of a stream that were asked for, from `after + 1` on."""

    policy: int
    after: int
    entries: list[Entry]


class Packed(NamedTuple):
    """A snapshot is packed; `asked` as in `Pack`. No rows where it cannot be read again."""

    policy: int
    rows: tuple[SnapshotRow, ...]
    asked: Any


class Tick(NamedTuple):
    """Time has passed."""


# -- effects ------------------------------------------------------------------------------------------------------------


class Commit(NamedTuple):
    """Write a batch in one transaction; then report `Committed` or `Failed`. There is one at a time."""

    batch: OrderBatch


class Answer(NamedTuple):
    """Answer a request: a word of `STATUS`, and what goes with it."""

    request: Hashable
    status: str
    body: dict[str, Any]


class Follow(NamedTuple):
    """Read rows of a stream after `after`, at most `limit`; then report `Followed`."""

    policy: int
    after: int
    limit: int


class Pack(NamedTuple):
    """Pack a snapshot: call sealed(frozen), in another thread if there is one; then report `Packed` with the same `asked`."""

    policy: int
    frozen: Frozen
    asked: Any


class Stop(NamedTuple):
    """End the process with this exit status: what is on disk is known again only after a fresh start."""

    code: int
    why: str


Admin = (
    Create
    | Change
    | AddArm
    | RemoveArm
    | AddCandidate
    | DropCandidate
    | Promote
    | Import
    | Archive
    | Purge
    | Forget
    | ForgetWords
    | TakeSnapshot
)
Message = Decide | Reward | Activate | Void | Admin | ConfirmClock | Committed | Failed | Followed | Packed | Tick
Effect = Commit | Answer | Follow | Pack | Stop

STATUS = {
    "created": 201,  # a decision, a policy, a candidate, an arm
    "stored": 200,  # the decision that was made for this id before
    "accepted": 202,  # a reward, which will be learned
    "learned": 200,  # a reward, which was learned at once
    "not_learned": 200,  # a reward, which was to be learned at once: it is kept, but the policy cannot learn it
    "done": 200,  # a change
    "duplicate": 200,  # the same reward again, or the same activation
    "forbidden": 403,  # the decision is that of another policy than the key is for
    "unknown": 404,
    "conflict": 409,  # the id belongs to another question or another value; the name is taken
    "late": 410,  # the reward came after the decision was closed: kept, not learned
    "gone": 410,  # the policy is archived
    "behind": 412,  # the version asked for is not reached
    "refused": 422,  # what was asked cannot be done, in hsb's own words
    "overloaded": 503,  # too many wait: try again
    "away": 503,  # the journal cannot be written: try again with the same id
    "full": 507,  # the disk is full; nothing was written
}
"""What answers say, and the HTTP status that each would have."""
