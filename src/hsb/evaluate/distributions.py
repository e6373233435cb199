"""What a policy would do on the rows of a log: its distribution over the log's arms. Nothing is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..logs import Batch
from ..policies import HSB, Policy
from ..policies.mixture import Mixture
from ..types import Floats, Ints, Masks


def distributions(policy: Policy, batch: Batch, contexts: Any = None) -> tuple[Floats, NDArray[np.bool_]]:
    """(n, arms of the batch): the probability of every arm, among those that the row offers and the policy knows; rows add to 1.

    Second, which rows offer any such arm: in the others the policy could not have played, and the row is 0. `contexts` are the policy's; by
    default those of the batch. Compiled for mixtures: O(n * nodes * arms).

    >>> import hsb
    >>> offered = [[True, True, False]]
    >>> batch = Batch.of(contexts=[[0.2]], arm=[0], reward=[1], propensity=[0.5], arms=["a", "b", "c"], available=offered)
    >>> distributions(hsb.HSB(hsb.BinaryTree(depth=2), arms=["c", "b", "a"], learning_rate=0.1), batch)[0]
    array([[0.5, 0.5, 0. ]])
    """
    points, _ = policy._check_contexts(batch.contexts if contexts is None else contexts)
    if len(points) != len(batch):
        raise InputError(f"context must give a row for each of the {len(batch)} events; it gave {len(points)}.")
    places = np.array([policy._index.get(arm, -1) for arm in batch.arms], dtype=np.int64)
    known = np.flatnonzero(places >= 0)
    masks = np.zeros((len(batch.pools.sizes), len(policy.arms)), dtype=np.uint8)
    masks[:, places[known]] = batch.pools.table(len(batch.arms))[:, known]
    if policy._removed:
        masks &= policy._all
    playable = np.asarray(masks.any(axis=1))[batch.pool]
    rows = np.flatnonzero(playable)
    own = np.empty((len(rows), len(policy.arms)))
    if len(rows):
        _fill(policy, points[rows], masks, batch.pool[rows], own)
    table = np.zeros((len(batch), len(batch.arms)))
    table[rows[:, None], known] = own[:, places[known]]
    return table, playable


def _fill(policy: Policy, points: NDArray[Any], masks: Masks, pool: Ints, table: Floats) -> None:
    if isinstance(policy, Mixture):
        from ..kernels import distributions as kernels

        keys = policy._table_keys(points)
        if isinstance(policy, HSB) and policy._advisor is not None:
            *first, cells = keys
            kernels.fill_advised(
                policy._Fs, policy._Is, tuple(first), policy._counts, masks, pool, table, *policy._advisor, cells
            )
        else:
            kernels.fill(policy._Fs, policy._Is, keys, policy._counts, masks, pool, table)
        return
    offers = [policy._everything if mask.all() else mask for mask in masks]
    for t in range(len(table)):
        policy._locate(points[t], count=False)
        policy._fill(offers[pool[t]], table[t])
