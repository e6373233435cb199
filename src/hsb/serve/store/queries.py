"""Queries of a journal in SQLite."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..core.orders import Fact, JournalFacts, Needs
from ..core.rows import (
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
from . import JournalReader

DECISION = ", ".join(f"d.{name}" for name in DecisionRow._fields)
STREAM = ", ".join(f"s.{name}" for name in StreamRow._fields)
AMONG = "IN (SELECT value FROM json_each(?))"
PART = 2000  # rows read at once
WIDTH = len(StreamRow._fields)


class Queries(JournalReader):
    """Queries for all connections, those that write and those that only read."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def rows(self, sql: str, *arguments: Any) -> list[Any]:
        """Return all rows of a query."""
        return self.connection.execute(sql, arguments).fetchall()  # type: ignore[no-any-return]

    def policies(self) -> list[PolicyRow]:
        return [PolicyRow(*row) for row in self.rows("SELECT id, name, secret, head, at FROM policy ORDER BY id")]

    def stream(self, policy: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        rows = self.rows(
            f"SELECT {STREAM}, {DECISION} FROM stream s LEFT JOIN decision d ON s.kind = 1 AND d.id = s.decision "
            "WHERE s.policy = ? AND s.seq > ? ORDER BY s.seq LIMIT ?",
            policy,
            after,
            -1 if limit is None else limit,
        )
        return [(_stream_row(row[:WIDTH]), None if row[WIDTH] is None else DecisionRow(*row[WIDTH:])) for row in rows]

    def entries(self, policy: int, after: int = 0) -> Iterator[Entry]:
        while rows := self.stream(policy, after, PART):
            yield from rows
            after = rows[-1][0].seq

    def snapshots(self, policy: int) -> Iterator[list[SnapshotRow]]:
        for (seq,) in self.rows("SELECT DISTINCT seq FROM snapshot WHERE policy = ? ORDER BY seq DESC", policy):
            columns = ", ".join(SnapshotRow._fields)
            rows = self.rows(f"SELECT {columns} FROM snapshot WHERE policy = ? AND seq = ? ORDER BY learner", policy, seq)
            if rows:  # otherwise it was pruned meanwhile
                yield [SnapshotRow(*row) for row in rows]

    def decisions(self, policy: int) -> Iterator[DecisionRow]:
        for row in self.connection.execute(
            f"SELECT {DECISION} FROM decision d WHERE policy = ? ORDER BY version, rowid", (policy,)
        ):
            yield DecisionRow(*row)

    def rewards(self, policy: int) -> Iterator[RewardRow]:
        columns = ", ".join(f"r.{name}" for name in RewardRow._fields)
        sql = (
            f"SELECT {columns} FROM reward r JOIN decision d ON d.id = r.decision WHERE d.policy = ? ORDER BY r.decision, r.id"
        )
        for row in self.connection.execute(sql, (policy,)):
            yield _reward_row(row)

    def pending(self, policy: int) -> Iterator[PendingRow]:
        sql = "SELECT decision, policy, deadline, active FROM pending WHERE policy = ? ORDER BY deadline, decision"
        for row in self.connection.execute(sql, (policy,)):
            yield _pending_row(row)

    def closed(self, policy: int) -> Iterator[ClosedRow]:
        sql = "SELECT c.decision, c.how, c.at FROM closed c JOIN decision d ON d.id = c.decision WHERE d.policy = ? ORDER BY c.decision"
        for row in self.connection.execute(sql, (policy,)):
            yield ClosedRow(*row)

    def statuses(self, policy: int) -> Iterator[DecisionStatus]:
        sql = """SELECT d.id, (SELECT COUNT(*) FROM reward r WHERE r.decision = d.id AND NOT r.late),
          (SELECT COUNT(*) FROM reward r WHERE r.decision = d.id AND r.late), p.decision IS NOT NULL,
          (SELECT COUNT(*) FROM stream s WHERE s.kind = 1 AND s.decision = d.id), c.how
          FROM decision d LEFT JOIN pending p ON p.decision = d.id LEFT JOIN closed c ON c.decision = d.id WHERE d.policy = ?"""
        for row in self.connection.execute(sql, (policy,)):
            yield DecisionStatus(row[0], row[1], row[2], bool(row[3]), row[4], row[5])

    def ends(self, policy: int, after: int, limit: int) -> tuple[list[DecisionEnd], int]:
        ((last,),) = self.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
        after = min(after, last)  # rows at the end were erased with their policy
        until = min(after + limit, last)
        sql = """SELECT d.rowid, d.arm, d.propensity, d.available, d.deadline,
          CASE WHEN p.decision IS NOT NULL THEN 'pending' WHEN c.how IS NOT NULL THEN c.how ELSE 'learned' END
          FROM decision d LEFT JOIN pending p ON p.decision = d.id LEFT JOIN closed c ON c.decision = d.id
          WHERE d.rowid > ? AND d.rowid <= ? AND d.policy = ? ORDER BY d.rowid"""
        return [DecisionEnd(*row) for row in self.rows(sql, after, until, policy)], until

    def rewards_of(self, decisions: list[str]) -> dict[str, list[RewardRow]]:
        rewards: dict[str, list[RewardRow]] = {}
        sql = f"SELECT {', '.join(RewardRow._fields)} FROM reward WHERE decision {AMONG}"
        for row in self.rows(sql, json.dumps(decisions)):
            rewards.setdefault(row[0], []).append(_reward_row(row))
        return rewards

    def deadlines(self) -> dict[int, int]:
        return dict(self.rows("SELECT policy, MIN(deadline) FROM pending GROUP BY policy"))

    def damage(self) -> list[str]:
        lines = [str(text) for (text,) in self.rows("PRAGMA integrity_check(20)")]
        return [] if lines == ["ok"] else lines

    def last(self) -> int:
        rows = self.rows(
            "SELECT MAX(at) FROM stream UNION ALL SELECT at FROM decision WHERE rowid = (SELECT MAX(rowid) FROM decision)"
        )
        return max((timestamp for (timestamp,) in rows if timestamp is not None), default=0)

    # -- facts for a batch ----------------------------------------------------------------------------------------------

    def facts(self, needs: Needs) -> JournalFacts:
        """Look up the facts for a batch: about its decisions, and those that are due."""
        due: dict[int, list[str]] = {}
        after: dict[int, int | None] = {}
        wanted = set(needs.decisions)
        for policy, until, limit in needs.due:
            sql = "SELECT decision FROM pending WHERE policy = ? AND deadline <= ? ORDER BY deadline, decision LIMIT ?"
            due[policy] = [name for (name,) in self.rows(sql, policy, until, limit)]
            wanted.update(due[policy])
            ((after[policy],),) = self.rows(
                "SELECT MIN(deadline) FROM pending WHERE policy = ? AND deadline > ?", policy, until
            )
        known = self._facts_of(wanted) if wanted else {}
        closing = {name for some in due.values() for name in some}
        arriving = {name for name, fact in known.items() if fact.pending is not None and fact.pending.policy in needs.arriving}
        self._add_rewards(known, closing | arriving, needs.rewards)
        policies = needs.policies | {fact.row.policy for fact in known.values() if fact.row is not None}
        sql = f"SELECT id, head FROM policy WHERE id {AMONG}"
        heads = dict(self.rows(sql, json.dumps(sorted(policies)))) if policies else {}
        ids = "SELECT COALESCE(MAX(id), 0) FROM (SELECT id FROM policy UNION ALL SELECT policy FROM purge)"
        last = self.rows(ids)[0][0] if needs.creates else 0
        return JournalFacts(known, due, after, heads, last)

    def _facts_of(self, names: Iterable[str]) -> dict[str, Fact]:
        rows = self.rows(f"SELECT {DECISION} FROM decision d WHERE d.id {AMONG}", json.dumps(sorted(names)))
        facts = {row[0]: Fact(DecisionRow(*row)) for row in rows}
        if not facts:
            return facts
        ids = json.dumps(list(facts))
        for name, count in self.rows(
            "SELECT j.value, (SELECT COUNT(*) FROM reward r WHERE r.decision = j.value) FROM json_each(?) j", ids
        ):
            facts[name].count = count
        for row in self.rows(f"SELECT decision, policy, deadline, active FROM pending WHERE decision {AMONG}", ids):
            facts[row[0]].pending = _pending_row(row)
        for (name,) in self.rows(f"SELECT decision FROM stream WHERE kind = 1 AND decision {AMONG}", ids):
            facts[name].closed = "learned"
        for name, how in self.rows(f"SELECT decision, how FROM closed WHERE decision {AMONG}", ids):
            facts[name].closed = how
        return facts

    def _add_rewards(self, known: dict[str, Fact], closing: set[str], sent: set[tuple[str, str]]) -> None:
        """Add rewards to facts: all of them for decisions in `closing`, for others only those in `sent`, since there may be many."""
        columns = ", ".join(f"r.{name}" for name in RewardRow._fields)
        some = {name for name, fact in known.items() if fact.count}
        rows: list[Any] = []
        if whole := sorted(some & closing):
            rows += self.rows(f"SELECT {columns} FROM reward r WHERE r.decision {AMONG}", json.dumps(whole))
        if pairs := sorted(pair for pair in sent if pair[0] in some and pair[0] not in closing):
            sql = f"""SELECT {columns} FROM json_each(?) g JOIN reward r
              ON r.decision = json_extract(g.value, '$[0]') AND r.id = json_extract(g.value, '$[1]')"""
            rows += self.rows(sql, json.dumps(pairs))
        for row in rows:
            known[row[0]].rewards[row[1]] = _reward_row(row)


def _stream_row(row: Any) -> StreamRow:
    return StreamRow(*row)._replace(defaulted=bool(row[5]))


def _reward_row(row: Any) -> RewardRow:
    return RewardRow(row[0], row[1], row[2], bool(row[3]), row[4], row[5])


def _pending_row(row: Any) -> PendingRow:
    return PendingRow(row[0], row[1], row[2], bool(row[3]))
