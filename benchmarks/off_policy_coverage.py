"""How often the "95%" intervals of `hsb.evaluate.off_policy` hold, on logs whose answer is known, and how often it warns.

    python benchmarks/off_policy_coverage.py               some ten minutes on one core; --jobs 2 shares them
    python benchmarks/off_policy_coverage.py --quick       a minute, far rougher
    python benchmarks/off_policy_coverage.py --only hard   loggers whose name begins so

Prints markdown tables and writes them to out/coverage.md. Everything is synthetic (`off_policy_logs.py`). The seeds, from 400000 on, chose
no threshold, and must not.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from off_policy_logs import Case, cases

import hsb
from hsb.evaluate import off_policy
from hsb.evaluate.off_policy.accumulators import Reading
from hsb.evaluate.off_policy.bootstrap import draws, studentised
from hsb.evaluate.off_policy.estimators import ESTIMATORS
from hsb.evaluate.off_policy.reward_models import FOLDS, reward_model
from hsb.evaluate.parallel import Progress, ProgressCounter, spread
from hsb.logs import Batch

OUT = Path(__file__).resolve().parent.parent / "out" / "coverage.md"
FIRST_SEED = 400_000
SIZES, QUICK_SIZES = (500, 5000), (500,)
LOGS, QUICK_LOGS = 400, 40
PART = 20  # logs a task
BAR, ENOUGH = 93.0, 100  # percent; logs without a warning for a rate to be spoken of


class Outcome(NamedTuple):
    """One log: was there a warning; for each column, whether the interval held and how wide it was."""

    warned: bool
    held: list[bool]
    width: list[float]


COLUMNS = (*ESTIMATORS, "safe", "plain")  # plain: the bootstrap of dr, no questions asked
Results = dict[tuple[str, int], list[Outcome]]


def outcome(case: Case, rows: int, seed: int) -> Outcome:
    """Write a log, ask, and compare with the truth."""
    batch = case.write(rows, seed)
    found = off_policy(case.target, [batch])
    intervals = [*(found[name].interval for name in ESTIMATORS), found.safe, plain_bootstrap(case.target, batch)]
    held = [bool(low <= case.truth <= high) for low, high in intervals]
    return Outcome(bool(found.warnings), held, [high - low for low, high in intervals])


def plain_bootstrap(policy: hsb.Policy, batch: Batch) -> tuple[float, float]:
    """The control: what dr's interval would be without a look at the weights."""
    model = reward_model(None)
    model.add(batch.contexts, batch.contexts, batch.arm, batch.reward, np.arange(len(batch)) % FOLDS)
    model.finish()
    reading = Reading(policy, model, None)
    reading.add(batch, batch.contexts)
    groups, dr = reading.tally.used, reading.columns.index("dr")
    [low], [high] = studentised(groups[:, :1], groups[:, dr : dr + 1], draws(len(groups), 0))
    return max(float(low), 0.0), min(float(high), 1.0)


def some(name: str, rows: int, first: int, count: int) -> tuple[str, int, list[Outcome]]:
    """A few logs of one case: what a process is given."""
    return name, rows, [outcome(cases()[name], rows, seed) for seed in range(first, first + count)]


def measure(names: Sequence[str], sizes: Sequence[int], logs: int, jobs: int, progress: Progress | None = None) -> Results:
    """Every case at every size."""
    tasks = [(name, n, FIRST_SEED + k, min(PART, logs - k)) for n in sizes for name in names for k in range(0, logs, PART)]
    done: Results = {(name, n): [] for n in sizes for name in names}
    counter = ProgressCounter(progress, logs * len(done))
    for name, rows, outcomes in (some(*task) for task in tasks) if jobs == 1 else spread(jobs, some, tasks):
        done[name, rows] += outcomes
        counter(len(outcomes))
    return done


# -- tables --------------------------------------------------------------------------------------------------------------


def percent(outcomes: Sequence[Outcome], column: str) -> str:
    """How often an interval held."""
    held = [each.held[COLUMNS.index(column)] for each in outcomes]
    return f"{100 * np.mean(held):.1f}" if held else "-"


def width(outcomes: Sequence[Outcome], column: str) -> str:
    """How wide it was on average."""
    return f"{np.mean([each.width[COLUMNS.index(column)] for each in outcomes]):.3f}" if outcomes else "-"


def trusted_table(results: Results, rows: int) -> str:
    """A case a row: how often it warns, and how often intervals held where it did not."""
    table = []
    for (name, n), outcomes in results.items():
        if n == rows:
            quiet = [each for each in outcomes if not each.warned]
            warned = f"{100 * (1 - len(quiet) / len(outcomes)):.0f}"
            table.append(
                [name, percent(outcomes, "plain"), warned, str(len(quiet)), *(percent(quiet, each) for each in ESTIMATORS)]
            )
    return markdown([f"{rows:,} events", "dr, plain", "warned %", "not warned", *ESTIMATORS], table)


def warned_table(results: Results, rows: int) -> str:
    """The same where it warns, and widths of all logs."""
    table = []
    for (name, n), outcomes in results.items():
        if n == rows:
            warned = [each for each in outcomes if each.warned]
            held = [percent(warned, each) for each in ESTIMATORS]
            table.append(
                [name, *held, percent(outcomes, "safe"), *(width(outcomes, each) for each in ("plain", "dr", "switch", "safe"))]
            )
    widths = ["plain dr, wide", "dr, wide", "switch, wide", "safe, wide"]
    return markdown([f"{rows:,} events, warned", *ESTIMATORS, "safe, all logs", *widths], table)


def verdict(results: Results) -> str:
    """The worst that is not warned of."""
    rates = []
    for (name, rows), outcomes in results.items():
        quiet = [each for each in outcomes if not each.warned]
        if len(quiet) >= ENOUGH:
            rates += [(100 * np.mean([each.held[i] for each in quiet]), each, name, rows) for i, each in enumerate(ESTIMATORS)]
    if not rates:
        return "Nowhere enough logs without a warning to speak of."
    lowest = sorted(rates)[:3]
    quoted = "; ".join(f"{rate:.1f}% ({estimator}, {name}, {rows:,} events)" for rate, estimator, name, rows in lowest)
    below = sum(rate < BAR for rate, *_ in rates)
    return f"Without a warning, {len(rates)} rates of {ENOUGH} logs or more, {below} of them below {BAR:g}%. Lowest: {quoted}."


def main() -> None:
    """Run everything, print it and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer logs, short ones only")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--logs", type=int, help="logs of each kind")
    parser.add_argument("--only", default="", help="loggers whose name begins so")
    given = parser.parse_args()
    sizes, logs = (QUICK_SIZES, QUICK_LOGS) if given.quick else (SIZES, LOGS)
    begun = time.monotonic()
    names = [name for name, case in cases().items() if case.logger.startswith(given.only)]
    results = measure(names, sizes, given.logs or logs, given.jobs, say)
    print(file=sys.stderr)
    tables = [table(results, rows) for table in (trusted_table, warned_table) for rows in sizes]
    head = f"{given.logs or logs} logs of each kind; seeds from {FIRST_SEED} on; hsb {hsb.__version__}; {time.monotonic() - begun:.0f} s."
    text = "\n\n".join([head, verdict(results), *tables])
    print(text)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(text + "\n")


def say(done: int, total: int) -> None:
    """One line of progress."""
    if sys.stderr.isatty() or done % (10 * PART) == 0:
        filled = 40 * done // total
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done:,} of {total:,} logs", end="", file=sys.stderr, flush=True)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


if __name__ == "__main__":
    main()
