"""Snapshots: when one is due, what it is of, and what becomes of it when it is packed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .messages import Answer, Effect, Now, Pack, Packed, TakeSnapshot
from .orders import BlankContexts, Keep
from .policy_state import Served
from .replies import GONE
from .rows import PolicyRow, SnapshotRow
from .sealed_snapshots import Frozen

if TYPE_CHECKING:
    from .engine import Core

UNREADABLE = "A snapshot of it cannot be read again, so it was not kept. That is a fault of hsb: please report it."


def due(core: Core, now: Now) -> list[int]:
    """Policies that have learned enough, or anything at all for long enough."""
    return [
        name
        for name, watch in core.watches.items()
        if (learned := core.by_id[name].updates - watch.kept)
        and (learned >= core.limits.updates or now.mono - watch.kept_at >= core.limits.pause)
    ]


def frozen(core: Core, name: int, now: Now, *, copied: bool = True) -> Frozen:
    """A policy's state now, which is taken for kept."""
    watch, served = core.watches[name], core.by_id[name]
    watch.kept, watch.kept_at = served.updates, now.mono
    return served.frozen(core.clock.time(now), copied=copied)


def sealed(frozen: Frozen) -> tuple[SnapshotRow, ...]:
    """A snapshot's rows, from which the same state comes back: that is tried here, not at the next start. FileError where it does not."""
    rows = frozen.rows()
    Served.revived(PolicyRow(frozen.policy, "", b"", frozen.seq, frozen.at), list(rows))
    return rows


def asked(core: Core, message: TakeSnapshot, served: Served, now: Now) -> list[Effect]:
    """Make a snapshot, and answer when it is written."""
    core.packing.append(message)
    return [Pack(served.id, frozen(core, served.id, now), message)]


def before_blank(core: Core, order: BlankContexts, now: Now) -> Keep | None:
    """The snapshot from which a start goes on when contexts before it are forgotten; all candidates have read what there is.

    None where there is one that has learned these decisions: since then the same learners have gone on. FileError where it cannot be read.
    """
    watch, served = core.watches[order.policy], core.by_id[order.policy]
    if order.learned is not None and watch.safe is not None:
        version, learners = watch.safe
        if order.learned <= version and learners == _learners(served):
            return None
    rows = sealed(frozen(core, order.policy, now, copied=False))
    watch.forgot = served.version
    return Keep(rows, served.words_forgotten)


def kept(core: Core, order: Keep) -> None:
    """A snapshot is on disk."""
    watch = core.watches.get(order.rows[0].policy)
    if watch is not None and order.rows[0].seq == watch.forgot:
        watch.safe = watch.forgot, _learners(core.by_id[order.rows[0].policy])


def _learners(served: Served) -> frozenset[int]:
    return frozenset((served.live.id, *(each.id for each in served.candidates.values())))


def packed(core: Core, message: Packed, now: Now) -> list[Effect]:
    """Write a snapshot in the next batch, though the policy may have learned more since."""
    request = message.asked
    if request is not None:
        if request not in core.packing:
            return []  # the service stopped meanwhile, and has said so
        core.packing.remove(request)
    if message.policy not in core.by_id:
        return [] if request is None else [Answer(request.request, "unknown", {"detail": GONE})]
    if not message.rows:
        core.watches[message.policy].kept -= 1  # again after the next pause
        return [] if request is None else [Answer(request.request, "refused", {"detail": UNREADABLE})]
    if message.rows[0].seq == core.watches[message.policy].forgot and _reading(message.rows):  # it would take that one's place
        return [] if request is None else asked(core, request, core.by_id[message.policy], now)
    # before all that waits: what is forgotten goes with the next batch, and its snapshot must come after this one
    core.waiting.appendleft((None if request is None else request.request, Keep(message.rows), request))
    return []


def _reading(rows: tuple[SnapshotRow, ...]) -> bool:
    """Had a candidate not read the whole stream yet?"""
    learners = json.loads(json.loads(rows[0].about)["state"])["learners"]
    return any(each["at"] < rows[0].seq for each in learners.values())
