"""What answers hold: OpenAPI is made from these types. `Unset` fields are there where they mean something, times are ISO 8601."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from .wire import ProblemAnswer

Maybe = UnsetType


class DecisionAnswer(Struct):
    """What was decided, with which probability, by which version."""

    id: str
    policy: str
    arm: str
    propensity: float
    version: int
    mode: str
    deadline: str
    receipt: str | Maybe = UNSET


class RewardAnswer(Struct):
    """What becomes of a reward: 'accepted' (it will be learned), 'learned', 'duplicate', or 'not_learned' (it cannot be learned: `detail`)."""

    decision: str
    status: str
    policy: str | None
    learned_at_version: int | None
    detail: str | Maybe = UNSET


class DecisionRowAnswer(Struct):
    """A row of a batch of decisions: its status, and the decision or the problem."""

    status: int
    result: DecisionAnswer | Maybe = UNSET
    problem: ProblemAnswer | Maybe = UNSET


class RewardRowAnswer(Struct):
    """A row of a batch of rewards: its status, and what becomes of the reward or the problem."""

    status: int
    result: RewardAnswer | Maybe = UNSET
    problem: ProblemAnswer | Maybe = UNSET


class DecisionBatchAnswer(Struct):
    """As many rows as were sent, in their order."""

    rows: list[DecisionRowAnswer]


class RewardBatchAnswer(Struct):
    """As many rows as were sent, in their order."""

    rows: list[RewardRowAnswer]


class FeedbackSettings(Struct):
    """How feedback is waited for and learned."""

    wait: float
    default_reward: float | None
    aggregate: str
    learn: str


class FlagAnswerSettings(Struct):
    """How OFREP's clients see the policy."""

    sticky: float | None
    values: dict[str, Any] | None


class CertificateAnswer(Struct):
    """What the updates so far prove."""

    rounds: float
    lost: float | None
    excess: float | None
    cost: float | None
    rate: float | None
    total: float | None
    average: float | None
    masked: bool
    words: str


class PolicyAnswer(Struct):
    """A policy and its settings. What must be read from the journal, from `pending` on, is there where one policy is asked for."""

    name: str
    version: int
    head: int
    lag: int
    updates: int
    not_learned: int
    arms: list[str]
    removed_arms: list[str]
    policy: dict[str, Any]
    kind: str
    exact: bool
    reward_range: list[float] | None
    floor: float
    ramp: float
    baseline: str | None
    feedback: FeedbackSettings
    durability: str
    keep_contexts: float | None
    flag: FlagAnswerSettings
    candidates: list[str]
    archived: bool
    synthetic: bool
    warnings: list[str]
    pending: int | Maybe = UNSET
    first_deadline: str | Maybe | None = UNSET
    certificate: CertificateAnswer | Maybe | None = UNSET
    digests: dict[str, str] | Maybe = UNSET


class PoliciesAnswer(Struct):
    """Policies by name."""

    policies: list[PolicyAnswer]


class ArmAnswer(Struct):
    """An arm that is available now, and all that are."""

    arm: str
    arms: list[str]
    version: int


class DifferenceAnswer(Struct):
    """Candidate less what played, with an interval that is ever wrong with a probability of at most `error`."""

    value: float | None
    low: float | None
    high: float | None
    error: float
    updates: int
    since: int
    why_not: str


class CandidateAnswer(Struct):
    """A candidate, and what it would have earned."""

    name: str
    policy: dict[str, Any] | Maybe = UNSET
    read: int | Maybe = UNSET
    version: int | Maybe = UNSET
    not_learned: int | Maybe = UNSET
    updates_valued: int | Maybe = UNSET
    value: float | Maybe | None = UNSET
    played_value: float | Maybe | None = UNSET
    mean_weight: float | Maybe | None = UNSET
    difference: DifferenceAnswer | Maybe = UNSET
    tallies: dict[str, float] | Maybe = UNSET


class CandidatesAnswer(Struct):
    """Candidates."""

    candidates: list[CandidateAnswer]


class RewardGiven(Struct):
    """A reward of a decision."""

    id: str
    reward: float
    late: bool
    at: str


class RecomputedAnswer(Struct):
    """A decision, made again from the journal."""

    arm: str | Maybe | None = UNSET
    propensity: float | Maybe | None = UNSET
    u: float | Maybe | None = UNSET
    same: bool | Maybe | None = UNSET
    folded_from: int | Maybe | None = UNSET
    why: str | Maybe | None = UNSET


