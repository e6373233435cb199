"""Faults that the simulator must notice: each is a small patch of the service, like a programming mistake."""

import hsb.serve.core.apply as judging
import hsb.serve.core.engine as engine
import hsb.serve.core.policy_state as served
import hsb.serve.core.receipts as receipts
from hsb.serve.core.clock import Clock
from hsb.serve.core.learner import PolicyReplica
from hsb.serve.core.messages import Answer
from hsb.serve.core.orders import Outcome
from hsb.serve.core.rows import RewardRow
from hsb.serve.core.sealed_snapshots import Frozen

Judging, Core, Served = judging._BatchApplication, engine.Core, served.Served


def answer_before_commit(patch):
    real = Core._write_decision

    def decided(self, served, message, row):
        effects = real(self, served, message, row)
        if not effects:
            self.waiting.pop()
            self.waiting.append((None, engine.NewDecision(row, True), None))
            body = {"id": row.id, "policy": served.name, "arm": served.arms[row.arm], "propensity": row.propensity}
            effects = [Answer(message.request, "created", body | {"deadline": row.deadline})]
        return effects

    patch(Core, "_write_decision", decided)


def drawn_together_by_one_number(patch):
    real = Served.decide_all

    def decide_all(self, asked, at):
        rows = real(self, asked, at)
        return [row if row is None else row._replace(arm=rows[0].arm) for row in rows] if rows and rows[0] else rows

    patch(Served, "decide_all", decide_all)


def together_beyond_the_room(patch):
    real = engine.draw_together

    def drawn(core, messages, now):
        limits, core.limits = core.limits, core.limits._replace(waiting=1 << 30)
        try:
            return real(core, messages, now)
        finally:
            core.limits = limits

    patch(engine, "draw_together", drawn)


def goes_on_after_a_lost_commit(patch):
    real = Core._handle_failed
    patch(Core, "_handle_failed", lambda self, message, now: real(self, message._replace(why="full"), now))


def reward_learned_twice(patch):
    real = Judging._update

    def update(self, fact, row, rules):
        result = real(self, fact, row, rules)
        if self.now % 3 == 0:
            self._append(row.policy, 1, decision=row.id, reward=0.0)
        return result

    patch(Judging, "_update", update)


def pending_row_stays(patch):
    real = Judging._undo

    def undo(self, fact, name, how):
        real(self, fact, name, how)
        self.changes.undone.discard(name)

    patch(Judging, "_undo", undo)


def pending_row_is_lost(patch):
    real = Judging._wait

    def wait(self, fact, row, deadline, active):
        real(self, fact, row, deadline, active)
        if row.id.endswith("7"):
            self.changes.pending.pop(row.id)

    patch(Judging, "_wait", wait)


def late_reward_is_learned(patch):
    real = Judging.reward

    def reward(self, order):
        result = real(self, order)
        if result.status == "late" and self.changes.rewards and self.changes.rewards[-1].late:
            self.changes.rewards[-1] = self.changes.rewards[-1]._replace(late=False)
            return result._replace(status="accepted")
        return result

    patch(Judging, "reward", reward)


def default_though_there_is_a_reward(patch):
    real = judging.aggregate_rewards
    patch(judging, "aggregate_rewards", lambda rewards, how: None if how == "last" else real(rewards, how))
    rules = Judging._update

    def update(self, fact, row, given):
        return rules(self, fact, row, given._replace(default=0.0 if given.default is None else given.default))

    patch(Judging, "_update", update)


def retry_decides_anew(patch):
    real = Judging.decide

    def decide(self, order):
        result = real(self, order)
        return result._replace(status="stored", decision=order.row) if result.status == "conflict" else result

    patch(Judging, "decide", decide)


def retry_replaces_the_reward(patch):
    real = Judging.reward

    def reward(self, order):
        result = real(self, order)
        if result.status == "conflict":
            return Outcome(
                "accepted", decision=result.decision, reward=RewardRow(order.decision, order.id, order.value, False, self.now)
            )
        return result

    patch(Judging, "reward", reward)


def u_is_reused(patch):
    real = served.u_of
    patch(served, "u_of", lambda secret, id: real(secret, id[:2]))


def all_arms_are_said_to_be_available(patch):
    real = served.bits_of
    patch(served, "bits_of", lambda indices, arms: real(list(range(arms)), arms))


def propensity_without_the_baseline(patch):
    real = Served.decide

    def decide(self, *given, **more):
        row = real(self, *given, **more)
        return row._replace(propensity=row.propensity * 0.9) if row.baseline == row.arm else row

    patch(Served, "decide", decide)


def updates_of_another_version(patch):
    real = PolicyReplica._learn

    def learn(self, row, reward, arms):
        p = self.policy.probabilities(0.5)[row.arm] if row.arm < len(self.policy.arms) else 0.0
        return real(self, row._replace(propensity=max(float(p), 0.01)), reward, arms)

    patch(PolicyReplica, "_learn", learn)


