"""Types of requests and answers. They decode and check bodies, and OpenAPI is made from them; unknown fields are rejected."""

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
ROWS = Meta(extra_json_schema={"minItems": 1, "maxItems": 1000})  # the defaults of /v1/limits
Share = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})]


class Body(Struct, forbid_unknown_fields=True):
    """A body of a request, without unknown fields."""


class DecideBody(Body):
    """A context to decide on.

    `id`: a name for the decision; the same id again returns the same decision. `available`: the arms to choose among; null: all.
    `arms`: the available arms and their features, for a policy whose arms come with each request.
    `baseline`: the arm that `ramp` leaves a share to. `activate`: if false, the wait for feedback begins once
    the decision is activated or rewarded. `min_version`: the version that the policy must have reached.
    """

    context: Any = None
    id: Id | None = None
    available: Annotated[list[Arm], Meta(extra_json_schema={"minItems": 1})] | None = None
    arms: dict[str, dict[str, Any] | None] | list[Arm] | None = None
    baseline: str | None = None
    activate: bool = True
    min_version: Annotated[int, Meta(extra_json_schema={"minimum": 0})] = 0


class DecideBatch(Body):
    """Several decisions, written in one commit."""

    decisions: Annotated[list[DecideBody], ROWS]


class RewardBody(Body):
    """The reward or loss of a decision: exactly one of `reward` and `loss`. `id` distinguishes several rewards of a decision."""

    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    id: Id = "1"
    receipt: Receipt | None = None


class RewardItem(Body):
    """A reward or a loss, with the id of its decision."""

    decision: Id
    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    id: Id = "1"
    receipt: Receipt | None = None


class EventData(Struct):
    """The data of an event: a reward or a loss. Further fields are allowed."""

    reward: float | bool | UnsetType = UNSET
    loss: float | bool | UnsetType = UNSET
    receipt: Receipt | None = None


class Event(Struct):
    """A CloudEvent: `subject` is the decision's id; `source` and `id` together identify the reward. Further attributes are allowed."""

    specversion: Literal["1.0"]
    id: Annotated[str, Meta(min_length=1)]
    source: Annotated[str, Meta(min_length=1)]
    type: Annotated[str, Meta(min_length=1)]
    subject: Id
    data: EventData


class RewardBatch(Body):
    """Several rewards, written in one commit."""

    rewards: Annotated[list[RewardItem], ROWS]


class FeedbackBody(Body):
    """Settings of feedback: how long the policy waits for it, and how it learns it.

    `wait`: seconds, or a duration as in 'PT24H'. `default_reward`: the reward of a decision without feedback; null: it is not learned.
    `aggregate`: how several rewards become one. `learn`: at the deadline, or as soon as a reward arrives.
    """

    wait: Duration | UnsetType = UNSET
    default_reward: float | UnsetType | None = UNSET
    aggregate: Annotated[str, Meta(extra_json_schema={"enum": list(AGGREGATES)})] | UnsetType = UNSET
    learn: Annotated[str, Meta(extra_json_schema={"enum": ["at_deadline", "on_arrival"]})] | UnsetType = UNSET


class FlagSettingsBody(Body):
    """Settings for OFREP's clients.

    `values`: what each arm stands for; null: its name. `sticky`: how long a targetingKey keeps its arm, in seconds or as in 'P1D'; null: each
    evaluation is a new decision.
    """

    sticky: Duration | UnsetType | None = UNSET
    values: dict[str, bool | int | float | str | dict[str, Any]] | UnsetType | None = UNSET


class ChangeBody(Body):
    """Settings to change; those left out stay.

    `floor`: the share of uniform play, ε. `ramp`: the share that the policy decides; the baseline arm gets the rest.
    `durability`: fsync answers after the commit, receipt may answer before. `keep_contexts`: seconds, or as in 'P90D'; null: for ever.
    """

    feedback: FeedbackBody | UnsetType = UNSET
    floor: Share | UnsetType = UNSET
    baseline: str | UnsetType | None = UNSET
    ramp: Share | UnsetType = UNSET
    durability: Annotated[str, Meta(extra_json_schema={"enum": list(DURABILITIES)})] | UnsetType = UNSET
    keep_contexts: Duration | UnsetType | None = UNSET
    flag: FlagSettingsBody | UnsetType = UNSET


