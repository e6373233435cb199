"""Messages to the core, and effects that it wants carried out. `request` is the caller's id of a request; its answer carries it."""

from collections.abc import Hashable
from typing import Any, NamedTuple

from .orders import OrderBatch, Outcome
from .rows import Entry, SnapshotRow
from .sealed_snapshots import Frozen


class Now(NamedTuple):
    """The time in microseconds: of the wall clock since 1970, and of a monotonic clock."""

    wall: int
    mono: int


# -- requests: each gets one answer -------------------------------------------------------------------------------------


class Decide(NamedTuple):
    """Decide on a context. `id` is the caller's, or a `fresh` one that was never used before. The same id again returns the same decision.

    With `receipt`, the answer has a receipt. If the policy's durability is "receipt" and the id is fresh, the answer has one and leaves
    before the commit.
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
    """Whether this id returns the same decision even for another context or other arms."""
    arms: Any = None
    """The available arms with their features, if they come with each request."""


class Reward(NamedTuple):
    """Record a reward of a decision, or a loss. `id` is that of the reward: the same id again is the same reward.

    A loss is converted to the reward that is its mirror image in the policy's range, as in `policy.learn(decision, loss=)`. With the
    decision's receipt, the reward is accepted even if the journal has lost the decision.
    """

    request: Hashable
    decision: str
    value: float
    id: str = "1"
    key: int | None = None
    loss: bool = False
    receipt: str | None = None
    only: frozenset[int] | None = None
    """The policies whose decisions the key may use; None: all."""


class Activate(NamedTuple):
    """Activate a decision made with `activate=False`: it was shown after all, and its wait begins."""

    request: Hashable
    decision: str
    only: frozenset[int] | None = None


class Void(NamedTuple):
    """Void a decision that was never shown: it is closed and not learned."""

    request: Hashable
    decision: str
    only: frozenset[int] | None = None


class Create(NamedTuple):
    """Create a policy. Its draws derive from `secret`, 16 to 64 random bytes."""

    request: Hashable
    spec: dict[str, Any]
    secret: bytes


class Change(NamedTuple):
    """Change settings, e.g. floor, ramp, baseline, feedback."""

    request: Hashable
    policy: str
    changes: dict[str, Any]


class AddArm(NamedTuple):
    """Add an arm, or bring back a removed one."""

    request: Hashable
    policy: str
    arm: str
    features: dict[str, Any] | None = None


class RemoveArm(NamedTuple):
    """Remove an arm: it is not available from now on."""

    request: Hashable
    policy: str
    arm: str


class AddCandidate(NamedTuple):
    """Add a candidate: a policy that does not play, and learns the same stream from its beginning."""

    request: Hashable
    policy: str
    name: str
    spec: dict[str, Any]
    trials: tuple[Any, ...] = ()
    """Contexts on which it must be able to decide and to learn."""


class DropCandidate(NamedTuple):
    """Drop a candidate."""

    request: Hashable
    policy: str
    name: str


class Promote(NamedTuple):
    """Let a candidate play. The policy that played becomes the candidate `before-<row>`; promote that one to roll back."""

    request: Hashable
    policy: str
    name: str
    trials: tuple[Any, ...] = ()
    """Contexts on which it must be able to decide."""


class Import(NamedTuple):
    """Continue from a policy's file."""

    request: Hashable
    policy: str
    body: bytes
    read: Any = None
    """The policy in it, if it was read beforehand, which may take a while."""
    trials: tuple[Any, ...] = ()
    """Contexts on which it must be able to decide."""


class Archive(NamedTuple):
    """Archive a policy: it makes no further decisions. Feedback on past decisions is still accepted."""

    request: Hashable
    policy: str


class Purge(NamedTuple):
    """Delete a policy: unavailable immediately, its rows removed in batches."""

    request: Hashable
    policy: str


class Forget(NamedTuple):
    """Forget the contexts of these decisions. Decisions that wait are closed and not learned; with `closed` they keep their contexts.

    `learned` is the last row of the stream that is an update of one of them, if the caller has looked it up.
    """

    request: Hashable
    policy: str
    decisions: list[str]
    learned: int | None = None
    closed: bool = False


class ForgetWords(NamedTuple):
    """Replace these categories and tags by meaningless names. What the policy has learned about them stays."""

    request: Hashable
    policy: str
    words: list[str]


class TakeSnapshot(NamedTuple):
    """Take a snapshot of the policy's state."""

    request: Hashable
    policy: str


class ConfirmClock(NamedTuple):
    """Confirm that the wall clock, which jumped, is right: deadlines follow it again."""

    request: Hashable


# -- reports of the store ----------------------------------------------------------------------------------------------


class Committed(NamedTuple):
    """A batch is on disk."""

    number: int
    outcomes: list[Outcome]


class Failed(NamedTuple):
    """A batch failed: the disk is full and nothing was written ("full"), or it is unknown what was written ("lost")."""

    number: int
    why: str
    detail: str = ""


class Followed(NamedTuple):
    """The requested rows of a stream, from `after + 1` on."""

    policy: int
    after: int
    entries: list[Entry]


class Packed(NamedTuple):
    """A snapshot is packed; `request` as in `Pack`. No rows if it cannot be read again."""

    policy: int
    rows: tuple[SnapshotRow, ...]
    request: Any


class Tick(NamedTuple):
    """Time has passed."""


# -- effects ------------------------------------------------------------------------------------------------------------


class Commit(NamedTuple):
    """Write a batch in one transaction, then report `Committed` or `Failed`. Only one is under way."""

    batch: OrderBatch


class Answer(NamedTuple):
    """Answer a request with a key of `STATUS` and a body."""

    request: Hashable
    status: str
    body: dict[str, Any]


class Follow(NamedTuple):
    """Read at most `limit` rows of a stream after the row `after`, then report `Followed`."""

    policy: int
    after: int
    limit: int


class Pack(NamedTuple):
    """Pack a snapshot: call seal(frozen), in another thread if possible, then report `Packed` with the same `request`."""

    policy: int
    frozen: Frozen
    request: Any


class Stop(NamedTuple):
    """End the process with this exit status: only a fresh start can find out what is on disk."""

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
    "stored": 200,  # the decision made earlier for this id
    "accepted": 202,  # a reward that will be learned
    "learned": 200,  # a reward that was learned at once
    "not_learned": 200,  # a reward that is kept, but that the policy cannot learn
    "done": 200,  # a change
    "duplicate": 200,  # the same reward again, or the same activation
    "forbidden": 403,  # the key is not for the policy of the decision
    "unknown": 404,
    "conflict": 409,  # the id belongs to another request or value, or the name is taken
    "late": 410,  # the reward arrived after the decision was closed: kept, not learned
    "gone": 410,  # the policy is archived
    "behind": 412,  # the policy has not reached min_version
    "refused": 422,  # the request is impossible, with hsb's message
    "overloaded": 503,  # too many requests wait: try again
    "away": 503,  # the journal cannot be written: try again with the same id
    "full": 507,  # the disk is full; nothing was written
}
"""The statuses of answers, and the HTTP status of each."""
