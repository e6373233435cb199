"""One run: a data set, which every policy plays in each presentation."""

import zlib
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from ...errors import InputError, quoted
from ...play import simulate
from ...policy import Policy
from ...problems import Problem
from ...types import Bounds, Floats, Ints

PolicySpec = Callable[[int], Policy] | Policy
"""A function that makes a policy from a seed; or a policy, which is copied with new random numbers."""

POINTS = 120  # evenly spaced points of a curve; as many again are spaced by ratio


def marked_rounds(rounds: int, also: Iterable[int] = ()) -> Ints:
    """Return the rounds at which average losses are kept: some evenly spaced, some by ratio, the last, and those in `also`.

    >>> marked_rounds(5, also=[2])
    array([1, 2, 3, 4, 5])
    """
    even = np.linspace(1, rounds, min(rounds, POINTS))
    ratio = np.geomspace(1, rounds, min(rounds, POINTS))
    marks = np.unique(np.concatenate([np.rint(even), np.rint(ratio), list(also)]).astype(np.int64))
    if marks[0] < 1 or marks[-1] > rounds:
        raise InputError(f"marks must be rounds from 1 to {rounds}; given {sorted(also)}.")
    return marks


def play_run(
    policy_specs: Mapping[str, PolicySpec],
    problem: Problem,
    *,
    rounds: int,
    run: int,
    presentations: int,
    seed: int,
    marks: Ints,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Floats]:
    """Play run number `run`; return the average loss of each policy at the marked rounds, shape (presentations, marks).

    A policy's numbers do not depend on the other policies, nor on the number of presentations that follow.
    """
    sample = None if problem.reacts else problem.sample(rounds, data_seed(seed, run))
    averages = {}
    for name, policy_spec in policy_specs.items():
        curves = np.empty((presentations, len(marks)))
        for k in range(presentations):
            policy = enter(policy_spec, policy_seed(seed, run, k, name))
            if sample is None:
                losses = problem.play(policy, rounds, policy_seed(seed, run, k, "the adversary of " + name)).losses
            else:
                losses = simulate(policy, sample.contexts, sample.losses).losses
            curves[k] = np.cumsum(losses)[marks - 1] / marks
            if progress is not None:
                progress(rounds)
        averages[name] = curves
    return averages


def enter(policy_spec: PolicySpec, seed: int) -> Policy:
    """Make or copy the policy for one presentation."""
    if isinstance(policy_spec, Policy):
        return policy_spec.copy(seed=seed)
    policy = policy_spec(seed)
    if not isinstance(policy, Policy):
        example = "lambda seed: hsb.HSB(tree, arms=3, seed=seed)"
        raise InputError(f"A function among policies must return a policy, as {example}; got {quoted(policy)}.")
    return policy


def loss_range(policy_specs: Mapping[str, PolicySpec]) -> Bounds | None:
    """Return the range of the losses of all these policies; None if one of them infers its range or clips losses.

    >>> import hsb
    >>> loss_range({"a": hsb.Exp3(arms=2), "b": hsb.Exp3(arms=2, loss_range=(-1, 1))})
    (-1.0, 1.0)
    """
    scales = [enter(policy_spec, 0).loss_scale for policy_spec in policy_specs.values()]
    if any(scale.auto or scale.outside == "clip" for scale in scales):
        return None
    return min(scale.low for scale in scales), max(scale.high for scale in scales)


def data_seed(seed: int, run: int) -> int:
    """Return the seed of data set number `run`."""
    return _seed(seed, run)


def policy_seed(seed: int, run: int, presentation: int, name: str) -> int:
    """Return a policy's seed in one presentation of a data set, independent of every other policy, presentation and run."""
    return _seed(seed, run, presentation, zlib.crc32(name.encode(errors="surrogatepass")))


def _seed(seed: int, *key: int) -> int:
    return int(np.random.SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)[0] >> np.uint64(1))
