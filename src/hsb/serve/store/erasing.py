"""What is to be forgotten: contexts of decisions, and all of a policy, a part at a time. What was there is overwritten with zeros."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .queries import AMONG, Queries

if TYPE_CHECKING:
    from .sqlite import SqliteStore

ROWS = 500  # of each table, deleted at once
FILES = 2  # snapshots, deleted at once
WINDOW = 20_000  # decisions, looked through at once


@contextmanager
def _overwriting(connection: Any) -> Iterator[None]:
    """Let SQLite overwrite what it deletes; otherwise it only forgets where it was."""
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    try:
        yield
    finally:
        connection.execute("PRAGMA secure_delete = OFF").fetchall()


def forget(store: SqliteStore, decisions: list[str], policies: list[int], cleared: dict[int, int]) -> None:
    """Within the transaction of a batch: blank what these decisions were asked, let these policies be gone, and snapshots before a row."""
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
    """Keys are for a policy, not for whatever has its name next: they lose it, and those that are for no other one end."""
    now = time.time_ns() // 1000
    for key, text in store.rows("SELECT id, policies FROM key WHERE policies IS NOT NULL AND ended IS NULL"):
        names = json.loads(text)
        if name in names:
            left = [each for each in names if each != name]
            change = (json.dumps(left), None if left else now, key)
            store.connection.execute("UPDATE key SET policies = ?, ended = ? WHERE id = ?", change)


def erase_some(store: SqliteStore) -> bool:
    """Delete another part of what erased policies left; whether there is more."""
    purges = store.rows("SELECT policy, place FROM purge WHERE NOT done ORDER BY policy LIMIT 1")
    if not purges:
        return False
    (policy, place), run = purges[0], store.connection.execute
    ((last,),) = store.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    end, rows = _window(store, policy, place)
    names = json.dumps([name for (name,) in rows])
    with _overwriting(store.connection):
        for table in ("reward", "pending", "closed"):
            run(f"DELETE FROM {table} WHERE decision {AMONG}", (names,))
        run(
            f"DELETE FROM stream WHERE kind = 1 AND decision {AMONG}", (names,)
        )  # or the next decision of that id could not be learned
        run(f"DELETE FROM decision WHERE id {AMONG}", (names,))
        stream = run(
            "DELETE FROM stream WHERE policy = ? AND seq IN (SELECT seq FROM stream WHERE policy = ? LIMIT ?)",
            (policy, policy, ROWS),
        )
        files = run(
            "DELETE FROM snapshot WHERE rowid IN (SELECT rowid FROM snapshot WHERE policy = ? LIMIT ?)", (policy, FILES)
        )
    done = end >= last and stream.rowcount < ROWS and files.rowcount < FILES
    run("UPDATE purge SET place = ?, done = ? WHERE policy = ?", (end, done, policy))
    return True


def _window(store: Queries, policy: int, place: int) -> tuple[int, list[Any]]:
    """The next decisions of a policy, and up to which row they were looked for: there may be many of others between them."""
    end = place + WINDOW
    sql = "SELECT rowid, id FROM decision WHERE rowid > ? AND rowid <= ? AND policy = ? ORDER BY rowid LIMIT ?"
    rows = store.rows(sql, place, end, policy, ROWS)
    return (rows[-1][0] if len(rows) == ROWS else end), [(name,) for _, name in rows]


def about_person(reader: Queries, policy: int, path: str, value: str, after: int) -> tuple[list[str], int | None]:
    """Decisions of a policy whose context has this value, as text, at this path; of a window after a row, and where the next one begins.

    Also as it was written: SQLite's text of truths, and of whole numbers of more than 63 bits, is another.
    """
    ((last,),) = reader.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    sql = """SELECT id FROM decision WHERE rowid > ?1 AND rowid <= ?2 AND policy = ?3 AND context <> ''
      AND (CAST(json_extract(context, ?4) AS TEXT) = ?5 OR CAST(json_extract(context, ?6) AS TEXT) = ?5
        OR (json_extract(context, ?4, ?6) IN (?7, ?8) AND ?5 <> 'null'))"""
    whole = "$." + path[2:].replace('"."', ".")  # or a name with dots in it
    either = (f"[{value},null]", f"[null,{value}]") if whole != path else (f"[{value},{value}]",) * 2
    arguments = (after, after + WINDOW, policy, path, value, whole, *either)
    ids = [name for (name,) in reader.rows(sql, *arguments)]
    return ids, after + WINDOW if after + WINDOW < last else None


def words_of(reader: Queries, policy: int, decisions: list[str]) -> list[str]:
    """The texts in what these decisions of a policy were asked."""
    sql = f"""SELECT DISTINCT CAST(t.atom AS TEXT) FROM decision d, json_tree(d.context) t
      WHERE d.id {AMONG} AND d.policy = ? AND d.context <> '' AND t.type = 'text'"""
    return [word for (word,) in reader.rows(sql, json.dumps(decisions), policy)]


def not_elsewhere(
    reader: Queries, policy: int, words: list[str], decisions: list[str], after: int
) -> tuple[list[str], int | None]:
    """Those of these words that no other decision of a window was asked with, and where the next window begins."""
    ((last,),) = reader.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    sql = f"""SELECT EXISTS (SELECT 1 FROM decision WHERE rowid > ? AND rowid <= ? AND policy = ? AND instr(context, ?) > 0
      AND id NOT {AMONG})"""
    chosen, left = json.dumps(decisions), []
    for word in words:
        ((elsewhere,),) = reader.rows(sql, after, after + WINDOW, policy, json.dumps(word), chosen)
        left += [] if elsewhere else [word]
    return left, after + WINDOW if left and after + WINDOW < last else None


class OldDecisions(NamedTuple):
    """Decisions of a window whose contexts are older than they may be."""

    ids: list[str]
    learned: int
    """The last row of the stream that is an update of theirs; 0 where none is."""
    waiting: int | None
    """The place of the first one that still waits for feedback, and stays."""
    place: int
    """Up to where was looked."""
    more: bool


def old_contexts(reader: Queries, policy: int, before: int, after: int) -> OldDecisions:
    """Decisions of a policy, from a place on, that were made before a time: a part of them."""
    ((last,),) = reader.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    sql = """SELECT d.rowid, d.id, d.at, d.context = '', p.decision IS NOT NULL, s.seq
      FROM decision d LEFT JOIN pending p ON p.decision = d.id LEFT JOIN stream s ON s.kind = 1 AND s.decision = d.id
      WHERE d.rowid > ? AND d.rowid <= ? AND d.policy = ? ORDER BY d.rowid LIMIT ?"""
    rows = reader.rows(sql, after, after + WINDOW, policy, ROWS)
    end = rows[-1][0] if len(rows) == ROWS else min(after + WINDOW, last)
    old = OldDecisions([], 0, None, end, end < last)
    for place, id, at, blank, waits, seq in rows:
        if at >= before:  # they are written in the order of their times, nearly
            return old._replace(place=place - 1, more=False)
        if waits:
            old = old if old.waiting is not None else old._replace(waiting=place)
        elif not blank:
            old.ids.append(id)
            old = old._replace(learned=max(old.learned, seq or 0))
    return old
