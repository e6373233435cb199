"""Playing a policy on a log, batch by batch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..logs import Batch
from ..policy import Policy, tables
from ..policy.learner import LoggedRows
from ..types import Floats, Ints


class Play:
    """A policy that decides on every event, and learns from the events in which it chooses the arm shown."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.indices = np.zeros(0, dtype=np.int64)  # the policy's index of each of the log's arms; -1: unknown
        self.matched, self.total, self.squares = 0, 0.0, 0.0

    def batch(self, batch: Batch, contexts: Any) -> None:
        """Play a batch, in pieces: a piece ends before a row with an arm that the policy does not know."""
        if len(batch):
            with self.policy.lock:
                self._batch(batch, contexts)

    def _batch(self, batch: Batch, contexts: Any) -> None:
        policy = self.policy
        points, clipped = check_contexts(policy, batch, contexts)
        policy.loss_scale.check_table(batch.reward, "The reward of event {}")
        policy.clipped += clipped
        if policy.learner.takes_requests:
            self._requests(batch, points)
            return
        new = [policy.arm_set.index.get(arm, -1) for arm in batch.arms[len(self.indices) :]]
        self.indices = np.append(self.indices, np.array(new, dtype=np.int64))
        begin = 0
        for row, pool in self._arrivals(batch):
            self._piece(batch, points, begin, row)
            self._add(batch, pool)
            begin = row
        self._piece(batch, points, begin, len(batch))

    def _arrivals(self, batch: Batch) -> list[tuple[int, int]]:
        """Return the rows, in order, whose pool has arms that neither the policy nor an earlier row has; and that pool."""
        known = self.indices >= 0
        if known.all():
            return []
        pools, first = np.unique(batch.pool, return_index=True)
        arrivals = []
        for k in np.argsort(first):
            members = batch.pools[pools[k]]
            if not known[members].all():
                arrivals.append((int(first[k]), int(pools[k])))
                known[members] = True
        return arrivals

    def _add(self, batch: Batch, pool: int) -> None:
        for arm in batch.pools[pool]:
            if self.indices[arm] < 0:
                self.indices[arm] = self.policy.arm_set.index.get(batch.arms[arm], -1)  # another thread may have added it
            if self.indices[arm] < 0:
                self.indices[arm] = len(self.policy.arms)
                self.policy.add_arm(batch.arms[arm])

    def _piece(self, batch: Batch, points: NDArray[Any], begin: int, end: int) -> None:
        """Play rows whose arms the policy knows."""
        if begin == end:
            return
        pool = batch.pool[begin:end]
        used = np.flatnonzero(np.bincount(pool))
        renumber = np.zeros(used[-1] + 1, dtype=np.int64)
        renumber[used] = np.arange(len(used))
        pool = renumber[pool]
        masks = self.policy.arm_set.pools(self.indices[batch.pools[number]] for number in used)
        rows: Any = slice(begin, end)
        some = np.asarray(masks.any(axis=1))
        if not some.all():  # no arm that the policy may play was available
            pools = some[pool]
            rows, pool = begin + np.flatnonzero(pools), pool[pools]
        shown, rewards = self.indices[batch.arm[rows]], batch.reward[rows]
        self._rows(LoggedRows(points[rows], masks, pool, shown, rewards), batch.propensity[rows])

    def _requests(self, batch: Batch, requests: NDArray[Any]) -> None:
        """Play rows that have their own arms: the index of an arm is its position in the request."""
        names = batch.labels().tolist()
        shown = [list(request.arms).index(arm) for request, arm in zip(requests, names, strict=True)]
        every = np.ones((1, max(shown) + 1), dtype=np.uint8)
        pool = np.zeros(len(batch), dtype=np.int64)
        self._rows(LoggedRows(requests, every, pool, np.array(shown, dtype=np.int64), batch.reward), batch.propensity)

    def _rows(self, rows: LoggedRows, propensities: Floats) -> None:
        """Learn from rows whose `losses` are rewards still."""
        (points, masks, pool, shown, rewards), first = rows, 0
        while first < len(pool):  # once, unless the range of losses is inferred from the data
            n, losses = self.policy.loss_scale.scale_rows(rewards[first:, None], is_reward=True)
            part = slice(first, first + n)
            learned = self._learn(
                LoggedRows(points[part], masks, pool[part], shown[part], losses[:, 0]), propensities[part], rewards[part]
            )
            self._count(rewards[part][learned])
            first += n

    def _count(self, rewards: Floats) -> None:
        """Add rewards that were learned to the sums."""
        counted = self.policy.loss_scale.clip(rewards)
        self.matched += len(counted)
        self.total += float(counted.sum())
        self.squares += float(counted @ counted)

    def _learn(self, rows: LoggedRows, propensities: Floats, rewards: Floats) -> Ints:
        """Learn from the rows and return the indices of those that were learned."""
        return tables.replay_rows(self.policy, rows, rewards)


def check_contexts(policy: Policy, batch: Batch, contexts: Any) -> tuple[NDArray[Any], int]:
    """Check a policy's contexts for a batch, one row for each event. Returns them and the number of clipped rows."""
    points, clipped = tables.check(policy, contexts)
    if len(points) != len(batch):
        raise InputError(f"context must return one row for each of the {len(batch)} events; it returned {len(points)} rows.")
    if isinstance(points, list):  # of requests
        table = np.empty(len(points), dtype=object)
        table[:] = points
        return table, clipped
    return points, clipped
