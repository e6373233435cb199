"""Bodies of answers about decisions and rewards."""

from typing import TYPE_CHECKING, Any

from ...errors import quoted
from .messages import Decide, Reward
from .orders import Outcome
from .policy_state import Served
from .receipts import make_receipt
from .requests import played_of
from .rows import DecisionRow

if TYPE_CHECKING:
    from .engine import Core

GONE = "The policy was erased meanwhile."
MODES = {0.0: "shadow", 1.0: "live"}


def describe_decision(served: Served, row: DecisionRow, process: str, active: bool | None = None) -> dict[str, Any]:
    """Describe a decision. With `active`, add a receipt of `process`."""
    reply = {
        "id": row.id,
        "policy": served.name,
        "arm": played_of(served.arms, row),
        "propensity": row.propensity,
        "version": row.version,
        "mode": MODES.get(row.ramp, "ramp"),
        "deadline": row.deadline,
    }
    return reply if active is None else reply | {"receipt": make_receipt(served.secret, row, active, process)}


def describe_outcome(core: "Core", kind: type, message: Any, outcome: Outcome) -> dict[str, Any]:
    """Describe the outcome of a request about a decision, and count it."""
    row, status = outcome.decision, outcome.status
    if status == "refused" and (kind is Decide or row is None):
        core.counts["refused"] += 1
        return {"detail": outcome.detail}
    if status == "forbidden":
        return {"detail": "This key is not for the policy of that decision. Use a key for that policy."}
    if row is None:
        return {"detail": f"There is no decision {quoted(message.decision)}." if kind is not Decide else GONE}
    if kind is Decide and status == "conflict":
        return {
            "detail": f"The id {quoted(row.id)} belongs to a decision for another request, e.g. with another context. Use another id.",
            "id": row.id,
        }
    served = core.by_id[row.policy]
    if kind is Decide:
        core.counts["decisions" if status == "created" else "duplicates"] += 1
        return describe_decision(served, row, core.processes.now, message.activate if message.receipt else None)
    about: dict[str, Any] = {"decision": row.id, "policy": served.name, "closed": outcome.detail or None}
    if kind is Reward:
        name = {"late": "late", "duplicate": "duplicates"}.get(status, "rewards")
        core.counts[name] += 1
        about["learned_at_version"] = outcome.learned[-1][0].seq if status == "learned" else None
    return about | (
        {"detail": explain_outcome(kind, message, outcome)} if status in ("conflict", "late", "refused", "not_learned") else {}
    )


def explain_outcome(kind: type, message: Any, outcome: Outcome) -> str:
    """Explain why a reward was not accepted, or a decision not closed."""
    if outcome.status == "late":
        how = {
            "learned": "learned",
            "void": "closed as never shown",
            "expired": "closed without feedback",
            "forgotten": "forgotten",
        }
        kept = " The reward is kept, but not learned." if kind is Reward else ""
        return f"The decision {message.decision} was already {how.get(outcome.detail, 'closed')}.{kept}"
    if outcome.status == "conflict" and outcome.reward is not None:
        sent = f"the loss {message.value}" if message.loss else message.value
        known = f"{message.decision} already has a reward with the id {quoted(message.id)}, which is {outcome.reward.value}"
        return f"{known}; given {sent}. Give another reward another id."
    return outcome.detail
