"""How well HSB's default does: against its other settings and its rivals on nineteen problems, and against adversaries that see its advice.

    python benchmarks/default.py            a few minutes
    python benchmarks/default.py --quick    under a minute, far rougher: fewer seeds and rounds

Prints markdown tables and writes them to out/tuning.md. Everything is synthetic (`hsb.problems`) and, adversaries apart, runs through
`hsb.simulate`; each seed has contexts, a model and losses of its own. The seeds, from 73000 on,
were never used to choose anything, and must not be.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import hsb
from hsb.learners.priors import StructurePrior
from hsb.learners.structured import Structured
from hsb.problems import (
    Adversary,
    Articles,
    Changes,
    HiddenImprovement,
    LocalChange,
    Piecewise,
    Problem,
    RareClicks,
    RealLosses,
    Sample,
    SlowDrift,
    Smooth,
    SortedContexts,
    Stationary,
    SuddenChange,
    TwoFeatures,
)
from hsb.theory.anytime import anytime_schedule
from hsb.theory.schedule import Falling
from hsb.types import Floats

OUT = Path(__file__).resolve().parent.parent / "out" / "tuning.md"
FIRST_SEED = 73_000
HINDSIGHT_CELLS = 32  # of the best fixed mapping that an adversary's losses are held against


class Effort(NamedTuple):
    """How much to run: rounds, and at most so many seeds."""

    rounds: int
    seeds: int
    adversary_seeds: int


FULL = Effort(rounds=100_000, seeds=20, adversary_seeds=5)
QUICK = Effort(rounds=10_000, seeds=2, adversary_seeds=1)


class Case(NamedTuple):
    """A problem, the depth of the tree that the policies are given, and how many seeds."""

    name: str
    problem: Problem
    depth: int = 10
    seeds: int = 10


CASES = [
    Case("VI-A, depth 10", Stationary(), 10, 20),
    Case("VI-A, depth 20", Stationary(), 20, 20),
    Case("VI-B, depth 10", SuddenChange(), 10, 20),
    Case("VI-B, depth 20", SuddenChange(), 20, 20),
    Case("smooth, 2 arms", Smooth(arms=2)),
    Case("smooth, 10 arms", Smooth(arms=10)),
    Case("smooth, 50 arms", Smooth(arms=50), seeds=5),
    Case("piecewise, 3 arms", Piecewise(arms=3)),
    Case("piecewise, 10 arms", Piecewise(arms=10)),
    Case("piecewise, 50 arms", Piecewise(arms=50), seeds=5),
    Case("two features", TwoFeatures()),
    Case("not binary", RealLosses()),
    Case("losses near 1, 10 arms", RareClicks()),
    Case("clicks, 25 arms", Articles(), seeds=5),
    Case("contexts in order", SortedContexts()),
    Case("slow drift", SlowDrift()),
    Case("ten changes", Changes(count=10)),
    Case("local change", LocalChange()),
    Case("silent improvement", HiddenImprovement()),
]

Maker = Callable[[hsb.BinaryTree, int, int, int], hsb.Policy]
DEFAULT, BEST = "default", "best"
POLICIES: dict[str, Maker] = {  # (tree, arms, rounds, seed)
    DEFAULT: lambda tree, arms, rounds, seed: hsb.HSB(tree, arms=arms, seed=seed),
    "confident": lambda tree, arms, rounds, seed: hsb.HSB(tree, arms=arms, learning_rate="confident", seed=seed),
    "horizon": lambda tree, arms, rounds, seed: hsb.HSB(tree, arms=arms, horizon=rounds, seed=seed),
    "no drift": lambda tree, arms, rounds, seed: hsb.HSB(tree, arms=arms, drift=None, seed=seed),
    "drift 1e-5": lambda tree, arms, rounds, seed: hsb.HSB(tree, arms=arms, drift=1e-5, seed=seed),
    "S-EXP3": lambda tree, arms, rounds, seed: hsb.SExp3(tree, arms=arms, horizon=rounds, seed=seed),
    "Thompson": lambda tree, arms, rounds, seed: hsb.TreeThompson(tree, arms=arms, seed=seed),
    "forgetful": lambda tree, arms, rounds, seed: hsb.TreeThompson(tree, arms=arms, forgetting=0.999, seed=seed),
    "LinUCB": lambda tree, arms, rounds, seed: hsb.LinUCB(tree.space, arms=arms, seed=seed),
    "uniform": lambda tree, arms, rounds, seed: hsb.Uniform(arms=arms, seed=seed),
}
LEGEND = """\
default: `HSB(tree, arms=M)`; confident: `HSB(learning_rate="confident")`, a rate that follows what was seen; horizon: `HSB(horizon=T)`, the
paper's rate; no drift: `HSB(drift=None)`, a falling rate; drift 1e-5: `HSB(drift=1e-5)`; S-EXP3: `SExp3(tree, horizon=T)`; Thompson:
`TreeThompson`; forgetful: `TreeThompson(forgetting=0.999)`; LinUCB: on the context, with intercept; best: the arm of least expected loss in
each round, for which one must know the model."""

ADVERSARIES = {kind.replace("-", " "): Adversary(kind=kind) for kind in ("lure", "contradict", "contradict-but-one", "spite")}

Losses = dict[str, list[float]]  # by policy: the average loss of each seed


def main() -> None:
    """Run everything, print it and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and seeds, under a minute")
    effort = QUICK if parser.parse_args().quick else FULL
    begun = time.monotonic()
    results = {case.name: compare(case, effort) for case in CASES}
    fights = {name: fight(name, adversary, effort) for name, adversary in ADVERSARIES.items()}
    duels = duels_table(effort)
    say("")
    text = "\n\n".join(
        [
            f"{effort.rounds:,} rounds; seeds from {FIRST_SEED} on; hsb {hsb.__version__}; {time.monotonic() - begun:.0f} s.\n\n{LEGEND}",
            "Average loss ± its standard error over the seeds, in units of the fourth decimal:",
            losses_table(results),
            "What each lost more than the best, seed by seed, in units of 0.0001 a round, ± standard error. Bold: better than the default by\n"
            "more than two standard errors of the difference. worst: the default's worst seed.",
            excess_table(results),
            "Adversaries that see the advice, contexts of VI-A, depth 10: what each lost on the losses that were set for the default.",
            fights_table(fights),
            f"Adversaries that see the probabilities, {effort.rounds // 5:,} rounds, depth 10: regret to the best arm of each of eight cells.",
            duels,
        ]
    )
    print(text)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(text + "\n")


