"""What requests and answers hold. The types decode and check bodies, and OpenAPI is made from them; unknown fields are refused."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ...checks import NAME
from ..core.settings import AGGREGATES, DURABILITIES

SCOPES = ("decide", "learn", "read", "evaluate", "admin")
PATTERN = f"^{NAME.pattern}$"
Id = Annotated[str, Meta(extra_json_schema={"pattern": PATTERN})]
Name = Annotated[str, Meta(extra_json_schema={"pattern": PATTERN})]
Duration = Annotated[float | str, Meta(extra_json_schema={"description": "seconds, or a duration as in 'PT24H'"})]
Arm = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": 256})]
Receipt = Annotated[str, Meta(extra_json_schema={"pattern": "^hsb1[.]"})]
ROWS = Meta(extra_json_schema={"minItems": 1, "maxItems": 1000})  # as /v1/limits says, unless it was started with others
Share = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})]


class Body(Struct, forbid_unknown_fields=True):
    """What a request may hold, and no more."""


class DecideBody(Body):
    """A context to decide on; the same id again is the same decision."""

    context: Any = None
    id: Id | None = None
    available: Annotated[list[Arm], Meta(extra_json_schema={"minItems": 1})] | None = None
    baseline: str | None = None
    activate: bool = True
    min_version: Annotated[int, Meta(extra_json_schema={"minimum": 0})] = 0


class DecideBatch(Body):
    """Several decisions, written together."""

    decisions: Annotated[list[DecideBody], ROWS]


class RewardBody(Body):
    """What a decision earned, or lost: exactly one of `reward` and `loss`. `id` tells one reward of a decision from another."""

    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    id: Id = "1"
    receipt: Receipt | None = None


class RewardItem(Body):
    """A reward or a loss, and the decision that it is of."""

    decision: Id
    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    id: Id = "1"
    receipt: Receipt | None = None


class EventData(Struct):
    """What an event says of a decision. Further fields may stand beside."""

    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    receipt: Receipt | None = None


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

    rewards: Annotated[list[RewardItem], ROWS]


class FeedbackBody(Body):
    """How feedback is waited for and learned; `wait` is seconds, or a duration as in 'PT24H'."""

    wait: Duration | UnsetType = UNSET
    default_reward: float | UnsetType | None = UNSET
    aggregate: Annotated[str, Meta(extra_json_schema={"enum": list(AGGREGATES)})] | UnsetType = UNSET
    learn: Annotated[str, Meta(extra_json_schema={"enum": ["at_deadline", "on_arrival"]})] | UnsetType = UNSET


class FlagSettingsBody(Body):
    """How OFREP's clients see a policy: what arms stand for, and for how long a targetingKey keeps its arm.

    `sticky` is seconds, or a duration as in 'P1D'; null: each evaluation is a new decision.
    """

    sticky: Duration | UnsetType | None = UNSET
    values: dict[str, bool | int | float | str | dict[str, Any]] | UnsetType | None = UNSET


class ChangeBody(Body):
    """Other settings; what is left out stays. `keep_contexts` is seconds, or a duration as in 'P90D'; null: for ever."""

    feedback: FeedbackBody | UnsetType = UNSET
    floor: Share | UnsetType = UNSET
    baseline: str | UnsetType | None = UNSET
    ramp: Share | UnsetType = UNSET
    durability: Annotated[str, Meta(extra_json_schema={"enum": list(DURABILITIES)})] | UnsetType = UNSET
    keep_contexts: Duration | UnsetType | None = UNSET
    flag: FlagSettingsBody | UnsetType = UNSET


class PolicyBody(ChangeBody, kw_only=True):
    """A new policy, and its settings."""

    name: Name
    arms: Annotated[list[Arm], Meta(extra_json_schema={"minItems": 1, "maxItems": 1000, "uniqueItems": True})]
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
    scopes: Annotated[
        list[Annotated[str, Meta(extra_json_schema={"enum": list(SCOPES)})]], Meta(extra_json_schema={"minItems": 1})
    ]
    policies: list[str] | None = None
    rate: Annotated[float, Meta(extra_json_schema={"exclusiveMinimum": 0, "maximum": 1_000_000})] | None = None
    expires_in: Annotated[float, Meta(extra_json_schema={"minimum": 1, "maximum": 1_000_000_000})] | None = None


class EvaluationBody(Body):
    """Candidates by name: a kind of policy that learns on the way, {"arm": "a"}, {"uniform": true} or {"live": true}.

    The others are compared with `baseline`, by default the first.
    """

    candidates: Annotated[dict[str, dict[str, Any]], Meta(extra_json_schema={"minProperties": 1, "maxProperties": 20})]
    baseline: str | None = None
    estimator: str = "dr"
    confidence: float = 0.95
    seed: int = 0


class SessionBody(Body):
    """A key, for a cookie."""

    key: str


class FlagBody(Struct):
    """What OpenFeature asks: a context. Its targetingKey is not learned from. `type`, where it is given, is what the value must be."""

    context: dict[str, Any] | None = None
    type: Literal["boolean", "string", "number", "integer", "float", "object"] | None = None


# -- answers ------------------------------------------------------------------------------------------------------------


class ProblemAnswer(Struct):
    """What went wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | UnsetType = UNSET
    pointer: str | UnsetType = UNSET
    request_id: str | UnsetType = UNSET


class FlagAnswer(Struct, rename="camel"):
    """What a flag is, as OFREP has it; of a bulk, one flag or why there is none."""

    key: str
    value: bool | int | float | str | dict[str, Any] | UnsetType = UNSET
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
