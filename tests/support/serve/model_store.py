"""A journal in dicts, with a disk that a test controls. It uses no SQL, and its lookups are the simplest possible."""

from collections.abc import Iterator

from hsb.serve.core.apply import judge, needs
from hsb.serve.core.orders import Fact, JournalChanges, JournalFacts, Needs, OrderBatch, Outcome
from hsb.serve.core.receipts import Processes
from hsb.serve.core.rows import (
    ClosedRow,
    DecisionEnd,
    DecisionRow,
    DecisionStatus,
    Entry,
    PendingRow,
    PolicyRow,
    RewardRow,
    SnapshotRow,
    StreamRow,
)


class NotUnique(Exception):
    """A violated uniqueness constraint, as a database raises it."""


class ModelStore:
    def __init__(self) -> None:
        self.policy: dict[int, PolicyRow] = {}
        self.last_policy = 0
        self.decision: dict[str, DecisionRow] = {}
        self.reward: dict[tuple[str, str], RewardRow] = {}
        self.by_decision: dict[str, list[RewardRow]] = {}
        self.waiting: dict[str, PendingRow] = {}
        self.shut: dict[str, ClosedRow] = {}
        self.rows: dict[int, list[StreamRow]] = {}
        self.learned: dict[str, StreamRow] = {}
        self.snapshot: dict[tuple[int, int, int], SnapshotRow] = {}
        self.starts: list[tuple[str, dict[int, int]]] = []

    # -- a transaction in two halves, between which a disk may fail -----------------------------------------------------

    def prepare(self, batch: OrderBatch) -> tuple[list[Outcome], JournalChanges]:
        return judge(batch, self.facts(needs(batch)))

    def write(self, changes: JournalChanges) -> None:
        taken = {row.name for row in self.policy.values()}
        if any(row.id in self.policy or row.name in taken for row in changes.policies):
            raise NotUnique("policy")
        if any(row.id in self.decision for row in changes.decisions):
            raise NotUnique("decision")
        if any((row.decision, row.id) in self.reward for row in changes.rewards):
            raise NotUnique("reward")
        updates = [row.decision for row in changes.stream if row.kind == 1]
        if len(set(updates)) < len(updates) or any(name in self.learned for name in updates):
            raise NotUnique("update")
        for row in changes.policies:
            self.policy[row.id] = row
            self.last_policy = row.id
            self.rows[row.id] = []
        for row in changes.decisions:
            self.decision[row.id] = row
        for row in changes.rewards:
            self.reward[row.decision, row.id] = row
            self.by_decision.setdefault(row.decision, []).append(row)
        self.waiting.update(changes.pending)
        for name in changes.undone:
            self.waiting.pop(name, None)
        for row in changes.closed:
            self.shut[row.decision] = row
        for row in changes.stream:
            self.rows[row.policy].append(row)
            if row.kind == 1:
                self.learned[row.decision] = row
        for policy, head in changes.heads.items():
            self.policy[policy] = self.policy[policy]._replace(head=head)
        for row in changes.snapshots:
            self.snapshot[row.policy, row.seq, row.learner] = row
        for policy, row in changes.cleared.items():
            self.snapshot = {name: each for name, each in self.snapshot.items() if name[0] != policy or name[1] >= row}
        for name in changes.blanked:
            self.decision[name] = self.decision[name]._replace(context="", seen=None, body=b"")
        for policy in changes.erased:
            self.erase(policy)

    def erase(self, policy: int) -> None:
        gone = {row.id for row in self.decision.values() if row.policy == policy}
        del self.policy[policy], self.rows[policy]
        for table in (self.decision, self.by_decision, self.waiting, self.shut, self.learned):
            for name in gone & table.keys():
                del table[name]
        self.reward = {name: row for name, row in self.reward.items() if name[0] not in gone}
        self.snapshot = {name: row for name, row in self.snapshot.items() if name[0] != policy}

    def begin(self, process: str, at: int) -> Processes:
        self.starts.append((process, {row.id: row.head for row in self.policy.values()}))
        names, heads = zip(*self.starts, strict=True)
        return Processes(process, dict(zip(names[:-1], heads[1:], strict=True)))

    def commit(self, batch: OrderBatch) -> list[Outcome]:
        outcomes, changes = self.prepare(batch)
        self.write(changes)
        return outcomes

    def facts(self, wanted: Needs) -> JournalFacts:
        due, after = {}, {}
        names = set(wanted.decisions)
        for policy, until, limit in wanted.due:
            rows = sorted((row.deadline, row.decision) for row in self.waiting.values() if row.policy == policy)
            due[policy] = [name for deadline, name in rows if deadline <= until][:limit]
            after[policy] = min((deadline for deadline, _ in rows if deadline > until), default=None)
            names.update(due[policy])
        values = {}
        for name in names & self.decision.keys():
            fact = values[name] = Fact(self.decision[name])
            fact.rewards = {row.id: row for row in self.by_decision.get(name, [])}
            fact.count = len(fact.rewards)
            fact.pending = self.waiting.get(name)
            fact.closed = "learned" if name in self.learned else self.shut[name].how if name in self.shut else None
        known = wanted.policies | {fact.row.policy for fact in values.values()}
        heads = {policy: row.head for policy, row in self.policy.items() if policy in known}
        return JournalFacts(values, due, after, heads, self.last_policy)

    # -- what can be asked ----------------------------------------------------------------------------------------------

    def policies(self) -> list[PolicyRow]:
        return list(self.policy.values())

    def stream(self, policy: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        rows = sorted((row for row in self.rows.get(policy, ()) if row.seq > after), key=lambda row: row.seq)
        return [(row, self.decision.get(row.decision or "")) for row in rows[:limit]]

    def entries(self, policy: int, after: int = 0) -> Iterator[Entry]:
        return iter(self.stream(policy, after))

    def snapshots(self, policy: int) -> Iterator[list[SnapshotRow]]:
        for seq in sorted({seq for name, seq, _ in self.snapshot if name == policy}, reverse=True):
            yield [row for (name, at, _), row in sorted(self.snapshot.items()) if (name, at) == (policy, seq)]

    def decisions(self, policy: int) -> Iterator[DecisionRow]:
        yield from sorted((row for row in self.decision.values() if row.policy == policy), key=lambda row: row.version)

    def rewards(self, policy: int) -> Iterator[RewardRow]:
        yield from (row for row in self.reward.values() if self.decision[row.decision].policy == policy)

    def ends(self, policy: int, after: int, limit: int) -> tuple[list[DecisionEnd], int]:
        results, rows = [], list(self.decision.values())[after : after + limit]
        for position, row in enumerate(rows, after + 1):
            how = "pending" if row.id in self.waiting else self.shut[row.id].how if row.id in self.shut else "learned"
            if row.policy == policy:
                results.append(DecisionEnd(position, row.arm, row.propensity, row.available, row.deadline, how))
        return results, min(after + limit, len(self.decision))

    def rewards_of(self, decisions: list[str]) -> dict[str, list[RewardRow]]:
        return {name: self.by_decision[name] for name in decisions if name in self.by_decision}

    def pending(self, policy: int) -> Iterator[PendingRow]:
        yield from (row for row in self.waiting.values() if row.policy == policy)

    def closed(self, policy: int) -> Iterator[ClosedRow]:
        yield from (row for row in self.shut.values() if self.decision[row.decision].policy == policy)

    def statuses(self, policy: int) -> Iterator[DecisionStatus]:
        for row in self.decision.values():
            if row.policy == policy:
                late = [each.late for each in self.by_decision.get(row.id, [])]
                learned = (
                    sum(each.decision == row.id for each in self.rows[policy] if each.kind == 1)
                    if row.id in self.learned
                    else 0
                )
                how = self.shut[row.id].how if row.id in self.shut else None
                yield DecisionStatus(row.id, late.count(False), late.count(True), row.id in self.waiting, learned, how)

    def deadlines(self) -> dict[int, int]:
        result: dict[int, int] = {}
        for row in self.waiting.values():
            result[row.policy] = min(result.get(row.policy, row.deadline), row.deadline)
        return result

    def damage(self) -> list[str]:
        return []

    def last(self) -> int:
        return max(
            [row.at for rows in self.rows.values() for row in rows] + [row.at for row in self.decision.values()], default=0
        )

    def close(self) -> None:
        pass
