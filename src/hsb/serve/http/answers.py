"""Types of answers, from which OpenAPI is made. A field that may be `Unset` is left out if it does not apply; times are ISO 8601."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from .wire import ProblemAnswer

Maybe = UnsetType


class DecisionAnswer(Struct):
    """A decision: the arm, its probability (`propensity`), and the version of the policy that made it."""

    id: str
    policy: str
    arm: str
    propensity: float
    version: int
    mode: str
    deadline: str
    receipt: str | Maybe = UNSET


class RewardAnswer(Struct):
    """The status of a reward: 'accepted' (it will be learned), 'learned', 'duplicate' or 'not_learned' (`detail` gives the reason)."""

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
    """A row of a batch of rewards: its status, and the reward's status or the problem."""

    status: int
    result: RewardAnswer | Maybe = UNSET
    problem: ProblemAnswer | Maybe = UNSET


class DecisionBatchAnswer(Struct):
    """One row for each decision sent, in the same order."""

    rows: list[DecisionRowAnswer]


class RewardBatchAnswer(Struct):
    """One row for each reward sent, in the same order."""

    rows: list[RewardRowAnswer]


class FeedbackSettings(Struct):
    """Settings of feedback: how long the policy waits for it, and how it learns it."""

    wait: float
    default_reward: float | None
    aggregate: str
    learn: str


class FlagAnswerSettings(Struct):
    """Settings for OFREP's clients; `sticky` is in seconds."""

    sticky: float | None
    values: dict[str, Any] | None


class CertificateAnswer(Struct):
    """A certificate: what the updates so far prove about the regret."""

    rounds: float
    lost: float | None
    excess: float | None
    cost: float | None
    rate: float | None
    total: float | None
    average: float | None
    masked: bool
    words: str


class OpenAnswer(Struct):
    """Groups of arms that come with each request, and the number of arms that have a model of their own."""

    always: list[str]
    group: str | None
    groups: list[str | int | float]
    known: int


class KnownArm(Struct):
    """An arm that has a model of its own: how often it was played and learned, and its average reward then."""

    arm: str
    plays: int
    average_reward: float | None


class KnownArms(Struct):
    """The number of arms that have a model of their own, and those that were played most."""

    count: int
    most_played: list[KnownArm]


class PolicyAnswer(Struct):
    """A policy and its settings; if `open` is not null, `arms` are groups. Fields from `pending` on are given for one policy only."""

    name: str
    version: int
    head: int
    lag: int
    updates: int
    not_learned: int
    arms: list[str]
    open: OpenAnswer | None
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
    known_arms: KnownArms | Maybe = UNSET
    digests: dict[str, str] | Maybe = UNSET


class PoliciesAnswer(Struct):
    """Policies by name."""

    policies: list[PolicyAnswer]


class ArmAnswer(Struct):
    """An arm, all available arms of the policy, and the policy's version."""

    arm: str
    arms: list[str]
    version: int


class DifferenceAnswer(Struct):
    """Reward of the candidate minus that of the policy that played; the interval is ever wrong with a probability of at most `error`."""

    value: float | None
    low: float | None
    high: float | None
    error: float
    updates: int
    since: int
    why_not: str


class CandidateAnswer(Struct):
    """A candidate, and an estimate of what it would have earned."""

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
    """All candidates of a policy."""

    candidates: list[CandidateAnswer]


class RewardGiven(Struct):
    """A reward of a decision."""

    id: str
    reward: float
    late: bool
    at: str


class RecomputedAnswer(Struct):
    """A decision, recomputed from the journal."""

    arm: str | Maybe | None = UNSET
    propensity: float | Maybe | None = UNSET
    u: float | Maybe | None = UNSET
    same: bool | Maybe | None = UNSET
    replayed_from: int | Maybe | None = UNSET
    why: str | Maybe | None = UNSET


class StoredDecision(Struct):
    """A decision as the journal holds it. The fields from `state` on are present only if one decision is requested."""

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
    arms: dict[str, dict[str, Any] | None] | Maybe = UNSET
    forgotten: bool | Maybe = UNSET
    state: str | Maybe = UNSET
    learned_at_version: int | Maybe = UNSET
    learned_reward: float | Maybe | None = UNSET
    defaulted: bool | Maybe = UNSET
    closed: str | Maybe = UNSET
    rewards: list[RewardGiven] | Maybe = UNSET
    recomputed: RecomputedAnswer | Maybe = UNSET


