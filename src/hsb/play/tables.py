"""Simulation: a policy plays whole tables of rounds in compiled code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, quoted
from ..policy import Policy, tables
from ..policy.rows import check_shape, losses_or_rewards
from ..structures.spaces import numbers
from . import requests
from .pages import OfPage, play_pages

CHUNK = 1 << 14


@dataclass(frozen=True)
class Run:
    """The result of `simulate`: arms played, their losses, and the probabilities with which they were played, one entry for each round.

    With slots, a row for each page and a column for each slot.

    >>> run = Run(arms=np.array([0, 1]), losses=np.array([0.0, 1.0]), propensities=np.array([0.5, 0.5]))
    >>> run.average_loss
    0.5
    """

    arms: NDArray[Any]
    """The arms played."""
    losses: NDArray[np.float64]
    """Their losses as given, not clipped (if rewards were given: low + high - reward; with loss_range="auto": -reward)."""
    propensities: NDArray[np.float64]
    """The probabilities with which they were played; NaN if the policy does not compute them in bulk (TreeThompson)."""

    @property
    def average_loss(self) -> float:
        """Mean loss a round, or with slots, a slot with feedback; NaN without any."""
        losses = self.losses[~np.isnan(self.losses)] if self.losses.ndim > 1 else self.losses
        return float(losses.mean()) if len(losses) else float("nan")

    def __len__(self) -> int:
        return len(self.losses)

    def __repr__(self) -> str:
        return f"Run(rounds={len(self)}, average_loss={self.average_loss:.4f})"


def simulate(
    policy: Policy,
    contexts: ArrayLike,
    losses: ArrayLike | OfPage | None = None,
    *,
    rewards: ArrayLike | OfPage | None = None,
    available: ArrayLike | None = None,
    slots: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Let the policy decide and learn in every round of a table. It continues from its present state and is changed. Returns a `Run`.

    The same as `decide` and `learn` round by round, bit for bit, but faster. The whole table is checked before the first round is played:
    a value that cannot be used raises `InputError`, which names it.

    - `contexts`: a row for each of the T rounds: shape (T, features), or (T,) for one feature. A policy without a structure also takes a list
      of dicts, a dict of columns or a data frame.
    - `losses`, or else `rewards`: shape (T, M), column m for the policy's m-th arm.
    - `available`: a table of booleans, shape (T, M): which arms are available; None: all arms in every round.
    - `slots`: the number of slots of a page: each round is then a page, as `decide(context, k=slots)` makes it, and the arrays of the `Run`
      have a column for each slot. `losses` or `rewards` have shape (T, M) if they do not depend on the slot, else (T, slots, M); or they are a
      function of t and the arms of page t that returns the loss of each slot, None for no feedback.
    - `progress`: a function, called as `progress(done, total)` with the rounds played and T, after every 16,384 rounds and the last.

    >>> import hsb, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, horizon=1000, seed=0)
    >>> run = hsb.simulate(policy, rng.random(1000), np.column_stack([np.zeros(1000), np.ones(1000)]))
    >>> run.average_loss < 0.2
    True
    >>> policy = hsb.HSB(arms=3, slots=2, seed=0)
    >>> clicks = lambda t, arms: [float(arm == t % 2) for arm in arms]
    >>> run = hsb.simulate(policy, [{"even": t % 2 == 0} for t in range(500)], rewards=clicks, slots=2)
    >>> run.arms.shape, run.average_loss < 0.6
    ((500, 2), True)
    """
    if not isinstance(policy, Policy):
        raise InputError(f"simulate needs a policy, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=3); given {quoted(policy)}.")
    with policy.lock:
        if slots is not None:
            pages, outcomes = play_pages(policy, contexts, losses, rewards, available, slots, progress)
            suffered = outcomes if rewards is None else policy.loss_scale.losses_of(outcomes)
            played = _labels(policy)[[[policy.arm_set.index[arm] for arm in page.arms] for page in pages]]
            return Run(played, suffered, np.array([page.propensities for page in pages]))
        if callable(losses) or callable(rewards):
            raise InputError("losses= or rewards= may be a function only with slots=, the number of slots of a page.")
        return _simulate(policy, contexts, losses, rewards, available, progress)


def _simulate(
    policy: Policy,
    contexts: ArrayLike,
    losses: ArrayLike | None,
    rewards: ArrayLike | None,
    available: ArrayLike | None,
    progress: Callable[[int, int], None] | None,
) -> Run:
    points, clipped = tables.check(policy, contexts)
    if policy.learner.takes_requests:
        return Run(*requests.simulate(policy, points, losses, rewards, available, progress))
    name, values = losses_or_rewards("simulate", losses, rewards)
    table = np.ascontiguousarray(numbers(name, values))
    scale, are_rewards = policy.loss_scale, rewards is not None
    check_shape(name, table, (len(points), len(policy.arms)))
    scale.check_table(table, name + "[{}]")
    masks = policy.arm_set.table(available, len(points))
    total = len(points)
    played = np.empty(total, dtype=np.int64)
    probabilities = np.empty(total)
    suffered = np.empty(total)
    rows = np.arange(min(CHUNK, total)) * len(policy.arms)
    policy.clipped += clipped
    for begin in range(0, total, CHUNK):  # a chunk fits the cache, and Ctrl-C takes effect between chunks
        first, end = begin, min(begin + CHUNK, total)
        while first < end:  # once, unless the range of losses is inferred: a row may use only the range of earlier rows
            n, scaled = policy.loss_scale.scale_rows(table[first:end], are_rewards)
            part = slice(first, first + n)
            played[part], probabilities[part] = tables.play(
                policy,
                points[part],
                None if masks is None else masks[part],
                scaled,
                to_come=total - first,
                values=table[part],
                are_rewards=are_rewards,
            )
            table[part].ravel().take(rows[:n] + played[part], out=suffered[part], mode="clip")
            first += n
        if progress is not None:
            progress(end, total)
    if are_rewards:
        suffered = policy.loss_scale.losses_of(suffered)
    return Run(arms=_labels(policy)[played], losses=suffered, propensities=probabilities)


def _labels(policy: Policy) -> NDArray[Any]:
    """Return the arms as an array: of whole numbers if they are 0, 1, ..., else of objects."""
    if all(type(arm) is int and arm == i for i, arm in enumerate(policy.arms)):
        return np.arange(len(policy.arms))
    labels = np.empty(len(policy.arms), dtype=object)
    labels[:] = policy.arms
    return labels
