"""Several policies on one problem, in one call."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..arguments import whole
from ..errors import InputError
from ..problems import Problem
from .comparison import Comparison, joined
from .play import Entrant, enter, marked_rounds, play_run


def compare(
    policies: Mapping[str, Entrant],
    problem: Problem,
    *,
    rounds: int = 100_000,
    runs: int = 10,
    presentations: int = 1,
    jobs: int = 1,
    seed: int = 0,
    marks: Iterable[int] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Let every policy play the same `runs` data sets of the problem, each presented to it `presentations` times.

    `policies` maps a name to a function that makes a policy from a seed, or to a policy, which is copied for each presentation and given
    random numbers of its own. `jobs` processes share the runs (-1: all cores; needs joblib); the result is the same for any number.
    Averages are kept at some 240 rounds, and at those in `marks`. `progress(done, total)` counts rounds.

    >>> import hsb
    >>> from hsb.problems import Stationary
    >>> tree = hsb.BinaryTree(depth=3)
    >>> entrants = {"HSB": lambda seed: hsb.HSB(tree, arms=3, horizon=2000, seed=seed), "uniform": hsb.Uniform(arms=3)}
    >>> found = compare(entrants, Stationary(), rounds=2000, runs=3)
    >>> found.difference("uniform", "HSB").low > 0.1
    True
    """
    rounds, runs, presentations = (
        whole(name, value, 1) for name, value in (("rounds", rounds), ("runs", runs), ("presentations", presentations))
    )
    if jobs != -1:
        whole("jobs (-1 for all cores)", jobs, 1)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0; given {seed!r}.")
    if not isinstance(problem, Problem):
        raise InputError(f"compare needs a problem, e.g. hsb.problems.Stationary(); given {problem!r}.")
    if not isinstance(policies, Mapping) or not policies:
        raise InputError(
            f"policies must map names to policies, at least one: {{'HSB': hsb.HSB(tree, arms=3)}}; given {policies!r}."
        )
    for name, entrant in policies.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"A policy's name must be text; given {name!r}.")
        if not callable(entrant) and not hasattr(entrant, "decide"):
            raise InputError(f"{name!r} must be a policy or a function that makes one from a seed; given {entrant!r}.")
        problem.check(enter(entrant, 0))
    points = marked_rounds(rounds, marks)
    settings: dict[str, Any] = {"rounds": rounds, "presentations": presentations, "seed": seed, "marks": points}
    total = rounds * presentations * len(policies)
    if jobs == 1:
        found = []
        for run in range(runs):
            tell = None if progress is None else _Teller(progress, run * total, runs * total)
            found.append(play_run(policies, problem, run=run, progress=tell, **settings))
    else:
        found = _in_parallel(dict(policies), problem, runs, jobs, settings, progress, total)
    best = None if problem.reacts else problem.best_loss(rounds)
    return joined(found, points, title=repr(problem), synthetic=problem.synthetic, best=best)


class _Teller:
    """Adds up what was done."""

    def __init__(self, progress: Callable[[int, int], None], done: int, total: int) -> None:
        self.progress, self.done, self.total = progress, done, total

    def __call__(self, more: int) -> None:
        self.done += more
        self.progress(self.done, self.total)


def _in_parallel(
    policies: dict[str, Entrant],
    problem: Problem,
    runs: int,
    jobs: int,
    settings: dict[str, Any],
    progress: Callable[[int, int], None] | None,
    total: int,
) -> list[Any]:
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise InputError(f"jobs={jobs} needs joblib: pip install 'hsb[cli]'. Or use jobs=1.") from error
    calls = (delayed(play_run)(policies, problem, run=run, **settings) for run in range(runs))
    found: list[Any] = []
    try:
        if progress is None:
            return list(Parallel(n_jobs=jobs)(calls))
        for result in Parallel(n_jobs=jobs, return_as="generator")(calls):
            found.append(result)
            progress(len(found) * total, runs * total)
    except pickle.PicklingError as error:
        raise InputError(
            f"jobs={jobs} sends policies and problem to other processes, but they cannot be pickled ({error}). Let a function make "
            "what cannot be sent, as lambda seed: ..., or use jobs=1."
        ) from error
    return found
