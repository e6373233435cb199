"""Comparing several policies on one problem."""

import pickle
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...checks import whole
from ...errors import InputError, quoted
from ...problems import Problem
from ...structures import Structure
from ...types import Floats, Ints
from ..parallel import Progress, ProgressCounter, spread
from .comparison import Comparison, join_runs
from .run import PolicySpec, enter, loss_range, marked_rounds, play_run

WORTH = 6.0  # seconds of work that justify starting processes, which takes some seconds each
TASK = 0.2  # the least seconds of work in a task


def compare(
    policies: Mapping[str, PolicySpec],
    problem: Problem,
    *,
    rounds: int = 100_000,
    runs: int = 10,
    presentations: int = 1,
    jobs: int = 1,
    seed: int = 0,
    marks: Iterable[int] = (),
    progress: Progress | None = None,
) -> Comparison:
    """Let every policy play the same `runs` data sets of a problem, of `rounds` rounds each. Returns a `Comparison`.

    - `policies`: by name, a function that makes a policy from a seed; or a policy, of which each presentation plays a copy with new random
      numbers.
    - `problem`: one of `hsb.problems`.
    - `presentations`: how often each policy plays each data set, each time with new random numbers.
    - `jobs`: the number of processes that share the runs; -1: one for each core. More than one needs joblib. The result does not depend on it.
    - `seed`: the seed of data sets and policies.
    - `marks`: rounds at which to keep averages, in addition to some 200 that are always kept.
    - `progress`: a function, called as `progress(done, total)` with numbers of rounds over all runs and policies.

    >>> import hsb
    >>> from hsb.problems import Stationary
    >>> tree = hsb.BinaryTree(depth=3)
    >>> policy_specs = {"HSB": lambda seed: hsb.HSB(tree, arms=3, horizon=2000, seed=seed), "uniform": hsb.Uniform(arms=3)}
    >>> compared = compare(policy_specs, Stationary(), rounds=2000, runs=3)
    >>> compared.difference("uniform", "HSB").low > 0.1
    True
    """
    rounds, runs, presentations = whole("rounds", rounds, 1), whole("runs", runs, 1), whole("presentations", presentations, 1)
    if not (isinstance(jobs, int) and jobs == -1):
        whole("jobs (-1 for all cores)", jobs, 1)
    seed = whole("seed", seed, 0)
    if not isinstance(problem, Problem):
        raise InputError(f"compare needs a problem, e.g. hsb.problems.Stationary(); given {quoted(problem)}.")
    if not isinstance(policies, Mapping) or not policies:
        example = "{'HSB': hsb.HSB(tree, arms=3)}"
        raise InputError(f"policies must map names to policies, at least one: {example}; given {quoted(policies)}.")
    for name, policy_spec in policies.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"A policy's name must be text; given {quoted(name)}.")
        if not callable(policy_spec) and not hasattr(policy_spec, "decide"):
            raise InputError(
                f"{quoted(name)} must be a policy or a function that makes one from a seed; given {quoted(policy_spec)}."
            )
        problem.check(enter(policy_spec, 0))
    points = marked_rounds(rounds, marks)
    settings: dict[str, Any] = {"rounds": rounds, "presentations": presentations, "seed": seed, "marks": points}
    in_a_run = rounds * presentations * len(policies)
    counter = ProgressCounter(progress, runs * in_a_run)
    play = partial(_play, dict(policies), problem, settings)
    if jobs == 1:
        played = [play_run(policies, problem, run=run, progress=counter, **settings) for run in range(runs)]
    else:
        played = _in_parallel(play, runs, jobs, partial(counter, in_a_run))
    about: dict[str, Any] = {"title": problem.title, "synthetic": problem.synthetic, "bounds": _bounds(policies, points)}
    about["loss_range"] = loss_range(policies)
    if problem.synthetic and not problem.reacts:
        about |= {"best": problem.best_loss(rounds), "best_so_far": problem.best_losses(points, rounds)}
    return join_runs(played, points, **about)


def _bounds(policies: Mapping[str, PolicySpec], marks: Ints) -> dict[str, Floats]:
    """Return proved bounds of the policies that have a structure, against its mappings. Bounds against other comparators are left out."""
    made_policies = {name: enter(policy_spec, 0) for name, policy_spec in policies.items()}
    return {
        name: np.array([policy.regret_bound(int(mark)) for mark in marks])
        for name, policy in made_policies.items()
        if isinstance(getattr(policy, "structure", None), Structure)
    }


def _play(policies: dict[str, PolicySpec], problem: Problem, settings: dict[str, Any], run: int) -> dict[str, Floats]:
    return play_run(policies, problem, run=run, **settings)


def _in_parallel(play: Callable[[int], Any], runs: int, jobs: int, report: Callable[[], None]) -> list[Any]:
    """Play all runs and return them in order. Starts processes only if the remaining runs take longer than starting them."""
    if find_spec("joblib") is None:
        raise InputError(f"jobs={jobs} needs joblib: pip install 'hsb[cli]'. Or use jobs=1.")
    _check_sendable(play, jobs)
    played: list[Any] = []
    while len(played) < runs:
        begin = time.process_time()
        played.append(play(len(played)))
        report()
        seconds = time.process_time() - begin
        if len(played) > 1 and seconds * (runs - len(played)) > WORTH:  # the first run may have compiled
            break
    rest = range(len(played), runs)
    played += [None] * len(rest)
    size = max(1, min(int(TASK / max(seconds, 1e-9)), len(rest) // 16))
    tasks = [(play, rest[first : first + size]) for first in range(0, len(rest), size)]
    for rows, results in spread(jobs, _play_some, tasks) if tasks else ():
        for run, losses in zip(rows, results, strict=True):
            played[run] = losses
            report()
    return played


def _play_some(play: Callable[[int], Any], rows: range) -> tuple[range, list[Any]]:
    return rows, [play(run) for run in rows]


def _check_sendable(play: Callable[[int], Any], jobs: int) -> None:
    """Raise `InputError` if policies or the problem cannot be sent to other processes."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        dumps(play)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        reason = f"jobs={jobs} sends policies and problem to other processes, but they cannot be pickled ({error})"
        raise InputError(f"{reason}. Give functions that make the policies, lambda seed: ..., or use jobs=1.") from error
