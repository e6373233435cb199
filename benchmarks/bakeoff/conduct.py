"""Runs every pass that is not there yet: a process for each rival, a file for each pass, a few processes at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import peers
from peers.environments import Environment
from peers.processes import Processes
from peers.results import Results, key

from .rivals import Entry
from .tables import Table

HERE = Path(__file__).resolve().parent
PEERS = Path(peers.__file__).parent
SHARED = (PEERS / "base.py", PEERS / "play.py", HERE / "tables.py", HERE / "game.py")
GRACE = 60.0  # seconds over its time after which a process that gives no answer is stopped


class Plan(NamedTuple):
    """Which tables, the most permutations, the most seconds for a pass."""

    tables: tuple[Path, ...]
    permutations: int
    seconds: float


class Item(NamedTuple):
    """One pass: whose, over what, and in which order. Alone: in a process of its own, for its memory."""

    entry: Entry
    table: str
    hash: str
    path: Path
    permutation: int
    alone: bool = False

    def told(self) -> dict[str, Any]:
        """What the worker hears."""
        return {
            "algorithm": self.entry.rival.algorithm,
            "settings": self.entry.settings,
            "form": self.entry.form,
            "path": str(self.path),
            "permutation": self.permutation,
        }


Found = dict[str, tuple[Item, dict[str, Any]]]  # by the key of the pass
Told = Callable[[int, int], None]  # done, in all


def items(entries: list[Entry], plan: Plan) -> list[Item]:
    """Every pass, and one alone of each rival's default, over the longest table. Table by table, so that each is read once."""
    tables = [Table(path) for path in plan.tables]
    paths = {path.stem: path for path in plan.tables}
    passes = [
        Item(entry, table.name, table.hash, paths[table.name], permutation)
        for table in tables
        for entry in entries
        for permutation in range(min(plan.permutations, entry.rival.permutations))
    ]
    longest = max(tables, key=len)
    alone = [Item(entry, longest.name, longest.hash, paths[longest.name], 0, True) for entry in entries if entry.default]
    return passes + alone


def item_key(item: Item, version: str) -> str:
    """All that a pass follows from."""
    about = [item.entry.rival.algorithm, item.entry.settings, item.entry.form, item.hash, item.permutation]
    name = item.entry.rival.library
    sources = (*SHARED, HERE / "ours.py") if name == "hsb" else SHARED
    return key(name, "pass", version, [*about, "alone"] if item.alone else about, sources)


class Conductor:
    """Keeps results."""

    def __init__(self, plan: Plan, folder: Path, environments: dict[str, Environment], workers: int, told: Told) -> None:
        self.plan, self.environments, self.workers, self.told = plan, environments, workers, told
        self.results = Results(folder / "results")
        self._processes = Processes("bakeoff.worker", folder / "logs")

    def run(self, wanted: list[Item], *, play: bool = True) -> Found:
        """All results: those kept from before, and, unless nothing is to be played, the others."""
        found: Found = {}
        jobs: dict[tuple[str, bool], list[Item]] = {}
        for item in wanted:
            name = self._key(item)
            kept = self.results.get(name)
            if kept is not None and kept.get("slow", self.plan.seconds) >= self.plan.seconds:
                found[name] = item, kept
            elif play:
                jobs.setdefault((item.entry.rival.name, item.alone), []).append(item)
        self.told(len(found), len(wanted))

        def work(job: list[Item]) -> None:
            while job and not self._processes.stopped:
                job = self._some(job, found, len(wanted))

        self._processes.each(work, list(jobs.values()), self.workers)
        return found

    def _some(self, job: list[Item], found: Found, total: int) -> list[Item]:
        """One process: the items that it left unanswered. What it died of is the answer to the one it was at."""
        rival = job[0].entry.rival
        ask = {"library": rival.library, "kind": "pass", "seconds": self.plan.seconds, "items": [item.told() for item in job]}
        log = "".join(letter if letter.isalnum() else "-" for letter in rival.name) + ("-alone" if job[0].alone else "")
        limit = 2 * self.plan.seconds + GRACE
        python = self.environments[rival.library].python
        for number, result in enumerate(self._processes.answers(python, ask, log, limit, renewed=True)):
            item = job[number]
            if "ended" in result and self._processes.stopped:
                return []
            if result.get("ended") == -9:
                result = {"slow": self.plan.seconds, "rounds": 0}
            about = {"rival": rival.name, "table": item.table, **item.told()}
            del about["path"]
            self.results.put(self._key(item), about, {name: value for name, value in result.items() if name != "ended"})
            found[self._key(item)] = item, result
            self.told(len(found), total)
            if "ended" in result or result.get("rounds") == 0:
                return job[number + 1 :]
        return []

    def _key(self, item: Item) -> str:
        return item_key(item, self.environments[item.entry.rival.library].version)
