"""Runs everything: each job in the library's environment, a few at a time, within so many minutes. Finished jobs are kept at once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import problems
from .base import Algorithm, Library
from .environments import Environment
from .processes import Processes
from .results import Results, key


class Plan(NamedTuple):
    """How much is played."""

    games: tuple[tuple[str, int, int], ...]  # whose, rounds, seeds: in the order of their worth
    choices: tuple[int, ...]  # rounds: the longest that there is time for
    minutes: float
    late: int  # rounds, with feedback a tenth of them late
    long: int  # rounds
    patience: float  # seconds for a long run that will arrive
    whole: bool  # everything of every algorithm, each in a process of its own

    @property
    def lengths(self) -> dict[int, int]:
        """Rounds, and the most seeds for them."""
        return {
            rounds: max(n for _, r, n in self.games if r == rounds) for _, rounds, _ in sorted(self.games, key=lambda g: g[1])
        }


CHOSEN, DEFAULTS, BEST_DEFAULT = "chosen", "defaults", "best default"
GAMES = (
    (CHOSEN, 1_000, 5),
    (DEFAULTS, 1_000, 2),
    (CHOSEN, 10_000, 3),
    (DEFAULTS, 10_000, 1),
    (CHOSEN, 100_000, 2),
    (DEFAULTS, 1_000, 5),
    (DEFAULTS, 10_000, 3),
    (CHOSEN, 100_000, 3),
    (BEST_DEFAULT, 100_000, 3),
)
FULL = Plan(GAMES, (1_000, 3_000, 10_000), 28.0, 5_000, 10_000_000, 60.0, True)
QUICK = Plan(((CHOSEN, 1_000, 2), (DEFAULTS, 1_000, 2)), (300,), 2.0, 500, 20_000, 1.0, False)
SHARES = {"losses": 0.75, "speed": 0.08, "trouble": 0.05, "size": 0.02, "long": 0.1}  # of the minutes
OURS = 3.0  # hsb gets so many times the time for its games: what all others are held against must be there
CHOICE_SEED, FIRST_SEED = 900, 1_000
LEAST = 0.2  # seconds that any item gets, whatever the hour
GRACE = 60.0  # seconds over its time after which a process is stopped


class Entry(NamedTuple):
    """One algorithm, where it runs."""

    name: str  # the library's file
    library: Library
    algorithm: Algorithm
    environment: Environment

    @property
    def key(self) -> tuple[str, str]:
        """Library and algorithm."""
        return self.name, self.algorithm.name


class Item(NamedTuple):
    """One question about one algorithm: under which name the answer is wanted, and what the worker is told."""

    entry: Entry
    about: str
    told: dict[str, Any]


Job = list[Item]  # what one process answers: items of one library
Answers = dict[tuple[str, str], dict[str, Any]]  # by library and algorithm, then by what they are about
Told = Callable[[str, int, int], None]  # what is going on; done, in all


class Conductor:
    """Keeps time and results."""

    def __init__(self, plan: Plan, folder: Path, workers: int, told: Told) -> None:
        self.plan, self.folder, self.workers, self.told = plan, folder, workers, told
        self.results = Results(folder / "results")
        self._lock = threading.Lock()
        self._processes = Processes("peers.worker", folder / "logs")

    def run(self, items: list[Item], kind: str, *, alone: bool = False) -> Answers:
        """The answers to questions of one kind: those kept from before, and the others within the kind's share of the time."""
        workers = 1 if alone else self.workers
        seconds = 60.0 * self.plan.minutes * SHARES[kind]
        end = time.monotonic() + seconds
        found: Answers = {item.entry.key: {} for item in items}
        todo = []
        for item in items:
            kept = self.results.get(_key(item, kind))
            if kept is None:
                todo.append(item)
            else:
                found[item.entry.key][item.about] = kept
        left, waiting = len(todo), len(todo)
        self.told(kind, len(items) - left, len(items))

        def one(job: Job) -> None:
            nonlocal left, waiting
            with self._lock:
                if self._processes.stopped:
                    return
                share = max(LEAST, (end - time.monotonic()) * workers / (waiting + (workers - 1) * len(job)))
            if kind == "long":  # the same for all; those that will arrive have more
                share = max(LEAST, seconds * workers / len(items) / 2)
            if kind == "losses" and job[0].entry.name == "hsb":
                share *= OURS
            for item, result in self._answers(job, kind, share):
                if "ended" not in result:  # a process that died may do better the next time
                    self.results.put(_key(item, kind), [*item.entry.key, kind, item.about], result)
                found[item.entry.key][item.about] = result
                with self._lock:
                    left -= 1
                    self.told(kind, len(items) - left, len(items))
            with self._lock:
                waiting -= len(job)

        self._processes.each(one, self._jobs(todo), workers)
        return found

    def _jobs(self, items: list[Item]) -> list[Job]:
        """Items in processes: one an algorithm; where little is played, one a library, since starting takes longer than playing."""
        jobs: dict[Any, Job] = {}
        for item in items:
            jobs.setdefault(item.entry.key if self.plan.whole else item.entry.name, []).append(item)
        return list(jobs.values())

    def _answers(self, job: Job, kind: str, seconds: float) -> Iterator[tuple[Item, Any]]:
        """The process's answers as they come."""
        entry = job[0].entry
        told = [{"algorithm": item.entry.algorithm.name, **item.told} for item in job]
        ask = {"library": entry.name, "kind": kind, "seconds": seconds, "items": told}
        limit = sum(2 * seconds + 2 * item.told.get("patience", 0.0) for item in job) + GRACE
        log = f"{entry.name}-{kind}-{key(entry.name, kind, '', told)[:8]}"
        return zip(job, self._processes.answers(entry.environment.python, ask, log, limit), strict=True)