def say(what: str) -> None:
    """One line of progress."""
    end = "" if what and sys.stderr.isatty() else "\n"
    print(f"\r\x1b[K{what}" if sys.stderr.isatty() else what, end=end, file=sys.stderr, flush=True)


# -- rivals --------------------------------------------------------------------------------------------------------------


def compare(case: Case, effort: Effort) -> Losses:
    """Every policy on every seed of one problem."""
    losses: Losses = {name: [] for name in (*POLICIES, BEST)}
    seeds = min(case.seeds, effort.seeds)
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        say(f"{case.name}: seed {seed - FIRST_SEED + 1} of {seeds}")
        sample = case.problem.sample(effort.rounds, seed, new_model=True)
        arms, tree = case.problem.arms, case.problem.structure(case.depth)
        for name, make in POLICIES.items():
            run = hsb.simulate(make(tree, arms, effort.rounds, seed), sample.contexts, sample.losses)
            losses[name].append(run.average_loss)
        losses[BEST].append(best_of_each_round(sample))
    return losses


def best_of_each_round(sample: Sample) -> float:
    """The average loss of who knows the model: each round the arm of least expected loss."""
    return float(sample.losses[np.arange(len(sample.losses)), sample.expected.argmin(axis=1)].mean())


def losses_table(results: dict[str, Losses]) -> str:
    """A problem a row, a policy a column."""
    rows = []
    for name, losses in results.items():
        cells = [f"{np.mean(each):.4f} ± {1e4 * error(each):.0f}".removeprefix("0") for each in losses.values()]
        rows.append([name, str(len(losses[BEST])), *cells])
    return markdown(["", "seeds", *POLICIES, BEST], rows)


def excess_table(results: dict[str, Losses]) -> str:
    """The same, less the best, seed by seed."""
    rows = []
    for name, losses in results.items():
        best, default = np.array(losses[BEST]), np.array(losses[DEFAULT])
        cells = []
        for policy in POLICIES:
            excess, lead = np.array(losses[policy]) - best, default - losses[policy]
            cell = f"{1e4 * excess.mean():.0f} ± {1e4 * error(excess):.0f}"
            cells.append(f"**{cell}**" if lead.mean() > 2 * error(lead) > 0 else cell)
        rows.append([name, *cells, f"{1e4 * (default - best).max():.0f}"])
    return markdown(["", *POLICIES, "worst"], rows)


# -- adversaries ---------------------------------------------------------------------------------------------------------


class Fight(NamedTuple):
    """Average losses of one run, and the weight that the advisor had on average."""

    default: float
    advice: float
    hindsight: float
    alone: float
    horizon: float
    weight: float


def fight(name: str, adversary: Adversary, effort: Effort) -> list[Fight]:
    """The default against an adversary that knows its advice before each round, some seeds."""
    fights = []
    for seed in range(FIRST_SEED, FIRST_SEED + effort.adversary_seeds):
        say(f"adversary {name}: seed {seed - FIRST_SEED + 1} of {effort.adversary_seeds}")
        fights.append(fight_once(adversary, seed, effort.rounds))
    return fights