class StoredDecision(Struct):
    """A decision, as the journal has it; of one decision also what became of it, its rewards, and itself made again."""

    id: str
    policy: str
    arm: str
    propensity: float
    version: int
    context: Any
    available: list[str]
    baseline: str | None
    ramp: float
    u: float
    at: str
    deadline: str
    forgotten: bool | Maybe = UNSET
    state: str | Maybe = UNSET
    learned_at_version: int | Maybe = UNSET
    learned_reward: float | Maybe | None = UNSET
    defaulted: bool | Maybe = UNSET
    closed: str | Maybe = UNSET
    rewards: list[RewardGiven] | Maybe = UNSET
    recomputed: RecomputedAnswer | Maybe = UNSET


class StoredDecisions(Struct):
    """Decisions, and the `after` of the next page."""

    decisions: list[StoredDecision]
    next: int | None


class ProbabilitiesAnswer(Struct):
    """The distribution over arms now."""

    version: int
    probabilities: dict[str, float]


class RulesAnswer(Struct):
    """What is played, in words, and how often these are right."""

    version: int
    rules: list[str]
    agreement: float | None
    importance: dict[str, float]
    regions: int


class ProofAnswer(Struct):
    """A certificate, and a bound over a horizon."""

    version: int
    certificate: CertificateAnswer | None
    horizon: int
    regret_bound: float | None


class ArmCounts(Struct):
    """Of an arm in a span of time."""

    decisions: int
    updates: int
    defaulted: int
    reward: float
    reward_squared: float


class BucketAnswer(Struct):
    """A span of time."""

    at: str
    arms: dict[str, ArmCounts]
    decisions: int
    updates: int
    defaulted: int
    reward: float


class StatsAnswer(Struct):
    """What a policy did over time."""

    policy: str
    bucket: int
    since: str
    until: str
    buckets: list[BucketAnswer]
    since_start: dict[str, int]


class RejectionExample(Struct):
    """A request that was refused."""

    at: str
    detail: str
    pointer: str | None
    request_id: str | None


class RejectionAnswer(Struct):
    """Requests that were refused for one reason."""

    kind: str
    status: int
    count: int
    first: list[RejectionExample]
    last: list[RejectionExample]


class RejectionsAnswer(Struct):
    """Requests that were refused, by reason."""

    problems: list[RejectionAnswer]


class SnapshotAnswer(Struct):
    """A snapshot that was taken: the row of the stream that it is of."""

    seq: int


class SnapshotShown(Struct):
    """A snapshot that is kept."""

    seq: int
    at: str
    bytes: int
    learners: int
    file: str


class SnapshotsAnswer(Struct):
    """Snapshots that are kept."""

    snapshots: list[SnapshotShown]


class EvaluationQueued(Struct):
    """An evaluation that waits for its turn."""

    id: str
    status: str


class EvaluationAnswer(Struct):
    """An evaluation: waiting, running, done, failed, cancelled or interrupted."""

    id: str
    policy: str
    status: str
    asked: dict[str, Any]
    at: str
    ended: str | None
    result: dict[str, Any] | Maybe = UNSET
    error: str | Maybe = UNSET


class EvaluationsAnswer(Struct):
    """Evaluations, the newest first."""

    evaluations: list[EvaluationAnswer]


class KeyAnswer(Struct):
    """A key, without itself, except when it was made just now."""

    id: int | None
    name: str
    scopes: list[str]
    rate: float | None
    policies: list[str] | None
    expires: str | None
    created: str
    used: str | None
    ended: str | None
    key: str | Maybe | None = UNSET


class KeysAnswer(Struct):
    """All keys that this one may see."""

    keys: list[KeyAnswer]


class AuditEntryAnswer(Struct):
    """Something that an admin did."""

    at: str
    who: str
    what: str
    policy: str | None
    detail: str | None
    number: int


class AuditEntriesAnswer(Struct):
    """What admins did, the newest first."""

    audit_entries: list[AuditEntryAnswer]


class HealthAnswer(Struct):
    """The process is alive."""

    status: str
    version: str


class ReadyAnswer(Struct):
    """Whether it can decide and write, and what it lacks."""

    status: str
    checks: dict[str, bool]
    disk_free: int
    clock_held: bool
    sqlite: str
    sqlite_repaired: bool


class ClockAnswer(Struct):
    """Are deadlines held?"""

    held: bool


class ForgottenAnswer(Struct):
    """How many decisions were blanked."""

    policy: str
    forgotten: int


class ErasingAnswer(Struct):
    """A policy that is being erased."""

    policy: str
    status: str
