"""Snapshots: when one is due, what it is of, and what becomes of it when it is packed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .answers import GONE
from .frozen import Frozen
from .messages import Answer, Effect, Now, Pack, Packed, TakeSnapshot
from .orders import Keep
from .served import Served

if TYPE_CHECKING:
    from .engine import Core


def due(core: Core, now: Now) -> list[int]:
    """Policies that have learned enough, or anything at all for long enough."""
    return [
        name
        for name, watch in core.watches.items()
        if (learned := core.by_id[name].lessons - watch.kept)
        and (learned >= core.limits.lessons or now.mono - watch.kept_at >= core.limits.pause)
    ]


def frozen(core: Core, name: int, now: Now, *, copied: bool = True) -> Frozen:
    """A policy's state now, which is taken for kept."""
    watch, served = core.watches[name], core.by_id[name]
    watch.kept, watch.kept_at = served.lessons, now.mono
    return served.frozen(core.clock.time(now), copied=copied)


def asked(core: Core, message: TakeSnapshot, served: Served, now: Now) -> list[Effect]:
    """Make a snapshot, and answer when it is written."""
    core.packing.append(message)
    return [Pack(served.id, frozen(core, served.id, now), message)]


def packed(core: Core, message: Packed) -> list[Effect]:
    """Write a snapshot in the next batch, though the policy may have learned more since."""
    asked = message.asked
    if asked is not None:
        if asked not in core.packing:
            return []  # the service stopped meanwhile, and has said so
        core.packing.remove(asked)
    if message.policy not in core.by_id:
        return [] if asked is None else [Answer(asked.request, "unknown", {"detail": GONE})]
    core.waiting.append((None if asked is None else asked.request, Keep(message.rows), asked))
    return []
