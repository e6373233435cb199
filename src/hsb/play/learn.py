"""Learning from the decisions that a log holds, with the propensities that they were made with."""

from collections.abc import Callable, Iterable, Sized
from typing import Any

import numpy as np

from ..checks import function
from ..errors import InputError, quoted
from ..logs import Batch, Log
from ..logs.log import check_log, each_batch
from ..policy import Policy, tables
from ..policy.learner import LoggedRows
from ..types import Floats, Ints
from .batches import Play
from .named import own_contexts, read_for


def learn_from(
    policy: Policy,
    log: Log | Iterable[Batch],
    *,
    context: Callable[[Floats], Any] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> int:
    """Let a policy learn every event of a log, as `policy.learn` of the logged decision would. Returns how many events it learned.

    Unlike a replay no event is passed over: each is weighed by the inverse of its own propensity. The policy chooses nothing.
    An arm that the policy does not know is added as it appears; an event whose arm was removed is left out. `log`, `context` and `progress`
    are as in `hsb.replay`. HSB, SExp3 and Exp3 learn in compiled code, many events at a time.

    A policy without a structure is given the columns of a table by name, mixed, with missing values (`Log.by_name`). It keeps to the columns
    that it learned first, in whatever order they come; others are ignored, and a log without one of them raises `InputError`.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=2), arms=["a", "b"], learning_rate=0.5)
    >>> batch = Batch.of(contexts=[[0.1], [0.7]], arm=[0, 1], reward=[1, 0], propensity=[0.5, 0.5], arms=["a", "b"])
    >>> learn_from(policy, [batch]), policy.rounds
    (2, 2)
    """
    if not isinstance(policy, Policy):
        raise InputError(
            f"learn_from needs a policy, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=log.arms); given {quoted(policy)}."
        )
    check_log("learn_from", log)
    context, progress = function("context", context), function("progress", progress)
    total = len(log) if isinstance(log, Log) and isinstance(log, Sized) else None
    play, rounds, before = _Learning(policy), 0, policy.rounds
    for batch in each_batch("learn_from", read_for(log, [policy], context)):
        rounds += len(batch)
        play.batch(batch, own_contexts(policy, batch, context))
        if progress is not None:
            progress(rounds, total)
    return policy.rounds - before


class _Learning(Play):
    """A policy that learns what was shown instead of choosing."""

    def _learn(self, rows: LoggedRows, propensities: Floats, rewards: Floats) -> Ints:
        bad = ~((propensities > 0.0) & (propensities <= 1.0))
        if bad.any():
            raise InputError(
                f"An event has propensity {propensities[int(np.argmax(bad))]}; "
                "it must be in (0, 1], the probability with which the arm was shown."
            )
        learned = np.flatnonzero(rows.masks[rows.pool, rows.arm])  # of the others, the arm was removed
        if len(learned):
            points, masks, pool, arm, losses = rows
            some = LoggedRows(points[learned], masks, pool[learned], arm[learned], losses[learned])
            tables.learn_rows(self.policy, some, propensities[learned], rewards[learned])
        return learned
