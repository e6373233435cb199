"""Learning from the decisions in a log, weighted by their propensities."""

import warnings
from collections.abc import Callable, Iterable, Sized
from typing import Any

import numpy as np

from ..checks import function
from ..errors import InputError, quoted
from ..features.identifiers import CategoryCounts
from ..logs import Batch, Log
from ..logs.log import check_log, each_batch
from ..policy import Policy, tables
from ..policy.learner import LoggedRows
from ..types import Floats, Ints
from .batches import Play
from .fit import LoggedHistory
from .named import own_contexts, read_for


def learn_from(
    policy: Policy,
    log: Log | Iterable[Batch],
    *,
    context: Callable[[Floats], Any] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    fit: bool = True,
) -> int:
    """Let a policy learn every event of a log, as `policy.learn` of the logged decision would. Returns the number of events learned.

    Unlike a replay, this skips no event: each is weighted by the inverse of its propensity. The policy chooses no arm. An arm that the policy
    does not know is added when it appears; an event whose arm was removed is left out. `log`, `context` and `progress` are as in `hsb.replay`.
    HSB, SExp3 and Exp3 learn in compiled code, many events at a time.

    A policy without a structure takes the columns of a table by name, of mixed kinds and with missing values (`Log.by_name`). It uses the
    columns of the first log that it learned, in any order; it ignores others, and a log that lacks one of them raises `InputError`.

    A policy with `arms=hsb.Open()` takes the arms of each row from the log, with their features if it has them (`docs/logs.md`).

    `fit`: if this log is all that a policy without a structure has learned, and has at most 262,144 rows, its ensemble is fitted to all rows at
    the end, in several passes (`docs/logs.md`). `fit=False` leaves the ensemble as it learned round by round. Either way the part of the policy
    that the guarantee covers has learned every row once.

    Warns (`UserWarning`) of a column of which most rows have a category that shares its column with others, as postcodes do.

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
    if not isinstance(fit, bool):
        raise InputError(f"fit must be True or False: fit models to the whole log at its end? Given {quoted(fit)}.")
    history = LoggedHistory(policy) if fit else None
    play, rounds, before, categories = _Learning(policy, history), 0, policy.rounds, CategoryCounts()
    for batch in each_batch("learn_from", read_for(log, [policy], context)):
        rounds += len(batch)
        contexts = own_contexts(policy, batch, context)
        play.batch(batch, contexts)
        categories.add_if_named(contexts, policy.learner)
        if progress is not None:
            progress(rounds, total)
    learned = policy.rounds - before
    if history is not None:
        history.fit()
    for warning in categories.warnings():
        warnings.warn(warning, stacklevel=2)
    return learned


class _Learning(Play):
    """A policy that learns from the arm shown in every event, whatever it would choose. `history` keeps rows for the fit."""

    def __init__(self, policy: Policy, history: LoggedHistory | None) -> None:
        super().__init__(policy)
        self.history = history

    def _learn(self, rows: LoggedRows, propensities: Floats, rewards: Floats) -> Ints:
        bad = ~((propensities > 0.0) & (propensities <= 1.0))
        if bad.any():
            raise InputError(
                f"An event has propensity {propensities[int(np.argmax(bad))]}; "
                "it must be in (0, 1], the probability with which the arm was shown."
            )
        learned = np.flatnonzero(rows.masks[rows.pool, rows.arm])  # the arms of the others were removed from the policy
        if len(learned):
            points, masks, pool, arm, losses = rows
            some = LoggedRows(points[learned], masks, pool[learned], arm[learned], losses[learned])
            tables.learn_rows(self.policy, some, propensities[learned], rewards[learned])
            if self.history is not None:
                self.history.add(some, rewards[learned])
        return learned
