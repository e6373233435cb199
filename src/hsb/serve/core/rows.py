"""What the journal holds, row by row. Times are whole microseconds since 1970, arms places in the policy's list, which only grows."""

from enum import IntEnum
from typing import NamedTuple


class RowKind(IntEnum):
    """What a row of a policy's stream is: whatever changes the policy, in one order."""

    UPDATE = 1  # a decision's reward is learned
    CREATE = 2  # the first row: the settings
    ARM = 3  # one is added, brought back or removed
    SETTINGS = 4  # floor, ramp, baseline, feedback
    CANDIDATE = 5  # one is added or dropped
    PROMOTE = 6  # a candidate takes the policy's place, and the policy the candidate's
    IMPORT = 7  # the policy goes on from a file
    ARCHIVE = 8  # it decides no more
    FORGET = 9  # names of categories and tags are replaced


class PolicyRow(NamedTuple):
    """A policy's name, its secret, and how long its stream is."""

    id: int
    name: str
    secret: bytes
    head: int
    at: int


class DecisionRow(NamedTuple):
    """A decision, with all that drew it and all that learning it needs. A fact: it never changes."""

    id: str
    policy: int
    version: int
    """How much of the stream the policy had learned."""
    learner: int
    """Which learner drew it: the row of the stream that made it."""
    arm: int
    propensity: float
    u: float
    available: bytes
    """A bit for each arm that there was, the first one the lowest: the arms available."""
    ramp: float
    baseline: int | None
    context: str
    """As JSON, names in the order in which they were given; empty where it was forgotten."""
    rounds: int
    """Rounds that the learner had learned; -1 where it is not to be learned as its own."""
    advice_share: float
    seen: bytes | None
    """How the context was encoded then, eight bytes a cell."""
    body: bytes
    """A fingerprint of what was asked, to tell a retry from another question."""
    deadline: int
    at: int
    key: int | None = None


class RewardRow(NamedTuple):
    """A reward of a decision, by its own id; `late` where the decision was closed, so that it was kept and not learned."""

    decision: str
    id: str
    value: float
    late: bool
    at: int
    key: int | None = None


class PendingRow(NamedTuple):
    """A decision that waits for feedback. The row goes when the decision is closed."""

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
    """A decision's arm and what became of it, to be counted by arm."""

    place: int
    """Its place among all decisions of the journal, in the order in which they were written."""
    arm: int
    propensity: float
    available: bytes
    deadline: int
    how: str
    """'pending', 'learned', or why it was closed without a update."""


class Standing(NamedTuple):
    """What became of a decision: exactly one of pending, learned and closed holds."""

    decision: str
    in_time: int
    """Rewards that came before it was closed."""
    late: int
    pending: bool
    learned: int
    closed: str | None


class StreamRow(NamedTuple):
    """A row of a policy's stream: numbers from 1 on, without gaps."""

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
