"""HSB without a structure: its time beside hsb.LinUCB on the same columns in the same run, and its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from report import Row
from timing import least, noise, simulate_ns, step_ns

import hsb

ARMS = 3
COLUMNS = {10: 25.0, 60: 60.0}  # and the bar for a round from Python, in us; a round of a whole table has half of it


def feature_rows(rounds: int, steps: int, repeats: int) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row for each number of columns: whole tables, one round at a time from rows and from dicts, and memory."""
    for columns in COLUMNS:
        yield f"no structure, {columns} columns, simulate", partial(_table, columns, rounds, repeats)
        for kind in ("rows", "dicts"):
            yield f"no structure, {columns} columns, decide + learn, {kind}", partial(_step, columns, kind, steps, repeats)
        yield f"no structure, {columns} columns, memory", partial(_memory, columns, rounds)


def _ours() -> hsb.HSB:
    return hsb.HSB(arms=ARMS, seed=1)


def _table(columns: int, rounds: int, repeats: int) -> Row:
    """`simulate`, a loss in every round."""
    world = noise(rounds, arms=ARMS, features=columns)
    hsb.simulate(_ours(), world.contexts[:100], world.losses[:100])  # compile

    def linear() -> Any:
        return hsb.LinUCB(columns, arms=ARMS, seed=1)

    ours, theirs = least(lambda: simulate_ns(_ours, world), lambda: simulate_ns(linear, world), repeats=repeats // 2 + 1)
    note = f"{rounds} rounds from nothing, a loss in each; LinUCB on the same columns"
    what = f"simulate: no structure, {columns} columns, {ARMS} arms"
    return Row(what, ours / 1000, "us/round", COLUMNS[columns] / 2, theirs / 1000, "LinUCB", note)


def _step(columns: int, kind: str, steps: int, repeats: int) -> Row:
    """One round from Python; LinUCB is given the same rows as arrays."""
    world = noise(steps, arms=ARMS, features=columns)
    rows, losses = list(world.contexts), world.losses[:, 0].tolist()
    named: list[Any] = [dict(zip((f"x{j}" for j in range(columns)), row.tolist(), strict=True)) for row in rows]
    ours, theirs = _ours(), hsb.LinUCB(columns, arms=ARMS, seed=1)
    given: Any = named if kind == "dicts" else rows
    runs = [partial(step_ns, player, each, losses) for player, each in ((ours, given), (theirs, rows))]  # type: ignore[arg-type]
    our_ns, their_ns = least(*runs, repeats=repeats)
    note = f"mean of {steps} rounds, a loss in each; LinUCB on the same columns, as arrays"
    what = f"decide + learn: no structure, {columns} columns, {kind}, {ARMS} arms"
    return Row(what, our_ns / 1000, "us", COLUMNS[columns], their_ns / 1000, "LinUCB", note)


def _memory(columns: int, rounds: int) -> Row:
    """`nbytes` and what the reader of features has, after some rounds."""
    world, policy = noise(rounds, arms=ARMS, features=columns), _ours()
    hsb.simulate(policy, world.contexts, world.losses)
    reader = policy.learner.reader.nbytes  # type: ignore[union-attr]
    note = f"policy.nbytes after {rounds} rounds; its reader of features {reader / 1000:.0f} kB more"
    return Row(f"memory: no structure, {columns} columns, {ARMS} arms", policy.nbytes / 1000, "kB", None, note=note)
