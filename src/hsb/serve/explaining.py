"""Compute a policy's rules in a separate process: `python -m hsb.serve.explaining` reads a policy's file from stdin, writes JSON to stdout.

Rules may take seconds, which would delay decisions, and a process can be ended. With the arguments JOURNAL, POLICY and ARMS (JSON) it also
reads the last updates from the journal, and estimates what each rule earned on them.
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
from .core.learner import read_policy
from .core.sampling import indices_of
from .store.sqlite import SqliteReader

SECONDS = 60.0
UPDATES = 5000  # the last ones, on which it is estimated what rules earn
MANY = 24  # rules that are listed
View = dict[str, Any]
Update = tuple[Any, str, frozenset[str], float, float]  # context, arm, arms available, propensity, reward


def explain_policy(policy: Any, updates: Callable[[], Iterable[Update]] | None = None) -> View:
    """Return a policy's rules as plain data, with what they earned on `updates`; or the reason why it has no rules."""
    if not hasattr(policy, "explain"):
        return {"rules": None, "why": "This kind of policy has no rules to show."}
    if "encoding" in policy.settings():
        return {
            "rules": None,
            "why": "This policy sees encoded contexts, so its rules would be about the encoding, not about features.",
        }
    if policy.learner.takes_requests:
        return {
            "rules": None,
            "why": "The arms of this policy come with each request, so no rule names an arm: policy.explain().",
        }
    try:
        explanation = policy.explain().merged()
    except InputError as error:
        return {"rules": None, "why": str(error)}
    earned: list[Earned | None] = [None] * len(explanation.regions)
    rows = 0 if updates is None else _earn(policy, explanation, updates(), earned)
    rules = sorted(zip(explanation.regions, earned, strict=True), key=lambda region: -region[0].coverage)
    return {
        "rules": [
            {
                "where": region.where,
                "arm": str(region.arm),
                "probability": region.probability,
                "coverage": region.coverage,
                "seen": region.seen,
                "earned": None if gain is None else gain.to_dict(),
            }
            for region, gain in rules[:MANY]
        ],
        "earned_rows": rows,
        "left_out": max(0, len(rules) - MANY),
        "left_coverage": sum(region.coverage for region, _ in rules[MANY:]),
        "agreement": explanation.agreement,
        "importance": sorted(explanation.importance.items(), key=lambda region: -region[1])[:15],
        "regions": len(explanation.regions),
        "lines": str(explanation).splitlines(),
        "why": None,
    }


def _earn(policy: Any, explanation: Explanation, updates: Iterable[Update], earned: list[Earned | None]) -> int:
    """Fill `earned` with what each rule earned; return the number of updates used, 0 if the range of rewards was not declared.

    The rules were learned from the same updates. The intervals allow for that choice: they hold for every arm under every rule together.
    """
    low, high = policy.reward_range
    if policy.loss_scale.auto or not low < high:
        return 0
    rows: list[tuple[Any, ...]] = []
    for context, arm, available, propensity, reward in updates:
        try:
            rule = explanation.regions.index(explanation.region_at(context))
        except InputError:  # an old context, which the policy would reject today
            continue
        arm_of_rule = explanation.regions[rule].arm
        rows.append((rule, arm_of_rule in available, arm == arm_of_rule, propensity, reward))
    sums = RuleEarnings([region.arm for region in explanation.regions], (low, high))
    if rows:
        rules, possible, plays, probabilities, rewards = (np.array(column) for column in zip(*rows, strict=True))
        sums.add(rules, possible, plays, probabilities, np.clip(rewards, low, high))
    earned[:] = sums.result(1.0 - 0.05 / (len(explanation.regions) * len(policy.arms)))
    return len(rows)


def updates_of(journal: str, policy: int, arms: list[str], last: int = UPDATES) -> Iterator[Update]:
    """Yield the last updates of a policy in a journal; `arms` are in the journal's order."""
    reader = SqliteReader(Path(journal))
    row = next((each for each in reader.policies() if each.id == policy), None)
    available_by_bytes: dict[bytes, frozenset[str]] = {}
    for update, decision in reader.entries(policy, max(0, (0 if row is None else row.head) - last)):
        if decision is None or update.reward is None or not decision.context:
            continue
        if decision.available not in available_by_bytes:
            available_by_bytes[decision.available] = frozenset(
                arms[index] for index in indices_of(decision.available) if index < len(arms)
            )
        if decision.arm < len(arms):
            yield (
                json.loads(decision.context),
                arms[decision.arm],
                available_by_bytes[decision.available],
                decision.propensity,
                update.reward,
            )


def main(arguments: Sequence[str]) -> int:
    """Explain the policy on stdin; write the result to stdout."""
    updates = None
    if arguments and Path(arguments[0]).is_file():
        journal, policy, arms = arguments[0], int(arguments[1]), json.loads(arguments[2])
        updates = partial(updates_of, journal, policy, arms)
    try:
        view = explain_policy(read_policy(sys.stdin.buffer.read()), updates)
    except FileError as error:
        view = {"rules": None, "why": str(error)}
    json.dump(view, sys.stdout)
    sys.stdout.flush()
    return 0


async def explain_in_process(
    body: bytes, version: int, seconds: float = SECONDS, updates: tuple[Path, int, list[str]] | None = None
) -> View:
    """Explain a policy in another process, ended after `seconds`. `updates`: the journal, the policy's number, and its arms in order."""
    pipe = asyncio.subprocess.PIPE
    more = () if updates is None else (str(updates[0]), str(updates[1]), json.dumps(updates[2]))
    command = (sys.executable, "-m", "hsb.serve.explaining", *more)
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(seconds):
            out, _ = await process.communicate(body)
        return {**json.loads(out), "version": version}
    except TimeoutError:
        why = f"The rules took longer than {seconds:g} seconds to compute. Try again later."
        return {"rules": None, "why": why, "version": version, "late": True}
    except ValueError:
        return {"rules": None, "why": "The rules could not be computed: the process that does so ended.", "version": version}
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()  # until its pipes are closed, too


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