def snapshot_of_another_row(patch):
    real = Frozen.rows
    patch(Frozen, "rows", lambda self: tuple(row._replace(seq=max(1, row.seq - 1)) for row in real(self)))


def packed_while_it_learns(patch):
    """Pack the policy itself instead of a copy; it has learned more in the meantime."""
    real = Served.frozen
    patch(Served, "frozen", lambda self, at, copied=True: real(self, at, copied=False))


def snapshot_forgets_a_removed_arm(patch):
    real = Served.restore.__func__

    def revived(cls, policy, rows):
        result = real(cls, policy, rows)
        result.removed = set()
        result._rule()
        return result

    patch(Served, "restore", classmethod(revived))


def settings_before_updates(patch):
    real = Core.flush

    def flush(self, now):
        if self.flying is None and self.last:
            self.waiting.extendleft(self.last)
            self.last = []
        return real(self, now)

    patch(Core, "flush", flush)


def jumps_are_believed(patch):
    patch(Clock, "see", lambda self, now: False)


def deadlines_are_forgotten(patch):
    patch(Core, "_note_deadlines", lambda self, orders, outcomes: None)


def candidates_skip_rows(patch):
    real = Served.catch_up
    patch(
        Served,
        "catch_up",
        lambda self, entries: real(self, [(row._replace(kind=9), it) if row.seq == 3 else (row, it) for row, it in entries]),
    )


def void_though_it_has_a_reward(patch):
    real = Judging.void

    def void(self, order):
        fact = self.facts.decisions.get(order.decision)
        if fact is not None and fact.row is not None and fact.pending is not None:
            self._close(fact, fact.row, "void")
            return Outcome("done", decision=fact.row)
        return real(self, order)

    patch(Judging, "void", void)


def head_is_not_moved(patch):
    real = Judging._append

    def append(self, policy, kind, **more):
        row = real(self, policy, kind, **more)
        if kind == 1:
            self.heads[policy] -= 1
        return row

    patch(Judging, "_append", append)


def dropped_when_full(patch):
    """Count updates as learned although the disk is full."""
    real = Core._handle_failed

    def failed(self, message, now):
        for watch in self.watches.values():
            watch.due = float("inf") if message.why == "full" else watch.due
        return real(self, message, now)

    patch(Core, "_handle_failed", failed)


def given_ids_are_answered_from_memory(patch):
    real = Core._decide
    patch(Core, "_decide", lambda self, message, now: real(self, message._replace(fresh=True), now))


def answered_decisions_are_dropped_when_full(patch):
    real = Core._handle_failed

    def failed(self, message, now):
        effects = real(self, message, now)
        while self.waiting and self.waiting[0][0] is None:
            self.waiting.popleft()
        return effects

    patch(Core, "_handle_failed", failed)


def receipts_are_not_looked_at(patch):
    patch(engine, "restore_decision", lambda *given: None)


def seals_are_not_compared(patch):
    patch(receipts.hmac, "compare_digest", lambda one, other: True)


def restored_though_it_is_there(patch):
    real = Judging.reward

    def reward(self, order):
        fact = self.facts.decisions.get(order.decision)
        if fact is not None and order.restored is not None and fact.row == order.restored.row and fact.pending is None:
            fact.rewards = {}
            self._wait(fact, fact.row, fact.row.deadline, True)
            self.changes.undone.discard(order.decision)
        return real(self, order)

    patch(Judging, "reward", reward)


def restored_with_another_version(patch):
    real = engine.restore_decision

    def restored(policies, *given):
        result = real(policies, *given)
        if result is None:
            return result
        return result._replace(row=result.row._replace(version=policies[result.row.policy].version))

    patch(engine, "restore_decision", restored)


FAULTS = [
    answer_before_commit,
    drawn_together_by_one_number,
    together_beyond_the_room,
    goes_on_after_a_lost_commit,
    reward_learned_twice,
    pending_row_stays,
    pending_row_is_lost,
    late_reward_is_learned,
    default_though_there_is_a_reward,
    retry_decides_anew,
    retry_replaces_the_reward,
    u_is_reused,
    all_arms_are_said_to_be_available,
    propensity_without_the_baseline,
    updates_of_another_version,
    snapshot_of_another_row,
    packed_while_it_learns,
    snapshot_forgets_a_removed_arm,
    settings_before_updates,
    jumps_are_believed,
    deadlines_are_forgotten,
    candidates_skip_rows,
    void_though_it_has_a_reward,
    head_is_not_moved,
    dropped_when_full,
    given_ids_are_answered_from_memory,
    answered_decisions_are_dropped_when_full,
    receipts_are_not_looked_at,
    seals_are_not_compared,
    restored_though_it_is_there,
    restored_with_another_version,
]
