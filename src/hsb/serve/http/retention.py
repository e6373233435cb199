"""Periodic work beside the requests: forget contexts older than `keep_contexts`, in parts, and log policies that have become slow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..core import Forget, Served
from ..local import clock
from ..store.erasing import old_contexts
from .logs import log
from .problem import HttpProblem

if TYPE_CHECKING:
    from .service import Service

PAUSE = 60.0  # seconds between rounds
REST = 0.01  # seconds between parts


async def retain(service: Service) -> None:
    """Do the periodic work once a minute, until the service ends."""
    positions: dict[int, int] = {}  # by policy: the position up to which nothing is left to forget
    slow: set[int] = set()
    while True:
        for served in list(service.core.policies.values()):
            for warning in served.warnings() if served.id not in slow else ():
                log("slow policy", level="warning", policy=served.name, detail=warning)
                slow.add(served.id)
            if served.settings.keep_contexts is not None and not service.core.clock.held:
                try:
                    count = await _forget_old(service, served, positions)
                except HttpProblem:  # reading took too long: try next time
                    continue
                if count:
                    log("contexts forgotten", policy=served.name, decisions=count)
        await asyncio.sleep(PAUSE)


async def _forget_old(service: Service, served: Served, positions: dict[int, int]) -> int:
    """Forget the old contexts of a policy; return how many."""
    position, count, waiting, more = positions.get(served.id, 0), 0, False, True
    while more and (keep := served.settings.keep_contexts) is not None and served.name in service.core.policies:
        before = service.core.clock.time(clock()) - round(keep * 1e6)
        old = await service.readers.scan(old_contexts, served.id, before, position)
        if old.ids:
            answer = await service.ask(Forget, served.name, old.ids, old.learned, True)
            if answer.status != "done":  # e.g. a candidate is reading the journal: try next time
                return count
            count += answer.body["forgotten"]
        position, more = old.position, old.more
        if not waiting:
            waiting = old.waiting is not None
            positions[served.id] = position if old.waiting is None else old.waiting - 1
        await asyncio.sleep(REST)
    return count