def fight_once(adversary: Adversary, seed: int, rounds: int) -> Fight:
    """Round by round; the losses are written down, and HSB without an advisor then plays on the same ones: at the same rates, and with
    its horizon known."""
    contexts, _, expected = Stationary().sample(rounds, seed)
    rng = np.random.default_rng([seed, 0xF0E])
    tree = hsb.BinaryTree(depth=10)
    policy = hsb.HSB(tree, arms=3, seed=seed)
    losses = np.empty((rounds, 3))
    suffered = advised = weight = 0.0
    for t in range(rounds):
        decision = policy.decide(contexts[t, 0])
        (advice,) = policy.learner.mixture.state.advice
        losses[t] = adversary.losses(rng, expected[t], advice)
        weight += policy.learner.mixture.state.head[1]
        suffered += losses[t, decision.arm]
        advised += losses[t, advice]
        policy.learn(decision, loss=losses[t, decision.arm])
    cell = (contexts[:, 0] * HINDSIGHT_CELLS).astype(np.int64)
    hindsight = sum(losses[cell == c].sum(axis=0).min() for c in range(HINDSIGHT_CELLS))
    horizon = hsb.simulate(hsb.HSB(tree, arms=3, horizon=rounds, seed=seed), contexts, losses).average_loss
    return Fight(
        suffered / rounds, advised / rounds, hindsight / rounds, alone(tree, contexts, losses, seed), horizon, weight / rounds
    )


class Alone(StructurePrior):
    """The default's mixture without its advisor: the same rates and sharing."""

    def schedule(self, arms: int, learning_rate: float | None) -> Falling:
        """As the default's, but for the head."""
        default = anytime_schedule(arms=arms, rate=learning_rate)
        return Falling(default.cost, arms=default.arms, first=default.first, shared=default.shared)


def alone(tree: hsb.BinaryTree, contexts: Floats, losses: Floats, seed: int) -> float:
    """What it loses on average."""
    arms = losses.shape[1]
    policy = hsb.HSB(tree, arms=arms, drift=None, seed=seed)
    prior = Alone.of(tree, arms, regions=None, drift=None, stop=None)
    policy.learner = Structured.fresh(prior, arms, horizon=None, learning_rate=None, implicit=False)
    return hsb.simulate(policy, contexts, losses).average_loss


def fights_table(fights: dict[str, list[Fight]]) -> str:
    """An adversary a row."""
    head = [
        "",
        "default",
        "the advice itself",
        f"best of {HINDSIGHT_CELLS} cells in hindsight",
        "without advisor",
        "horizon",
        "advisor's weight",
    ]
    rows = []
    for name, runs in fights.items():
        columns = np.array(runs).T
        cells = [f"{column.mean():.4f} ± {1e4 * error(column):.0f}".removeprefix("0") for column in columns[:-1]]
        rows.append([name, *cells, f"{columns[-1].mean():.3f}"])
    return markdown(head, rows)


DUELS = [(kind, arms) for kind in ("spite", "contrary", "lure", "probabilities") for arms in (2, 3, 10, 50)]


def duel(kind: str, arms: int, effort: Effort) -> list[str]:
    """Regrets to the best of eight cells of the default, with a known horizon, and of uniform play, against one that sees the probabilities."""
    rounds = effort.rounds // 5
    tree = hsb.BinaryTree(depth=10)
    cells = [f"{kind}, {arms} arms"]
    for name in (DEFAULT, "horizon", "uniform"):
        say(f"{kind}, {arms} arms: {name}")
        seeds = range(FIRST_SEED, FIRST_SEED + min(effort.adversary_seeds, 3))
        runs = [Adversary(kind=kind, arms=arms).play(POLICIES[name](tree, arms, rounds, seed), rounds, seed) for seed in seeds]
        regrets = [run.regret() for run in runs]
        cells.append(f"{np.mean(regrets):,.0f} ± {error(regrets):.0f}")
    bound = hsb.theory.anytime_mixture_bound(2 * math.log(arms) + 2.0, arms=arms, horizon=rounds)
    return [*cells, f"{bound:,.0f}"]


def duels_table(effort: Effort) -> str:
    """An adversary a row."""
    head = ["", "default", "horizon", "uniform", "the default's bound, for two halves"]
    return markdown(head, [duel(kind, arms, effort) for kind, arms in DUELS])


# -- tables --------------------------------------------------------------------------------------------------------------


def error(values: list[float] | np.ndarray) -> float:
    """The standard error of a mean; 0 of a single value."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


if __name__ == "__main__":
    main()
