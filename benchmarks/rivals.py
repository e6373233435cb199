"""Every policy's `simulate` on one world, each against the paper's HSB on the same tree in the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from report import Row
from timing import DATA, least, simulate_ns

import hsb
from hsb.problems import Stationary

TREE = hsb.BinaryTree(depth=10)
ARMS = 3

# name: how it is made for so many rounds, rounds as a share of the effort, bar in ns a round
RIVALS: dict[str, tuple[Callable[[int], hsb.Policy], float, float | None]] = {
    "EXP3": (lambda n: hsb.Exp3(arms=ARMS, horizon=n, seed=1), 1.0, 60.0),
    "S-EXP3, 1024 cells": (lambda n: hsb.SExp3(TREE, arms=ARMS, horizon=n, seed=1), 1.0, 60.0),
    "HSB default": (lambda n: hsb.HSB(TREE, arms=ARMS, seed=1), 0.5, None),
    "HSB, drift 1e-5": (lambda n: hsb.HSB(TREE, arms=ARMS, horizon=n, drift=1e-5, seed=1), 1.0, None),
    "TreeThompson": (lambda n: hsb.TreeThompson(TREE, arms=ARMS, seed=1), 0.5, 1000.0),
    "LinUCB, 1 feature": (lambda n: hsb.LinUCB(1, arms=ARMS, seed=1), 0.5, None),
    "CSB-FTPL": (lambda n: hsb.CsbFtpl(TREE, arms=ARMS, horizon=n, seed=1), 0.2, None),
    "Epoch-Greedy": (lambda n: hsb.EpochGreedy(TREE, arms=ARMS, seed=1), 0.2, None),
    "EXP4, mappings of 2 regions in 32 cells": (lambda n: _listed(n), 0.02, None),
    "uniform play": (lambda n: hsb.Uniform(arms=ARMS, seed=1), 1.0, None),
}


def _listed(n: int) -> hsb.Policy:
    experts = hsb.mappings(hsb.BinaryTree(depth=5), arms=ARMS, regions=2)
    return hsb.Exp4(experts, arms=ARMS, horizon=n, seed=1)


def rivals(rounds: int, repeats: int) -> Iterator[tuple[str, Callable[[], Row]]]:
    """One row for each."""
    for name, (make, share, bar) in RIVALS.items():
        yield f"simulate: {name}", partial(_row, name, make, max(1000, int(rounds * share)), bar, repeats)


def _row(name: str, make: Callable[[int], hsb.Policy], rounds: int, bar: float | None, repeats: int) -> Row:
    world = Stationary().sample(rounds, DATA)

    def paper() -> hsb.Policy:
        return hsb.HSB(TREE, arms=ARMS, horizon=rounds, seed=1)

    hsb.simulate(make(rounds), world.contexts[:100], world.losses[:100])  # compile
    ours, theirs = least(
        lambda: simulate_ns(lambda: make(rounds), world), lambda: simulate_ns(paper, world), repeats=repeats // 2 + 1
    )
    note = f"{rounds} rounds of VI-A; the paper's HSB takes {theirs:.0f} ns, {ours / theirs:.2f} times as much here"
    return Row(f"simulate: {name}", ours, "ns/round", bar, note=note)
