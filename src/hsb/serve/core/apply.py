"""The effect of a batch on the journal: a pure function of the batch and of the facts looked up for it.

In one transaction, a store calls `needs`, looks up these facts, calls `judge` and writes the changes. So all rules of feedback are here,
and a store decides nothing.
"""

from collections.abc import Iterable
from typing import Any

from .orders import (
    Activation,
    Append,
    BlankContexts,
    Erase,
    Fact,
    JournalChanges,
    JournalFacts,
    Keep,
    Learn,
    Needs,
    NewDecision,
    NewPolicy,
    NewReward,
    Order,
    OrderBatch,
    Outcome,
    Recall,
    Rules,
    Voiding,
)
from .rows import ClosedRow, DecisionRow, PendingRow, PolicyRow, RewardRow, RowKind, StreamRow

MOST_REWARDS = 1000  # of a decision, including late ones


def needs(batch: OrderBatch) -> Needs:
    """List the facts that must be looked up for a batch."""
    arriving = frozenset(policy for policy, rules in batch.rules.items() if rules.on_arrival)
    needed = Needs(set(), [], set(), any(type(order) is NewPolicy for order in batch.orders), set(), arriving)
    created: dict[str, int] = {}  # decisions of this batch, which it may also learn
    for order in batch.orders:
        kind = type(order)
        if kind is NewDecision:
            needed.decisions.add(order.row.id)  # type: ignore[union-attr]
            created[order.row.id] = order.row.policy  # type: ignore[union-attr]
        elif kind is NewReward or kind is Activation or kind is Voiding:
            needed.decisions.add(order.decision)  # type: ignore[union-attr]
            if kind is NewReward:
                needed.rewards.add((order.decision, order.id))  # type: ignore[union-attr]
            if order.decision in created:  # type: ignore[union-attr]
                needed.policies.add(created[order.decision])  # type: ignore[union-attr]
            elif kind is NewReward and order.restored is not None:  # type: ignore[union-attr]
                needed.policies.add(order.restored.row.policy)  # type: ignore[union-attr]
        elif kind is Learn:
            needed.due.append(order)  # type: ignore[arg-type]
            needed.policies.add(order.policy)  # type: ignore[union-attr]
        elif kind is Recall:
            needed.decisions.add(order.id)  # type: ignore[union-attr]
        elif kind is BlankContexts:
            needed.decisions.update(order.decisions)  # type: ignore[union-attr]
        elif kind is Append:
            needed.policies.add(order.policy)  # type: ignore[union-attr]
    return needed


def judge(batch: OrderBatch, facts: JournalFacts) -> tuple[list[Outcome], JournalChanges]:
    """Return the outcome of each order, and the changes to write."""
    judging = _BatchApplication(batch, facts)
    return [judging.carry_out(order) for order in batch.orders], judging.changes


def aggregate_rewards(rewards: Iterable[RewardRow], how: str) -> float | None:
    """Aggregate the rewards that arrived in time, ordered by time and then by id. None without such rewards.

    >>> some = [RewardRow("d", "1", 1.0, False, 5), RewardRow("d", "2", 0.0, False, 3), RewardRow("d", "3", 9.0, True, 4)]
    >>> [aggregate_rewards(some, how) for how in ("first", "last", "sum", "mean", "min", "max")]
    [0.0, 1.0, 1.0, 0.5, 0.0, 1.0]
    """
    values = [each.value for each in sorted((each for each in rewards if not each.late), key=lambda each: (each.at, each.id))]
    if not values:
        return None
    if how == "first" or how == "last":
        return values[0 if how == "first" else -1]
    if how == "min" or how == "max":
        return min(values) if how == "min" else max(values)
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if how == "mean" else total


def clip_reward(value: float, rules: Rules) -> float:
    """Clip a reward to its range: a sum of rewards may lie outside, even if each of them lies within."""
    return value if rules.low is None or rules.high is None else min(max(value, rules.low), rules.high)


