"""A synthetic shop, so that the page can be seen alive: a week of past, and visitors who come now. Every id begins with demo-."""

import asyncio
import heapq
import itertools
import math
import os
from typing import Any

import numpy as np

from ...problems import Banners
from ..core import CoreLimits, Create, Decide, Now, Reward, Tick
from ..local import Local, clock
from .service import Service
from .settings import DEMO as NAME

BANNERS = ["a sale", "the app", "a film tonight", "the card", "summer"]
WAIT = 10  # seconds for a click
SPEC = {"name": NAME, "arms": BANNERS, "floor": 0.15, "feedback": {"wait": WAIT, "default_reward": 0}}
DAYS, VISITS, PART = 7, 8000, 100
EAGER = 3.0  # times the clicks of `Banners`, so that there is something to see in a week
PAUSE = 0.1  # seconds between visitors
SECOND = 1_000_000


def visitors(count: int, seed: int) -> list[tuple[dict[str, Any], Any]]:
    """Contexts, and for each the probability that each banner is clicked."""
    contexts, _, expected = Banners().sample(count, seed=seed)
    names = contexts.dtype.names or ()
    found = []
    for row, losses in zip(contexts, expected, strict=True):
        pairs = zip(names, row.item(), strict=True)
        probabilities = np.minimum(EAGER * (1.0 - np.asarray(losses)), 0.95)
        found.append(({k: v for k, v in pairs if not (isinstance(v, float) and math.isnan(v))}, probabilities))
    return found


def fill(path: Any) -> int:
    """Write a week of past into a journal that has none; how many visits."""
    now, rng = clock(), np.random.default_rng(0)
    back = DAYS * 86_400 * SECOND
    local = Local(path, now=Now(now.wall - back, now.mono), limits=CoreLimits(pause=back))
    if local.core.policies:
        local.close()
        return 0
    local.ask(Create(0, SPEC, os.urandom(32)), Now(now.wall - back, now.mono))
    step = (back - 120 * SECOND) // (VISITS // PART)
    came = visitors(VISITS, 1)
    for k in range(0, VISITS, PART):
        at = now.wall - back + (k // PART) * step
        some = [(f"demo-{k + j}", *visit) for j, visit in enumerate(came[k : k + PART])]
        then = [
            Now(at + seconds * SECOND, now.mono + at - (now.wall - back) + seconds * SECOND) for seconds in (0, 4, WAIT + 1)
        ]
        made = local.ask_all([Decide(j, NAME, name, context) for j, (name, context, _) in enumerate(some)], then[0])
        clicks = [
            Reward(j, answer.body["id"], 1.0)
            for j, (answer, (_, _, probabilities)) in enumerate(zip(made, some, strict=True))
            if rng.random() < probabilities[BANNERS.index(answer.body["arm"])]
        ]
        local.ask_all(clicks, then[1])
        local.ask_all([Tick()], then[2])
    local.close()
    return VISITS


async def keep_busy(service: Service) -> None:
    """Let visitors come until the service ends; clicks follow after some seconds."""
    rng, start = np.random.default_rng(), os.urandom(4).hex()
    clicks: list[tuple[float, str]] = []
    loop = asyncio.get_running_loop()
    for k in itertools.count():
        if k % 500 == 0:
            came = iter(visitors(500, int(rng.integers(1 << 31))))
        context, probabilities = next(came)
        answer = await service.ask(Decide, NAME, f"demo-{start}-{k}", context)
        arm = answer.body.get("arm")  # or one that was added: nobody clicks on it
        if answer.status == "created" and arm in BANNERS and rng.random() < probabilities[BANNERS.index(arm)]:
            heapq.heappush(clicks, (loop.time() + float(rng.exponential(3.0)), answer.body["id"]))
        while clicks and clicks[0][0] <= loop.time():
            await service.ask(Reward, heapq.heappop(clicks)[1], 1.0)
        await asyncio.sleep(PAUSE * float(rng.exponential()))
