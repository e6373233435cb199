"""A policy's rules, in a process of their own: `python -m hsb.serve.explaining` reads a policy's file from stdin, writes JSON to stdout.

Working them out may take seconds: beside the loop it would hold up decisions, and a process can be ended. With the arguments JOURNAL,
POLICY and ARMS (JSON) it also reads the last updates from the journal, and says what each rule earned by them.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, InputError
from ..evaluate.off_policy.by_rule import RuleEarnings
from ..explain import Explanation
from ..explain.earned import Earned
from .core.learner import opened
from .core.sampling import places_of
from .store.sqlite import SqliteReader

SECONDS = 60.0
UPDATES = 5000  # the last ones, by which rules are said to earn
MANY = 24  # rules
View = dict[str, Any]
Update = tuple[Any, str, frozenset[str], float, float]  # context, arm, arms available, propensity, reward


def explained(policy: Any, updates: Callable[[], Iterable[Update]] | None = None) -> View:
    """A policy's rules in words, as plain data, with what they earn by `updates`; or why there are none."""
    if not hasattr(policy, "explain"):
        return {"rules": None, "why": "This kind of policy has no rules to show."}
    if "encoding" in policy.settings():
        return {
            "rules": None,
            "why": "This policy sees what an encoding makes of contexts: rules would be about that, not about features.",
        }
    try:
        found = policy.explain().merged()
    except InputError as error:
        return {"rules": None, "why": str(error)}
    earned: list[Earned | None] = [None] * len(found.regions)
    rows = 0 if updates is None else _earn(policy, found, updates(), earned)
    rules = sorted(zip(found.regions, earned, strict=True), key=lambda each: -each[0].coverage)
    return {
        "rules": [
            {
                "where": each.where,
                "arm": str(each.arm),
                "sure": each.probability,
                "share": each.coverage,
                "seen": each.seen,
                "earned": None if gain is None else gain.to_dict(),
            }
            for each, gain in rules[:MANY]
        ],
        "earned_rows": rows,
        "left_out": max(0, len(rules) - MANY),
        "left_share": sum(each.coverage for each, _ in rules[MANY:]),
        "agreement": found.agreement,
        "importance": sorted(found.importance.items(), key=lambda each: -each[1])[:15],
        "regions": len(found.regions),
        "lines": str(found).splitlines(),
        "why": None,
    }


def _earn(policy: Any, found: Explanation, updates: Iterable[Update], earned: list[Earned | None]) -> int:
    """Fill in what each rule earned; of how many updates. Nothing where the range of rewards is found on the way.

    The rules were found by the same updates. So that the choice of each rule's arm is allowed for, the intervals hold for every arm under every
    rule together.
    """
    low, high = policy.reward_range
    if policy.loss_scale.auto or not low < high:
        return 0
    taken: list[tuple[Any, ...]] = []
    for context, arm, available, propensity, reward in updates:
        try:
            rule = found.regions.index(found.region_at(context))
        except InputError:  # a context of before, which the policy would refuse today
            continue
        wanted = found.regions[rule].arm
        taken.append((rule, wanted in available, arm == wanted, propensity, reward))
    sums = RuleEarnings([region.arm for region in found.regions], (low, high))
    if taken:
        rules, offers, plays, probabilities, rewards = (np.array(each) for each in zip(*taken, strict=True))
        sums.add(rules, offers, plays, probabilities, np.clip(rewards, low, high))
    earned[:] = sums.result(1.0 - 0.05 / (len(found.regions) * len(policy.arms)))
    return len(taken)


def updates_of(journal: str, policy: int, arms: list[str], last: int = UPDATES) -> Iterator[Update]:
    """The last updates of a policy in a journal; `arms` by their places there."""
    reader = SqliteReader(Path(journal))
    row = next((each for each in reader.policies() if each.id == policy), None)
    offers: dict[bytes, frozenset[str]] = {}
    for update, made in reader.entries(policy, max(0, (0 if row is None else row.head) - last)):
        if made is None or update.reward is None or not made.context:
            continue
        if made.available not in offers:
            offers[made.available] = frozenset(arms[place] for place in places_of(made.available) if place < len(arms))
        if made.arm < len(arms):
            yield json.loads(made.context), arms[made.arm], offers[made.available], made.propensity, update.reward


def main(given: Sequence[str]) -> int:
    """Explain the policy on stdin."""
    updates = None
    if given and Path(given[0]).is_file():
        journal, policy, arms = given[0], int(given[1]), json.loads(given[2])
        updates = partial(updates_of, journal, policy, arms)
    try:
        found = explained(opened(sys.stdin.buffer.read()), updates)
    except FileError as error:
        found = {"rules": None, "why": str(error)}
    json.dump(found, sys.stdout)
    sys.stdout.flush()
    return 0


async def beside(
    body: bytes, version: int, seconds: float = SECONDS, updates: tuple[Path, int, list[str]] | None = None
) -> View:
    """The same in another process, ended after a while. `updates`: the journal, the policy's number, its arms by their places."""
    pipe = asyncio.subprocess.PIPE
    more = () if updates is None else (str(updates[0]), str(updates[1]), json.dumps(updates[2]))
    command = (sys.executable, "-m", "hsb.serve.explaining", *more)
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(seconds):
            out, _ = await process.communicate(body)
        return {**json.loads(out), "version": version}
    except TimeoutError:
        why = f"The rules were not worked out within {seconds:g} seconds."
        return {"rules": None, "why": why, "version": version, "late": True}
    except ValueError:
        return {"rules": None, "why": "The rules could not be worked out.", "version": version}
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()  # until its pipes are closed, too


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
