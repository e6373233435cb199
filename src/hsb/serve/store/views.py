"""Views of a journal in SQLite for the API and the page: single decisions, lists, sums over time. Each is a function of a reader.

There is no index of decisions by time. They are written in the order of their times, so a binary search finds the row.
"""

import json
from itertools import accumulate
from typing import Any

from ..core.rows import DecisionRow, RewardRow
from .queries import DECISION, Queries, _reward_row

Row = dict[str, Any]
MOST_LETTERS = 1 << 24  # of contexts that are read at once


def decision(reader: Queries, id: str) -> tuple[DecisionRow, list[RewardRow], Row] | None:
    """Return a decision, its rewards and its status."""
    rows = reader.rows(f"SELECT {DECISION} FROM decision d WHERE d.id = ?", id)
    if not rows:
        return None
    row = DecisionRow(*rows[0])
    rewards = [
        _reward_row(each) for each in reader.rows(f"SELECT {', '.join(RewardRow._fields)} FROM reward WHERE decision = ?", id)
    ]
    return row, sorted(rewards, key=lambda each: (each.at, each.id)), _status(reader, id)


def _status(reader: Queries, id: str) -> Row:
    learned = reader.rows("SELECT seq, reward, defaulted FROM stream WHERE kind = 1 AND decision = ?", id)
    if learned:
        seq, value, defaulted = learned[0]
        return {"state": "learned", "learned_at_version": seq, "learned_reward": value, "defaulted": bool(defaulted)}
    pending = reader.rows("SELECT deadline, active FROM pending WHERE decision = ?", id)
    if pending:
        return {"state": "pending" if pending[0][1] else "inactive", "deadline": pending[0][0]}
    closed = reader.rows("SELECT how, at FROM closed WHERE decision = ?", id)
    return {"state": closed[0][0], "closed": closed[0][1]} if closed else {"state": "closed"}


def decisions(reader: Queries, policy: int, after: int, limit: int, newest: bool) -> list[tuple[int, DecisionRow]]:
    """Return at most `limit` decisions of a policy after the cursor `after`, each with its cursor; newest first or last."""
    sign, order = ("<", "DESC") if newest else (">", "")
    after = (1 << 62) if newest and not after else after
    sql = f"SELECT d.rowid, {DECISION} FROM decision d WHERE d.policy = ? AND d.rowid {sign} ? ORDER BY d.rowid {order} LIMIT ?"
    return [(row[0], DecisionRow(*row[1:])) for row in reader.rows(sql, policy, after, limit)]


def contexts(reader: Queries, policy: int, first: int, newest: int) -> tuple[list[Any], list[Any]]:
    """Return the contexts of a policy's first updates and of its newest decisions, without forgotten ones.

    Of the first, fewer where they are long: MOST_LETTERS in all.
    """
    updates = "FROM stream s JOIN decision d ON d.id = s.decision WHERE s.policy = ? AND s.kind = 1 ORDER BY s.seq LIMIT ?"
    sizes = reader.rows(f"SELECT COALESCE(LENGTH(d.context), 0) {updates}", policy, first)
    few = sum(size <= MOST_LETTERS for size in accumulate(size for (size,) in sizes))
    head = reader.rows(f"SELECT d.context {updates}", policy, few)
    last = reader.rows("SELECT context FROM decision WHERE policy = ? ORDER BY rowid DESC LIMIT ?", policy, newest)
    return tuple([json.loads(text) for (text,) in rows if text] for rows in (head, last))  # type: ignore[return-value]


def pending_count(reader: Queries, policy: int) -> tuple[int, int | None]:
    """Return the number of decisions that wait, and the first deadline."""
    return reader.rows("SELECT COUNT(*), MIN(deadline) FROM pending WHERE policy = ?", policy)[0]  # type: ignore[no-any-return]


def _first_row(reader: Queries, since: int) -> int:
    """Return the first row of `decision` at or after the time `since`. Rows are nearly in order of their times."""
    ((low, high),) = reader.rows("SELECT COALESCE(MIN(rowid), 1), COALESCE(MAX(rowid), 0) + 1 FROM decision")
    while low < high:
        middle = (low + high) // 2
        rows = reader.rows("SELECT at FROM decision WHERE rowid >= ? ORDER BY rowid LIMIT 1", middle)
        if rows and rows[0][0] < since:
            low = middle + 1
        else:
            high = middle
    return int(low)


def _first_seq(reader: Queries, policy: int, since: int) -> int:
    ((high,),) = reader.rows("SELECT COALESCE(MAX(seq), 0) + 1 FROM stream WHERE policy = ?", policy)
    low = 1
    while low < high:
        middle = (low + high) // 2
        rows = reader.rows("SELECT at FROM stream WHERE policy = ? AND seq >= ? ORDER BY seq LIMIT 1", policy, middle)
        if rows and rows[0][0] < since:
            low = middle + 1
        else:
            high = middle
    return int(low)


def stats(reader: Queries, policy: int, since: int, until: int, bucket: int) -> tuple[list[Any], list[Any]]:
    """Return (bucket, arm, decisions) and (bucket, arm, updates, defaulted, sum of rewards, of their squares) of a span, in microseconds."""
    decided = reader.rows(
        "SELECT (at / ?) * ?, arm, COUNT(*) FROM decision WHERE rowid >= ? AND policy = ? AND at >= ? AND at < ? GROUP BY 1, 2",
        bucket,
        bucket,
        _first_row(reader, since),
        policy,
        since,
        until,
    )
    learned = reader.rows(
        "SELECT (s.at / ?) * ?, d.arm, COUNT(*), SUM(s.defaulted), SUM(s.reward), SUM(s.reward * s.reward) FROM stream s "
        "JOIN decision d ON d.id = s.decision WHERE s.policy = ? AND s.seq >= ? AND s.kind = 1 AND s.at >= ? AND s.at < ? GROUP BY 1, 2",
        bucket,
        bucket,
        policy,
        _first_seq(reader, policy, since),
        since,
        until,
    )
    return decided, learned


def snapshot_list(reader: Queries, policy: int) -> list[Any]:
    """Return (row of the stream, time, bytes, number of learners) of each snapshot, newest first."""
    sql = "SELECT seq, MAX(at), SUM(LENGTH(body)), COUNT(*) FROM snapshot WHERE policy = ? GROUP BY seq ORDER BY seq DESC"
    return reader.rows(sql, policy)


def snapshot_file(reader: Queries, policy: int, seq: int) -> tuple[bytes, str] | None:
    """Return the file of the learner that played at a snapshot, and its digest."""
    rows = reader.rows("SELECT learner, digest, about, body FROM snapshot WHERE policy = ? AND seq = ?", policy, seq)
    for learner, digest, about, body in rows:
        if json.loads(json.loads(about)["state"])["learners"][""]["id"] == learner:
            return body, digest
    return None


def audit_entries(reader: Queries, policy: str | None, limit: int, after: int = 0) -> list[Any]:
    """Return audit entries (time, key, what, policy, detail, number), newest first, before the number `after`."""
    sql = "SELECT at, key, what, policy, detail, id FROM audit_entry WHERE id < ? AND (? IS NULL OR policy = ?) ORDER BY id DESC LIMIT ?"
    return reader.rows(sql, after or 1 << 62, policy, policy, limit)
