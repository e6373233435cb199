"""A synthetic shop, to see the page with data: a past week, and visitors who come now. Every id begins with demo-."""

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
EAGER = 3.0  # factor on the click probabilities of `Banners`, so that a week shows differences
PAUSE = 0.1  # seconds between visitors
SECOND = 1_000_000


def visitors(count: int, seed: int) -> list[tuple[dict[str, Any], Any]]:
    """Return `count` contexts, each with the probability that each banner is clicked."""
    contexts, _, expected = Banners().sample(count, seed=seed)
    names = contexts.dtype.names or ()
    visits = []
    for row, losses in zip(contexts, expected, strict=True):
        pairs = zip(names, row.item(), strict=True)
        probabilities = np.minimum(EAGER * (1.0 - np.asarray(losses)), 0.95)
        visits.append(({k: v for k, v in pairs if not (isinstance(v, float) and math.isnan(v))}, probabilities))
    return visits


def fill(path: Any) -> int:
    """Write a past week into a journal without policies; return the number of visits."""
    now, rng = clock(), np.random.default_rng(0)
    back = DAYS * 86_400 * SECOND
    local = Local(path, now=Now(now.wall - back, now.mono), limits=CoreLimits(pause=back))
    if local.core.policies:
        local.close()
        return 0
    local.ask(Create(0, SPEC, os.urandom(32)), Now(now.wall - back, now.mono))
    step = (back - 120 * SECOND) // (VISITS // PART)
    visits = visitors(VISITS, 1)
    for k in range(0, VISITS, PART):
        time = now.wall - back + (k // PART) * step
        part = [(f"demo-{k + j}", *visit) for j, visit in enumerate(visits[k : k + PART])]
        times = [
            Now(time + seconds * SECOND, now.mono + time - (now.wall - back) + seconds * SECOND) for seconds in (0, 4, WAIT + 1)
        ]
        answers = local.ask_all([Decide(j, NAME, name, context) for j, (name, context, _) in enumerate(part)], times[0])
        clicks = [
            Reward(j, answer.body["id"], 1.0)
            for j, (answer, (_, _, probabilities)) in enumerate(zip(answers, part, strict=True))
            if rng.random() < probabilities[BANNERS.index(answer.body["arm"])]
        ]
        local.ask_all(clicks, times[1])
        local.ask_all([Tick()], times[2])
    local.close()
    return VISITS


async def keep_busy(service: Service) -> None:
    """Simulate visitors until the service ends; clicks follow a few seconds after."""
    rng, start = np.random.default_rng(), os.urandom(4).hex()
    clicks: list[tuple[float, str]] = []
    loop = asyncio.get_running_loop()
    for k in itertools.count():
        if k % 500 == 0:
            came = iter(visitors(500, int(rng.integers(1 << 31))))
        context, probabilities = next(came)
        answer = await service.ask(Decide, NAME, f"demo-{start}-{k}", context)
        arm = answer.body.get("arm")  # nobody clicks on an arm that was added later
        if answer.status == "created" and arm in BANNERS and rng.random() < probabilities[BANNERS.index(arm)]:
            heapq.heappush(clicks, (loop.time() + float(rng.exponential(3.0)), answer.body["id"]))
        while clicks and clicks[0][0] <= loop.time():
            await service.ask(Reward, heapq.heappop(clicks)[1], 1.0)
        await asyncio.sleep(PAUSE * float(rng.exponential()))
