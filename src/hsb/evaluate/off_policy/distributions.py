"""A policy's distributions over the arms of a log, row by row. The policy does not learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...logs import Batch
from ...play.batches import check_contexts
from ...play.named import own_contexts
from ...policy import Policy, tables
from ...policy.learner import LoggedRows
from ...types import Floats


def distributions(policy: Policy, batch: Batch, contexts: Any = None) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the probability of every arm, (n, arms of the batch), among the available arms that the policy knows; rows sum to 1.

    Also returns the rows that have any such arm: in the others the policy could not play, and the row is 0. `contexts` are the policy's;
    default: those of the batch. Compiled for mixtures: O(n * nodes * arms).

    >>> import hsb
    >>> available = [[True, True, False]]
    >>> batch = Batch.of(contexts=[[0.2]], arm=[0], reward=[1], propensity=[0.5], arms=["a", "b", "c"], available=available)
    >>> distributions(hsb.HSB(hsb.BinaryTree(depth=2), arms=["c", "b", "a"], learning_rate=0.1), batch)[0]
    array([[0.5, 0.5, 0. ]])
    """
    points, _ = check_contexts(policy, batch, own_contexts(policy, batch) if contexts is None else contexts)
    if policy.learner.takes_requests:
        return _of_requests(policy, batch, points), np.ones(len(batch), dtype=np.bool_)
    indices = np.array([policy.arm_set.index.get(arm, -1) for arm in batch.arms], dtype=np.int64)
    known = np.flatnonzero(indices >= 0)
    available = (indices[batch.pools[k]] for k in range(len(batch.pools.sizes)))
    masks = policy.arm_set.pools(pool[pool >= 0] for pool in available)
    playable = np.asarray(masks.any(axis=1))[batch.pool]
    rows = np.flatnonzero(playable)
    table = np.zeros((len(batch), len(batch.arms)))
    if len(rows):
        shown, losses = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows))
        own = tables.distributions(policy, LoggedRows(points[rows], masks, batch.pool[rows], shown, losses))
        table[rows[:, None], known] = own[:, indices[known]]
    return table, playable


def _of_requests(policy: Policy, batch: Batch, requests: NDArray[Any]) -> Floats:
    """Return the probability of every arm of the batch; 0 for those that are not in a row's request."""
    table, numbers = np.zeros((len(batch), len(batch.arms))), {arm: k for k, arm in enumerate(batch.arms)}
    for row, request in zip(table, requests, strict=True):
        row[[numbers[arm] for arm in request.arms]] = policy.probabilities(request)
    return table
