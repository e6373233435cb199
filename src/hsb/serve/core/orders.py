"""What a batch asks of the journal, what must be looked up for it, and what changes: the words between the core and a store."""

from typing import Any, NamedTuple

from .rows import ClosedRow, DecisionRow, PendingRow, PolicyRow, RewardRow, SnapshotRow, StreamRow


class Rules(NamedTuple):
    """How a policy learns from feedback."""

    wait: int
    """Microseconds."""
    default: float | None
    aggregate: str
    on_arrival: bool
    low: float | None
    """The range of rewards; None where it is found on the way."""
    high: float | None
    clip: bool


# -- orders -------------------------------------------------------------------------------------------------------------


class NewDecision(NamedTuple):
    """Write a decision, unless there is one of that id."""

    row: DecisionRow
    active: bool


class Recall(NamedTuple):
    """Find the decision of that id and question, which could not be made now; `why`."""

    id: str
    policy: int
    body: bytes
    why: str


class NewReward(NamedTuple):
    """Write a reward, learn it or not, as the rules are."""

    decision: str
    id: str
    value: float
    key: int | None
    loss: bool = False
    restored: NewDecision | None = None
    """What to write first where there is no such decision: what its receipt says."""
    over: bool = False
    """Was that decision's deadline past when the reward came?"""
    only: frozenset[int] | None = None
    unreadable: str = ""
    """Why its receipt could not be read: it is refused, unless there is such a decision."""


class Activation(NamedTuple):
    """Begin the wait of a decision."""

    decision: str
    only: frozenset[int] | None = None


class Voiding(NamedTuple):
    """Close a decision without a update."""

    decision: str
    only: frozenset[int] | None = None


class Learn(NamedTuple):
    """Close the decisions of a policy whose deadline is `until` or before, at most `limit`."""

    policy: int
    until: int
    limit: int


class Append(NamedTuple):
    """Append a row to a policy's stream."""

    policy: int
    kind: int
    data: str | None
    body: bytes | None


class NewPolicy(NamedTuple):
    """Write a policy, and the first row of its stream."""

    name: str
    secret: bytes
    data: str


class Keep(NamedTuple):
    """Write a snapshot: a row for each learner. Those `before` a row of the stream go: what they have is to be forgotten."""

    rows: tuple[SnapshotRow, ...]
    before: int = 0


class Erase(NamedTuple):
    """Let a policy be gone: the store deletes its rows, now or a part at a time."""

    policy: int


class BlankContexts(NamedTuple):
    """Forget what decisions were asked. A snapshot goes before it, so that no update of theirs has to be learned again."""

    policy: int
    decisions: list[str]
    learned: int | None = None
    """The last row of the stream that is an update of theirs, where that is known; None: any may be."""
    closed: bool = False
    """Only those that do not wait any more."""


Order = NewDecision | Recall | NewReward | Activation | Voiding | Learn | Append | NewPolicy | Keep | Erase | BlankContexts


class OrderBatch(NamedTuple):
    """Orders to be carried out one after the other, in one transaction."""

    number: int
    now: int
    orders: list[Order]
    rules: dict[int, Rules]


class Outcome(NamedTuple):
    """What became of an order: a word, its rows, for `Learn` when there is more to do, for `Keep` of which row it is."""

    status: str
    decision: DecisionRow | None = None
    reward: RewardRow | None = None
    learned: tuple[tuple[StreamRow, DecisionRow], ...] = ()
    row: StreamRow | None = None
    policy: PolicyRow | None = None
    expired: int = 0
    next: int | None = None
    more: bool = False
    detail: str = ""
    forgotten: int = 0


# -- what is looked up, and what changes --------------------------------------------------------------------------------


class Needs(NamedTuple):
    """What a batch needs to know: these decisions, what is due, and the heads of these policies and of those of the decisions."""

    decisions: set[str]
    due: list[Learn]
    policies: set[int]
    creates: bool
    given: set[tuple[str, str]]
    """Decision and id of each reward that comes."""
    arriving: frozenset[int] = frozenset()
    """Policies that learn when a reward comes: of their decisions that wait, all rewards."""


class Fact:
    """What is known of a decision. All that is pending has a row in `pending`; what was learned or closed has not.

    `rewards` are those that the batch has to do with, and all of them where it may close the decision: there may be many. `count` is how
    many there are in all.
    """

    __slots__ = ("closed", "count", "pending", "rewards", "row")

    def __init__(self, row: DecisionRow | None = None) -> None:
        self.row = row
        self.rewards: dict[str, RewardRow] = {}
        self.count = 0
        self.pending: PendingRow | None = None
        self.closed: str | None = None  # 'learned', 'void', 'expired'


class JournalFacts(NamedTuple):
    """What a store looked up for a batch."""

    decisions: dict[str, Fact]
    due: dict[int, list[str]]
    """Of each policy that is to learn, the decisions that are due, by deadline and id, no more than its limit."""
    next: dict[int, int | None]
    """Of each such policy, the first deadline after that."""
    heads: dict[int, int]
    last_policy: int


class JournalChanges:
    """What a batch changes, table by table."""

    __slots__ = (
        "blanked",
        "cleared",
        "closed",
        "decisions",
        "erased",
        "heads",
        "pending",
        "policies",
        "rewards",
        "snapshots",
        "stream",
        "undone",
    )

    def __init__(self) -> None:
        self.decisions: list[DecisionRow] = []
        self.rewards: list[RewardRow] = []
        self.pending: dict[str, PendingRow] = {}  # to be put, in place of what there is
        self.undone: set[str] = set()  # to be removed from pending
        self.closed: list[ClosedRow] = []
        self.stream: list[StreamRow] = []
        self.heads: dict[int, int] = {}
        self.policies: list[PolicyRow] = []
        self.snapshots: list[SnapshotRow] = []
        self.blanked: list[str] = []  # decisions whose context is to be forgotten
        self.cleared: dict[int, int] = {}  # policies whose snapshots before a row are to go
        self.erased: list[int] = []  # policies of which nothing is to be left

    def of(self, name: str) -> Any:
        """One of them by name."""
        return getattr(self, name)
