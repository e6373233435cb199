"""Orders of a batch, facts to look up for it, and changes to write: the interface between the core and a store."""

from typing import Any, NamedTuple

from .rows import ClosedRow, DecisionRow, PendingRow, PolicyRow, RewardRow, SnapshotRow, StreamRow


class Rules(NamedTuple):
    """Rules by which a policy learns from feedback."""

    wait: int
    """Microseconds."""
    default: float | None
    aggregate: str
    on_arrival: bool
    low: float | None
    """The range of rewards; None if it is inferred."""
    high: float | None
    clip: bool


# -- orders -------------------------------------------------------------------------------------------------------------


class NewDecision(NamedTuple):
    """Write a decision, unless one with its id exists."""

    row: DecisionRow
    active: bool


class Recall(NamedTuple):
    """Find an earlier decision with this id and fingerprint; `why` is the reason why it cannot be made now."""

    id: str
    policy: int
    body: bytes
    why: str


class NewReward(NamedTuple):
    """Write a reward, and learn it if the policy learns on arrival."""

    decision: str
    id: str
    value: float
    key: int | None
    loss: bool = False
    restored: NewDecision | None = None
    """The decision in its receipt, to be written first if the journal has no such decision."""
    over: bool = False
    """Whether that decision's deadline had passed when the reward arrived."""
    only: frozenset[int] | None = None
    unreadable: str = ""
    """Why its receipt could not be read. The reward is rejected, unless the journal has the decision."""


class Activation(NamedTuple):
    """Begin the wait of a decision."""

    decision: str
    only: frozenset[int] | None = None


class Voiding(NamedTuple):
    """Close a decision without an update."""

    decision: str
    only: frozenset[int] | None = None


class Learn(NamedTuple):
    """Close at most `limit` decisions of a policy whose deadline is at or before `until`."""

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
    """Write a snapshot: a row for each learner. Older snapshots, `before` a row of the stream, are deleted to forget what they hold."""

    rows: tuple[SnapshotRow, ...]
    before: int = 0


class Erase(NamedTuple):
    """Erase a policy: the store deletes its rows in batches."""

    policy: int


class BlankContexts(NamedTuple):
    """Forget the contexts of decisions. A snapshot comes first, so that none of their updates must be learned again."""

    policy: int
    decisions: list[str]
    learned: int | None = None
    """The last row of the stream that is an update of one of them; None: unknown."""
    closed: bool = False
    """Only decisions that are closed."""


Order = NewDecision | Recall | NewReward | Activation | Voiding | Learn | Append | NewPolicy | Keep | Erase | BlankContexts


class OrderBatch(NamedTuple):
    """Orders to be carried out in their order, in one transaction."""

    number: int
    now: int
    orders: list[Order]
    rules: dict[int, Rules]


class Outcome(NamedTuple):
    """The outcome of an order: a status and its rows. `next` is the next deadline; for `Keep`, the row of the snapshot."""

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


# -- facts to look up, and changes to write -----------------------------------------------------------------------------


class Needs(NamedTuple):
    """Facts that a batch needs: these decisions, those that are due, and the heads of these policies and of the decisions' policies."""

    decisions: set[str]
    due: list[Learn]
    policies: set[int]
    creates: bool
    rewards: set[tuple[str, str]]
    """(decision, id) of each new reward."""
    arriving: frozenset[int] = frozenset()
    """Policies that learn on arrival. All rewards of their waiting decisions are needed."""


class Fact:
    """Facts about a decision. `pending` is its row while it waits; None once it was learned or closed.

    `rewards` are those that the batch mentions, or all of them if the batch may close the decision. `count` is the number of all rewards.
    """

    __slots__ = ("closed", "count", "pending", "rewards", "row")

    def __init__(self, row: DecisionRow | None = None) -> None:
        self.row = row
        self.rewards: dict[str, RewardRow] = {}
        self.count = 0
        self.pending: PendingRow | None = None
        self.closed: str | None = None  # 'learned', 'void', 'expired'


class JournalFacts(NamedTuple):
    """Facts that a store looked up for a batch."""

    decisions: dict[str, Fact]
    due: dict[int, list[str]]
    """Of each policy with a `Learn`, the decisions that are due, by deadline and id, up to its limit."""
    next: dict[int, int | None]
    """Of each such policy, the first deadline after `until`."""
    heads: dict[int, int]
    last_policy: int


class JournalChanges:
    """Changes that a batch makes, table by table."""

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
        self.pending: dict[str, PendingRow] = {}  # to be inserted or replaced
        self.undone: set[str] = set()  # to be removed from pending
        self.closed: list[ClosedRow] = []
        self.stream: list[StreamRow] = []
        self.heads: dict[int, int] = {}
        self.policies: list[PolicyRow] = []
        self.snapshots: list[SnapshotRow] = []
        self.blanked: list[str] = []  # decisions whose contexts are to be forgotten
        self.cleared: dict[int, int] = {}  # policies, and the row before which their snapshots are deleted
        self.erased: list[int] = []  # policies to be deleted

    def of(self, name: str) -> Any:
        """Return the changes of one table."""
        return getattr(self, name)
