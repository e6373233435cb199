"""Whole tables of rounds in compiled code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..policy import Policy
from ..rows import check_table, losses_or_rewards
from ..spaces import numbers

CHUNK = 1 << 14


@dataclass(frozen=True)
class Run:
    """What happened: one entry per round.

    >>> run = Run(arms=np.array([0, 1]), losses=np.array([0.0, 1.0]), propensities=np.array([0.5, 0.5]))
    >>> run.average_loss
    0.5
    """

    arms: NDArray[Any]
    """The arms played."""
    losses: NDArray[np.float64]
    """Their losses (or, where rewards were given, loss_range mirrored: low + high - reward)."""
    propensities: NDArray[np.float64]
    """The probabilities with which they were played; NaN where the policy does not compute them in bulk (TreeThompson)."""

    @property
    def average_loss(self) -> float:
        """Mean loss a round."""
        return float(self.losses.mean()) if len(self.losses) else float("nan")

    def __len__(self) -> int:
        return len(self.losses)

    def __repr__(self) -> str:
        return f"Run(rounds={len(self)}, average_loss={self.average_loss:.4f})"


def simulate(
    policy: Policy,
    contexts: ArrayLike,
    losses: ArrayLike | None = None,
    *,
    rewards: ArrayLike | None = None,
    available: ArrayLike | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Let the policy decide and learn in every round of a table; it goes on from its present state and is changed.

    `contexts` has shape (T, features) (or (T,) for one feature), `losses` or `rewards` shape (T, M), column m for the policy's m-th arm, and
    `available`, if given, is a table of booleans (T, M). The same as `decide` and `learn` round by round, bit for bit, only faster.
    `progress(done, total)` is called now and then. The whole table is checked before the first round is played.

    >>> import hsb, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, horizon=1000, seed=0)
    >>> run = hsb.simulate(policy, rng.random(1000), np.column_stack([np.zeros(1000), np.ones(1000)]))
    >>> run.average_loss < 0.2
    True
    """
    if not isinstance(policy, Policy):
        raise InputError(f"simulate needs a policy, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=3); given {policy!r}.")
    points, clipped = policy.check(contexts)
    name, given = losses_or_rewards("simulate", losses, rewards)
    table = np.ascontiguousarray(numbers(name, given))
    check_table(name, table, (len(points), len(policy.arms)), policy.loss_range)
    masks = policy.offer.table(available, len(points))
    low, high = policy.loss_range
    total = len(points)
    played = np.empty(total, dtype=np.int64)
    chances = np.empty(total)
    suffered = np.empty(total)
    rows = np.arange(min(CHUNK, total)) * len(policy.arms)
    policy.clipped += clipped
    for begin in range(0, total, CHUNK):  # a chunk fits the cache, and Ctrl-C is heard between chunks
        part = slice(begin, min(begin + CHUNK, total))
        scaled = table[part] if rewards is None else high - table[part]
        if (low, high) != (0.0, 1.0):
            scaled = (scaled - low if rewards is None else scaled) / (high - low)
        played[part], chances[part] = policy.play(points[part], masks[part], scaled, to_come=total - begin)
        table[part].ravel().take(rows[: part.stop - begin] + played[part], out=suffered[part], mode="clip")
        if progress is not None:
            progress(part.stop, total)
    if rewards is not None:
        suffered = low + high - suffered
    labels = np.empty(len(policy.arms), dtype=object)
    labels[:] = policy.arms
    numbered = all(type(a) is int and a == i for i, a in enumerate(policy.arms))
    return Run(arms=played if numbered else labels[played], losses=suffered, propensities=chances)
