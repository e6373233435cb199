"""A policy's rules, in a process of their own: `python -m hsb.serve.explaining` reads a policy's file from stdin, writes JSON to stdout.

Working them out may take many seconds: beside the loop it would hold up decisions, and a process can be ended.
"""

import asyncio
import json
import sys
from typing import Any

from ..errors import FileError, InputError
from .core.learner import opened

SECONDS = 60.0
MANY = 24  # rules
View = dict[str, Any]


def explained(policy: Any) -> View:
    """A policy's rules in words, as plain data; or why there are none."""
    if not hasattr(policy, "explain"):
        return {"rules": None, "why": "This kind of policy has no rules to show."}
    try:
        found = _short(policy)
    except InputError as error:
        return {"rules": None, "why": str(error)}
    rules = sorted(found.rules, key=lambda region: -region.share)
    return {
        "rules": [
            {"where": each.where, "arm": str(each.arm), "sure": each.probability, "share": each.share, "seen": each.seen}
            for each in rules[:MANY]
        ],
        "left_out": max(0, len(rules) - MANY),
        "left_share": sum(each.share for each in rules[MANY:]),
        "agreement": found.agreement,
        "importance": sorted(found.importance.items(), key=lambda each: -each[1])[:15],
        "regions": len(found.regions),
        "lines": str(found).splitlines(),
        "why": None,
    }


def _short(policy: Any) -> Any:
    try:
        return policy.explain(rules=MANY)
    except InputError:
        return policy.explain()  # the most probable mapping has the rules that it has


def main() -> int:
    """Explain the policy on stdin."""
    try:
        found = explained(opened(sys.stdin.buffer.read()))
    except FileError as error:
        found = {"rules": None, "why": str(error)}
    json.dump(found, sys.stdout)
    return 0


async def beside(body: bytes, version: int, seconds: float = SECONDS) -> View:
    """The same in another process, ended after a while."""
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "hsb.serve.explaining")
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
            await process.wait()


if __name__ == "__main__":
    sys.exit(main())
