"""Simulation of a policy whose arms come with each request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..features.request import Request
from ..policy import Policy, tables
from ..policy.requests import refuse_available
from ..policy.rows import losses_or_rewards
from ..structures.spaces import numbers
from ..types import Floats

CHUNK = 1 << 10


def simulate(
    policy: Policy,
    requests: Sequence[Request],
    losses: Any,
    rewards: Any,
    available: Any,
    progress: Callable[[int, int], None] | None,
) -> tuple[Any, Floats, Floats]:
    """Play requests, with a row of losses for each, in the order of its arms. Return arms, losses and propensities."""
    name, values = losses_or_rewards("simulate", losses, rewards)
    refuse_available(available)
    table, are_rewards, total = _padded(name, values, requests), rewards is not None, len(requests)
    policy.loss_scale.check_table(table, name + "[{}]")
    played, probabilities, suffered = np.empty(total, dtype=object), np.empty(total), np.empty(total)
    first = 0
    while first < total:  # a row may use only the range of earlier rows, if the range is inferred
        stop = min(first + CHUNK, total)
        n, scaled = policy.loss_scale.scale_rows(table[first:stop], are_rewards)
        part = slice(first, first + n)
        options: Any = {"to_come": total - first, "values": table[part], "are_rewards": are_rewards}
        arms, probabilities[part] = tables.play(policy, requests[part], None, scaled, **options)
        played[part] = [list(request.arms)[arm] for request, arm in zip(requests[part], arms.tolist(), strict=True)]
        suffered[part] = table[np.arange(first, first + n), arms]
        first += n
        if progress is not None:
            progress(first, total)
    return played, policy.loss_scale.losses_of(suffered) if are_rewards else suffered, probabilities


def _padded(name: str, values: Any, requests: Sequence[Request]) -> Floats:
    """Return a table with a row for each request; shorter rows end in copies of their first number, which no arm has."""
    rows = [numbers(f"{name}[{t}]", row) for t, row in enumerate(values)]
    if len(rows) != len(requests):
        raise InputError(f"{name} needs a row for each request; given {len(rows)} for {len(requests)} requests.")
    table = np.empty((len(rows), max(map(len, rows), default=1)))
    for t, (row, request) in enumerate(zip(rows, requests, strict=True)):
        if row.shape != (len(request.arms),):
            raise InputError(
                f"{name}[{t}] needs {len(request.arms)} numbers, one for each arm of its request; given shape {row.shape}."
            )
        table[t] = row[0]
        table[t, : len(row)] = row
    return table
