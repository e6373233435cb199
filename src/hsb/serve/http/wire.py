"""What requests and answers hold. The types decode and check bodies, and OpenAPI is made from them; unknown fields are refused."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ...checks import NAME

PATTERN = f"^{NAME.pattern}$"
Id = Annotated[str, Meta(extra_json_schema={"pattern": PATTERN})]
Name = Annotated[str, Meta(extra_json_schema={"pattern": PATTERN})]
Share = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})]


class Body(Struct, forbid_unknown_fields=True):
    """What a request may hold, and no more."""


class DecideBody(Body):
    """A context to decide on; the same id again is the same decision."""

    context: Any = None
    id: Id | None = None
    available: list[str] | None = None
    baseline: str | None = None
    activate: bool = True
    min_version: int = 0


class DecideBatch(Body):
    """Several decisions, written together."""

    decisions: list[DecideBody]


class RewardBody(Body):
    """What a decision earned, or lost: exactly one of `reward` and `loss`. `id` tells one reward of a decision from another."""

    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    id: Id = "1"
    receipt: str | None = None


class RewardItem(Body):
    """A reward or a loss, and the decision that it is of."""

    decision: Id
    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    id: Id = "1"
    receipt: str | None = None


class EventData(Body):
    """What an event says of a decision."""

    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    receipt: str | None = None


class Event(Struct):
    """A CloudEvent: `subject` is the decision, `source` and `id` together are the reward's id. Further attributes may stand beside."""

    specversion: Literal["1.0"]
    id: Annotated[str, Meta(min_length=1)]
    source: Annotated[str, Meta(min_length=1)]
    type: Annotated[str, Meta(min_length=1)]
    subject: Id
    data: EventData


class RewardBatch(Body):
    """Several rewards, written together."""

    rewards: list[RewardItem]


class FeedbackBody(Body):
    """How feedback is waited for and learned; `wait` is seconds, or a duration as in 'PT24H'."""

    wait: float | str | UnsetType = UNSET
    default_reward: float | UnsetType | None = UNSET
    aggregate: str | UnsetType = UNSET
    learn: str | UnsetType = UNSET


class ChangeBody(Body):
    """Other settings; what is left out stays."""

    feedback: FeedbackBody | UnsetType = UNSET
    floor: Share | UnsetType = UNSET
    baseline: str | UnsetType | None = UNSET
    ramp: Share | UnsetType = UNSET
    durability: str | UnsetType = UNSET


class PolicyBody(ChangeBody, kw_only=True):
    """A new policy, and its settings."""

    name: Name
    arms: list[str]
    policy: dict[str, Any] | UnsetType = UNSET
    arm_features: dict[str, Any] | UnsetType = UNSET


class ArmBody(Body):
    """What is known of an arm, where the policy has a use for it."""

    features: dict[str, Any] | None = None


class CandidateBody(Body):
    """A policy beside the one that plays."""

    name: Name
    policy: dict[str, Any]


class KeyBody(Body):
    """A new key: what it may do, with which policies (null: all), requests a second, seconds until it ends."""

    name: Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": 100})]
    scopes: list[str]
    policies: list[str] | None = None
    rate: float | None = None
    expires_in: float | None = None


class EvaluationBody(Body):
    """Candidates by name: a kind of policy that learns on the way, {"arm": "a"}, {"uniform": true} or {"live": true}.

    The others are compared with `baseline`, by default the first.
    """

    candidates: dict[str, dict[str, Any]]
    baseline: str | None = None
    estimator: str = "dr"
    confidence: float = 0.95
    seed: int = 0


class SessionBody(Body):
    """A key, for a cookie."""

    key: str


class FlagBody(Struct):
    """What OpenFeature asks: a context. Its targetingKey is not learned from."""

    context: dict[str, Any] | None = None


# -- answers ------------------------------------------------------------------------------------------------------------


class DecisionAnswer(Struct):
    """What was decided, with which probability, by which version."""

    id: str
    policy: str
    arm: str
    propensity: float
    version: int
    mode: str
    deadline: str
    receipt: str | UnsetType = UNSET


class RewardAnswer(Struct):
    """What becomes of a reward: 'accepted' (it will be learned), 'learned', 'duplicate', or 'passed_over' (it cannot be learned: `detail`)."""

    decision: str
    status: str
    policy: str | None = None
    learned_at_version: int | None = None
    detail: str | None = None


class ProblemAnswer(Struct):
    """What went wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    pointer: str | None = None
    request_id: str | None = None


class FlagAnswer(Struct, rename="camel"):
    """What a flag is, as OFREP has it; of a bulk, one flag or why there is none."""

    key: str
    value: str | UnsetType = UNSET
    variant: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    metadata: dict[str, float | str | bool] | UnsetType = UNSET
    error_code: str | UnsetType = UNSET
    error_details: str | UnsetType = UNSET


class FlagsAnswer(Struct):
    """All flags, as OFREP has them."""

    flags: list[FlagAnswer]


class FlagProblem(Struct, rename="camel"):
    """What went wrong, as OFREP has it."""

    error_details: str
    error_code: str | UnsetType = UNSET
    key: str | UnsetType = UNSET


class RowAnswer(Struct):
    """A row of a batch: its status, and the result or the problem."""

    status: int
    result: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None


class BatchAnswer(Struct):
    """As many rows as were sent, in their order."""

    rows: list[RowAnswer]
