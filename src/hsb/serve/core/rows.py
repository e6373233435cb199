"""Rows of the journal. Times are whole microseconds since 1970. Arms are indices of the policy's list of arms, which only grows."""

from enum import IntEnum
from typing import NamedTuple


class RowKind(IntEnum):
    """Kinds of rows of a policy's stream, which orders all changes of the policy."""

    UPDATE = 1  # the reward of a decision is learned
    CREATE = 2  # the first row: the settings
    ARM = 3  # an arm is added, brought back or removed
    SETTINGS = 4  # floor, ramp, baseline, feedback
    CANDIDATE = 5  # a candidate is added or dropped
    PROMOTE = 6  # a candidate plays, and the policy that played becomes a candidate
    IMPORT = 7  # the policy continues from a file
    ARCHIVE = 8  # the policy makes no further decisions
    FORGET = 9  # names of categories and tags are replaced


class PolicyRow(NamedTuple):
    """A policy: its name, its secret, and the length of its stream."""

    id: int
    name: str
    secret: bytes
    head: int
    at: int


class DecisionRow(NamedTuple):
    """A decision, with all that its draw depended on and all that its update needs. It never changes."""

    id: str
    policy: int
    version: int
    """Rows of the stream that the policy had applied."""
    learner: int
    """The learner that drew it: the row of the stream that created it."""
    arm: int
    propensity: float
    u: float
    available: bytes
    """The available arms: a bit for each arm, the first one lowest."""
    ramp: float
    baseline: int | None
    context: str
    """As JSON, with names in their original order; empty if it was forgotten."""
    rounds: int
    """Rounds that the learner had learned; -1 if it must not learn the decision as its own."""
    advice_share: float
    seen: bytes | None
    """The encoding of the context at that time, eight bytes per cell."""
    body: bytes
    """A fingerprint of the request, which distinguishes a retry from another request."""
    deadline: int
    at: int
    key: int | None = None
    played: str | None = None
    """The arm's name if arms come with each request; `requests.py` says what `arm`, `available` and `baseline` then are."""


class RewardRow(NamedTuple):
    """A reward of a decision, with its own id. It is `late` if the decision was closed: kept, but not learned."""

    decision: str
    id: str
    value: float
    late: bool
    at: int
    key: int | None = None


class PendingRow(NamedTuple):
    """A decision that waits for feedback. Its row is deleted when the decision is closed."""

    decision: str
    policy: int
    deadline: int
    active: bool


class ClosedRow(NamedTuple):
    """A decision that was closed without an update, and why: 'void', 'expired' or 'forgotten'."""

    decision: str
    how: str
    at: int


class DecisionEnd(NamedTuple):
    """A decision's arm and status, to be counted by arm."""

    position: int
    """Its position among all decisions of the journal, in the order of writing."""
    arm: int
    propensity: float
    available: bytes
    deadline: int
    how: str
    """'pending', 'learned', or why it was closed without an update."""


class DecisionStatus(NamedTuple):
    """The status of a decision: exactly one of pending, learned and closed holds."""

    decision: str
    in_time: int
    """Rewards that arrived before it was closed."""
    late: int
    pending: bool
    learned: int
    closed: str | None


class StreamRow(NamedTuple):
    """A row of a policy's stream; `seq` counts from 1, without gaps."""

    policy: int
    seq: int
    kind: int
    decision: str | None
    reward: float | None
    defaulted: bool
    data: str | None
    body: bytes | None
    at: int


class SnapshotRow(NamedTuple):
    """One learner of a policy after `seq` rows of its stream, as a file that `hsb.load` reads."""

    policy: int
    seq: int
    learner: int
    digest: str
    about: str
    body: bytes
    at: int


Entry = tuple[StreamRow, DecisionRow | None]
"""A row of a stream, and the decision that it is an update of."""
