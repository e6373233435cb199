"""Snapshots: find those that are due, freeze the state, and write it once it is packed."""

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

UNREADABLE = "The snapshot cannot be read again, so it was not kept. This is a fault of hsb: please report it."


def due(core: Core, now: Now) -> list[int]:
    """List policies with enough new updates, or with any if the pause is over."""
    return [
        name
        for name, watch in core.watches.items()
        if (learned := core.by_id[name].updates - watch.kept)
        and (learned >= core.limits.updates or now.mono - watch.kept_at >= core.limits.pause)
    ]


def freeze(core: Core, name: int, now: Now, *, copied: bool = True) -> Frozen:
    """Freeze a policy's state for a snapshot, and count the snapshot as taken."""
    watch, served = core.watches[name], core.by_id[name]
    watch.kept, watch.kept_at = served.updates, now.mono
    return served.frozen(core.clock.time(now), copied=copied)


def seal(frozen: Frozen) -> tuple[SnapshotRow, ...]:
    """Pack a snapshot and try to restore it, here rather than at the next start. Raises FileError if that fails."""
    rows = frozen.rows()
    Served.restore(PolicyRow(frozen.policy, "", b"", frozen.seq, frozen.at), list(rows))
    return rows


def request_snapshot(core: Core, message: TakeSnapshot, served: Served, now: Now) -> list[Effect]:
    """Begin a snapshot, and answer when it is written."""
    core.packing.append(message)
    return [Pack(served.id, freeze(core, served.id, now), message)]


def before_blank(core: Core, order: BlankContexts, now: Now) -> Keep | None:
    """Return the snapshot that must precede forgetting, from which a restart continues. All candidates have read the whole stream.

    None if a snapshot with the same learners already includes these decisions. Raises FileError if it cannot be read again.
    """
    watch, served = core.watches[order.policy], core.by_id[order.policy]
    if order.learned is not None and watch.safe is not None:
        version, learners = watch.safe
        if order.learned <= version and learners == _learners(served):
            return None
    rows = seal(freeze(core, order.policy, now, copied=False))
    watch.forgot = served.version
    return Keep(rows, served.words_forgotten)


def note_written(core: Core, order: Keep) -> None:
    """Note that a snapshot is on disk."""
    watch = core.watches.get(order.rows[0].policy)
    if watch is not None and order.rows[0].seq == watch.forgot:
        watch.safe = watch.forgot, _learners(core.by_id[order.rows[0].policy])


def _learners(served: Served) -> frozenset[int]:
    return frozenset((served.live.id, *(each.id for each in served.candidates.values())))


def write_packed(core: Core, message: Packed, now: Now) -> list[Effect]:
    """Order that a packed snapshot be written in the next batch, even if the policy has learned since."""
    request = message.request
    if request is not None:
        if request not in core.packing:
            return []  # the service stopped meanwhile, and has answered
        core.packing.remove(request)
    if message.policy not in core.by_id:
        return [] if request is None else [Answer(request.request, "unknown", {"detail": GONE})]
    if not message.rows:
        core.watches[message.policy].kept -= 1  # again after the next pause
        return [] if request is None else [Answer(request.request, "refused", {"detail": UNREADABLE})]
    if message.rows[0].seq == core.watches[message.policy].forgot and _reading(message.rows):  # it would replace that one
        return [] if request is None else request_snapshot(core, request, core.by_id[message.policy], now)
    # first in the batch: if the batch also forgets contexts, the snapshot for that must come after this one
    core.waiting.appendleft((None if request is None else request.request, Keep(message.rows), request))
    return []


def _reading(rows: tuple[SnapshotRow, ...]) -> bool:
    """Whether a candidate had not read the whole stream yet."""
    learners = json.loads(json.loads(rows[0].about)["state"])["learners"]
    return any(each["at"] < rows[0].seq for each in learners.values())