def reward_of_loss(loss: float, rules: Rules) -> float:
    """Convert a loss into a reward: its mirror image in the policy's range, or its negative if the range is inferred.

    >>> some = Rules(0, None, "first", True, 2.0, 10.0, False)
    >>> reward_of_loss(2.0, some), reward_of_loss(9.0, some), reward_of_loss(9.0, some._replace(low=None, high=None))
    (10.0, 3.0, -9.0)
    """
    return -loss if rules.low is None or rules.high is None else rules.low + rules.high - loss


class _BatchApplication:
    """A batch being applied: facts, which each order may change, and the changes so far."""

    def __init__(self, batch: OrderBatch, facts: JournalFacts) -> None:
        self.now, self.rules, self.facts = batch.now, batch.rules, facts
        self.heads = dict(facts.heads)
        self.last_policy = facts.last_policy
        self.changes = JournalChanges()
        self.learned: set[str] = set()  # in this batch

    def carry_out(self, order: Order) -> Outcome:
        """Carry out one order."""
        return getattr(self, ORDERS[type(order)])(order)  # type: ignore[no-any-return]

    # -- facts ----------------------------------------------------------------------------------------------------------

    def decide(self, order: NewDecision) -> Outcome:
        row = order.row
        if row.policy not in self.rules:
            return Outcome("gone")
        fact = self.facts.decisions.setdefault(row.id, Fact())
        if fact.row is not None:
            same = fact.row.policy == row.policy and fact.row.body == row.body
            return Outcome("stored" if same else "conflict", decision=fact.row)
        fact.row = row
        self.changes.decisions.append(row)
        self._wait(fact, row, row.deadline, order.active)
        return Outcome("created", decision=row)

    def recall(self, order: Recall) -> Outcome:
        fact = self._fact(order.id)
        if fact is None or fact.row is None:
            return Outcome("refused", detail=order.why)
        same = fact.row.policy == order.policy and fact.row.body == order.body
        return Outcome("stored" if same else "conflict", decision=fact.row)

    def reward(self, order: NewReward) -> Outcome:
        fact, lost = self._fact(order.decision), order.restored
        if fact is None or fact.row is None:
            if order.unreadable:
                return Outcome("refused", detail=order.unreadable)
            return Outcome("unknown") if lost is None or lost.row.policy not in self.rules else self._restore(order, lost)
        if order.only is not None and fact.row.policy not in order.only:
            return Outcome("forbidden")
        if order.restored is not None and fact.row != order.restored.row and fact.row.context:
            return Outcome(
                "conflict",
                decision=fact.row,
                detail="The receipt belongs to another decision with this id. Send the receipt of this one.",
            )
        return self._add_reward(fact, order)

    def _restore(self, order: NewReward, lost: NewDecision) -> Outcome:
        """Write a decision that was answered and then lost, as its receipt has it. Then add the reward as usual."""
        row, rules = lost.row, self.rules[lost.row.policy]
        if (wrong := _unfit(order, rules)) is not None:
            return Outcome("refused", decision=row, detail=wrong)
        if self.decide(lost).status != "created":
            return Outcome("conflict", decision=row, detail="A decision with this id is being erased. Try again later.")
        fact, learned = self.facts.decisions[row.id], []
        if order.over:
            learned = self._end(fact, row, rules)
        outcome = self._add_reward(fact, order)
        return outcome._replace(
            learned=(*learned, *outcome.learned), next=None if fact.pending is None else fact.pending.deadline
        )

    def _add_reward(self, fact: Fact, order: NewReward) -> Outcome:
        assert fact.row is not None
        row, rules = fact.row, self.rules[fact.row.policy]
        value = reward_of_loss(order.value, rules) if order.loss else order.value
        before = fact.rewards.get(order.id)
        if before is not None:
            if before.value != value:
                return Outcome("conflict", decision=row, reward=before)
            return Outcome("late" if before.late else "duplicate", decision=row, reward=before, detail=fact.closed or "")
        if (wrong := _unfit(order, rules)) is not None:
            return Outcome("refused", decision=row, detail=wrong)
        if fact.count >= MOST_REWARDS:
            detail = f"The decision {row.id} has {MOST_REWARDS} rewards, the most that it can have. Add rewards up before you send them."
            return Outcome("refused", decision=row, detail=detail)
        pending = fact.pending
        reward = RewardRow(order.decision, order.id, value, pending is None, self.now, order.key)
        fact.rewards[order.id] = reward
        fact.count += 1
        self.changes.rewards.append(reward)
        if pending is None:
            return Outcome("late", decision=row, reward=reward, detail=fact.closed or "")
        if not rules.on_arrival:
            if not pending.active:  # a reward proves that it was shown
                self._wait(fact, row, pending.deadline, active=True)
            return Outcome("accepted", decision=row, reward=reward)
        update = self._update(fact, row, rules)
        return Outcome("learned", decision=row, reward=reward, learned=(update,))

    def activate(self, order: Activation) -> Outcome:
        fact = self._fact(order.decision)
        if fact is None or fact.row is None:
            return Outcome("unknown")
        if order.only is not None and fact.row.policy not in order.only:
            return Outcome("forbidden")
        if fact.pending is None:
            return Outcome("late", decision=fact.row, detail=fact.closed or "")
        if fact.pending.active:
            return Outcome("duplicate", decision=fact.row)
        self._wait(fact, fact.row, self.now + self.rules[fact.row.policy].wait, active=True)
        return Outcome("done", decision=fact.row, next=self.now + self.rules[fact.row.policy].wait)

    def void(self, order: Voiding) -> Outcome:
        fact = self._fact(order.decision)
        if fact is None or fact.row is None:
            return Outcome("unknown")
        if order.only is not None and fact.row.policy not in order.only:
            return Outcome("forbidden")
        if fact.closed == "void":
            return Outcome("duplicate", decision=fact.row)
        if fact.pending is None:
            return Outcome("late", decision=fact.row, detail=fact.closed or "")
        if fact.count:
            return Outcome(
                "conflict", decision=fact.row, detail="The decision has a reward, so it was shown, and cannot be voided."
            )
        self._close(fact, fact.row, "void")
        return Outcome("done", decision=fact.row)

    # -- the stream -----------------------------------------------------------------------------------------------------

    def learn(self, order: Learn) -> Outcome:
        rules, updates, expired = self.rules[order.policy], [], 0
        due = self.facts.due.get(order.policy, [])
        for name in due:
            fact = self.facts.decisions[name]
            if fact.pending is None or fact.row is None or fact.pending.deadline > order.until:
                continue  # an earlier order of this batch closed it, or began its wait
            update = self._end(fact, fact.row, rules)
            updates += update
            expired += not update
        more = len(due) >= order.limit
        return Outcome("done", learned=tuple(updates), expired=expired, next=self.facts.next.get(order.policy), more=more)

    def append(self, order: Append) -> Outcome:
        return Outcome("done", row=self._append(order.policy, order.kind, data=order.data, body=order.body))

    def create(self, order: NewPolicy) -> Outcome:
        self.last_policy += 1
        row = PolicyRow(self.last_policy, order.name, order.secret, 1, self.now)
        self.changes.policies.append(row)
        first = StreamRow(row.id, 1, RowKind.CREATE, None, None, False, order.data, None, self.now)
        self.changes.stream.append(first)
        return Outcome("created", row=first, policy=row)

    def erase(self, order: Erase) -> Outcome:
        self.changes.erased.append(order.policy)
        self.rules = {name: rules for name, rules in self.rules.items() if name != order.policy}
        return Outcome("done")

    def blank(self, order: BlankContexts) -> Outcome:
        """Blank contexts, except those learned in this batch: they are not in the snapshot yet, and wait for the next batch."""
        count, left = 0, False
        for name in order.decisions:
            fact = self._fact(name)
            if fact is None or fact.row is None or fact.row.policy != order.policy or not fact.row.context:
                continue
            if name in self.learned:
                left = True
                continue
            if fact.pending is not None and order.closed:
                continue
            if fact.pending is not None:
                self._close(fact, fact.row, "forgotten")
            self.changes.blanked.append(name)
            count += 1
        return Outcome("done", forgotten=count, more=left)

    def keep(self, order: Keep) -> Outcome:
        if order.rows[0].policy not in self.rules:
            return Outcome("gone")
        self.changes.snapshots += order.rows
        if order.before:
            self.changes.cleared[order.rows[0].policy] = order.before
        return Outcome("done", next=order.rows[0].seq)

    # -- steps ----------------------------------------------------------------------------------------------------------

    def _fact(self, name: str) -> Fact | None:
        """Return what is known of a decision. None if nothing is, or if its policy is being erased."""
        fact = self.facts.decisions.get(name)
        return None if fact is None or fact.row is None or fact.row.policy not in self.rules else fact

    def _wait(self, fact: Fact, row: DecisionRow, deadline: int, active: bool) -> None:
        fact.pending = self.changes.pending[row.id] = PendingRow(row.id, row.policy, deadline, active)

    def _end(self, fact: Fact, row: DecisionRow, rules: Rules) -> list[tuple[StreamRow, DecisionRow]]:
        """Close a decision whose wait is over. Returns its update, if it has one."""
        active = fact.pending is not None and fact.pending.active
        if active and (fact.rewards or rules.default is not None):
            return [self._update(fact, row, rules)]
        self._close(fact, row, "expired" if active else "void")
        return []

    def _update(self, fact: Fact, row: DecisionRow, rules: Rules) -> tuple[StreamRow, DecisionRow]:
        value = aggregate_rewards(fact.rewards.values(), rules.aggregate)
        reward = rules.default if value is None else value
        assert reward is not None
        more: dict[str, Any] = {"decision": row.id, "reward": clip_reward(reward, rules), "defaulted": value is None}
        update = self._append(row.policy, RowKind.UPDATE, **more)
        self._undo(fact, row.id, "learned")
        self.learned.add(row.id)
        return update, row

    def _append(self, policy: int, kind: int, **more: Any) -> StreamRow:
        self.heads[policy] = self.changes.heads[policy] = seq = self.heads[policy] + 1
        columns = {"decision": None, "reward": None, "defaulted": False, "data": None, "body": None} | more
        row = StreamRow(policy=policy, seq=seq, kind=int(kind), at=self.now, **columns)
        self.changes.stream.append(row)
        return row

    def _close(self, fact: Fact, row: DecisionRow, how: str) -> None:
        self.changes.closed.append(ClosedRow(row.id, how, self.now))
        self._undo(fact, row.id, how)

    def _undo(self, fact: Fact, name: str, how: str) -> None:
        fact.pending, fact.closed = None, how
        self.changes.pending.pop(name, None)
        self.changes.undone.add(name)


def _unfit(order: NewReward, rules: Rules) -> str | None:
    if rules.clip or rules.low is None or rules.high is None or rules.low <= order.value <= rules.high:
        return None
    name = "loss" if order.loss else "reward"
    return (
        f"{name} must be a number in [{rules.low}, {rules.high}]; given {order.value}. Create a policy with another range, "
        f'"policy": {{"{name}_range": [low, high]}}, or one that clips, "policy": {{"outside": "clip"}}.'
    )


ORDERS = {
    NewDecision: "decide",
    Recall: "recall",
    NewReward: "reward",
    Activation: "activate",
    Voiding: "void",
    Learn: "learn",
    Append: "append",
    NewPolicy: "create",
    Keep: "keep",
    Erase: "erase",
    BlankContexts: "blank",
}
