"""What answers about decisions and rewards say."""

from typing import TYPE_CHECKING, Any

from ...errors import quoted
from .messages import Decide, Reward
from .orders import Outcome
from .policy_state import Served
from .receipts import receipt
from .rows import DecisionRow

if TYPE_CHECKING:
    from .engine import Core

GONE = "The policy was erased in the meantime."
MODES = {0.0: "shadow", 1.0: "live"}


def decided(served: Served, row: DecisionRow, process: str, active: bool | None = None) -> dict[str, Any]:
    """A decision; with a receipt of this process where it is said whether it is active."""
    found = {
        "id": row.id,
        "policy": served.name,
        "arm": served.arms[row.arm],
        "propensity": row.propensity,
        "version": row.version,
        "mode": MODES.get(row.ramp, "ramp"),
        "deadline": row.deadline,
    }
    return found if active is None else found | {"receipt": receipt(served.secret, row, active, process)}


def told(core: "Core", kind: type, asked: Any, outcome: Outcome) -> dict[str, Any]:
    """What is answered to whoever asked for a decision, or said what one earned; it is counted."""
    row, status = outcome.decision, outcome.status
    if status == "refused" and (kind is Decide or row is None):
        core.counts["refused"] += 1
        return {"detail": outcome.detail}
    if status == "forbidden":
        return {"detail": "This key is not for the policy of that decision."}
    if row is None:
        return {"detail": f"There is no decision {quoted(asked.decision)}." if kind is not Decide else GONE}
    if kind is Decide and status == "conflict":
        return {"detail": f"The id {quoted(row.id)} belongs to a decision on another question.", "id": row.id}
    served = core.by_id[row.policy]
    if kind is Decide:
        core.counts["decisions" if status == "created" else "duplicates"] += 1
        return decided(served, row, core.processes.now, asked.activate if asked.receipt else None)
    about: dict[str, Any] = {"decision": row.id, "policy": served.name, "closed": outcome.detail or None}
    if kind is Reward:
        name = {"late": "late", "duplicate": "duplicates"}.get(status, "rewards")
        core.counts[name] += 1
        about["learned_at_version"] = outcome.learned[-1][0].seq if status == "learned" else None
    return about | ({"detail": why(kind, asked, outcome)} if status in ("conflict", "late", "refused", "not_learned") else {})


def why(kind: type, asked: Any, outcome: Outcome) -> str:
    """Why a reward was not taken, or a decision not closed."""
    if outcome.status == "late":
        how = {
            "learned": "learned",
            "void": "closed as never shown",
            "expired": "closed without feedback",
            "forgotten": "forgotten",
        }
        kept = " The reward is kept, and not learned." if kind is Reward else ""
        return f"The decision {asked.decision} was {how.get(outcome.detail, 'closed')} already.{kept}"
    if outcome.status == "conflict" and outcome.reward is not None:
        given = f"the loss {asked.value}" if asked.loss else asked.value
        known = f"{asked.decision} has a reward with the id {quoted(asked.id)}, which is {outcome.reward.value}"
        return f"{known}; given {given}. Another reward needs another id."
    return outcome.detail
