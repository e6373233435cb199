"""Simulation of pages with several slots: decide and learn page by page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import whole
from ..errors import InputError
from ..policy import Policy, Slate
from ..policy.rows import check_shape, losses_or_rewards
from ..structures.spaces import numbers

OfPage = Callable[[int, tuple[Hashable, ...]], Sequence[float | None]]
"""A function that returns the loss (or the reward) of each slot, None without feedback, for page t and its arms in order."""


def play_pages(
    policy: Policy,
    contexts: Any,
    losses: ArrayLike | OfPage | None,
    rewards: ArrayLike | OfPage | None,
    available: ArrayLike | None,
    slots: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[Slate], NDArray[np.float64]]:
    """Let a policy decide and learn each page; return the pages, and the losses or rewards of their slots, NaN without feedback."""
    slots = whole("slots", slots, 1, len(policy.active_arms))
    learner = policy.learner.rank(0)
    points, _ = learner.check(contexts)
    rows = learner.contexts(contexts, points)
    name, values = losses_or_rewards("simulate", losses, rewards)  # type: ignore[arg-type]
    masks = policy.arm_set.table(available, len(rows))
    if masks is not None and (short := np.flatnonzero(masks.sum(axis=1) < slots)).size:
        raise InputError(f"available[{short[0]}] has fewer arms than the {slots} slots of a page. A page shows each arm once.")
    of_page = values if callable(values) else _of_table(policy, name, values, len(rows), slots)
    pages, outcomes = [], np.full((len(rows), slots), np.nan)
    for t, row in enumerate(rows):
        page = policy.decide(row, k=slots, available=None if masks is None else policy.arm_set.names(masks[t]))
        outcome = list(of_page(t, page.arms))
        if rewards is None:
            policy.learn(page, losses=outcome)
        else:
            policy.learn(page, rewards=outcome)
        pages.append(page)
        outcomes[t] = [np.nan if value is None else value for value in outcome]
        if progress is not None:
            progress(t + 1, len(rows))
    return pages, outcomes


def _of_table(policy: Policy, name: str, values: Any, rows: int, slots: int) -> OfPage:
    """Return the function that looks up a table: a column for each arm, for all slots or, with three dimensions, for each slot."""
    table = numbers(name, values)
    arms = len(policy.arms)
    if table.ndim == 2:
        check_shape(name, table, (rows, arms))
    elif table.shape != (rows, slots, arms):
        raise InputError(
            f"{name} needs shape {(rows, arms)}, or {(rows, slots, arms)} for losses by slot; given {table.shape}."
        )
    policy.loss_scale.check_table(table, name + "[{}]")
    by_slot = np.broadcast_to(table[:, None, :] if table.ndim == 2 else table, (rows, slots, arms))

    def look_up(t: int, shown: tuple[Hashable, ...]) -> list[float]:
        return [float(by_slot[t, slot, policy.arm_set.index[arm]]) for slot, arm in enumerate(shown)]

    return look_up
