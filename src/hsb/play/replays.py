"""Replay of a policy on a log: Algorithm 2, and rejection sampling for logs that were not drawn uniformly."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import function, is_number, path_of, whole
from ..errors import InputError, quoted
from ..logs import Batch, Log
from ..logs.log import check_log, each_batch
from ..policy import Policy
from ..types import Floats
from .advice import advice
from .ahead import ahead
from .batches import Play
from .checkpoint import Checkpoint, ReplayProgress
from .named import own_contexts, read_for
from .result import Replay


def replay(
    policy: Policy,
    log: Log | Iterable[Batch],
    *,
    context: Callable[[Floats], Any] | None = None,
    floor: float | None = None,
    seed: int = 0,
    progress: Callable[[int, int | None], None] | None = None,
    checkpoint: str | Path | None = None,
    every: int = 1_000_000,
) -> Replay:
    """Let a policy decide on every event of a log, and learn from the events in which it chooses the arm shown (Algorithm 2).

    The policy continues from its present state and is changed. It chooses among the arms available in the event; an arm that it does not know
    is added when it appears. The result does not depend on the size of the log's batches. If few events are left or match, or propensities are
    estimates, the `warnings` of the `Replay` explain it and suggest what to do instead.

    - `log`: what `hsb.logs.open` returns, or a list of `hsb.logs.Batch`.
    - `context`: a function that turns the log's features (n, d) into the policy's contexts, e.g. a fitted encoder. None uses the features; a
      policy without a structure takes them by name (`hsb.learn_from`).
    - `floor`: a log whose arms were not drawn uniformly is thinned first: an event with propensity p is kept with probability floor / p. An
      event with a propensity below `floor` raises `InputError`. None takes the smallest propensity, and reads the log once more to find it.
    - `seed`: seed of the random numbers that the thinning draws.
    - `progress`: a function, called as `progress(done, total)` after each batch; `total` is None if the length of the log is unknown.
    - `checkpoint`: a file, written about every `every` events and removed at the end. If the file exists, the replay resumes from it, with the
      same result as without the interruption. The policy, the encoding, the seed and the log must be the same as for the checkpoint.

    >>> import hsb, hsb.logs, hsb.features.encoders
    >>> log = hsb.logs.SyntheticToday(20_000, seed=1)
    >>> encoder = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(log.head(2000))
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=5), arms=log.arms, learning_rate=0.01, seed=0)
    >>> result = replay(policy, log, context=encoder)
    >>> result.rounds, result.matched == policy.rounds, 0.0 < result.interval[0] < result.average_reward < result.interval[1]
    (20000, True, True)
    """
    options: dict[str, Any] = {"context": context, "floor": floor, "seed": seed, "progress": progress}
    return replay_all({"policy": policy}, log, **options, checkpoint=checkpoint, every=every)["policy"]


def replay_all(
    policies: Mapping[str, Policy],
    log: Log | Iterable[Batch],
    *,
    context: Callable[[Floats], Any] | None = None,
    floor: float | None = None,
    seed: int = 0,
    progress: Callable[[int, int | None], None] | None = None,
    checkpoint: str | Path | None = None,
    every: int = 1_000_000,
) -> dict[str, Replay]:
    """Replay several `policies`, by name, in one reading of the log. Returns a `Replay` for each name, the same as `replay` alone returns.

    Other arguments as in `replay`.

    >>> import hsb, hsb.logs
    >>> log = hsb.logs.SyntheticToday(5000, seed=1)
    >>> results = replay_all({"a": hsb.Exp3(arms=["id-0"], seed=0), "b": hsb.Uniform(arms=["id-0"], seed=0)}, log)
    >>> results["a"].rounds, results["b"].rounds
    (5000, 5000)
    """
    if not isinstance(policies, Mapping) or not all(isinstance(name, str) for name in policies):
        raise InputError(f"replay_all needs policies by name, e.g. {{'a': policy}}; given {quoted(policies)}.")
    for policy in policies.values():
        if not isinstance(policy, Policy):
            raise InputError(
                f"replay needs a policy, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=log.arms); given {quoted(policy)}."
            )
    check_log("replay", log)
    context, progress = function("context", context), function("progress", progress)
    seed = whole("seed", seed, 0)
    saved = (
        None
        if checkpoint is None
        else Checkpoint(path_of("checkpoint", checkpoint), every, policies, {"seed": seed, "floor": repr(floor)}, context)
    )
    log = read_for(log, policies.values(), context)
    uniform, least = _thinning_floor(log, floor)
    thinning = np.random.default_rng([seed, 0x7265])
    total = len(log) if isinstance(log, Log) and isinstance(log, Sized) else None
    plays = {name: Play(policy) for name, policy in policies.items()}
    so_far = ReplayProgress() if saved is None else saved.resume(plays, thinning)
    estimated = False

    def batches() -> Iterator[Batch]:
        nonlocal estimated
        for batch in each_batch("replay", log):
            estimated |= batch.estimated
            yield batch

    rest = ((batch, "") for batch in batches()) if saved is None else saved.rest(batches())

    first = next(iter(policies.values()), None)

    def encode(batch: Batch) -> Any:
        """Encode a batch with `context`, once for all policies; None without `context`."""
        return None if context is None or first is None else own_contexts(first, batch, context)

    for batch, contexts, read in ahead((batch, encode(batch) if uniform else None, read) for batch, read in rest):
        so_far.rounds += len(batch)
        so_far.logged += float(batch.reward.sum())
        if not uniform:
            fair = thinning.random(len(batch)) * batch.propensity < _above(least, batch)
            so_far.rejected += len(batch) - int(fair.sum())
            batch = batch.take(fair)
            contexts = encode(batch)
        for play in plays.values():
            play.batch(batch, own_contexts(play.policy, batch) if context is None else contexts)
        if saved is not None:
            saved.write(plays, thinning, so_far, read)
        if progress is not None:
            progress(so_far.rounds, total)
    if saved is not None:
        saved.remove()
    skipped = len(log.problems) if isinstance(log, Log) else 0
    about: Any = {"rounds": so_far.rounds, "rejected": so_far.rejected, "floor": least, "estimated": estimated}
    return {
        name: Replay(
            *(so_far.rounds, play.matched, play.total, play.squares, so_far.logged, so_far.rejected),
            *(skipped, *play.policy.reward_range),
            warnings=tuple(advice(**about, matched=play.matched)),
        )
        for name, play in plays.items()
    }


def _thinning_floor(log: Log | Iterable[Batch], floor: float | None) -> tuple[bool, float]:
    """Return whether the log was drawn uniformly, and the propensity that it is thinned to."""
    if floor is not None:
        if not is_number(floor) or not 0.0 < floor <= 1.0:
            raise InputError(f"floor must be in (0, 1], a propensity that no event falls below; given {quoted(floor)}.")
        return False, float(floor)
    if isinstance(log, Log) and log.uniform:
        return True, 1.0
    if hasattr(log, "__next__"):
        raise InputError(
            "An iterator can be read only once. Give a log or a list of batches, or floor=, the smallest propensity."
        )
    uniform, least = True, 1.0
    for batch in each_batch("replay", log):
        uniform = uniform and batch.is_uniform
        least = min(least, float(batch.propensity.min(initial=1.0)))
    return uniform, least


def _above(floor: float, batch: Batch) -> float:
    if len(batch) and batch.propensity.min() < floor:
        raise InputError(
            f"An event was shown with propensity {batch.propensity.min()}, below the floor {floor}. Give a smaller floor=."
        )
    return floor
