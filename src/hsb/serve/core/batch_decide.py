"""Decisions that come together are drawn together: the same as one by one, with less to do for each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...checks import NAME
from .messages import Decide, Now
from .policy_state import Served
from .rows import DecisionRow

if TYPE_CHECKING:
    from .engine import Core

Drawn = tuple[Served, Decide, DecisionRow]


def drawn(core: "Core", messages: Sequence[Any], now: Now) -> list[Drawn | None]:
    """Of each message the policy, itself and the decision, if it is one of the first one's policy with nothing unusual about it; else None."""
    found: list[Drawn | None] = [None] * len(messages)
    served = core.policies.get(messages[0].policy) if messages and type(messages[0]) is Decide else None
    room = core.limits.waiting - len(core.waiting) - len(core.last)
    if served is None or served.archived or core.stopped or len(messages) > room:
        return found
    core.clock.see(now)
    places = [place for place, each in enumerate(messages) if type(each) is Decide and _is_plain(each, served)]
    rows = served.decide_all([messages[place] for place in places], core.clock.time(now))
    for place, row in zip(places, rows, strict=True):
        found[place] = None if row is None else (served, messages[place], row)
    return found


def _is_plain(asked: Decide, served: Served) -> bool:
    """Does it ask this policy for a decision by its id and context alone, and may it?"""
    alone = asked.available is None and asked.baseline is None and asked.min_version <= served.version
    return alone and asked.policy == served.name and isinstance(asked.id, str) and NAME.fullmatch(asked.id) is not None
