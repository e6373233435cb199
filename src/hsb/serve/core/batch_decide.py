"""Draw decisions that arrive together in one pass: the same decisions as one by one, in less time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...checks import NAME
from .messages import Decide, Now
from .policy_state import Served
from .rows import DecisionRow

if TYPE_CHECKING:
    from .engine import Core

Drawn = tuple[Served, Decide, DecisionRow]


def draw_together(core: "Core", messages: Sequence[Any], now: Now) -> list[Drawn | None]:
    """Return (policy, message, decision) of each plain request for the first message's policy; None for every other message."""
    decisions: list[Drawn | None] = [None] * len(messages)
    served = core.policies.get(messages[0].policy) if messages and type(messages[0]) is Decide else None
    room = core.limits.waiting - len(core.waiting) - len(core.last)
    if served is None or served.archived or core.stopped or len(messages) > room:
        return decisions
    core.clock.see(now)
    indices = [index for index, each in enumerate(messages) if type(each) is Decide and _is_plain(each, served)]
    rows = served.decide_all([messages[index] for index in indices], core.clock.time(now))
    for index, row in zip(indices, rows, strict=True):
        decisions[index] = None if row is None else (served, messages[index], row)
    return decisions


def _is_plain(message: Decide, served: Served) -> bool:
    """Whether a message is an acceptable request for this policy with an id and a context alone."""
    alone = (
        message.available is None
        and message.baseline is None
        and message.arms is None
        and message.min_version <= served.version
    )
    return alone and message.policy == served.name and isinstance(message.id, str) and NAME.fullmatch(message.id) is not None
