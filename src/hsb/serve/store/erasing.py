"""Forget contexts of decisions, and delete whole policies in batches. Deleted content is overwritten with zeros."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .queries import AMONG, Queries

if TYPE_CHECKING:
    from .sqlite import SqliteStore

ROWS = 500  # rows of each table, deleted at once
FILES = 2  # snapshots, deleted at once
WINDOW = 20_000  # decisions searched at once


@contextmanager
def _overwriting(connection: Any) -> Iterator[None]:
    """Make SQLite overwrite what it deletes; by default it only drops the reference."""
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    try:
        yield
    finally:
        connection.execute("PRAGMA secure_delete = OFF").fetchall()


def forget(store: SqliteStore, decisions: list[str], policies: list[int], cleared: dict[int, int]) -> None:
    """Blank contexts of decisions, delete policies, and clear snapshots before a row, within the transaction of a batch."""
    run = store.connection.execute
    with _overwriting(store.connection):
        if decisions:
            run(f"UPDATE decision SET context = '', seen = NULL, body = x'' WHERE id {AMONG}", (json.dumps(decisions),))
        for policy, row in cleared.items():
            run("DELETE FROM snapshot WHERE policy = ? AND seq < ?", (policy, row))
        for policy in policies:
            ((name,),) = store.rows("SELECT name FROM policy WHERE id = ?", policy)
            for table in ("evaluation", "audit_entry"):
                run(f"DELETE FROM {table} WHERE policy = ?", (name,))
            mine = f"/v1/policies/{name}"
            run("DELETE FROM once WHERE path = ?1 OR substr(path, 1, length(?1) + 1) = ?1 || '/'", (mine,))
            run("DELETE FROM once WHERE path = '/v1/policies' AND json_extract(CAST(answer AS TEXT), '$.name') = ?", (name,))
            _end_keys(store, name)
            run("INSERT INTO purge VALUES (?, 0, 0)", (policy,))
            run("DELETE FROM policy WHERE id = ?", (policy,))


def _end_keys(store: SqliteStore, name: str) -> None:
    """Remove a policy from all keys, lest they work for a later policy of that name. Keys without any policy end."""
    now = time.time_ns() // 1000
    for key, text in store.rows("SELECT id, policies FROM key WHERE policies IS NOT NULL AND ended IS NULL"):
        names = json.loads(text)
        if name in names:
            left = [each for each in names if each != name]
            change = (json.dumps(left), None if left else now, key)
            store.connection.execute("UPDATE key SET policies = ?, ended = ? WHERE id = ?", change)


def erase_some(store: SqliteStore) -> bool:
    """Delete another batch of rows of erased policies. Returns False if none were left."""
    purges = store.rows("SELECT policy, position FROM purge WHERE NOT done ORDER BY policy LIMIT 1")
    if not purges:
        return False
    (policy, position), run = purges[0], store.connection.execute
    ((last,),) = store.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    end, rows = _window(store, policy, position)
    names = json.dumps([name for (name,) in rows])
    with _overwriting(store.connection):
        for table in ("reward", "pending", "closed"):
            run(f"DELETE FROM {table} WHERE decision {AMONG}", (names,))
        run(
            f"DELETE FROM stream WHERE kind = 1 AND decision {AMONG}", (names,)
        )  # otherwise the next decision of that id could not be learned
        run(f"DELETE FROM decision WHERE id {AMONG}", (names,))
        stream = run(
            "DELETE FROM stream WHERE policy = ? AND seq IN (SELECT seq FROM stream WHERE policy = ? LIMIT ?)",
            (policy, policy, ROWS),
        )
        files = run(
            "DELETE FROM snapshot WHERE rowid IN (SELECT rowid FROM snapshot WHERE policy = ? LIMIT ?)", (policy, FILES)
        )
    done = end >= last and stream.rowcount < ROWS and files.rowcount < FILES
    run("UPDATE purge SET position = ?, done = ? WHERE policy = ?", (end, done, policy))
    return True


def _window(store: Queries, policy: int, position: int) -> tuple[int, list[Any]]:
    """Return the last row searched, and the decisions of a policy up to it. Many rows of other policies may lie between."""
    end = position + WINDOW
    sql = "SELECT rowid, id FROM decision WHERE rowid > ? AND rowid <= ? AND policy = ? ORDER BY rowid LIMIT ?"
    rows = store.rows(sql, position, end, policy, ROWS)
    return (rows[-1][0] if len(rows) == ROWS else end), [(name,) for _, name in rows]


def about_person(
    reader: Queries, policy: int, path: str, value: str, after: int, root: str = "$"
) -> tuple[list[str], int | None]:
    """Find decisions of a policy whose context, at `root`, has this value, as text, at this path in it, in a window after a row.

    Also compares the value as JSON, since SQLite's text of booleans and of integers beyond 63 bits differs. Returns the ids, and the row
    before the next window; None at the end.
    """
    ((last,),) = reader.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    sql = """SELECT id FROM decision WHERE rowid > ?1 AND rowid <= ?2 AND policy = ?3 AND context <> ''
      AND (CAST(json_extract(context, ?4) AS TEXT) = ?5 OR CAST(json_extract(context, ?6) AS TEXT) = ?5
        OR (json_extract(context, ?4, ?6) IN (?7, ?8) AND ?5 <> 'null'))"""
    path = root + path[1:]
    whole = f"{root}." + path[len(root) + 1 :].replace('"."', ".")  # or a name with dots in it
    either = (f"[{value},null]", f"[null,{value}]") if whole != path else (f"[{value},{value}]",) * 2
    arguments = (after, after + WINDOW, policy, path, value, whole, *either)
    ids = [name for (name,) in reader.rows(sql, *arguments)]
    return ids, after + WINDOW if after + WINDOW < last else None


def words_of(reader: Queries, policy: int, decisions: list[str]) -> list[str]:
    """Return the texts in the contexts of these decisions of a policy."""
    sql = f"""SELECT DISTINCT CAST(t.atom AS TEXT) FROM decision d, json_tree(d.context) t
      WHERE d.id {AMONG} AND d.policy = ? AND d.context <> '' AND t.type = 'text'"""
    return [word for (word,) in reader.rows(sql, json.dumps(decisions), policy)]


def not_elsewhere(
    reader: Queries, policy: int, words: list[str], decisions: list[str], after: int
) -> tuple[list[str], int | None]:
    """Return those words that no other context in a window has, and the row before the next window; None at the end."""
    ((last,),) = reader.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    sql = f"""SELECT EXISTS (SELECT 1 FROM decision WHERE rowid > ? AND rowid <= ? AND policy = ? AND instr(context, ?) > 0
      AND id NOT {AMONG})"""
    chosen, left = json.dumps(decisions), []
    for word in words:
        ((elsewhere,),) = reader.rows(sql, after, after + WINDOW, policy, json.dumps(word), chosen)
        left += [] if elsewhere else [word]
    return left, after + WINDOW if left and after + WINDOW < last else None


class OldDecisions(NamedTuple):
    """Decisions of a window whose contexts are too old to keep."""

    ids: list[str]
    learned: int
    """The last row of the stream that is an update of one of them; 0 if there is no such row."""
    waiting: int | None
    """The position of the first one that still waits for feedback, and keeps its context."""
    position: int
    """The last position searched."""
    more: bool


def old_contexts(reader: Queries, policy: int, before: int, after: int) -> OldDecisions:
    """Find decisions of a policy after the position `after` that were made before the time `before`, in one window."""
    ((last,),) = reader.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    sql = """SELECT d.rowid, d.id, d.at, d.context = '', p.decision IS NOT NULL, s.seq
      FROM decision d LEFT JOIN pending p ON p.decision = d.id LEFT JOIN stream s ON s.kind = 1 AND s.decision = d.id
      WHERE d.rowid > ? AND d.rowid <= ? AND d.policy = ? ORDER BY d.rowid LIMIT ?"""
    rows = reader.rows(sql, after, after + WINDOW, policy, ROWS)
    end = rows[-1][0] if len(rows) == ROWS else min(after + WINDOW, last)
    old = OldDecisions([], 0, None, end, end < last)
    for position, id, timestamp, blank, waits, seq in rows:
        if timestamp >= before:  # rows are nearly in order of their times
            return old._replace(position=position - 1, more=False)
        if waits:
            old = old if old.waiting is not None else old._replace(waiting=position)
        elif not blank:
            old.ids.append(id)
            old = old._replace(learned=max(old.learned, seq or 0))
    return old