class StoredDecisions(Struct):
    """A page of decisions; `next` is the `after` of the next page."""

    decisions: list[StoredDecision]
    next: int | None


class ProbabilitiesAnswer(Struct):
    """The distribution over arms, as of now."""

    version: int
    probabilities: dict[str, float]


class RulesAnswer(Struct):
    """The policy as rules, and the share of contexts in which these name the arm played most (`agreement`)."""

    version: int
    rules: list[str]
    agreement: float | None
    importance: dict[str, float]
    regions: int


class ProofAnswer(Struct):
    """A certificate, and a bound on the regret over a horizon."""

    version: int
    certificate: CertificateAnswer | None
    horizon: int
    regret_bound: float | None


class ArmCounts(Struct):
    """Counts of an arm in a bucket."""

    decisions: int
    updates: int
    defaulted: int
    reward: float
    reward_squared: float


class BucketAnswer(Struct):
    """Counts of a bucket, a span of time that begins at `at`."""

    at: str
    arms: dict[str, ArmCounts]
    decisions: int
    updates: int
    defaulted: int
    reward: float


class StatsAnswer(Struct):
    """Decisions, updates and rewards of a policy over time; `bucket` is in seconds."""

    policy: str
    bucket: int
    since: str
    until: str
    buckets: list[BucketAnswer]
    since_start: dict[str, int]


class RejectionExample(Struct):
    """A rejected request."""

    at: str
    detail: str
    pointer: str | None
    request_id: str | None


class RejectionAnswer(Struct):
    """Requests rejected for one reason (`kind`): how many, and the first and last of them."""

    kind: str
    status: int
    count: int
    first: list[RejectionExample]
    last: list[RejectionExample]


class RejectionsAnswer(Struct):
    """Rejected requests, by reason."""

    rejections: list[RejectionAnswer]


class SnapshotAnswer(Struct):
    """A new snapshot; `seq` is the row of the stream after which it was taken."""

    seq: int


class SnapshotShown(Struct):
    """A snapshot; `file` is its path."""

    seq: int
    at: str
    bytes: int
    learners: int
    file: str


class SnapshotsAnswer(Struct):
    """All snapshots of a policy."""

    snapshots: list[SnapshotShown]


class EvaluationQueued(Struct):
    """A queued evaluation."""

    id: str
    status: str


class EvaluationAnswer(Struct):
    """An evaluation; `status` is waiting, running, done, failed, cancelled or interrupted."""

    id: str
    policy: str
    status: str
    request: dict[str, Any]
    at: str
    ended: str | None
    result: dict[str, Any] | Maybe = UNSET
    error: str | Maybe = UNSET


class EvaluationsAnswer(Struct):
    """Evaluations, newest first."""

    evaluations: list[EvaluationAnswer]


class KeyAnswer(Struct):
    """A key. Its text, `key`, is shown only when it is made."""

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
    """All keys that the key of the request may see."""

    keys: list[KeyAnswer]


class AuditEntryAnswer(Struct):
    """An audit entry: who did what, when, to which policy."""

    at: str
    who: str
    what: str
    policy: str | None
    detail: str | None
    number: int


class AuditEntriesAnswer(Struct):
    """Audit entries, newest first."""

    audit_entries: list[AuditEntryAnswer]


class HealthAnswer(Struct):
    """The process is alive."""

    status: str
    version: str


class ReadyAnswer(Struct):
    """Whether the service can decide and write, and each check that this takes."""

    status: str
    checks: dict[str, bool]
    disk_free: int
    clock_held: bool
    sqlite: str
    sqlite_repaired: bool


class ClockAnswer(Struct):
    """Whether deadlines are held, because the clock jumped."""

    held: bool


class ForgottenAnswer(Struct):
    """The number of decisions whose contexts were erased."""

    policy: str
    forgotten: int


class ErasingAnswer(Struct):
    """A policy whose rows are being erased."""

    policy: str
    status: str