def _key(item: Item, kind: str) -> str:
    return key(item.entry.name, kind, item.entry.environment.version, [item.entry.algorithm.name, _named(item.told)])


def _named(told: Any) -> Any:
    """What is told without the paths of files: seeds and rounds say which they are."""
    if isinstance(told, dict):
        return {name: _named(value) for name, value in told.items() if name != "path"}
    return [_named(one) for one in told] if isinstance(told, list | tuple) else told


# -- the questions -------------------------------------------------------------------------------------------------------


def race(entries: list[Entry], plan: Plan, worlds: Path) -> list[Item]:
    """Losses. Quick algorithms first: what they leave of the time, the slow ones get."""
    told: list[dict[str, Any]] = []
    for name in problems.PROBLEMS:
        choice = [
            {"seed": CHOICE_SEED, "rounds": rounds, "path": str(problems.write(worlds, name, rounds, CHOICE_SEED))}
            for rounds in plan.choices
        ]
        games = [
            (
                whose,
                [
                    {"seed": seed, "rounds": rounds, "path": str(problems.write(worlds, name, rounds, seed))}
                    for seed in range(FIRST_SEED, FIRST_SEED + seeds)
                ],
            )
            for whose, rounds, seeds in plan.games
        ]
        told.append({"problem": name, "choice": choice, "games": games})
    order = sorted(entries, key=lambda e: (e.name != "hsb", "none" not in e.algorithm.encodings, e.algorithm.batch > 1))
    return [Item(entry, one["problem"], one) for entry in order for one in told]


def clock(entries: list[Entry], plan: Plan, raced: Answers, worlds: Path) -> list[Item]:
    """Speed: the default with every encoding, and what was chosen for VI-A."""
    path = str(problems.write(worlds, "VI-A", 10_000, CHOICE_SEED))
    items = []
    for entry in entries:
        defaults = [(encoding, entry.algorithm.default) for encoding in entry.algorithm.encodings]
        best = (raced[entry.key].get("VI-A") or {}).get("chosen")
        chosen = [(best["encoding"], best["settings"])] if best else []
        wanted = [*defaults, *chosen] if plan.whole or entry.name == "hsb" else chosen
        for number, (encoding, settings) in enumerate(wanted):
            if (encoding, settings) not in wanted[:number]:
                told = {"encoding": encoding, "settings": settings, "path": path}
                items.append(Item(entry, json.dumps([encoding, settings]), told))
    return items


def measures(entries: list[Entry], plan: Plan, worlds: Path, kind: str) -> list[Item]:
    """Trouble, size and long runs; of every algorithm, or of the first of each library."""
    path = str(problems.write(worlds, "VI-A", 10_000, CHOICE_SEED))
    told: dict[str, Any] = {"path": path, "rounds": plan.late}
    if kind == "long":
        told = {"rounds": plan.long, "patience": plan.patience}
    asked = [entry for entry in entries if plan.whole or entry.algorithm == entry.library.algorithms[0]]
    return [Item(entry, kind, told | ({"module": entry.library.module} if kind == "size" else {})) for entry in asked]