class OpenBody(Body):
    """Groups of arms that come with each request.

    `always`: arms that are nearly always available, each a group of its own. `group`: a feature of the arms, `groups` its values, each of
    which is a group. `known`: the number of arms that have a model of their own.
    """

    always: Annotated[list[Arm], Meta(extra_json_schema={"maxItems": 999, "uniqueItems": True})] | UnsetType = UNSET
    group: Arm | UnsetType | None = UNSET
    groups: Annotated[list[Arm | int | float], Meta(extra_json_schema={"maxItems": 999, "uniqueItems": True})] | UnsetType = (
        UNSET
    )
    known: Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 10_000})] | UnsetType = UNSET


class OpenArmsBody(Body):
    """Arms that come with each request."""

    open: OpenBody


class PolicyBody(ChangeBody, kw_only=True):
    """A new policy: its name, arms, kind (`policy`, by default HSB), features of arms, and settings.

    `arms`: a list, or {"open": {...}} if they come with each request.
    """

    name: Name
    arms: Annotated[list[Arm], Meta(extra_json_schema={"minItems": 1, "maxItems": 1000, "uniqueItems": True})] | OpenArmsBody
    policy: dict[str, Any] | UnsetType = UNSET
    arm_features: dict[str, Any] | UnsetType = UNSET


class ArmBody(Body):
    """Features of an arm, for policies that use them."""

    features: dict[str, Any] | None = None


class CandidateBody(Body):
    """A candidate: a policy that learns beside the one that plays."""

    name: Name
    policy: dict[str, Any]


class KeyBody(Body):
    """A new key: its scopes, policies (null: all), `rate` in requests a second, and `expires_in` in seconds (null: never)."""

    name: Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": 100})]
    scopes: Annotated[
        list[Annotated[str, Meta(extra_json_schema={"enum": list(SCOPES)})]], Meta(extra_json_schema={"minItems": 1})
    ]
    policies: list[str] | None = None
    rate: Annotated[float, Meta(extra_json_schema={"exclusiveMinimum": 0, "maximum": 1_000_000})] | None = None
    expires_in: Annotated[float, Meta(extra_json_schema={"minimum": 1, "maximum": 1_000_000_000})] | None = None


class EvaluationBody(Body):
    """Candidates by name: a kind of policy that learns from the log, {"arm": "a"}, {"uniform": true} or {"live": true}.

    All are compared with the candidate `baseline`, by default the first.
    """

    candidates: Annotated[dict[str, dict[str, Any]], Meta(extra_json_schema={"minProperties": 1, "maxProperties": 20})]
    baseline: str | None = None
    estimator: str = "dr"
    confidence: float = 0.95
    seed: int = 0


class SessionBody(Body):
    """A key, to exchange for a session cookie."""

    key: str


class FlagBody(Struct):
    """A context, as OpenFeature sends it. The policy does not learn from its targetingKey. `type`: the type that the value must have."""

    context: dict[str, Any] | None = None
    type: Literal["boolean", "string", "number", "integer", "float", "object"] | None = None


# -- answers ------------------------------------------------------------------------------------------------------------


class ProblemAnswer(Struct):
    """A problem (RFC 9457): `detail` states what is wrong and how to fix it, `pointer` names the field."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | UnsetType = UNSET
    pointer: str | UnsetType = UNSET
    request_id: str | UnsetType = UNSET


class FlagAnswer(Struct, rename="camel"):
    """A flag as in OFREP; among all flags, also one that failed, with its error."""

    key: str
    value: bool | int | float | str | dict[str, Any] | UnsetType = UNSET
    variant: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    metadata: dict[str, float | str | bool] | UnsetType = UNSET
    error_code: str | UnsetType = UNSET
    error_details: str | UnsetType = UNSET


class FlagsAnswer(Struct):
    """All flags, as in OFREP."""

    flags: list[FlagAnswer]


class FlagProblem(Struct, rename="camel"):
    """A problem, as in OFREP."""

    error_details: str
    error_code: str | UnsetType = UNSET
    key: str | UnsetType = UNSET
