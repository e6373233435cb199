"""What is looked at now and then, beside the requests: contexts that are as old as a policy says (`keep_contexts`) are forgotten, a part at
a time, and policies that have become slow are named."""

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

PAUSE = 60.0  # seconds between looks
REST = 0.01  # seconds between parts


async def retain(service: Service) -> None:
    """Look now and then, as long as the service runs."""
    places: dict[int, int] = {}  # of each policy, up to where nothing is left to be forgotten
    slow: set[int] = set()
    while True:
        for served in list(service.core.policies.values()):
            for warning in served.warnings() if served.id not in slow else ():
                log("slow policy", level="warning", policy=served.name, detail=warning)
                slow.add(served.id)
            if served.settings.keep_contexts is not None and not service.core.clock.held:
                try:
                    count = await _forget_old(service, served, places)
                except HttpProblem:  # reading took too long: the next time
                    continue
                if count:
                    log("contexts forgotten", policy=served.name, decisions=count)
        await asyncio.sleep(PAUSE)


async def _forget_old(service: Service, served: Served, places: dict[int, int]) -> int:
    """Forget what is old of a policy; how many contexts."""
    place, count, waiting, more = places.get(served.id, 0), 0, False, True
    while more and (keep := served.settings.keep_contexts) is not None and served.name in service.core.policies:
        before = service.core.clock.time(clock()) - round(keep * 1e6)
        found = await service.readers.scan(old_contexts, served.id, before, place)
        if found.ids:
            answer = await service.ask(Forget, served.name, found.ids, found.learned, True)
            if answer.status != "done":  # e.g. a candidate is reading the journal: the next time
                return count
            count += answer.body["forgotten"]
        place, more = found.place, found.more
        if not waiting:
            waiting = found.waiting is not None
            places[served.id] = place if found.waiting is None else found.waiting - 1
        await asyncio.sleep(REST)
    return count
