"""The bars: each function measures one thing and returns one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import fresh
from candidates import candidate_rows
from features import feature_rows
from logs import log_rows
from report import Row
from rivals import rivals
from tables import table_rows
from timing import DATA, generator, least, noise, policy, rate, simulate_ns, step_ns, warm_simulate_ns
from yardstick import Yardstick, check, compiler

import hsb
from hsb.problems import Noise, Problem, Sample, Stationary

SEED = 1
WORLDS: dict[str, Problem] = {  # once VI-A is learned, about one round in five has a loss, and only those teach
    "VI-A losses": Stationary(),
    "a loss every round": Noise(),
}


class Effort(NamedTuple):
    """How much to run."""

    rounds: int  # of the fast structures
    lexicographic: int  # rounds at 64 leaves
    steps: int  # decide + learn from Python
    deep: int  # rounds at depth 52
    repeats: int
    visits: tuple[int, ...]  # of a synthetic log of Yahoo's kind
    candidates: int  # rows of the log that candidates are compared on


FULL = Effort(
    rounds=1_000_000,
    lexicographic=10_000,
    steps=5_000,
    deep=1_000_000,
    repeats=9,
    visits=(100_000, 10_000_000),
    candidates=1_000_000,
)
QUICK = Effort(
    rounds=200_000, lexicographic=3_000, steps=5_000, deep=200_000, repeats=3, visits=(100_000, 500_000), candidates=200_000
)


def measures(effort: Effort) -> Iterator[tuple[str, Callable[[], Row]]]:
    """What there is to measure, by name."""
    for name, world in WORLDS.items():
        for kind, bars in (("plain", (1.3, 1.5)), ("tuned", (None, None))):
            yield f"tree against {kind} C, {name}", partial(tree, effort, name, world, kind, bars[0])
            yield f"lexicographic against {kind} C, {name}", partial(lexicographic, effort, name, world, kind, bars[1])
    yield "decide + learn", partial(step, effort, "a constant rate", 5.0)
    yield "decide + learn, the default", partial(step, effort, "the default", 8.0)
    for name, world in WORLDS.items():
        yield f"depth 52, {name}", partial(deep, effort, name, world)
    yield "memory at depth 52", partial(memory, effort)
    for arms in (5, 8, 16):
        yield f"{arms} arms, simulate", partial(some_arms, effort, arms)
    yield "4096 arms, simulate", partial(many_arms_table, effort)
    yield "4096 arms, decide + learn", partial(many_arms_step, effort)
    yield "position splits, 6 bits", partial(positions, effort, 6, 5.0)
    yield "position splits, 10 bits", partial(positions, effort, 10, 120.0)
    yield from rivals(effort.rounds, effort.repeats)
    yield from feature_rows(effort.steps * 4, effort.steps // 5, effort.repeats)
    yield from log_rows(effort.visits)
    yield from table_rows(tuple(visits // 10 for visits in effort.visits))
    yield from candidate_rows(effort.candidates)
    yield "import", partial(importing, effort)
    yield "first decision", partial(first_decision, effort)
    for name, depth, bar in (("a tree", 10, 8.0), ("a deep tree", 52, None)):
        yield f"first use, the default on {name}", partial(first_use, name, depth, bar)


def tree(effort: Effort, name: str, world: Problem, kind: str, bar: float | None) -> Row:
    """`simulate` on a binary tree of depth 10 with three arms."""
    what = f"simulate: tree, depth 10, {name}"
    return _against_c("tree", kind, hsb.BinaryTree(depth=10), 10, world.sample(effort.rounds, DATA), what, bar, effort)


def lexicographic(effort: Effort, name: str, world: Problem, kind: str, bar: float | None) -> Row:
    """`simulate` on the lexicographic graph with 64 leaves and three arms."""
    what = f"simulate: lexicographic, 64 leaves, {name}"
    graph = hsb.Lexicographic(leaves=64)
    return _against_c("lexicographic", kind, graph, 64, world.sample(effort.lexicographic, DATA), what, bar, effort)


def _against_c(
    program: str, kind: str, structure: hsb.Structure, size: int, world: Sample, what: str, bar: float | None, effort: Effort
) -> Row:
    """Plain C is the formulas as they stand; tuned C is what is gained by hand, without -ffast-math: it has no bar."""
    program += "" if kind == "plain" else "_tuned"
    if compiler() is None:
        return Row(what, None, "ns/round", bar, None, f"{kind} C", note="gcc is not installed")
    rounds, arms = world.losses.shape
    eta = rate(structure, arms, rounds)
    with Yardstick(program, world, size, eta, generator(SEED).random(rounds)) as yardstick:

        def new() -> hsb.HSB:
            return policy(structure, arms, eta, SEED)

        ours, theirs = least(lambda: simulate_ns(new, world), yardstick.ns, repeats=effort.repeats)
        note = check(hsb.simulate(new(), world.contexts, world.losses), yardstick, world)
    return Row(what, ours, "ns/round", bar, theirs, f"{kind} C", note)


def step(effort: Effort, name: str, bar: float) -> Row:
    """One round from Python."""
    structure = hsb.BinaryTree(depth=10)
    world = noise(effort.steps)
    player = hsb.HSB(structure, arms=3, seed=1)
    if name != "the default":
        player = policy(structure, 3, rate(structure, 3, FULL.rounds))
    contexts, losses = world.contexts[:, 0].tolist(), world.losses[:, 0].tolist()
    (ns,) = least(lambda: step_ns(player, contexts, losses), repeats=4 * effort.repeats)
    what = f"decide + learn: {name}, tree, depth 10"
    return Row(what, ns / 1000, "us", bar, note=f"mean of {effort.steps} rounds, a loss in each")


def deep(effort: Effort, name: str, world: Problem) -> Row:
    """`simulate` on distinct contexts at depth 52: each round that teaches makes a leaf."""
    structure = hsb.BinaryTree(depth=52)
    sample = world.sample(effort.deep, DATA)
    eta = rate(structure, 3, effort.deep)
    (ns,) = least(lambda: simulate_ns(lambda: policy(structure, 3, eta), sample), repeats=effort.repeats // 2 + 1)
    note = f"{effort.deep} distinct contexts, from an empty tree"
    return Row(f"simulate: tree, depth 52, {name}", ns / 1000, "us/round", 2.5, note=note)


def memory(effort: Effort) -> Row:
    """Resident memory at depth 52."""
    found = fresh.memory(effort.deep)
    note = f"{found['distinct']:.0f} distinct contexts, a loss every round; policy.nbytes is {found['nbytes']:.0f} B"
    if found["resident"]:
        note = (
            f"growth of resident memory in a fresh process; {note}; at the peak, with tables being moved, {found['peak']:.0f} B"
        )
    what = "memory: tree, depth 52, 3 arms"
    return Row(what, found["resident"] or found["nbytes"], "B/context", 250.0, note=note)


FEW, MANY = 4, 4096


def some_arms(effort: Effort, arms: int) -> Row:
    """`simulate` at depth 10, every node visited before, with more arms than fit into registers: against 4."""
    few, some = _visited(FEW, effort.rounds // 5), _visited(arms, effort.rounds // 5)
    some_ns, few_ns = least(lambda: warm_simulate_ns(*some), lambda: warm_simulate_ns(*few), repeats=effort.repeats)
    note = f"rate for 10^6 rounds, a loss every round, all nodes visited before; {some_ns / few_ns:.2f} times 4 arms, at most 2"
    return Row(f"simulate: tree, depth 10, {arms} arms", some_ns, "ns/round", 2.0, few_ns, f"{FEW} arms", note)


def many_arms_table(effort: Effort) -> Row:
    """`simulate` at depth 10, every node visited before: 4096 arms against 4. It reads a table of T x M losses and checks each."""
    few, many = _visited(FEW, effort.rounds // 5), _visited(MANY, 4_000)
    many_ns, few_ns = least(lambda: warm_simulate_ns(*many), lambda: warm_simulate_ns(*few), repeats=effort.repeats)
    note = "rate for 10^6 rounds, a loss every round, all nodes visited before; checking the T x M table included"
    return Row(f"simulate: tree, depth 10, {MANY} arms", many_ns / 1000, "us/round", 5.0, few_ns / 1000, f"{FEW} arms", note)


def many_arms_step(effort: Effort) -> Row:
    """`decide` + `learn` at depth 10, every node visited before: 4096 arms against 4."""
    runs = []
    for arms in (MANY, FEW):
        player, world = _visited(arms, 4_000)
        runs.append(partial(step_ns, player, world.contexts[:, 0].tolist(), world.losses[:, 0].tolist()))
    many_ns, few_ns = least(*runs, repeats=effort.repeats)
    note = "rate for 10^6 rounds, a loss every round, all nodes visited before"
    return Row(f"decide + learn: tree, depth 10, {MANY} arms", many_ns / 1000, "us", 5.0, few_ns / 1000, f"{FEW} arms", note)


def _visited(arms: int, rounds: int) -> tuple[hsb.HSB, Sample]:
    structure = hsb.BinaryTree(depth=10)
    world = noise(rounds, arms=arms)
    player = policy(structure, arms, rate(structure, arms, FULL.rounds))
    hsb.simulate(player, world.contexts, world.losses)
    return player, world


def positions(effort: Effort, bits: int, bar: float) -> Row:
    """`simulate` on position splits over binary features with six arms."""
    structure = hsb.PositionSplits(bits=[1] * bits)
    world = noise(effort.rounds >> (bits // 2 + 1), arms=6, features=bits)
    eta = rate(structure, 6, FULL.rounds)
    (ns,) = least(lambda: simulate_ns(lambda: policy(structure, 6, eta), world), repeats=effort.repeats)
    return Row(f"simulate: position splits, {bits} bits, 6 arms", ns / 1000, "us/round", bar, note="a loss every round")


def importing(effort: Effort) -> Row:
    """`import hsb` in a fresh process."""
    seconds, numpy = least(
        lambda: fresh.seconds_to_import("hsb"), lambda: fresh.seconds_to_import("numpy"), repeats=2 * effort.repeats
    )
    numba = "Numba is loaded too" if fresh.import_loads_numba() else "Numba is not loaded"
    return Row("import hsb", seconds, "s", 0.3, note=f"numpy alone {numpy:.3f} s; {numba}")


def first_decision(effort: Effort) -> Row:
    """From starting a process to its first decision, compiled code in the cache."""
    fresh.seconds_to_first_decision()  # fills the cache
    (seconds,) = least(fresh.seconds_to_first_decision, repeats=effort.repeats)
    return Row("first decision in a fresh process", seconds, "s", 1.5, note="from starting the interpreter; cache warm")


def first_use(name: str, depth: int, bar: float | None) -> Row:
    """From starting a process to its first round learned, nothing compiled before."""
    seconds = fresh.first_use(depth)
    note = f"from starting the interpreter, cache empty; its `simulate` {seconds['simulate']:.1f} s more, at most 3"
    return Row(f"first use: the default on {name}", seconds["learned"], "s", bar, note=note)
